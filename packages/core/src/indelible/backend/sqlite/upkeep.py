"""Checking, copying and tidying a database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from urllib.parse import quote

from indelible.backend.interface import Report, Vacuumed
from indelible.backend.sqlite.connection import Connections
from indelible.backend.sqlite.failures import translated
from indelible.backend.sqlite.files import create_file, sync_folder
from indelible.backend.sqlite.packs import pack_problems
from indelible.backend.sqlite.postings import posting_problems
from indelible.backend.sqlite.replay import groups
from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.transaction import SliceNames, Transaction, standing_of
from indelible.base.event import CHAIN_START, Event, Op, Payload
from indelible.base.standing import Standing, standings
from indelible.errors import InvalidInput, StoreUnavailable

BACKUP_PLACE = "backup"
"""What a backup carries instead of a place, so that whoever opens it takes a new device identity before writing."""
_MAX_PROBLEMS = 100
_CHECKPOINT_WAIT_MS = 500
_EVENTS = """
SELECT e.version, e.txn, e.recorded_at, d.uuid, e.seq,
  ifnull((SELECT p.hash FROM event p WHERE p.device = e.device AND p.seq = e.seq - 1), zeroblob(32)),
  e.clock, e.op, e.record, e.commitment, e.expires_at, e.hash, t.salt, t.body
FROM event e JOIN device d ON d.id = e.device LEFT JOIN payload t ON t.version = e.version
WHERE {which} ORDER BY e.version LIMIT ?
"""


def read_events(connection: sqlite3.Connection, which: str, values: tuple[object, ...], limit: int | None) -> list[Event]:
    """Events that meet a fixed condition, in order of arrival."""
    rows = connection.execute(_EVENTS.format(which=which), (*values, -1 if limit is None else limit)).fetchall()
    return [_event(*row) for row in rows]


def _event(
    version: int, txn: int, recorded_at: int, device: bytes, seq: int, previous: bytes, clock: int, op: str, record: bytes,
    commitment: bytes | None, expires_at: int | None, digest: bytes, salt: bytes | None, body: str,
) -> Event:  # fmt: skip
    payload = None if salt is None else Payload(salt, body)
    return Event(version, txn, recorded_at, device, seq, previous, clock, Op(op), record, commitment, expires_at, digest, payload)


def all_events(connection: sqlite3.Connection, chunk: int = 5000) -> Iterator[Event]:
    """The whole log, a chunk at a time."""
    after = 0
    while events := read_events(connection, "e.version > ?", (after,), chunk):
        yield from events
        after = events[-1].version


class Verification:
    """Re-derives the chain of hashes and every view, on one snapshot."""

    def __init__(self, connection: sqlite3.Connection, transaction: Transaction, names: SliceNames) -> None:
        self._connection = connection
        self._transaction = transaction
        self._names = names
        self._problems: list[str] = []
        self._heads: dict[bytes, tuple[int, bytes, int]] = {}

    def run(self) -> Report:
        count = self._check_log()
        self._check_states()
        self._check_keywords()
        for problem in pack_problems(self._connection):
            self._note(f"vectors: {problem}")
        for row in self._connection.execute("PRAGMA integrity_check(20)").fetchall():
            if row[0] != "ok":
                self._note(f"SQLite: {row[0]}")
        heads = {device.hex(): (seq, digest.hex()) for device, (seq, digest, _) in self._heads.items()}
        return Report(not self._problems, count, heads, tuple(self._problems))

    def _note(self, problem: str) -> None:
        if len(self._problems) < _MAX_PROBLEMS:
            self._problems.append(problem)

    def _check_log(self) -> int:
        purged = {row[0] for row in self._connection.execute(queries()["purged_records"])}
        count, recorded_at, txn = 0, 0, 0
        for event in all_events(self._connection):
            count += 1
            name = f"event {event.version}"
            if event.version != count:
                self._note(f"{name}: expected version {count}, events are missing")
                count = event.version
            if event.recorded_at < recorded_at:
                self._note(f"{name}: recorded before the one before it")
            if event.txn < event.version or (txn >= event.version and event.txn != txn):
                self._note(f"{name}: transaction {event.txn} does not fit the one before it")
            recorded_at, txn = event.recorded_at, event.txn
            self._check_event(event, name, event.record in purged)
        if txn != count:
            self._note(f"the last transaction should end at {txn}, but the log ends at {count}")
        return count

    def _check_event(self, event: Event, name: str, purged: bool) -> None:
        seq, digest, clock = self._heads.get(event.device, (0, CHAIN_START, 0))
        if event.seq != seq + 1 or event.clock <= clock:
            self._note(f"{name}: number {event.seq} or clock does not follow {seq} of its device")
        if event.previous != digest or event.computed_hash() != event.hash:
            self._note(f"{name}: its hash does not follow from what it says")
        self._heads[event.device] = (event.seq, event.hash, event.clock)
        if not event.payload_matches():
            self._note(f"{name}: its text is not the one that was written")
        if event.payload is None and event.commitment is not None and not purged:
            self._note(f"{name}: its text is missing, and nothing purged it")
        if event.payload is not None and purged and event.op is not Op.PURGE:
            self._note(f"{name}: its text is still there, although its record was purged")

    def _check_states(self) -> None:
        rows = self._connection.execute(
            "SELECT record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at FROM state "
            "ORDER BY record, live_from"
        ).fetchall()
        stored = set(_unsplit([standing_of(self._connection, self._names, row) for row in rows]))
        derived = {standing for events in groups(self._connection) for standing in standings(events)}
        for standing in sorted(stored - derived)[:_MAX_PROBLEMS]:
            self._note(f"record {standing.record.hex()}: the state view says more than the log (version {standing.version}): rebuild")
        for standing in sorted(derived - stored)[:_MAX_PROBLEMS]:
            self._note(f"record {standing.record.hex()}: the state view lacks version {standing.version} of the log: rebuild")

    def _check_keywords(self) -> None:
        stored = dict(self._connection.execute("SELECT doc, words FROM keyword").fetchall())
        wanted = self._connection.execute(
            "SELECT s.doc, p.body, s.slice, min(s.live_from) FROM state s JOIN payload p ON p.version = s.version WHERE s.visible = 1 "
            "GROUP BY s.doc"
        )
        documents = self._transaction.documents
        for doc, body, slice_id, start in wanted:
            if stored.pop(doc, "") != documents.words(documents.text(body, slice_id, start)):
                self._note(f"version {doc}: the keyword index does not hold its text: rebuild")
        for doc in sorted(stored):
            self._note(f"version {doc}: the keyword index holds text that no record has: rebuild")
        for problem in posting_problems(self._connection, documents.stem):
            self._note(f"keyword index: {problem}: rebuild")


def _unsplit(rows: list[Standing]) -> list[Standing]:
    """Rows of the state view without the splits that context made."""
    found: list[Standing] = []
    for row in rows:
        if found and found[-1].live_to == row.live_from and found[-1]._replace(live_from=row.live_from, live_to=row.live_to) == row:
            found[-1] = found[-1]._replace(live_to=row.live_to)
        else:
            found.append(row)
    return found


def size_on_disk(path: str) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(path + suffix).st_size
        except OSError:
            continue
    return total


def checkpoint(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the database and empty it; says whether somebody was in the way for long."""
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    # The writer lock is held meanwhile: for a reader that takes its time, all writers would wait.
    connection.execute(f"PRAGMA busy_timeout={min(_CHECKPOINT_WAIT_MS, patience)}")
    try:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}")
    return bool(row is not None and row[0])


