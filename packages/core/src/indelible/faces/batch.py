"""Facts on their way into one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from indelible.backend.interface import Row, Selection
from indelible.base.canonical import dumps, loads
from indelible.base.ids import id_text
from indelible.base.plan import Draft, Twins
from indelible.base.record import Namespace, Part, Scope, ScopeFilter
from indelible.errors import InvalidInput
from indelible.faces.engine import Engine, TextIndexer
from indelible.faces.scoping import check_filter, writing_scope

MAX_WORDS = 64
"""So many words of a text find what may be the same; the texts themselves are compared."""


@dataclass(slots=True)
class Prepared:
    """A fact on its way: everything but its vectors.

    Attributes:
        draft, content, parts: what will be written and embedded.
        twin: id of the memory that it will turn out to repeat, unless somebody changes that before it is written.
    """

    draft: Draft
    content: str
    parts: Sequence[Part]
    twin: str | None = None

    @property
    def id(self) -> str:
        """The id of what has its id settled already."""
        return self.twin or id_text(self.draft.record or b"")

    def as_pattern(self) -> Prepared | None:
        """This fact, if another one that was asked for in the same way differs from it only in its text."""
        draft = self.draft
        alone = draft.key is None and draft.idempotency_key is None and draft.twins is None and draft.record is None
        return self if alone and draft.context is None and draft.expires_at is None else None

    @property
    def place(self) -> tuple[Scope, str]:
        """What it must be alike in to be the same as another."""
        return self.draft.scope, self.content


class Batch:
    """The facts of one transaction, in order."""

    def __init__(self, engine: Engine, namespace: Namespace) -> None:
        self.items: list[Prepared] = []
        self._engine = engine
        self._namespace = namespace
        # What the arguments of its facts came to: checked once, and so is what the environment adds.
        self._scopes: dict[tuple[Any, ...], Scope] = {}
        self._looked_up: dict[tuple[Scope, str], tuple[Twins, str | None]] = {}
        # Who says a text first; known once somebody asks, which in most batches nobody does.
        self._first: dict[tuple[Scope, str], Prepared] | None = None
        self._keys: dict[Scope, dict[str, str]] = {}

    def scope(self, given: tuple[Any, ...], within: ScopeFilter, *, required: bool) -> Scope:
        """Whose a fact is, from the four arguments that say so; see ``writing_scope``."""
        try:
            known = self._scopes.get(given)
        except TypeError:  # what cannot be hashed is refused, unless it is a text all the same
            return writing_scope(within, check_filter(*given), required=required)
        if known is None:
            known = self._scopes[given] = writing_scope(within, check_filter(*given), required=required)
        return known

    def add(self, item: Prepared, *, unique: bool) -> None:
        """Take in a fact; a unique one will stand for an older one with the very same text, in the store or in this batch."""
        if unique:
            place = item.place
            if item.draft.key is not None or item.draft.idempotency_key is not None:
                raise InvalidInput(
                    "dedup cannot be combined with key or idempotency_key: each of them says by itself which memory is meant"
                )
            if place not in self._looked_up:
                self._looked_up[place] = self._twins(*place)
            twins, visible = self._looked_up[place]
            item.draft.twins = twins
            if self._first is None:
                self._first = {earlier.place: earlier for earlier in reversed(self.items)}
            # What this batch writes under a key changes what stands; then only the write can tell.
            if not self._keys:
                first = self._first.get(place)
                item.twin = visible if visible is not None or first is None else first.id
        if item.draft.key is not None:
            self._keys.setdefault(item.draft.scope, {})[item.draft.key] = item.content
        if self._first is not None:
            self._first.setdefault(item.place, item)
        self.items.append(item)

    def add_like(self, pattern: Prepared, content: str) -> None:
        """Take in a fact that differs from another, a pattern, only in its text."""
        like = pattern.draft
        fields = {**(like.fields or {}), "content": dumps(content)}
        draft = Draft(like.op, like.namespace, like.scope, fields=fields, expires_at=None)
        item = Prepared(draft, content, ())
        if self._first is not None:
            self._first.setdefault(item.place, item)
        self.items.append(item)

    def drafts(self) -> list[Draft]:
        """What to write: of texts that must not repeat each is there afterwards, so no record is a twin that this batch revises."""
        if self._keys:
            for item in self.items:
                twins, keys = item.draft.twins, self._keys.get(item.draft.scope, {})
                if twins is not None:
                    other = frozenset(key for key, content in keys.items() if content != item.content)
                    item.draft.twins = twins._replace(without=other)
        return [item.draft for item in self.items]

    def _twins(self, scope: Scope, content: str) -> tuple[Twins, str | None]:
        """The memories of a scope with the very same text, and the id of the oldest that is visible now."""
        read_at = self._engine.backend.mark().version
        rows = [row for row in self._alike(scope, content) if loads(row.body).get("content") == content]
        now_ms = self._engine.now_ms()
        visible = next((id_text(row.standing.record) for row in rows if not row.standing.expired(now_ms)), None)
        return Twins(tuple(row.standing.record for row in rows), read_at), visible

    def _alike(self, scope: Scope, content: str) -> list[Row]:
        """Every memory of a scope with these words, oldest first: found through the keyword index, not by reading the scope."""
        backend = self._engine.backend
        everything = Selection(namespace=self._namespace, scope=ScopeFilter(*scope), expiry="all")
        words = TextIndexer().words(content)
        if not words:
            return backend.select(everything)
        distinct = list(dict.fromkeys(words.split(" ")))[:MAX_WORDS]
        found = backend.find(everything, [[[word]] for word in distinct], match="all")
        # Words of a context come after a memory's own.
        records = tuple({item.record for item in found if (item.words + " ").startswith(words + " ")})
        return backend.select(replace(everything, records=records)) if records else []


def check_items(items: Iterable[Any], what: str) -> Iterable[Any]:
    """Refuse what is no list of things."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput(f"{what} must be a list, got {type(items).__name__}")
    return items


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Say which of many was refused."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{what}: {error}") from error
