"""The SQLite backend: the verbs of ``Backend`` over one file."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from indelible.backend.interface import (
    Backend,
    CacheEntry,
    Corpus,
    Found,
    Indexer,
    Ingested,
    Mark,
    Report,
    Row,
    Selection,
    Vacuumed,
    VectorRow,
)
from indelible.backend.sqlite.connection import BUSY_TIMEOUT_S, PRAGMAS, Connections
from indelible.backend.sqlite.failures import translated
from indelible.backend.sqlite.files import place
from indelible.backend.sqlite.ingest import Ingestion
from indelible.backend.sqlite.keyword import find_candidates
from indelible.backend.sqlite.replay import rebuild_views
from indelible.backend.sqlite.schema import SCHEMA_VERSION, prepare, queries
from indelible.backend.sqlite.selection import STATE_COLUMNS, ordering, paging, state_conditions
from indelible.backend.sqlite.transaction import SliceNames, Transaction, namespace_labels, namespace_text, standing_of
from indelible.backend.sqlite.upkeep import (
    Verification,
    check_keyword_index,
    checkpoint,
    copied,
    open_read_only,
    read_events,
    size_on_disk,
    vacuum,
)
from indelible.base.clock import Clock, SystemClock
from indelible.base.event import Event, Op
from indelible.base.ids import ID_BYTES, IdSource, uuid7
from indelible.base.plan import Draft, Head, PartVector, Planner, Written, plan_all
from indelible.base.record import Namespace, Scope
from indelible.base.standing import FOREVER
from indelible.errors import IntegrityFailure

_MEMORY_PLACE = "memory"


@dataclass(slots=True)
class _KnownLog:
    """What this process knows of the end of the log.

    Attributes:
        stamp: until when it holds: no rollback of ours, no commit of others.
        transaction: with the names it has looked up.
        head: where the log and our chain end.
        device_id: our number among the devices.
        continues: for a copy that has not written yet, the head of the device it goes on from.
    """

    stamp: tuple[int, int]
    transaction: Transaction
    head: Head
    device_id: int
    continues: Head | None


class SqliteBackend(Backend):
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
        self._connections = Connections(path, timeout_s)
        self.path = self._connections.path
        self._known: _KnownLog | None = None
        try:
            prepare(self._connections)
        except BaseException:
            self._connections.close()
            raise

    # Writing

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        if not drafts:
            return []
        with self._connections.write() as connection:
            known = self._known_log(connection)
            planner = Planner(known.transaction, known.head, self._clock.now_us(), new_id=self._new_id)
            if known.continues is not None:
                planner.plan_device(known.continues)
            written = plan_all(planner, drafts)
            purged = any(event.op is Op.PURGE for event in planner.planned)
            if any(outcome.changed for outcome in written):
                if known.continues is not None:
                    connection.execute(queries()["delete_meta"], ("continues",))
                known.transaction.write(planner.planned, known.device_id, planner.recorded_at)
                known.head, known.continues = planner.head, None
            if purged:
                known.transaction.finish_purge()
        if purged:
            self._wipe()
        return written

    def _known_log(self, connection: sqlite3.Connection) -> _KnownLog:
        """Where the log and our chain end: remembered as long as nobody else wrote and nothing was rolled back."""
        stamp = (self._connections.generation, connection.execute("PRAGMA data_version").fetchone()[0])
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
            return ingestion.run(events, vectors)

    def put_vectors(self, vectors: Iterable[tuple[int, PartVector]], *, drop_models: Sequence[str] = ()) -> None:
        with self._connections.write() as connection:
            transaction = self._transaction(connection)
            fresh = list(vectors)
            for doc in {doc for doc, _ in fresh}:
                for name in drop_models:
                    connection.execute(queries()["drop_model_vectors"], (doc, transaction.model_id(name)))
            alive = [(doc, vector) for doc, vector in fresh if connection.execute(queries()["body"], (doc,)).fetchone() is not None]
            transaction.add_vectors(alive)
            connection.execute(queries()["raise_epoch"])

    # Reading

    def mark(self) -> Mark:
        with self._connections.read() as connection:
            return self._mark(connection)

    def _mark(self, connection: sqlite3.Connection) -> Mark:
        version, recorded_at = connection.execute(queries()["newest"]).fetchone() or (0, 0)
        epoch = connection.execute(queries()["meta"], ("projection_epoch",)).fetchone()
        return Mark(version, epoch[0] if epoch else 0, recorded_at)

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        with self._connections.read() as connection:
            newest = self._mark(connection)
            found = newest.version
            if version is not None:
                found = _bisect(connection, "txn", min(version, FOREVER), found)
            if at_ms is not None:
                found = min(found, _bisect(connection, "recorded_at", at_ms, newest.version))
            if found == newest.version:
                return newest
            row = connection.execute(queries()["position_of_version"], (found,)).fetchone()
            return Mark(found, newest.epoch, row[2] if row else 0)

    def select(self, selection: Selection) -> list[Row]:
        where = state_conditions(selection)
        page, bounds = paging(selection)
        source = f"SELECT {STATE_COLUMNS}, p.body FROM state s JOIN payload p ON p.version = s.version"
        sql = f"{source} WHERE {where.sql} {ordering(selection)} {page}"
        with self._connections.read() as connection:
            rows = connection.execute(sql, (*where.values, *bounds)).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def slices(self, selection: Selection) -> list[tuple[Namespace, Scope, int]]:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        sql = (
            "SELECT l.namespace, l.agent_id, l.user_id, l.org_id, l.workspace_id, count(*) "
            f"FROM state s JOIN slice l ON l.id = s.slice {join} WHERE {where.sql} GROUP BY l.id ORDER BY 1, 2, 3, 4, 5"
        )
        with self._connections.read() as connection:
            rows = connection.execute(sql, where.values).fetchall()
        return [(namespace_labels(row[0]), Scope(*row[1:5]), row[5]) for row in rows]

    def events(
        self, *, after: int = 0, limit: int | None = None, record: bytes | None = None, key: tuple[Namespace, Scope, str] | None = None
    ) -> list[Event]:
        after = min(after, FOREVER)
        with self._connections.read() as connection:
            if record is not None:
                return read_events(connection, "e.record = ? AND e.version > ?", (record, after), limit)
            if key is None:
                return read_events(connection, "e.version > ?", (after,), limit)
            slice_id = self._transaction(connection).find_slice(key[0], key[1])
            which = f"e.record IN ({queries()['records_under_key']}) AND e.version > ?"
            return [] if slice_id is None else read_events(connection, which, (slice_id, key[2], after), limit)

    def find(self, selection: Selection, terms: Sequence[Sequence[Sequence[str]]], *, match: Literal["all", "any"]) -> list[Found]:
        with self._connections.read() as connection:
            return find_candidates(connection, selection, terms, match)

    def corpus(self, selection: Selection) -> Corpus:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        sql = f"SELECT count(*), ifnull(sum(k.length), 0) FROM state s JOIN keyword k ON k.doc = s.doc {join} WHERE {where.sql}"
        with self._connections.read() as connection:
            return Corpus(*connection.execute(sql, where.values).fetchone())

    def models(self) -> list[str]:
        with self._connections.read() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM model ORDER BY name").fetchall()]

    def changed(self, after: int) -> set[bytes]:
        with self._connections.read() as connection:
            return {row[0] for row in connection.execute("SELECT record FROM event WHERE version > ?", (after,)).fetchall()}

    def unembedded(self, selection: Selection, models: Sequence[str]) -> list[Row]:
        where = state_conditions(selection)
        where.add(
            "NOT EXISTS (SELECT 1 FROM vector v WHERE v.doc = s.doc AND v.model IN "
            "(SELECT id FROM model WHERE name IN (SELECT value FROM json_each(?))))",
            json.dumps(list(models)),
        )
        sql = f"SELECT {STATE_COLUMNS}, p.body FROM state s JOIN payload p ON p.version = s.version WHERE {where.sql} ORDER BY s.version"
        with self._connections.read() as connection:
            rows = connection.execute(sql, where.values).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def stored_vectors(self, version: int) -> list[PartVector]:
        with self._connections.read() as connection:
            return [PartVector(*row) for row in connection.execute(queries()["stored_vectors"], (version,)).fetchall()]

    def vectors(self, selection: Selection, models: Sequence[str]) -> list[VectorRow]:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        sql = (
            f"SELECT s.record, s.version, v.part, v.data, s.expires_at FROM state s JOIN vector v ON v.doc = s.doc {join} WHERE {where.sql} "
            "AND v.model IN (SELECT id FROM model WHERE name IN (SELECT value FROM json_each(?))) ORDER BY s.record, v.part"
        )
        with self._connections.read() as connection:
            rows = connection.execute(sql, (*where.values, json.dumps(list(models)))).fetchall()
        return [VectorRow(*row) for row in rows]

    def votes(self, records: Sequence[bytes], *, version: int | None = None) -> dict[bytes, list[str]]:
        found: dict[bytes, list[str]] = {}
        ids = json.dumps([record.hex() for record in records])
        with self._connections.read() as connection:
            rows = connection.execute(queries()["votes"], (ids, FOREVER if version is None else min(version, FOREVER))).fetchall()
        for record, body in rows:
            found.setdefault(record, []).append(json.loads(body)["vote"])
        return found

    def setting(self, name: str, value: str | None = None) -> str | None:
        if value is not None:
            with self._connections.write() as connection:
                connection.execute(queries()["set_meta"], (f"setting:{name}", value))
            return value
        with self._connections.read() as connection:
            row = connection.execute(queries()["meta"], (f"setting:{name}",)).fetchone()
        return None if row is None else str(row[0])

    # Caches

    def cache_get(self, namespace: Namespace, keys: Sequence[str] | None, now_ms: int) -> list[CacheEntry]:
        text = namespace_text(namespace)
        with self._connections.read() as connection:
            if keys is None:
                rows = connection.execute(queries()["cache_all"], (text, now_ms)).fetchall()
            else:
                rows = connection.execute(queries()["cache_some"], (text, now_ms, json.dumps(list(keys)))).fetchall()
        return [CacheEntry(*row) for row in rows]

    def cache_put(self, namespace: Namespace, entries: Sequence[CacheEntry], remove: Sequence[str] = ()) -> None:
        text = namespace_text(namespace)
        with self._connections.write() as connection:
            connection.executemany(queries()["cache_put"], [(text, e.key, e.value, e.updated, e.expires_at) for e in entries])
            connection.executemany(queries()["cache_remove"], [(text, key) for key in remove])

    # Upkeep

    def verify(self) -> Report:
        with self._connections.write() as connection:
            report = Verification(connection, self._transaction(connection), self._names).run()
            problem = check_keyword_index(connection)
        if problem is None:
            return report
        return Report(False, report.events, report.heads, (*report.problems, problem))

    def rebuild(self) -> None:
        with self._connections.write() as connection:
            self._known = None
            rebuild_views(self._transaction(connection))

    def vacuum(self) -> Vacuumed:
        return vacuum(self._connections)

    def backup(self, target: str) -> Report:
        with copied(self._connections.read(), target) as partial:
            return verified(partial, self._indexer, self._clock)

    def statistics(self) -> dict[str, Any]:
        now_ms = self._clock.now_us() // 1000
        with self._connections.read() as connection:
            records, live, expired, hidden = connection.execute(queries()["count_states"], (now_ms,)).fetchone()
            purged = connection.execute(queries()["count_purged"]).fetchone()[0]
            mark = self._mark(connection)
            pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone() for name in (*PRAGMAS, "journal_mode", "user_version")}
            models = dict(connection.execute(queries()["models"]).fetchall())
            devices = connection.execute("SELECT count(*) FROM device").fetchone()[0]
        return {
            "path": self.path,
            "version": mark.version,
            "epoch": mark.epoch,
            "records": records,
            "live": live or 0,
            "expired": expired or 0,
            "forgotten": hidden or 0,
            "purged": purged,
            "devices": devices,
            "vectors": models,
            "bytes": 0 if self._connections.in_memory else size_on_disk(self.path),
            "schema": SCHEMA_VERSION,
            "engine": f"SQLite {sqlite3.sqlite_version}",
            "pragmas": {name: row[0] for name, row in pragmas.items() if row is not None},
        }

    def close(self) -> None:
        self._connections.close()


def _bisect(connection: sqlite3.Connection, column: Literal["txn", "recorded_at"], bound: int, newest: int) -> int:
    """The greatest version whose column, which never decreases along the log, is at most ``bound``; 0 if none."""
    low, high = 0, newest
    while low < high:
        middle = (low + high + 1) // 2
        value = connection.execute(f"SELECT {column} FROM event WHERE version = ?", (middle,)).fetchone()[0]
        low, high = (middle, high) if value <= bound else (low, middle - 1)
    return low


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
