"""What the in-memory reference keeps, and everything that follows from it, derived anew instead of kept current."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from indelible.backend.interface import CacheEntry, Selection
from indelible.base.canonical import loads
from indelible.base.event import CHAIN_START, STATE_OPS, Event, Op
from indelible.base.plan import Head, OldState, PartVector
from indelible.base.record import Namespace, Scope
from indelible.base.standing import FOREVER, Arrival, Slot, Standing, standings
from indelible.errors import RecordNotFound


@dataclass
class Medium:
    """What would lie on a disk: it outlives the backend that writes it, and two backends may share one.

    Attributes:
        log: every event, its payload with it until a purge.
        vectors: data by (version, part, model).
        models: names of all that ever made a vector.
        settings: text by name.
        cache: entries of cache collections by (namespace, key).
        device: who writes here; ``None`` before the first write.
        continues: for a copy that has not written yet, the device it was copied from.
        epoch: rises whenever what was derived must be derived anew.
    """

    log: list[Event] = field(default_factory=list)
    vectors: dict[tuple[int, str, str], bytes] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)
    cache: dict[tuple[Namespace, str], CacheEntry] = field(default_factory=dict)
    device: bytes | None = None
    continues: bytes | None = None
    epoch: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    _view: View | None = None

    def view(self) -> View:
        """How everything stands now; derived anew after each write."""
        with self.lock:
            if self._view is None:
                self._view = View(self.log)
            return self._view

    def copied(self) -> Medium:
        """What copying a file makes: the same contents, and another device before the first write."""
        with self.lock:
            return Medium(
                log=list(self.log),
                vectors=dict(self.vectors),
                models=set(self.models),
                settings=dict(self.settings),
                cache=dict(self.cache),
                continues=self.device if self.continues is None else self.continues,
                epoch=self.epoch,
            )

    def head(self, device: bytes) -> Head:
        """Where the log ends, and where a device's chain does."""
        last = self.log[-1] if self.log else None
        clock = max((event.clock for event in self.log), default=0)
        seq, digest = self.chain_end(device)
        return Head(last.version if last else 0, last.recorded_at if last else 0, clock, device, seq, digest)

    def chain_end(self, device: bytes) -> tuple[int, bytes]:
        """Sequence number and hash of a device's last event."""
        own = [event for event in self.log if event.device == device]
        return (own[-1].seq, own[-1].hash) if own else (0, CHAIN_START)

    def take(self, events: Sequence[Event]) -> None:
        """Append events, and destroy the clear text of every record that any event purges."""
        self.log.extend(events)
        self._view = None
        gone = {event.record for event in self.log if event.op is Op.PURGE}
        if any(event.record in gone for event in events):
            self.log[:] = [replace(e, payload=None) if e.record in gone and e.op is not Op.PURGE else e for e in self.log]
            alive = {event.version for event in self.log if event.record not in gone}
            self.vectors = {place: data for place, data in self.vectors.items() if place[0] in alive}
            self.epoch += 1

    def add_vector(self, version: int, vector: PartVector) -> None:
        """Keep a vector, unless what it stands for is gone."""
        if self.holds_text(version):
            self.vectors[version, vector.part, vector.model] = vector.data
            self.models.add(vector.model)

    def holds_text(self, version: int) -> bool:
        """Whether the payload of a version is still there."""
        return 0 < version <= len(self.log) and self.log[version - 1].payload is not None


class View:
    """How everything stands after a log; also what a planner asks."""

    def __init__(self, log: Sequence[Event]) -> None:
        self.log = list(log)
        self.purged = {event.record for event in log if event.op is Op.PURGE}
        self.rows = standings(map(arrival_of, log), self.purged)
        self.current = {row.record: row for row in self.rows if row.live_to == FOREVER}

    def select(self, selection: Selection) -> list[Standing]:
        """Rows of a selection, in its order and before paging.

        ``equals`` is left alone: it only allows a backend to skip what the caller drops in any case.
        """
        rows = [row for row in self.rows if _admits(selection, row)]
        rows.sort(key=lambda row: (row.created if selection.order == "created" else row.updated, row.record), reverse=selection.descending)
        return rows

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

    def old_state(self, record: bytes, version: int | None, before: int) -> OldState | None:
        for event in reversed(self.log):
            wanted = event.version < before if version is None else event.version == version
            if event.record == record and event.op in STATE_OPS and wanted and event.payload is not None:
                return OldState(event.version, event.op, event.payload.body, event.expires_at)
        return None


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
        row.visible
        and _in_namespace(selection, row.namespace)
        and selection.scope.admits(row.scope)
        and (row.live_to == FOREVER if selection.version is None else row.live_from <= min(selection.version, FOREVER - 1) < row.live_to)
        and (selection.expiry == "all" or row.expired(selection.now_ms) == (selection.expiry == "expired"))
        and (selection.records is None or row.record in selection.records)
        and (selection.keys is None or row.key in selection.keys)
        and (selection.parent is None or row.parent == selection.parent)
    )


def _in_namespace(selection: Selection, namespace: Namespace) -> bool:
    wanted = selection.namespace
    if wanted is None:
        return True
    return namespace[: len(wanted)] == wanted if selection.prefix else namespace == wanted