def vacuum(connections: Connections) -> Vacuumed:
    """Rewrite the file without free pages, and empty the write-ahead log."""
    before = 0 if connections.in_memory else size_on_disk(connections.path)
    with connections.exclusive() as connection:
        connection.execute("VACUUM")
        busy = False if connections.in_memory else checkpoint(connection)
    return Vacuumed(before, 0 if connections.in_memory else size_on_disk(connections.path), busy)


@contextmanager
def copied(source: AbstractContextManager[sqlite3.Connection], target: str) -> Iterator[str]:
    """A consistent copy under a provisional name, marked as a backup; it gets its own name when the block ends well.

    Raises:
        InvalidInput: something stands under that name already.
    """
    if os.path.lexists(target):
        raise InvalidInput(f"{target} exists: give a name that is free, nothing is overwritten")
    partial = target + ".partial"
    if not create_file(partial):
        raise InvalidInput(f"{partial} exists: another copy to this name is running or was cut off; remove it and try again")
    try:
        with translated(target), closing(sqlite3.connect(partial, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous=FULL")
            with source as connection:
                connection.backup(copy)
            copy.execute(queries()["set_meta"], ("place", BACKUP_PLACE))
        yield partial
        with translated(target):
            with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                copy.execute("PRAGMA journal_mode=DELETE")  # so that it can be read from a folder that cannot be written
            os.replace(partial, target)
            sync_folder(os.path.dirname(target))
    finally:
        for suffix in ("", "-journal", "-wal", "-shm", ".lock"):
            if os.path.lexists(partial + suffix):
                os.unlink(partial + suffix)


def open_read_only(path: str) -> AbstractContextManager[sqlite3.Connection]:
    """A connection that only reads, for a file that must exist.

    Raises:
        StoreUnavailable: there is no such file.
    """
    if not os.path.isfile(path):
        raise StoreUnavailable(f"there is no file {path}: give the path of a backup")
    return closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True, isolation_level=None))
