"""SQLite's and the system's errors, as ours."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from indelible.base.canonical import MAX_ROW_BYTES
from indelible.errors import IndelibleError, IntegrityFailure, InvalidInput, SchemaMismatch, StorageFull, StoreClosed, StoreUnavailable

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT}
_IOERR_SHMSIZE = sqlite3.SQLITE_IOERR | (19 << 8)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn whatever sqlite3 or the system raises inside into an error of this library, its cause kept."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error
    except (OSError, MemoryError) as error:
        if isinstance(error, IndelibleError):
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(f"no space left for {path}: nothing was written; free some space and try again") from error
        raise StoreUnavailable(f"{path}: {error}") from error


def translate(error: sqlite3.Error, path: str) -> IndelibleError:
    """The library error for an error of sqlite3."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return StoreClosed("this store was closed: open it again") if closed else StoreUnavailable(f"{path}: {error}")
    primary = code & 0xFF
    if primary in _BUSY:
        return StoreUnavailable(f"{path} is locked by another program ({error}): try again", retryable=True)
    if primary == sqlite3.SQLITE_TOOBIG:
        return InvalidInput(f"{path} takes {MAX_ROW_BYTES} bytes in one piece and no more: give less, or ask for less, at a time")
    if primary == sqlite3.SQLITE_FULL or code == _IOERR_SHMSIZE:
        return StorageFull(f"no space left for {path}: nothing was written; free some space and try again")
    if primary == sqlite3.SQLITE_NOTADB:
        return SchemaMismatch(f"{path} is not a database: give another path, or move that file away")
    if primary == sqlite3.SQLITE_CORRUPT:
        return IntegrityFailure(f"{path} is damaged ({error}): restore a backup, and run verify on it")
    if primary == sqlite3.SQLITE_CONSTRAINT:
        return IntegrityFailure(f"{path} refused a write that breaks its rules: {error}")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreUnavailable(f"{path} cannot be opened for writing ({error}): check the permissions of file and folder, or give path=")
    return StoreUnavailable(f"{path}: {error}")


def is_final(error: BaseException) -> bool:
    """Whether a connection must not be used after this error: what the disk said it kept may be gone."""
    code = getattr(error, "sqlite_errorcode", None) or getattr(error.__cause__, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT)
