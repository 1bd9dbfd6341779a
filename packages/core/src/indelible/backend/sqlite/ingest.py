"""Taking events of other stores into the log."""

from __future__ import annotations

from collections.abc import Iterable

from indelible.backend.interface import Ingested
from indelible.backend.sqlite.documents import CONTEXT_PART
from indelible.backend.sqlite.packs import stored_vectors
from indelible.backend.sqlite.replay import reproject
from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.transaction import Transaction
from indelible.base.canonical import loads
from indelible.base.clock import from_future
from indelible.base.event import STATE_OPS, Event, Op
from indelible.base.plan import PartVector
from indelible.base.record import Scope
from indelible.errors import IntegrityFailure


class Ingestion:
    """One import, inside one write transaction.

    Every event must follow its device's chain as far as this store has it; a known one must be the same. Payloads are checked against
    their commitments, and one that is missing must belong to a record that some event purges.
    """

    def __init__(self, transaction: Transaction, now_us: int, recorded_at: int, first_version: int) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        self._now_us = now_us
        self._recorded_at = recorded_at
        self._version = first_version - 1
        self._first = first_version
        self._was_empty = first_version == 1
        self._affected: dict[bytes, None] = {}
        self._missing: set[bytes] = set()
        self._devices: dict[bytes, tuple[int, int, bytes]] = {}

    def run(self, events: Iterable[Event], vectors: Iterable[tuple[bytes, int, PartVector]]) -> Ingested:
        new, known = self._sort_out(events)
        txn = self._version + len(new)
        for event in new:
            self._store(event, txn)
        self._purge()
        self._check_missing()
        # Before the views are made: records that context splits hand their vectors on.
        revised = self._add_vectors(vectors)
        reproject(self._transaction, self._affected)
        if new or revised:
            # An old event may have changed records that it does not name, and vectors may have come for old ones; caches must start over.
            self._connection.execute(queries()["raise_epoch"])
        self._index_retries(new)
        self._pack_vectors()
        self._transaction.documents.postings.pack(txn)
        return Ingested(len(new), known)

    def _sort_out(self, events: Iterable[Event]) -> tuple[list[Event], int]:
        new: list[Event] = []
        known = 0
        for event in events:
            device_id, seq, head = self._device(event.device)
            if event.seq <= seq:
                self._check_same(device_id, event, new)
                known += 1
                continue
            self._check_next(event, seq, head)
            self._devices[event.device] = (device_id, event.seq, event.hash)
            new.append(event)
        return new, known

    def _device(self, uuid: bytes) -> tuple[int, int, bytes]:
        found = self._devices.get(uuid)
        if found is None:
            device_id = self._transaction.device_id(uuid)
            seq, digest, _ = self._transaction.chain_end(device_id)
            found = self._devices[uuid] = (device_id, seq, digest)
        return found

    def _check_same(self, device_id: int, event: Event, new: list[Event]) -> None:
        row = self._connection.execute(queries()["event_by_origin"], (device_id, event.seq)).fetchone()
        stored = row[1] if row is not None else next(e.hash for e in new if (e.device, e.seq) == (event.device, event.seq))
        if stored != event.hash:
            raise IntegrityFailure(
                f"device {event.device.hex()} wrote two different events with number {event.seq}: one file is a copy that went on under "
                "the same identity; restore copies with restore_backup, which gives them their own"
            )

    def _check_next(self, event: Event, seq: int, head: bytes) -> None:
        name = f"event {event.seq} of device {event.device.hex()}"
        if event.seq != seq + 1:
            raise IntegrityFailure(f"{name} is here, but events {seq + 1} to {event.seq - 1} before it are missing: import a full export")
        if event.previous != head or event.computed_hash() != event.hash:
            raise IntegrityFailure(f"{name} does not follow from the one before it: the chain is broken, nothing was imported")
        if not event.payload_matches():
            raise IntegrityFailure(f"the text of {name} is not the one its hash commits to: nothing was imported")
        if from_future(event.clock, self._now_us):
            raise IntegrityFailure(f"{name} was written more than a day in the future: set this machine's clock, or that one's, right")

    def _store(self, event: Event, txn: int) -> None:
        self._version += 1
        device_id = self._devices[event.device][0]
        self._connection.execute(
            queries()["add_event"],
            (
                self._version, txn, self._recorded_at, device_id, event.seq, event.clock, event.op, event.record, event.commitment,
                event.expires_at, event.hash,
            ),
        )  # fmt: skip
        if event.payload is not None:
            self._connection.execute(queries()["add_payload"], (self._version, event.payload.salt, event.payload.body))
        elif event.commitment is not None:
            self._missing.add(event.record)
        if event.op in STATE_OPS or event.op in (Op.TOUCH, Op.PURGE, Op.VOTE):
            self._affected[event.record] = None

    def _purge(self) -> None:
        """Purge beats everything: also what arrives after it, and what another record under the same key would bring back."""
        purged = [record for record in self._affected if self._is_purged(record)]
        for record in purged:
            for other in self._transaction.sharing_key(record):
                self._affected[other] = None
            self._transaction.destroy(record)
            self._affected.pop(record, None)
        if purged:
            self._transaction.finish_purge()

    def _is_purged(self, record: bytes) -> bool:
        return self._connection.execute(queries()["is_purged"], (record,)).fetchone() is not None

    def _check_missing(self) -> None:
        for record in self._missing:
            if not self._is_purged(record):
                raise IntegrityFailure(f"record {record.hex()} comes without its text, and nothing purged it: import a full export")

    def _index_retries(self, new: list[Event]) -> None:
        for version, event in enumerate(new, self._version - len(new) + 1):
            if event.op not in (Op.REMEMBER, Op.REVISE) or event.payload is None or '"idempotency_key":' not in event.payload.body:
                continue
            fields = loads(event.payload.body)
            if "idempotency_key" in fields and not self._is_purged(event.record):
                scope = Scope(*(fields.get(name) for name in Scope._fields))
                slice_id = self._transaction.slice_id(tuple(fields.get("namespace", ())), scope)
                self._connection.execute(queries()["add_retry"], (slice_id, fields["idempotency_key"], version, event.record))

    def _pack_vectors(self) -> None:
        rows = (self._connection.execute(queries()["slices_of_record"], (record,)).fetchall() for record in self._affected)
        for slice_id in {row[0] for some in rows for row in some}:
            self._transaction.documents.packs.pack(slice_id)

    def _add_vectors(self, vectors: Iterable[tuple[bytes, int, PartVector]]) -> bool:
        """Keep the vectors of events that are here; says whether those of events that were here before are others now."""
        revised = False
        for device, seq, vector in vectors:
            device_id, _, _ = self._device(device)
            row = self._connection.execute(queries()["event_by_origin"], (device_id, seq)).fetchone()
            body = None if row is None else self._connection.execute(queries()["body"], (row[0],)).fetchone()
            # A vector that embeds neighbours as they stood elsewhere says nothing of how they stand here.
            elsewhere = vector.part.startswith(CONTEXT_PART) and not self._was_empty
            if body is not None and not (elsewhere and '"context":' in body[0]):
                if row[0] < self._first:
                    if vector in stored_vectors(self._connection, row[0]):
                        continue
                    revised = True
                self._transaction.add_vectors([(row[0], vector)])
        return revised
