"""The writer lock: one writer at a time, across threads and processes.

SQLite's own busy handler is not a queue: with sixteen writers it wastes half the throughput and lets one wait for a second. A lock on a
file of its own beside the database (never on the database) keeps the order short, and makes a checkpoint and a commit of two of our
processes exclude each other, which old SQLite versions need to be safe from the WAL-reset bug.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import IO, TYPE_CHECKING, Any

from indelible.errors import StoreUnavailable

if TYPE_CHECKING:
    from portalocker import LockFlags

_PAUSE_S = 0.0005


@cache
def _at_once() -> LockFlags:
    """Exclusive, or an error: made once, since combining flags takes as long as locking."""
    from portalocker import LockFlags

    return LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING


@cache
def _locker() -> Any:
    """What locks a file: where there is ``flock``, without the checks of flags that take three times as long as it does."""
    import portalocker  # imported late: it is not needed to read
    import portalocker.portalocker as lockers

    return lockers.FlockLocker() if hasattr(lockers, "FlockLocker") else portalocker


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
        deadline = time.monotonic() + self._timeout_s
        try:
            try:
                if not self._threads.acquire(timeout=self._timeout_s):
                    raise self._busy()
                self._owner = threading.get_ident()
                if against_processes:
                    self._lock_file(deadline)
                yield
            finally:
                self._let_go()
        finally:
            # Ctrl-C may come at any point, also between taking the lock and noting it, or in the middle of letting go.
            self._let_go()

    def _let_go(self) -> None:
        if self.in_use:
            self._unlock_file()
            self._owner = None
        with suppress(RuntimeError):  # not ours, or not any more
            self._threads.release()

    def _lock_file(self, deadline: float) -> None:
        if self._path is None:
            return
        import portalocker  # imported late: it is not needed to read

        if self._file is None:
            self._file = self._open(self._path)
        while True:
            try:
                _locker().lock(self._file, _at_once())
                return
            except portalocker.LockException as error:
                if not isinstance(error, portalocker.AlreadyLocked):
                    raise StoreUnavailable(f"cannot lock {self._path}: {error}") from error
                if time.monotonic() > deadline:
                    raise self._busy() from None
                # A little jitter, so that waiting processes do not knock in step.
                time.sleep(_PAUSE_S * (0.5 + random.random()))

    def _open(self, path: str) -> IO[bytes]:
        try:
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"cannot create {path}: {error.strerror}; the folder must be writable") from error
        return os.fdopen(handle, "r+b", buffering=0)

    def _unlock_file(self) -> None:
        if self._file is None:
            return
        _locker().unlock(self._file)

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
        if self._file is not None:
            self._file.close()
        self._file = None

    def close(self) -> None:
        with self._threads:
            if self._file is not None:
                self._file.close()
            self._file = None
