"""Connections to one database: one writer behind the writer lock, a few readers, and what happens to them at a fork.

Every transaction is explicit: writes are ``BEGIN IMMEDIATE`` (a deferred one that reads first fails at once when somebody else
commits), reads are one snapshot fetched whole. A commit is acknowledged only after the identity of the three files was compared with
that at open, which turns a file replaced under us from a silent loss into an error.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indelible.backend.sqlite.failures import is_final, translated
from indelible.backend.sqlite.files import Identity, create_file, identity
from indelible.backend.sqlite.lock import WriterLock
from indelible.backend.sqlite.pragmas import configure
from indelible.errors import IntegrityFailure, SchemaMismatch, StoreClosed

MEMORY = ":memory:"
BUSY_TIMEOUT_S = 30.0
MAX_IDLE_READERS = 8
_FORK_WAIT_S = 5.0

_open_connections: weakref.WeakSet[Connections] = weakref.WeakSet()


class Connections:
    """All connections of this process to one database.

    Args:
        path: the file, or ``":memory:"`` for a database of this object alone.
        timeout_s: how long a write waits for others before ``StoreUnavailable``.
    """

    def __init__(self, path: str, timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.in_memory = path == MEMORY
        # SQLite keeps its side files beside the real file, and the current folder may change while the store is open.
        self.path = path if self.in_memory else os.path.realpath(path)
        self.created = False if self.in_memory else create_file(self.path)
        self.timeout_s = timeout_s
        self.lock = WriterLock(None if self.in_memory else self.path + ".lock", timeout_s)
        self._threads = threading.RLock()
        self._changed = threading.Condition(self._threads)
        self._reading = 0
        self._forking = False
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._identity: Identity | None = None
        self._closed = False
        self.schema: int | None = None
        """What the file's schema version must be for a write, once it is prepared."""
        self.generation = 0
        """Rises whenever the writer may have lost what it believed: at a rollback, a new connection, a fork."""
        self.others = 0
        """Changes with every commit of another connection, as of the last write's beginning."""
        self._schema_is_checked = False
        _open_connections.add(self)

    # Opening

    def connect(self) -> sqlite3.Connection:
        """A new connection with every pragma set and read back."""
        self._check_open()
        with translated(self.path):
            connection = sqlite3.connect(
                self.path if self.in_memory else _uri(self.path),
                uri=not self.in_memory,
                timeout=self.timeout_s,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=512,
            )
            try:
                configure(connection, self.path, self.in_memory)
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
        # One generator and no context managers inside: they were a twentieth of a durable write.
        self._check_open()
        lock = self.lock
        inside = lock.in_use
        try:
            try:
                if not inside:
                    lock.take()
                self._check_open()
                connection = self._writer_connection()
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    self._look_around(connection)
                    yield connection
                    connection.execute("COMMIT")
                except BaseException as error:
                    self._roll_back(connection, error)
                    raise
                self._check_identity(connection)
            except (sqlite3.Error, OSError, MemoryError):
                with translated(self.path):
                    raise
            finally:
                if not inside:
                    lock.let_go()
        finally:
            # Ctrl-C may come at any point, also where the lock is about to be let go; what is let go already stays so.
            if not inside:
                lock.let_go()

    def _look_around(self, connection: sqlite3.Connection) -> None:
        """Another program may have migrated the file, or put another in its place, since it was opened."""
        others = connection.execute("PRAGMA data_version").fetchone()[0]
        if others == self.others and self._schema_is_checked:
            return
        self.others = others
        # Until it is known to be the one it was, every further write looks again: what is refused once stays refused.
        self._schema_is_checked = False
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if self.schema is not None and found != self.schema:
            raise SchemaMismatch(
                f"{self.path} has schema {found} now, but had {self.schema} when it was opened: nothing was written; open it again, "
                "with the newest release that uses it"
            )
        self._schema_is_checked = self.schema is not None

    def unchanged_writer(self, generation: int, others: int) -> sqlite3.Connection | None:
        """The writer's connection, for a thread that holds the lock, if nothing was committed by others or undone since a stamp was taken.

        Args:
            generation, others: what these were then.
        """
        writer = self._writer
        if writer is None or self._closed or generation != self.generation:
            return None
        try:
            return writer if writer.execute("PRAGMA data_version").fetchone()[0] == others else None
        except sqlite3.Error:
            return None

    def _writer_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self.connect()
            self.generation += 1
            self._schema_is_checked = False
            if not self.in_memory:
                self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # makes SQLite open the side files
                self._identity = identity(self.path)
        return self._writer

    def _roll_back(self, connection: sqlite3.Connection, error: BaseException) -> None:
        self.generation += 1
        final = is_final(error)
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error:
                final = True
        if final:
            self._drop_writer(connection)

    def _drop_writer(self, connection: sqlite3.Connection) -> None:
        """After a failed fsync the system may have dropped what it could not write: only a fresh connection tells the truth."""
        if self.in_memory:
            return
        self._writer = None
        with suppress(sqlite3.Error):
            connection.close()

    def _check_identity(self, connection: sqlite3.Connection) -> None:
        if self.in_memory:
            return
        now = identity(self.path)
        if self._identity is None or None in self._identity:
            self._identity = now
        if now != self._identity:
            self._identity = None
            self._close_idle()
            self._drop_writer(connection)
            raise IntegrityFailure(
                f"{self.path} or its -wal or -shm file was replaced while in use: the last write is not safe, write it again; "
                "never move, delete or copy over these files while a program has the store open"
            )

    @contextmanager
    def read(self, *, snapshot: bool = True) -> Iterator[sqlite3.Connection]:
        """A read transaction: one snapshot. Fetch everything inside; an open cursor would hold up checkpoints.

        Args:
            snapshot: whether several statements must see the same; one statement alone always sees one snapshot.
        """
        self._check_open()
        if self.in_memory:
            with self.lock.held(), translated(self.path):
                yield self._writer_connection()
            return
        connection, counted = None, False
        try:
            with self._threads:
                if self._forking:
                    self._changed.wait_for(lambda: not self._forking)
                connection = self._idle.pop() if self._idle else None
                self._reading += 1
                counted = True
            if connection is None:
                connection = self.connect()
            if snapshot:
                connection.execute("BEGIN")
            yield connection
            if snapshot:
                connection.execute("COMMIT")
        except BaseException:
            try:
                # Only here: entering one more context manager took as long as reading the newest version does.
                with translated(self.path):
                    raise
            except BaseException as error:
                self._end_read(connection, counted, usable=not is_final(error))
                raise
        self._end_read(connection, counted, usable=True)

    def _end_read(self, connection: sqlite3.Connection | None, counted: bool, *, usable: bool) -> None:
        try:
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            usable = False  # what went wrong before is what the caller should hear of
        with self._threads:
            self._reading -= counted
            if self._forking:
                self._changed.notify_all()
            if (
                connection is not None
                and usable
                and not self._closed
                and not connection.in_transaction
                and len(self._idle) < MAX_IDLE_READERS
            ):
                self._idle.append(connection)
                return
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _close_idle(self) -> None:
        with self._threads:
            idle, self._idle = self._idle, []
        for reader in idle:
            with suppress(sqlite3.Error):
                reader.close()

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """The writer connection without a transaction, for what SQLite refuses inside one (VACUUM, checkpoint)."""
        self._check_open()
        with self.lock.held(), translated(self.path):
            self._check_open()
            connection = self._writer_connection()
            try:
                yield connection
            except BaseException as error:
                if is_final(error):
                    self._drop_writer(connection)
                raise

    # The end

    def close(self) -> None:
        """Close every connection; reads that are under way close theirs as they end.

        Not under the lock on the file: the checkpoint of a last close excludes every other process by itself.

        Raises:
            StoreUnavailable: another thread is writing, beyond the deadline (retryable).
        """
        if self._closed:
            return
        with self.lock.held_here():
            self._closed = True
            self._close_all()
        self.lock.close()

    def _close_all(self) -> None:
        self._close_idle()
        if self._writer is not None:
            writer, self._writer, self._identity = self._writer, None, None
            with suppress(sqlite3.Error):
                writer.close()

    # Forks

    def before_fork(self) -> bool:
        """Wait for this process's transactions and close its connections; says whether no other thread writes.

        SQLite keeps what is locked on a file in the memory of the process. A child that inherits an open connection believes in locks
        that the system gave to its parent alone, and is left with deleted files when the parent closes the store.
        """
        if not self.lock.before_fork():
            return False
        self._threads.acquire()
        self._forking = True
        if not self.in_memory and not self.lock.in_use:
            self._changed.wait_for(lambda: self._reading == 0, min(_FORK_WAIT_S, self.timeout_s))
            self._close_all()
        return True

    def after_fork_in_parent(self) -> None:
        self._forking = False
        self._changed.notify_all()
        self._threads.release()
        self.lock.after_fork_in_parent()

    def forget_after_fork(self) -> None:
        """In a forked child: open anew when next needed.

        A connection that was in use at the fork is dropped without being closed, since that could delete files which the parent is using.
        """
        self._threads = threading.RLock()
        self._changed = threading.Condition(self._threads)
        self._reading, self._forking = 0, False
        self.lock.forget_after_fork()
        if self.in_memory:
            return
        _keep_for_ever([*self._idle, *([self._writer] if self._writer is not None else [])])
        self._idle, self._writer, self._identity = [], None, None


def _uri(path: str) -> str:
    # mode=rw: a file that was moved away is an error; SQLite would make an empty one in its place, readable by all.
    return f"{Path(path).as_uri()}?mode=rw"


def _keep_for_ever(connections: list[sqlite3.Connection]) -> None:
    import ctypes

    for connection in connections:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


class _ForkGuard:
    """Holds every store still over a fork, so that no child is born in the middle of a transaction or with an open connection."""

    def __init__(self) -> None:
        self._held: list[Connections] = []

    def before(self) -> None:
        self._held = [item for item in list(_open_connections) if item.before_fork()]

    def after_in_parent(self) -> None:
        for item in self._held:
            item.after_fork_in_parent()
        self._held = []

    def after_in_child(self) -> None:
        self._held = []
        for item in list(_open_connections):
            item.forget_after_fork()


if hasattr(os, "register_at_fork"):
    _guard = _ForkGuard()
    os.register_at_fork(before=_guard.before, after_in_parent=_guard.after_in_parent, after_in_child=_guard.after_in_child)
