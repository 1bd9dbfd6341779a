"""Everything that follows from a log, derived anew instead of kept current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from indelible.backend.interface import Selection
from indelible.base.canonical import loads
from indelible.base.draft import OldState
from indelible.base.event import STATE_OPS, Event, Op
from indelible.base.ids import id_bytes
from indelible.base.record import Namespace, Scope
from indelible.base.standing import FOREVER, Arrival, Slot, Standing, standings
from indelible.errors import RecordNotFound


class Piece(NamedTuple):
    """A row, or the part of one over which its context says the same.

    Attributes:
        standing: as it stands over these versions.
        start: where its version's document begins; a document of its own begins wherever a neighbour changed.
        text: what is searched of it, its neighbours' text included.
    """

    standing: Standing
    start: int
    text: str


class View:
    """How everything stands after a log; also what a planner asks."""

    def __init__(self, log: Sequence[Event]) -> None:
        self.log = list(log)
        self.purged = {event.record for event in log if event.op is Op.PURGE}
        self.rows = standings(map(arrival_of, log), self.purged)
        self.current = {row.record: row for row in self.rows if row.live_to == FOREVER}
        self.pieces = [piece for row in self.rows for piece in self._pieces(row)]

    def select(self, selection: Selection) -> list[Piece]:
        """Rows of a selection, in its order and before paging.

        ``equals`` is left alone: it only allows a backend to skip what the caller drops in any case.
        """
        found = [piece for piece in self.pieces if _admits(selection, piece.standing)]
        by_creation = selection.order == "created"
        found.sort(key=lambda piece: (piece.standing.created if by_creation else piece.standing.updated, piece.standing.record))
        return found[::-1] if selection.descending else found

    # Text

    def _pieces(self, row: Standing) -> Iterator[Piece]:
        fields = self._fields(row.version)
        context = fields.get("context", ()) if fields.get("content") or fields.get("parts") else ()
        beside = {raw for entry in context if (raw := id_bytes(entry)) is not None}
        first = next(other.live_from for other in self.rows if other.version == row.version)
        changes = [at for neighbour in beside for at in self._changes(neighbour, row) if at > first]
        edges = sorted({row.live_from, *(at for at in changes if row.live_from < at < row.live_to)})
        for start, end in zip(edges, [*edges[1:], row.live_to], strict=True):
            begins = max((at for at in changes if at <= start), default=first)
            yield Piece(row._replace(live_from=start, live_to=end), begins, self._text(fields, row, start))

    def _changes(self, neighbour: bytes, row: Standing) -> Iterator[int]:
        """Versions at which a neighbour's text changed."""
        before: tuple[int, bool] | None = None
        for other in self.rows:
            if other.record == neighbour and (other.namespace, other.scope) == (row.namespace, row.scope):
                if (other.version, other.visible) != before:
                    yield other.live_from
                before = other.version, other.visible

    def _text(self, fields: dict[str, Any], row: Standing, at: int) -> str:
        own = fields.get("content") or "\n".join(part["text"] for part in fields.get("parts", ()))
        if not own:
            return ""
        return "\n".join([own, *(text for entry in fields.get("context", ()) if (text := self.entry_text(entry, row, at)))])

    def entry_text(self, entry: str, row: Standing, at: int) -> str:
        """What stands for an entry of a record's context at a version."""
        record = id_bytes(entry)
        if record is None:
            return entry
        for other in self.rows:
            same_slice = (other.namespace, other.scope) == (row.namespace, row.scope)
            if other.record == record and same_slice and other.visible and other.live_from <= at < other.live_to:
                return str(self._fields(other.version).get("content", ""))
        return ""

    def _fields(self, version: int) -> dict[str, Any]:
        payload = self.log[version - 1].payload
        return {} if payload is None else payload.fields

    def with_context_of(self, records: Sequence[bytes]) -> list[Piece]:
        """Visible records as they stand that are indexed together with the text of some others."""
        return [
            piece
            for piece in self.pieces
            if piece.standing.visible
            and piece.standing.live_to == FOREVER
            and not neighbours(self.log[piece.standing.version - 1]).isdisjoint(records)
        ]

    # What a planner asks

    def standing(self, record: bytes) -> Standing | None:
        return self.current.get(record)

    def claimants(self, slot: Slot) -> list[Standing]:
        return [row for row in self.current.values() if row.slot == slot]

    def holder(self, slot: Slot) -> Standing | None:
        return max(self.claimants(slot), key=lambda row: self.log[row.version - 1].order, default=None)

    def under_key(self, slot: Slot) -> set[bytes]:
        """Every record that was ever written under a key and not purged."""
        return {row.record for row in self.rows if row.slot == slot}

    def body(self, version: int) -> str:
        payload = self.log[version - 1].payload
        if payload is None:
            raise RecordNotFound(f"the text of version {version} was purged")
        return payload.body

    def retried(self, namespace: Namespace, scope: Scope, idempotency_key: str) -> Standing | None:
        for event in self.log:
            if event.op in STATE_OPS and event.payload is not None and event.payload.fields.get("idempotency_key") == idempotency_key:
                found = self.current[event.record]
                if (found.namespace, found.scope) == (namespace, scope):
                    return found
        return None

    def written_since(self, namespace: Namespace, scope: Scope, version: int, content: str) -> list[Standing]:
        return [
            row
            for row in self.current.values()
            if row.visible
            and (row.namespace, row.scope) == (namespace, scope)
            and row.live_from > version
            and content in self.body(row.version)
        ]

    def old_state(self, record: bytes, version: int | None, before: int) -> OldState | None:
        for event in reversed(self.log):
            wanted = event.version < before if version is None else event.version == version
            if event.record == record and event.op in STATE_OPS and wanted and event.payload is not None:
                return OldState(event.version, event.op, event.payload.body, event.expires_at)
        return None


def neighbours(event: Event) -> set[bytes]:
    """Records that an event names as context."""
    entries = [] if event.payload is None else event.payload.fields.get("context", ())
    return {record for entry in entries if (record := id_bytes(entry)) is not None}


def has_context(event: Event) -> bool:
    """Whether an event's state is indexed together with other text."""
    return event.payload is not None and "context" in event.payload.fields


def arrival_of(event: Event) -> Arrival:
    """What ``standings`` needs of an event."""
    fields = loads(event.payload.body) if event.payload is not None else {}
    return Arrival(
        event.version,
        event.op,
        event.record,
        event.order,
        event.expires_at,
        tuple(fields.get("namespace", ())),
        Scope(*(fields.get(name) for name in Scope._fields)),
        fields.get("key"),
        fields.get("parent"),
    )


def _admits(selection: Selection, row: Standing) -> bool:
    return (
        (row.visible or selection.hidden)
        and _in_namespace(selection, row.namespace)
        and selection.scope.admits(row.scope)
        and (selection.every_version or _stands(selection, row))
        and (selection.expiry == "all" or row.expired(selection.now_ms) == (selection.expiry == "expired"))
        and (selection.records is None or row.record in selection.records)
        and (selection.keys is None or row.key in selection.keys)
        and (selection.parent is None or row.parent == selection.parent)
    )


def _stands(selection: Selection, row: Standing) -> bool:
    if selection.version is None:
        return row.live_to == FOREVER
    return row.live_from <= min(selection.version, FOREVER - 1) < row.live_to


def _in_namespace(selection: Selection, namespace: Namespace) -> bool:
    wanted = selection.namespace
    if wanted is None:
        return True
    return namespace[: len(wanted)] == wanted if selection.prefix else namespace == wanted
