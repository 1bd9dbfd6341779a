"""The SQLite backend: the verbs of ``Backend`` over one file."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from indelible.backend.interface import (
    CacheEntry,
    ContextRead,
    Indexer,
    Ingested,
    Report,
    Selection,
    Vacuumed,
)
from indelible.backend.sqlite.connection import BUSY_TIMEOUT_S, Connections
from indelible.backend.sqlite.failures import translated
from indelible.backend.sqlite.files import place
from indelible.backend.sqlite.ingest import Ingestion
from indelible.backend.sqlite.postings import Waiting
from indelible.backend.sqlite.reading import SqliteReads
from indelible.backend.sqlite.replay import rebuild_views
from indelible.backend.sqlite.schema import prepare, queries
from indelible.backend.sqlite.selection import OF_DOCUMENT, OF_MODELS, state_conditions
from indelible.backend.sqlite.transaction import SliceNames, Transaction, namespace_text
from indelible.backend.sqlite.upkeep import (
    Verification,
    checkpoint,
    copied,
    open_read_only,
    vacuum,
)
from indelible.base.clock import Clock, SystemClock
from indelible.base.event import Event
from indelible.base.ids import ID_BYTES, IdSource, uuid7
from indelible.base.plan import CONTEXT_PART, Draft, Head, PartVector, Planner, Written, plan_all
from indelible.base.record import Namespace
from indelible.base.standing import Slot
from indelible.errors import IntegrityFailure

_MEMORY_PLACE = "memory"
_MAX_SETTINGS = 1000
_MANY = 8
"""So many drafts have their keys looked up together."""
_IS_CHANGED = itemgetter(Written._fields.index("changed"))
_IS_STALE = itemgetter(Written._fields.index("stale"))

NORMALISER = "normaliser"
"""Under which name a store keeps the version of the normaliser that made its index."""


@dataclass(slots=True)
class _KnownLog:
    """What this process knows of the end of the log.

    Attributes:
        stamp: until when it holds: no rollback of ours, no commit of others.
        transaction: with the names it has looked up.
        head: where the log and our chain end.
        device_id: our number among the devices.
        continues: for a copy that has not written yet, the head of the device it goes on from.
        settings: by their names in the file, with those that are not there.
    """

    stamp: tuple[int, int]
    transaction: Transaction
    head: Head
    device_id: int
    continues: Head | None
    settings: dict[str, str | None] = field(default_factory=dict)


class SqliteBackend(SqliteReads):
    """One SQLite file, or a database in memory.

    Args:
        path: the file, or ``":memory:"``.
        indexer: makes the keyword index's text.
        clock, new_id: injectable sources of time and ids.
        timeout_s: how long a write waits for other writers.

    Raises:
        StoreUnavailable: the file cannot be created or opened.
        SchemaMismatch: it is not one of ours, or of a newer release.
    """

    def __init__(
        self,
        path: str,
        indexer: Indexer,
        *,
        clock: Clock | None = None,
        new_id: IdSource = uuid7,
        timeout_s: float = BUSY_TIMEOUT_S,
    ) -> None:
        self._indexer = indexer
        self._clock = clock or SystemClock()
        self._new_id = new_id
        self._names = SliceNames()
        self._waiting = Waiting(indexer.stem)
        self._connections = Connections(path, timeout_s)
        self.path = self._connections.path
        self._known: _KnownLog | None = None
        try:
            prepare(self._connections, indexer.stem)
            self._follow_normaliser()
        except BaseException:
            self._connections.close()
            raise

    def _follow_normaliser(self) -> None:
        """Index the text anew if another release's normaliser did it: what it left would not be found by this one's words."""
        query, version = queries()["meta"], self._indexer.version
        with self._connections.read(snapshot=False) as connection:
            stored = connection.execute(query, (NORMALISER,)).fetchone()
        if stored is not None and stored[0] == version:
            return
        with self._connections.write() as connection:
            stored = connection.execute(query, (NORMALISER,)).fetchone()
            if stored is not None and stored[0] != version:
                rebuild_views(self._transaction(connection))
            connection.execute(queries()["set_meta"], (NORMALISER, version))

    # Writing

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        if not drafts:
            return []
        with self._connections.write() as connection:
            known = self._known_log(connection)
            for draft in drafts:
                if draft.requires is not None and self._stored(connection, known, _entry(*draft.requires[:2])) != draft.requires.value:
                    return []
            planner = Planner(known.transaction, known.head, self._clock.now_us(), new_id=self._new_id)
            if known.continues is not None:
                planner.plan_device(known.continues)
            if len(drafts) >= _MANY:
                known.transaction.look_ahead(
                    Slot(d.namespace, d.scope, d.key) for d in drafts if d.key is not None and d.namespace is not None
                )
            try:
                written = plan_all(planner, drafts)
            finally:
                known.transaction.forget_keys()
            if any(map(_IS_CHANGED, written)):
                if known.continues is not None:
                    connection.execute(queries()["delete_meta"], ("continues",))
                known.transaction.write(planner.planned, known.device_id, planner.recorded_at)
                known.head, known.continues = planner.head, None
            if planner.purges:
                known.settings.clear()
                known.transaction.finish_purge()
            elif any(map(_IS_STALE, written)) and any(outcome.changed and outcome.stale for outcome in written):
                known.transaction.raise_epoch()
        if planner.purges:
            self._wipe()
        return written

    def _known_log(self, connection: sqlite3.Connection) -> _KnownLog:
        """Where the log and our chain end: remembered as long as nobody else wrote and nothing was rolled back."""
        stamp = (self._connections.generation, self._connections.others)
        known = self._known
        if known is None or known.stamp != stamp or known.continues is not None:
            transaction = self._transaction(connection)
            device, continues = self._own_device(connection, transaction)
            head = transaction.head(device)
            known = self._known = _KnownLog(stamp, transaction, head, transaction.device_id(device), continues)
        return known

    def _own_device(self, connection: sqlite3.Connection, transaction: Transaction) -> tuple[bytes, Head | None]:
        """This file's device; one that is a copy gets a new one, and the head it goes on from."""
        sql = queries()
        stored = connection.execute(sql["meta"], ("device",)).fetchone()
        # Looked at anew each time: another file may stand under this name than when the store was opened.
        here = _MEMORY_PLACE if self._connections.in_memory else place(self.path)
        at = connection.execute(sql["meta"], ("place",)).fetchone()
        if stored is not None and at is not None and at[0] == here:
            continues = connection.execute(sql["meta"], ("continues",)).fetchone()
            return stored[0], None if continues is None else transaction.head(continues[0])
        device = os.urandom(ID_BYTES)
        connection.execute(sql["set_meta"], ("device", device))
        connection.execute(sql["set_meta"], ("place", here))
        if stored is None:
            return device, None
        # Said by an event of the first transaction that writes something, which need not be this one.
        connection.execute(sql["set_meta"], ("continues", stored[0]))
        return device, transaction.head(stored[0])

    def _transaction(self, connection: sqlite3.Connection) -> Transaction:
        return Transaction(connection, self._names, self._indexer)

    def _wipe(self) -> None:
        """Empty the write-ahead log, which still has the pages from before a purge."""
        if self._connections.in_memory:
            return
        with self._connections.exclusive() as connection:
            checkpoint(connection)

    def ingest(self, events: Iterable[Event], vectors: Iterable[tuple[bytes, int, PartVector]] = ()) -> Ingested:
        with self._connections.write() as connection:
            now_us = self._clock.now_us()
            version, recorded_at = connection.execute(queries()["newest"]).fetchone() or (0, 0)
            self._known = None
            ingestion = Ingestion(self._transaction(connection), now_us, max(recorded_at, now_us // 1000), version + 1)
            ingested = ingestion.run(events, vectors)
        if ingestion.purged:
            self._wipe()
        return ingested

    def put_vectors(self, vectors: Iterable[tuple[int, PartVector]], context: Mapping[int, ContextRead] | None = None) -> None:
        with self._connections.write() as connection:
            transaction = self._transaction(connection)
            changed = {doc for doc, read in (context or {}).items() if not transaction.documents.still_reads(doc, read)}
            transaction.add_vectors(
                (doc, vector)
                for doc, vector in vectors
                if not (doc in changed and vector.part.startswith(CONTEXT_PART))
                and connection.execute(queries()["has_document"], (doc, doc)).fetchone()
            )
            connection.execute(queries()["raise_epoch"])

    def drop_vectors(self, selection: Selection, models: Sequence[str]) -> None:
        where = state_conditions(selection)
        names = json.dumps(list(models))
        waiting = f"SELECT v.id FROM state s JOIN vector v ON {OF_DOCUMENT} WHERE {where.sql} AND {OF_MODELS}"
        packed = f"SELECT k.doc FROM state s JOIN packed k ON k.doc = s.doc JOIN pack v ON v.id = k.pack WHERE {where.sql} AND {OF_MODELS}"
        with self._connections.write() as connection:
            docs = {row[0] for row in connection.execute(packed, (*where.values, names)).fetchall()}
            self._transaction(connection).documents.packs.take_out(docs)
            connection.execute(f"DELETE FROM vector WHERE id IN ({waiting})", (*where.values, names))
            connection.execute(queries()["raise_epoch"])

    def setting(self, name: str, value: str | None = None, *, namespace: Namespace | None = None) -> str | None:
        entry = _entry(name, namespace)
        if value is not None:
            with self._connections.write() as connection:
                if self._known is not None:
                    self._known.settings.clear()
                connection.execute(queries()["set_meta"], (entry, value))
            return value
        at_hand, stored = self._setting_at_hand(entry)
        if at_hand:
            return stored
        with self._connections.read(snapshot=False) as connection:
            row = connection.execute(queries()["meta"], (entry,)).fetchone()
        return None if row is None else str(row[0])

    def _setting_at_hand(self, entry: str) -> tuple[bool, str | None]:
        """A setting as the writer's connection knows it, if that is free: every write asks, and a reader would have to read anew."""
        connections, lock = self._connections, self._connections.lock
        if self._known is None or lock.in_use:
            return False, None
        try:
            try:
                if not lock.take_here_at_once():
                    return False, None
                known = self._known
                writer = None if known is None else connections.unchanged_writer(*known.stamp)
                if known is None or writer is None:
                    return False, None
                return True, self._stored(writer, known, entry)
            except sqlite3.Error:
                return False, None  # an ordinary read will say what is wrong
            finally:
                lock.let_go()
        finally:
            # Ctrl-C may come at any point, also where the lock is about to be let go; what is let go already stays so.
            lock.let_go()

    def _stored(self, connection: sqlite3.Connection, known: _KnownLog, entry: str) -> str | None:
        """A setting as a writer that knows the log reads it."""
        if entry not in known.settings:
            if len(known.settings) >= _MAX_SETTINGS:
                known.settings.clear()
            row = connection.execute(queries()["meta"], (entry,)).fetchone()
            known.settings[entry] = None if row is None else str(row[0])
        return known.settings[entry]

    def cache_put(self, namespace: Namespace, entries: Sequence[CacheEntry], remove: Sequence[str] = ()) -> None:
        text = namespace_text(namespace)
        with self._connections.write() as connection:
            connection.executemany(queries()["cache_put"], [(text, e.key, e.value, e.updated, e.expires_at) for e in entries])
            connection.executemany(queries()["cache_remove"], [(text, key) for key in remove])

    # Upkeep

    def verify(self) -> Report:
        with self._connections.write() as connection:
            return Verification(connection, self._transaction(connection), self._names).run()

    def rebuild(self) -> None:
        with self._connections.write() as connection:
            self._known = None
            rebuild_views(self._transaction(connection))
            connection.execute(queries()["set_meta"], (NORMALISER, self._indexer.version))

    def vacuum(self) -> Vacuumed:
        with self._connections.write() as connection:
            self._transaction(connection).documents.packs.pack_everything()
        return vacuum(self._connections)

    def backup(self, target: str) -> Report:
        with copied(self._connections.read(), target) as partial:
            return verified(partial, self._indexer, self._clock)

    def close(self) -> None:
        self._connections.close()


def _entry(name: str, namespace: Namespace | None) -> str:
    """Under which name a setting stands in the file."""
    return f"setting:{name}" if namespace is None else f"setting:{name}@{namespace_text(namespace)}"


def restore_file(backup: str, target: str, indexer: Indexer, clock: Clock) -> Report:
    """Make a new store from a backup, verified; it takes a device identity of its own before it writes.

    Raises:
        InvalidInput: something stands at the target.
        IntegrityFailure: the backup does not verify.
        SchemaMismatch: it is not one of ours, or of a newer release.
        StoreUnavailable: there is no such backup.
    """
    with translated(backup), copied(open_read_only(backup), target) as partial:
        return verified(partial, indexer, clock)


def verified(path: str, indexer: Indexer, clock: Clock) -> Report:
    """The report on a copy that nobody else has open.

    Raises:
        IntegrityFailure: it does not verify.
    """
    copy = SqliteBackend(path, indexer, clock=clock)
    try:
        report = copy.verify()
    finally:
        copy.close()
    if not report.ok:
        raise IntegrityFailure(f"the copy does not verify and was not kept: {'; '.join(report.problems[:3])}")
    return report
