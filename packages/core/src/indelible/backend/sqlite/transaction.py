"""One write transaction: what the planner asks of it, and how planned events and their views are written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from indelible.backend.interface import Indexer
from indelible.backend.sqlite.documents import CONTEXT_PART, Documents, has_neighbours
from indelible.backend.sqlite.schema import queries
from indelible.base.canonical import dumps
from indelible.base.event import CHAIN_START, STATE_OPS, Op
from indelible.base.plan import Head, OldState, PartVector, Planned
from indelible.base.record import Namespace, Scope
from indelible.base.standing import Slot, Standing
from indelible.errors import RecordNotFound

_ROWS_TOGETHER = 256
"""Rows of one table that go in together; all those of a large import would be held in memory twice."""
MAX_NAMES = 50_000
"""So many slices are remembered; a store may have one for each user."""
LABEL_END = "\x1f"
"""Ends each label of a namespace in its column; labels cannot hold it, so a prefix of labels is a prefix of text."""


@lru_cache(maxsize=1024)
def namespace_text(namespace: Namespace) -> str:
    return "".join(label + LABEL_END for label in namespace)


def namespace_labels(text: str) -> Namespace:
    return tuple(text.split(LABEL_END)[:-1])


_OP_TEXTS = {op: op.value for op in Op}


class SliceNames:
    """Namespaces and scopes by slice id. Ids are never reused, so what was read once stays true; the last ones are remembered."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Namespace, Scope]] = {}

    def __call__(self, connection: sqlite3.Connection, slice_id: int) -> tuple[Namespace, Scope]:
        found = self._known.get(slice_id)
        if found is None:
            if len(self._known) >= MAX_NAMES:
                self._known.clear()
            namespace, *scope = connection.execute(queries()["slice_by_id"], (slice_id,)).fetchone()
            found = self._known[slice_id] = (namespace_labels(namespace), Scope(*scope))
        return found


def find_slice(connection: sqlite3.Connection, namespace: Namespace, scope: Scope) -> int | None:
    """The number of a namespace and scope, if it ever had records."""
    row = connection.execute(queries()["find_slice"], (namespace_text(namespace), *scope)).fetchone()
    return None if row is None else int(row[0])


def standing_of(connection: sqlite3.Connection, names: SliceNames, row: Sequence[Any]) -> Standing:
    """A row of ``state`` (record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at)."""
    namespace, scope = names(connection, row[5])
    return Standing(row[0], row[3], row[1], row[2], namespace, scope, row[6], row[7], bool(row[8]), row[9], row[10], row[11])


