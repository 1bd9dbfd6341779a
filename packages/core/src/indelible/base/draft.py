"""What goes into a planner and what comes out: drafts, planned events, outcomes, and what it may look up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from indelible.base.event import CHAIN_START, Op, PurgeReason
from indelible.base.record import ANY_SCOPE, NO_SCOPE, UNSET, Namespace, Scope, ScopeFilter, Unset
from indelible.base.standing import Slot, Standing


class PartVector(NamedTuple):
    """A vector to keep with a record's version.

    Attributes:
        part: name of the part it stands for.
        model: identity of what made it.
        data: little-endian float32.
    """

    part: str
    model: str
    data: bytes


CONTEXT_PART = "context"
"""Parts whose name begins so embed a memory together with its context, and do not outlive the text of its neighbours."""
Fields = Mapping[str, str]
"""Payload fields by name, each as canonical JSON text."""
ContextTexts = tuple[tuple[str, str], ...]
"""A context as it was read: each entry with the text that stands for it, for a date its own, for a record its content, or ``""``."""
IfMissing = Literal["error", "ignore", "record"]


class Twins(NamedTuple):
    """Records that a new one would repeat, as they were looked for before the write.

    Attributes:
        records: those with the very same content in the same namespace and scope, expired ones too.
        read_at: up to which version of the log.
        without: keys whose records are none, because the same batch gives them another content.
    """

    records: tuple[bytes, ...]
    read_at: int
    without: frozenset[str] = frozenset()


class Setting(NamedTuple):
    """What a setting of a store, or of a namespace, reads."""

    name: str
    namespace: Namespace | None
    value: str


@dataclass(slots=True)
class Draft:
    """What a face asks to be written; not frozen, since making a frozen one takes three times as long and every write makes one.

    Attributes:
        op: REMEMBER writes the whole state, under ``key`` or as a new record; REVISE changes the given fields; RESTORE brings back
            ``restore_version`` (``None``: the state before the current one); FORGET, VOTE, TOUCH and PURGE name a record.
        namespace: where; ``None`` (only with ``record``) for wherever the record is.
        scope: whose, for REMEMBER and for drafts that name a key.
        within: the scopes that a draft naming a record may reach; outside is "not found".
        record, key: which record is meant; neither, for REMEMBER, makes a new one, and so does the id of none.
        fields: the payload.
        expires_at: UTC milliseconds, ``None`` never, ``UNSET`` unchanged.
        expected_version: what the record's version must be, 0 for "must not exist"; a TOUCH of another version is left out.
        idempotency_key: a REMEMBER with one seen before in this namespace and scope returns what that made.
        chosen: for a FORGET, RESTORE or PURGE of a record that was chosen for how it stood: if it stands otherwise by now (another
            version, hidden or shown, another expiry), the draft is left out.
        twins: for a REMEMBER without a key, to return the oldest visible record with the very same content, if there is one.
        vectors: ``None`` keeps those of the state before.
        context: what the vectors of its context were made with; if the context reads otherwise by now, they are left out.
        if_missing: what a FORGET of nothing does: error, nothing, or an event all the same.
        touch_ttl: for TOUCH, the record's whole time to live; smaller moves than a tenth of it are not worth an event.
        reason: for PURGE.
        requires: a setting that was read before; if it reads otherwise by now, nothing of the transaction is written.
    """

    op: Op
    namespace: Namespace | None = ()
    scope: Scope = NO_SCOPE
    within: ScopeFilter = ANY_SCOPE
    record: bytes | None = None
    key: str | None = None
    fields: Fields | None = None
    expires_at: int | None | Unset = UNSET
    expected_version: int | None = None
    idempotency_key: str | None = None
    chosen: Standing | None = None
    twins: Twins | None = None
    vectors: tuple[PartVector, ...] | None = None
    context: ContextTexts | None = None
    if_missing: IfMissing = "error"
    restore_version: int | None = None
    touch_ttl: int | None = None
    reason: PurgeReason = PurgeReason.REQUEST
    requires: Setting | None = None


class Head(NamedTuple):
    """Where the log ends, and where this device's chain does."""

    version: int = 0
    recorded_at: int = 0
    clock: int = 0
    device: bytes = b""
    seq: int = 0
    hash: bytes = CHAIN_START


class OldState(NamedTuple):
    """An earlier state of a record."""

    version: int
    op: Op
    body: str
    expires_at: int | None


class Lookup(Protocol):
    """What a planner asks a backend, inside the write transaction."""

    def standing(self, record: bytes) -> Standing | None:
        """How a record stands now, hidden or not; ``None`` if unknown or purged."""
        ...

    def holder(self, slot: Slot) -> Standing | None:
        """The record that holds a key, hidden or not."""
        ...

    def claimants(self, slot: Slot) -> list[Standing]:
        """Every record that was ever written under a key."""
        ...

    def body(self, version: int) -> str:
        """The payload of a state event."""
        ...

    def retried(self, namespace: Namespace, scope: Scope, idempotency_key: str) -> Standing | None:
        """What a write with this idempotency key made."""
        ...

    def written_since(self, namespace: Namespace, scope: Scope, version: int, content: str) -> list[Standing]:
        """Visible records of a slice that came to stand as they do after a version; at least those with a content, given as JSON."""
        ...

    def old_state(self, record: bytes, version: int | None, before: int) -> OldState | None:
        """A state event of a record: that version, or (``None``) the last one below ``before``."""
        ...


class Planned(NamedTuple):
    """An event ready to be written, with the rows of the projection it opens and closes."""

    version: int
    seq: int
    clock: int
    op: Op
    record: bytes
    commitment: bytes | None
    expires_at: int | None
    hash: bytes
    salt: bytes | None
    body: str | None
    opens: tuple[Standing, ...] = ()
    vectors: tuple[PartVector, ...] | None = None
    vectors_of: int | None = None
    idempotency_key: str | None = None
    is_new: bool = False


class Written(NamedTuple):
    """What became of a draft.

    Attributes:
        record: the id, ``None`` if there was nothing to act on.
        version: the event, or the record's version where nothing was written.
        changed: whether there is a new event.
        standing: how the record stands after it; ``None`` after a purge, or for nothing.
        body: the payload of that state; ``None`` where the caller has no use for it.
        stale: whether something was left out because what it was made from is no longer so: vectors of a context that reads otherwise
            by now or comes back from the past, or a draft whose record was chosen for how it stood.
    """

    record: bytes | None
    version: int
    changed: bool
    standing: Standing | None = None
    body: str | None = None
    stale: bool = False


NOTHING = Written(None, 0, False)
"""There was nothing to act on."""
