"""What callers see: records, hits, scopes, parts, versions, answers. Frozen dataclasses without behaviour of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, NamedTuple
from unicodedata import category

from indelible.base.canonical import check_text, dumps
from indelible.base.event import Op
from indelible.errors import InvalidInput

Namespace = tuple[str, ...]
SCOPE_FIELDS: Final = ("agent_id", "user_id", "org_id", "workspace_id")


class Unset(Enum):
    """Marks an argument that was not given, where ``None`` means something."""

    UNSET = "unset"

    __hash__ = object.__hash__  # an Enum hashes its name in Python, and filters holding this are looked up in caches all the time

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


class Scope(NamedTuple):
    """Whose memory it is. Each field is compared for exact equality; ``None`` is a value of its own, "not set"."""

    agent_id: str | None = None
    user_id: str | None = None
    org_id: str | None = None
    workspace_id: str | None = None


NO_SCOPE: Final = Scope()


class ScopeFilter(NamedTuple):
    """Which scopes a read reaches: per field a value, ``None`` for "not set", or ``UNSET`` for any."""

    agent_id: str | None | Unset = UNSET
    user_id: str | None | Unset = UNSET
    org_id: str | None | Unset = UNSET
    workspace_id: str | None | Unset = UNSET

    def admits(self, scope: Scope) -> bool:
        """Whether a scope lies inside."""
        return all(wanted is UNSET or wanted == given for wanted, given in zip(self, scope, strict=True))


ANY_SCOPE: Final = ScopeFilter()


def check_scope_value(value: object, name: str) -> str | None:
    """A scope value that can be stored, or ``None``.

    Raises:
        InvalidInput: not ``None`` and not a non-empty ``str``.
    """
    return None if value is None else check_text(value, name, empty=False)


def check_namespace(labels: object, what: str = "namespace") -> Namespace:
    """A tuple of labels.

    Raises:
        InvalidInput: not a tuple or list of at most 32 non-empty ``str`` without control characters.
    """
    if not isinstance(labels, tuple | list):
        raise InvalidInput(f"{what} must be a tuple of str, got {type(labels).__name__}")
    if len(labels) > 32:
        raise InvalidInput(f"{what} has {len(labels)} labels, the limit is 32")
    for label in labels:
        check_text(label, f"a label of {what}", empty=False)
        if any(character < " " for character in label):
            raise InvalidInput(f"a label of {what} holds a control character: {label!r}")
    return tuple(labels)


@dataclass(frozen=True, slots=True)
class Part:
    """One embedded piece of a record; search takes the best part.

    Attributes:
        name: unique within the record.
        text: what is embedded.
        vector: given by the caller, or ``None`` to have the collection's model make it.
    """

    name: str
    text: str
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as it stands, or stood, at some version.

    Attributes:
        id: UUID text.
        version: the event that made this state.
        content: the text that is searched.
        metadata: filterable JSON object.
        value: opaque JSON.
        key: the caller's name for it, unique within namespace and scope.
        source: who wrote it.
        parent: the document, session or memory it came from.
        occurred_at: when it happened.
        created_at, updated_at: when the record began and when this state was written.
        expires_at: when it stops being shown, ``None`` for never.
        context: ids of neighbouring records and dates whose text is indexed with this one and never returned.
        vectors: by part name; only where they were asked for.
    """

    id: str
    version: int
    content: str
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)
    value: Any = None
    namespace: Namespace = ()
    scope: Scope = NO_SCOPE
    key: str | None = None
    source: str | None = None
    parent: str | None = None
    expires_at: datetime | None = None
    context: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    vectors: dict[str, tuple[float, ...]] | None = None

    @property
    def agent_id(self) -> str | None:
        return self.scope.agent_id

    @property
    def user_id(self) -> str | None:
        return self.scope.user_id

    @property
    def org_id(self) -> str | None:
        return self.scope.org_id

    @property
    def workspace_id(self) -> str | None:
        return self.scope.workspace_id

    def __repr__(self) -> str:
        shown = self.content if len(self.content) <= 60 else self.content[:57] + "..."
        name = f" key={self.key!r}" if self.key is not None else ""
        return f"<Record {self.id} v{self.version}{name} {shown!r}>"


@dataclass(frozen=True, slots=True)
class Hit:
    """A record found by recall or search.

    Attributes:
        record: what was found.
        score: the cosine with the query, ``None`` where no vector took part.
        rank_score: what the hits are ordered by, higher first.
        why: the channels that found it: ``"keyword"``, ``"semantic"``.
        part: the name of the part that matched best.
    """

    record: Record
    score: float | None
    rank_score: float
    why: tuple[str, ...] = ()
    part: str | None = None

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def content(self) -> str:
        return self.record.content

    @property
    def metadata(self) -> dict[str, Any]:
        return self.record.metadata


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a record's history.

    Attributes:
        version: the event's position in the log.
        op: what happened.
        at: when it was written, by its writer's clock.
        record: the state it made; ``None`` for a forget, a vote, a touch, a purge, or after a purge.
        expires_at: when that state stops being shown.
        superseded: it lost a merge: a greater event of another device had the last word when it arrived.
        vote, note: of a vote.
        source: who wrote it.
    """

    version: int
    op: Op
    at: datetime
    record: Record | None = None
    expires_at: datetime | None = None
    superseded: bool = False
    purged: bool = False
    vote: str | None = None
    note: str | None = None
    source: str | None = None

    def __str__(self) -> str:
        stamp = f"v{self.version} {self.at:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        words = [stamp, self._what()]
        if self.expires_at is not None and self.op is not Op.FORGET:
            words.append(f"(expires {self.expires_at:%Y-%m-%dT%H:%M:%SZ})")
        if self.superseded:
            words.append("(superseded)")
        return " ".join(words)

    def _what(self) -> str:
        if self.purged:
            return f"{self.op} (purged)" if self.op is not Op.PURGE else "purged"
        if self.op is Op.VOTE:
            return f"voted {self.vote}" + (f" {one_line(self.note)}" if self.note else "")
        if self.record is None:
            return {Op.FORGET: "forgotten", Op.PURGE: "purged", Op.TOUCH: "expiry moved"}.get(self.op, str(self.op))
        name = {Op.REMEMBER: "created", Op.REVISE: "revised", Op.RESTORE: "restored"}[self.op]
        shown = self.record.content or dumps(self.record.value)
        return f"{name} {one_line(shown)}"


def one_line(text: str | None) -> str:
    """Text as a JSON string: quoted, every line break and control character escaped, so that it is one line for sure."""
    return escape_line(dumps(text or ""))


def escape_line(text: str) -> str:
    """Text with everything that is not printable (line breaks, control, bidi, zero-width and tag characters) written as escapes.

    Spaces of every width are kept: they are part of ordinary text in many languages, and none of them breaks a line.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or category(c) == "Zs" else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
