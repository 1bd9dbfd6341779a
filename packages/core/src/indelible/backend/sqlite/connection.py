"""Connections to one database: one writer behind the writer lock, a few readers, and what happens to them at a fork.

Every transaction is explicit: writes are ``BEGIN IMMEDIATE`` (a deferred one that reads first fails at once when somebody else
commits), reads are one snapshot fetched whole. A commit is acknowledged only after the identity of the three files was compared with
that at open, which turns a file replaced under us from a silent loss into an error.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from indelible.backend.sqlite.failures import is_final, translated
from indelible.backend.sqlite.files import Identity, create_file, identity
from indelible.backend.sqlite.lock import WriterLock
from indelible.errors import IntegrityFailure, StoreClosed

MEMORY = ":memory:"
BUSY_TIMEOUT_S = 30.0
MAX_IDLE_READERS = 8
CHECKPOINT_PAGES = 4000

PRAGMAS: dict[str, int] = {
    "foreign_keys": 0,  # the log is append-only and checked by verify(); per-row checks would cost every write
    "synchronous": 2,  # FULL: a commit survives a power cut
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,  # memory maps amplify faults of the WAL
    "secure_delete": 1,  # purged text is overwritten, not only unlinked
    "temp_store": 2,  # no temporary files with clear text
    "cache_size": -32_768,
    "wal_autocheckpoint": CHECKPOINT_PAGES,
    "journal_size_limit": 64 << 20,
    "recursive_triggers": 1,
}
if sys.platform == "darwin":
    PRAGMAS |= {"fullfsync": 1, "checkpoint_fullfsync": 1}

_LIMITS = {sqlite3.SQLITE_LIMIT_ATTACHED: 1, sqlite3.SQLITE_LIMIT_LENGTH: 64 << 20, sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000}

_open_connections: weakref.WeakSet[Connections] = weakref.WeakSet()


class Connections:
    """All connections of this process to one database.

    Args:
        path: the file, or ``":memory:"`` for a database of this object alone.
        timeout_s: how long a write waits for others before ``StoreUnavailable``.
    """

    def __init__(self, path: str, timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.path = path
        self.in_memory = path == MEMORY
        self.created = False if self.in_memory else create_file(path)
        self._timeout_s = timeout_s
        self.lock = WriterLock(None if self.in_memory else path + ".lock", timeout_s)
        self._threads = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._identity: Identity | None = None
        self._closed = False
        self.generation = 0
        """Rises whenever the writer may have lost what it believed: at a rollback, a new connection, a fork."""
        _open_connections.add(self)

    # Opening

    def connect(self) -> sqlite3.Connection:
        """A new connection with every pragma set and read back."""
        self._check_open()
        with translated(self.path):
            connection = sqlite3.connect(
                self.path, timeout=self._timeout_s, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            try:
                _configure(connection, self.path, self.in_memory)
            except BaseException:
                connection.close()
                raise
        return connection

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the store at {self.path} was closed: open it again")

    # Transactions

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed and durable when the block ends, gone without a trace when it raises."""
        self._check_open()
        with self.lock.held():
            self._check_open()
            connection = self._writer_connection()
            with translated(self.path):
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
                    connection.execute("COMMIT")
                except BaseException as error:
                    self._roll_back(connection, error)
                    raise
                self._check_identity(connection)

    def _writer_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self.connect()
            self.generation += 1
            if not self.in_memory:
                self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # makes SQLite open the side files
                self._identity = identity(self.path)
        return self._writer

    def _roll_back(self, connection: sqlite3.Connection, error: BaseException) -> None:
        self.generation += 1
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if is_final(error) and not self.in_memory:
            # After a failed fsync the system may have dropped what it could not write: only a fresh connection tells the truth.
            self._writer = None
            connection.close()

    def _check_identity(self, connection: sqlite3.Connection) -> None:
        if self.in_memory:
            return
        now = identity(self.path)
        if self._identity is None or None in self._identity:
            self._identity = now
        if now != self._identity:
            self._identity = None
            self._writer = None
            connection.close()
            with self._threads:
                idle, self._idle = self._idle, []
            for reader in idle:
                reader.close()
            raise IntegrityFailure(
                f"{self.path} or its -wal or -shm file was replaced while in use: the last write is not safe, write it again; "
                "never move, delete or copy over these files while a program has the store open"
            )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: one snapshot. Fetch everything inside; an open cursor would hold up checkpoints."""
        self._check_open()
        if self.in_memory:
            with self.lock.held(), translated(self.path):
                yield self._writer_connection()
            return
        with self._threads:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self.connect()
        with translated(self.path):
            try:
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                if is_final(error):
                    connection.close()
                    raise
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._give_back(connection)
                raise
            self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._threads:
            if not self._closed and len(self._idle) < MAX_IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """The writer connection without a transaction, for what SQLite refuses inside one (VACUUM, checkpoint)."""
        self._check_open()
        with self.lock.held(), translated(self.path):
            yield self._writer_connection()

    # The end

    def close(self) -> None:
        if self._closed:
            return
        with self.lock.held():
            with self._threads:
                self._closed = True
                connections = [*self._idle, *([self._writer] if self._writer is not None else [])]
                self._idle, self._writer = [], None
            with translated(self.path):
                for connection in connections:
                    connection.close()
        self.lock.close()

    def forget_after_fork(self) -> None:
        """In a forked child: drop what was inherited without closing it, and open anew when next needed.

        A close in the child could checkpoint or delete files that the parent is using, so the objects are kept alive for ever.
        """
        self._threads = threading.RLock()
        self.lock.forget_after_fork()
        if self.in_memory:
            return
        _keep_for_ever([*self._idle, *([self._writer] if self._writer is not None else [])])
        self._idle, self._writer, self._identity = [], None, None


def _configure(connection: sqlite3.Connection, path: str, in_memory: bool) -> None:
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    # Before SQLite 3.41 there is no unhex(); lists of ids are bound as one JSON array of hex text.
    connection.create_function("raw_id", 1, bytes.fromhex, deterministic=True)
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={value}")
        found = connection.execute(f"PRAGMA {name}").fetchone()
        if found is not None and found[0] != value:
            raise IntegrityFailure(f"{path}: SQLite would not set {name} to {value}, it stays at {found[0]}")


def _keep_for_ever(connections: list[sqlite3.Connection]) -> None:
    import ctypes

    for connection in connections:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


class _ForkGuard:
    """Holds every writer lock over a fork, so that no child is born in the middle of a transaction."""

    def __init__(self) -> None:
        self._held: list[Connections] = []

    def before(self) -> None:
        self._held = [item for item in list(_open_connections) if item.lock.before_fork()]

    def after_in_parent(self) -> None:
        for item in self._held:
            item.lock.after_fork_in_parent()
        self._held = []

    def after_in_child(self) -> None:
        self._held = []
        for item in list(_open_connections):
            item.forget_after_fork()


if hasattr(os, "register_at_fork"):
    _guard = _ForkGuard()
    os.register_at_fork(before=_guard.before, after_in_parent=_guard.after_in_parent, after_in_child=_guard.after_in_child)
