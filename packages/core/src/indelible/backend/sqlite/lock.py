"""The writer lock: one writer at a time, across threads and processes.

SQLite's own busy handler is not a queue: with sixteen writers it wastes half the throughput and lets one wait for a second. A lock on a
file of its own beside the database (never on the database) keeps the order short, and makes a checkpoint and a commit of two of our
processes exclude each other, which old SQLite versions need to be safe from the WAL-reset bug.
"""

from __future__ import annotations

import errno
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO

from indelible.errors import StoreUnavailable

_PAUSE_S = 0.0005

if sys.platform == "win32":

    def _lock_at_once(file: IO[bytes]) -> bool:
        import portalocker  # imported late: it is not needed to read

        try:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked:
            return False
        except portalocker.LockException as error:
            raise OSError(*error.args) from error
        return True

    def _unlock(file: IO[bytes]) -> None:
        import portalocker

        portalocker.unlock(file)

else:
    import fcntl

    # What portalocker does here too, without its checks of flags, which take several times as long as locking.
    def _lock_at_once(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return False
            raise
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class WriterLock:
    """A lock of threads and processes on ``path`` (``None``: of threads only); re-entrant within a thread.

    After a fork the child must call ``forget_after_fork``: it closes its copy of the descriptor without unlocking, so that
    only the process that took the lock lets it go.
    """

    def __init__(self, path: str | None, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._threads = threading.RLock()
        self._owner: int | None = None
        self._forked_inside = False
        self._file: IO[bytes] | None = None
        self._may_hold_file = False

    def held(self) -> AbstractContextManager[None]:
        """Hold the lock.

        Raises:
            StoreUnavailable: another writer held it beyond the deadline (retryable), or the file cannot be made.
        """
        return self._held(against_processes=True)

    def held_here(self) -> AbstractContextManager[None]:
        """Hold it against the threads of this process only.

        Raises:
            StoreUnavailable: another thread held it beyond the deadline (retryable).
        """
        return self._held(against_processes=False)

    @property
    def in_use(self) -> bool:
        """Whether the calling thread holds it."""
        return self._owner == threading.get_ident()

    @contextmanager
    def _held(self, *, against_processes: bool) -> Iterator[None]:
        if self.in_use:
            yield
            return
        try:
            try:
                self.take(against_processes=against_processes)
                yield
            finally:
                self.let_go()
        finally:
            # Ctrl-C may come at any point, also where it is about to be let go; what is let go already stays so.
            self.let_go()

    def take(self, *, against_processes: bool = True) -> None:
        """Take the lock, which the calling thread must not hold; ``let_go`` has to follow, whatever comes of it.

        Raises:
            StoreUnavailable: as for ``held``.
        """
        deadline = time.monotonic() + self._timeout_s
        if not self._threads.acquire(timeout=self._timeout_s):
            raise self._busy()
        self._owner = threading.get_ident()
        if against_processes and self._path is not None:
            self._lock_file(self._path, deadline)

    def take_here_at_once(self) -> bool:
        """Take it against the threads of this process only, if none holds it; ``let_go`` has to follow unless this one does."""
        if not self._threads.acquire(blocking=False):
            return False
        self._owner = threading.get_ident()
        return True

    def let_go(self) -> None:
        """Let go of the lock, if the calling thread holds it."""
        try:
            self._let_go()
        except BaseException:
            # Ctrl-C may come at any point, also between taking the lock and noting it, or in the middle of letting go.
            self._let_go()
            raise

    def _let_go(self) -> None:
        if self._owner == threading.get_ident():
            if self._may_hold_file and self._file is not None:
                _unlock(self._file)
                self._may_hold_file = False
            self._owner = None
        try:
            self._threads.release()
        except RuntimeError:  # not ours, or not any more
            return

    def _lock_file(self, path: str, deadline: float) -> None:
        if self._file is None:
            self._file = self._open(path)
        self._may_hold_file = True
        try:
            while not _lock_at_once(self._file):
                if time.monotonic() > deadline:
                    raise self._busy()
                # A little jitter, so that waiting processes do not knock in step.
                time.sleep(_PAUSE_S * (0.5 + random.random()))
        except StoreUnavailable:
            raise
        except OSError as error:
            raise StoreUnavailable(f"cannot lock {path}: {error}") from error

    def _open(self, path: str) -> IO[bytes]:
        try:
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"cannot create {path}: {error.strerror}; the folder must be writable") from error
        return os.fdopen(handle, "r+b", buffering=0)

    def _busy(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"another writer holds {self._path or 'the store'} for more than {self._timeout_s} s: try again", retryable=True
        )

    def before_fork(self) -> bool:
        """Wait until no other thread of this process is writing; says whether that was reached before the deadline."""
        self._forked_inside = self.in_use
        return self._forked_inside or self._threads.acquire(timeout=self._timeout_s)

    def after_fork_in_parent(self) -> None:
        if not self._forked_inside:
            self._threads.release()

    def forget_after_fork(self) -> None:
        """In a forked child: start over. Closing a descriptor does not unlock what the parent holds through its own."""
        self._threads = threading.RLock()
        self._owner = None
        self._may_hold_file = False
        if self._file is not None:
            self._file.close()
        self._file = None

    def close(self) -> None:
        with self._threads:
            if self._file is not None:
                self._file.close()
            self._file = None