class Transaction:
    """A write in progress, on a connection that holds the write lock."""

    def __init__(self, connection: sqlite3.Connection, names: SliceNames, indexer: Indexer) -> None:
        self.connection = connection
        self.documents = Documents(connection, indexer)
        self._names = names
        self._sql = queries()
        self._slices: dict[tuple[Namespace, Scope], int] = {}
        self._models: dict[str, int] = {}
        # Who was written under the keys of many drafts, while these are planned.
        self._claimants: dict[Slot, list[Standing]] = {}

    # What the planner asks

    def standing(self, record: bytes) -> Standing | None:
        return self._one_standing("current", (record,))

    def holder(self, slot: Slot) -> Standing | None:
        standings = self.claimants(slot)
        if len(standings) < 2:
            return standings[0] if standings else None
        # Two devices made a record each under this key; only then is the order of their winners worth a join.
        return self._one_standing("holder", (self.find_slice(slot.namespace, slot.scope), slot.key))

    def look_ahead(self, slots: Iterable[Slot]) -> None:
        """Look up many keys at once, for ``holder`` and ``claimants`` to answer from until ``forget_keys``."""
        wanted: dict[int, list[Slot]] = {}
        for slot in slots:
            self._claimants[slot] = []
            slice_id = self.find_slice(slot.namespace, slot.scope)
            if slice_id is not None:
                wanted.setdefault(slice_id, []).append(slot)
        for slice_id, several in wanted.items():
            rows = self.connection.execute(self._sql["claimants_of_keys"], (slice_id, dumps([slot.key for slot in several]))).fetchall()
            for standing in [standing_of(self.connection, self._names, row) for row in rows]:
                if standing.slot is not None:
                    self._claimants[standing.slot].append(standing)

    def forget_keys(self) -> None:
        """What was looked up ahead is about to change."""
        self._claimants.clear()

    def claimants(self, slot: Slot) -> list[Standing]:
        known = self._claimants.get(slot)
        if known is not None:
            return known
        slice_id = self.find_slice(slot.namespace, slot.scope)
        if slice_id is None:
            return []
        rows = self.connection.execute(self._sql["claimants"], (slice_id, slot.key)).fetchall()
        return [standing_of(self.connection, self._names, row) for row in rows]

    def body(self, version: int) -> str:
        row = self.connection.execute(self._sql["body"], (version,)).fetchone()
        if row is None:
            raise RecordNotFound(f"the text of version {version} was purged")
        return str(row[0])

    def retried(self, namespace: Namespace, scope: Scope, idempotency_key: str) -> Standing | None:
        slice_id = self.find_slice(namespace, scope)
        return None if slice_id is None else self._one_standing("retried", (slice_id, idempotency_key))

    def written_since(self, namespace: Namespace, scope: Scope, version: int, content: str) -> list[Standing]:
        slice_id = self.find_slice(namespace, scope)
        if slice_id is None:
            return []
        rows = self.connection.execute(self._sql["written_since"], (slice_id, version, '"content":' + content)).fetchall()
        return [standing_of(self.connection, self._names, row) for row in rows]

    def old_state(self, record: bytes, version: int | None, before: int) -> OldState | None:
        if version is None:
            row = self.connection.execute(self._sql["state_event_before"], (record, before)).fetchone()
        else:
            row = self.connection.execute(self._sql["state_event"], (record, version)).fetchone()
        return None if row is None else OldState(row[0], Op(row[1]), row[2], row[3])

    def _one_standing(self, query: str, parameters: tuple[object, ...]) -> Standing | None:
        row = self.connection.execute(self._sql[query], parameters).fetchone()
        return None if row is None else standing_of(self.connection, self._names, row)

    # Where the log is

    def head(self, device: bytes) -> Head:
        """Where the log ends, and where the chain of a device does."""
        version, recorded_at = self.connection.execute(self._sql["newest"]).fetchone() or (0, 0)
        ends = {uuid: self.chain_end(device_id) for device_id, uuid in self.connection.execute(self._sql["devices"]).fetchall()}
        clock = max((end[2] for end in ends.values()), default=0)
        seq, digest, _ = ends.get(device, (0, CHAIN_START, 0))
        return Head(version, recorded_at, clock, device, seq, digest)

    def chain_end(self, device_id: int) -> tuple[int, bytes, int]:
        """Sequence number, hash and clock of a device's last event."""
        row = self.connection.execute(self._sql["chain_end"], (device_id,)).fetchone()
        return (0, CHAIN_START, 0) if row is None else (row[0], row[1], row[2])

    def device_id(self, uuid: bytes) -> int:
        row = self.connection.execute(self._sql["device_by_uuid"], (uuid,)).fetchone()
        return int(row[0]) if row else int(self.connection.execute(self._sql["add_device"], (uuid,)).lastrowid or 0)

    def sharing_key(self, record: bytes) -> list[bytes]:
        """Other records that were ever written under the same key."""
        rows = self.connection.execute(self._sql["sharing_key"], (record, record)).fetchall()
        return [row[0] for row in rows]

    # Interned names

    def forget_names(self) -> None:
        """Slices may have been deleted: look them up again."""
        self._slices.clear()

    def find_slice(self, namespace: Namespace, scope: Scope) -> int | None:
        known = self._slices.get((namespace, scope))
        if known is not None:
            return known
        found = find_slice(self.connection, namespace, scope)
        if found is not None:
            self._remember(namespace, scope, found)
        return found

    def _remember(self, namespace: Namespace, scope: Scope, slice_id: int) -> int:
        if len(self._slices) >= MAX_NAMES:
            self._slices.clear()
        self._slices[namespace, scope] = slice_id
        return slice_id

    def slice_id(self, namespace: Namespace, scope: Scope) -> int:
        found = self._slices.get((namespace, scope)) or self.find_slice(namespace, scope)
        if found is None:
            cursor = self.connection.execute(self._sql["add_slice"], (namespace_text(namespace), *scope))
            found = self._remember(namespace, scope, int(cursor.lastrowid or 0))
        return found

    def model_id(self, name: str) -> int:
        known = self._models.get(name)
        if known is None:
            row = self.connection.execute(self._sql["model"], (name,)).fetchone()
            known = row[0] if row else int(self.connection.execute(self._sql["add_model"], (name,)).lastrowid or 0)
            self._models[name] = known
        return known

    # Writing planned events

    # Bytes are bound as bytearrays: for these the driver does not ask around for an adapter, which takes four times as long.

    def write(self, planned: Sequence[Planned], device_id: int, recorded_at: int) -> None:
        """Write the events of this transaction and bring every view up to them."""
        txn = planned[-1].version
        for start in range(0, len(planned), _ROWS_TOGETHER):
            some = planned[start : start + _ROWS_TOGETHER]
            self._insert(
                "add_event",
                [
                    (
                        e.version, txn, recorded_at, device_id, e.seq, e.clock, _OP_TEXTS[e.op], bytearray(e.record),
                        None if e.commitment is None else bytearray(e.commitment), e.expires_at, bytearray(e.hash),
                    )
                    for e in some
                ],
            )  # fmt: skip
            self._insert("add_payload", [(e.version, bytearray(e.salt), e.body) for e in some if e.salt is not None])
        self.documents.packs.expect(len(planned))
        self._project(planned)
        self.documents.packs.pack_due()
        self.documents.postings.pack(planned[-1].version)

    def _insert(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        # Most writes are of one row, which executemany takes almost twice as long for.
        if len(rows) == 1:
            self.connection.execute(self._sql[query], rows[0])
        elif rows:
            self.connection.executemany(self._sql[query], rows)

    def _project(self, planned: Sequence[Planned]) -> None:
        # Runs of new records need no lookup and go in together; everything else is applied in order.
        fresh: list[Planned] = []
        changed: list[bytes] = []
        for event in planned:
            # What has a context takes into its index text records that may be of this very transaction.
            if event.is_new and not (event.body is not None and '"context":' in event.body):
                fresh.append(event)
                if len(fresh) == _ROWS_TOGETHER:
                    self._begin(fresh)
                    fresh = []
                continue
            self._begin(fresh)
            fresh = []
            if event.is_new:
                self._write_extras(event)
                self.add_states(event.opens)
                continue
            for standing in event.opens:
                self.connection.execute(self._sql["close_state"], (event.version, standing.record))
            self.add_states(event.opens)
            if event.op in STATE_OPS:
                changed += self.documents.dependents(event.record)
            changed += [standing.record for standing in event.opens if self.documents.has_context(standing.record)]
            if len(event.opens) > 1:
                # A record other than the event's own changed, which caches that follow events would not notice.
                self.connection.execute(self._sql["raise_epoch"])
            self._write_extras(event)
            if event.op is Op.PURGE:
                self.destroy(event.record)
        self._begin(fresh)
        if changed:
            self.documents.refresh(changed)

    def _begin(self, events: Sequence[Planned]) -> None:
        """Write the views of new records, all rows of a table at once."""
        if not events:
            return
        states, retries, documents = [], [], []
        for event in events:
            standing = event.opens[0]
            slice_id = self.slice_id(standing.namespace, standing.scope)
            states.append(self._state_row(standing, slice_id))
            if event.idempotency_key is not None:
                retries.append((slice_id, event.idempotency_key, event.version, event.record))
            if event.vectors:
                self._write_vectors(event, slice_id)
            if event.body is not None:
                words = self.documents.read_words(event.record, slice_id, event.body, event.version)
                if words:
                    documents.append((event.version, words))
        self._insert("add_state", states)
        self._insert("add_retry", retries)
        self.documents.add(documents)

    def _write_vectors(self, event: Planned, slice_id: int) -> None:
        vectors = [(part, self.model_id(model), data) for part, model, data in event.vectors or ()]
        self.documents.packs.add(slice_id, event.version, vectors)

    def _write_extras(self, event: Planned) -> None:
        if event.idempotency_key is not None:
            standing = event.opens[0]
            slice_id = self.slice_id(standing.namespace, standing.scope)
            self.connection.execute(self._sql["add_retry"], (slice_id, event.idempotency_key, event.version, event.record))
        if event.vectors:
            standing = event.opens[0]
            self._write_vectors(event, self.slice_id(standing.namespace, standing.scope))
        if event.vectors_of is not None:
            row = self.connection.execute(self._sql["current_document"], (event.record, event.vectors_of)).fetchone()
            self.documents.packs.copy(row[0] if row else event.vectors_of, event.version)
            if event.op is Op.RESTORE and event.body is not None and has_neighbours(event.body):
                # They were made with its neighbours as they were then.
                self.documents.packs.remove_parts(event.version, CONTEXT_PART)
        if event.body is not None and event.op in (Op.REMEMBER, Op.REVISE, Op.RESTORE):
            standing = event.opens[0]
            slice_id = self.slice_id(standing.namespace, standing.scope)
            self.documents.index(event.version, event.record, slice_id, event.body, event.version)

    def add_states(self, standings: Iterable[Standing]) -> None:
        """Open rows of the state view."""
        self._insert("add_state", [self._state_row(s, self.slice_id(s.namespace, s.scope)) for s in standings])

    def _state_row(self, s: Standing, slice_id: int) -> tuple[object, ...]:
        return (
            bytearray(s.record), s.live_from, s.live_to, s.version, s.version, slice_id, s.key, s.parent, 1 if s.visible else 0, s.created,
            s.updated, s.expires_at,
        )  # fmt: skip

    def add_vectors(self, vectors: Iterable[tuple[int, PartVector]]) -> None:
        """Set vectors of documents that may have some already."""
        rows = [(doc, vector.part, self.model_id(vector.model), bytearray(vector.data)) for doc, vector in vectors]
        if rows:
            models: dict[int, set[int]] = {}
            for doc, _, model, _ in rows:
                models.setdefault(doc, set()).add(model)
            self.documents.packs.loosen(models, models)
            self._insert("set_vector", rows)

    # Destroying

    def destroy(self, record: bytes) -> None:
        """Delete every clear text of a purged record, wherever it stands."""
        slices = [row[0] for row in self.connection.execute(self._sql["slices_of_record"], (record,))]
        dependents = self.documents.dependents(record)
        self.documents.drop_record(record)
        self.connection.execute(self._sql["drop_states"], (record,))
        self.connection.execute(self._sql["drop_retries"], (record,))
        self.connection.execute(self._sql["drop_payloads"], (record,))
        self.connection.execute(self._sql["drop_empty_slices"], (str(slices),))
        self.forget_names()
        self.documents.refresh(dependents, purged=True)

    def raise_epoch(self) -> None:
        """Vectors are missing that caches may believe in."""
        self.connection.execute(self._sql["raise_epoch"])

    def finish_purge(self) -> None:
        """After a batch of purges: caches elsewhere must start over."""
        self.connection.execute(self._sql["drop_settings_of_empty_namespaces"])
        self.connection.execute(self._sql["raise_epoch"])
