"""S83: what becomes of an error of the engine, and of the connection that had it."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.failures import is_final, translate, translated
from indelible.errors import IndelibleError, IntegrityFailure, InvalidInput, SchemaMismatch, StorageFull, StoreClosed, StoreUnavailable
from tests.crash.engine import contents, open_engine, put

IOERR_FSYNC = sqlite3.SQLITE_IOERR | (4 << 8)
IOERR_WRITE = sqlite3.SQLITE_IOERR | (3 << 8)
IOERR_SHMSIZE = sqlite3.SQLITE_IOERR | (19 << 8)


def engine_error(code: int, message: str = "as the engine says") -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        (sqlite3.SQLITE_BUSY, StoreUnavailable, True),
        (sqlite3.SQLITE_BUSY | (2 << 8), StoreUnavailable, True),
        (sqlite3.SQLITE_LOCKED, StoreUnavailable, True),
        (sqlite3.SQLITE_FULL, StorageFull, None),
        (IOERR_SHMSIZE, StorageFull, None),
        (sqlite3.SQLITE_TOOBIG, InvalidInput, None),
        (sqlite3.SQLITE_NOTADB, SchemaMismatch, None),
        (sqlite3.SQLITE_CORRUPT, IntegrityFailure, None),
        (sqlite3.SQLITE_CONSTRAINT, IntegrityFailure, None),
        (sqlite3.SQLITE_READONLY, StoreUnavailable, False),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailable, False),
        (IOERR_FSYNC, StoreUnavailable, False),
        (sqlite3.SQLITE_ERROR, StoreUnavailable, False),
    ],
)
def test_each_error_of_the_engine_has_one_of_ours(code: int, kind: type[IndelibleError], retryable: bool | None) -> None:
    """S83: by its code, whatever its words; the file is named."""
    error = translate(engine_error(code), "the/file.db")
    assert type(error) is kind
    assert "the/file.db" in str(error)
    assert getattr(error, "retryable", None) is retryable


def test_the_cause_is_kept() -> None:
    """What the engine said can be read."""
    cause = engine_error(sqlite3.SQLITE_FULL)
    with pytest.raises(StorageFull) as caught, translated("the/file.db"):
        raise cause
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, StorageFull), (errno.EDQUOT, StorageFull), (errno.EACCES, StoreUnavailable)])
def test_errors_of_the_system_are_ours_too(number: int, kind: type[IndelibleError]) -> None:
    """S83: a full disk is a full disk, whoever notices it."""
    with pytest.raises(kind, match=r"the/file\.db"), translated("the/file.db"):
        raise OSError(number, "as the system says")


def test_use_after_close_is_named() -> None:
    """sqlite3 says this without a code."""
    with closing(sqlite3.connect(":memory:")) as connection:
        pass
    with pytest.raises(StoreClosed), translated("x"):
        connection.execute("SELECT 1")


def test_errors_of_ours_pass_unchanged() -> None:
    """Also those that are OSErrors."""
    mine = StorageFull("mine")
    with pytest.raises(StorageFull) as caught, translated("x"):
        raise mine
    assert caught.value is mine


@pytest.mark.parametrize(
    ("code", "final"),
    [(IOERR_FSYNC, True), (IOERR_WRITE, True), (sqlite3.SQLITE_CORRUPT, True), (sqlite3.SQLITE_BUSY, False), (sqlite3.SQLITE_FULL, False)],
)
def test_what_is_final(code: int, final: bool) -> None:
    """After an I/O error or corruption a connection is not used again."""
    assert is_final(engine_error(code)) is final
    assert is_final(translate(engine_error(code), "x")) is False, "an error without its cause says nothing"


class _Failing(sqlite3.Connection):
    """A connection whose next statements of some kind fail."""

    plan: list[tuple[str, int]]

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if self.plan and sql.startswith(self.plan[0][0]):
            raise engine_error(self.plan.pop(0)[1])
        return super().execute(sql, *arguments)


Plan = Callable[[str, int], None]


@pytest.fixture
def failing(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SqliteBackend, Plan]]:
    """A store with one record, and a way to say which statement fails next with which code."""
    plan: list[tuple[str, int]] = []
    _Failing.plan = plan
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, **{**kwargs, "factory": _Failing}))
    backend = open_engine(path)
    backend.append([put("a", "one")])
    yield backend, lambda statement, code: plan.append((statement, code))
    assert not plan, "every planned failure happened"
    backend.close()


@contextmanager
def connection_stays(backend: SqliteBackend, stays: bool) -> Iterator[None]:
    before = backend._connections._writer
    yield
    assert (backend._connections._writer is before) is stays


@pytest.mark.parametrize("code", [IOERR_FSYNC, IOERR_WRITE, sqlite3.SQLITE_CORRUPT])
@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "INSERT INTO keyword", "COMMIT"])
def test_a_failed_disk_poisons_the_connection(failing: tuple[SqliteBackend, Plan], statement: str, code: int) -> None:
    """S83: nothing was written, the connection is dropped, and the next write goes through a new one."""
    backend, fail = failing
    with connection_stays(backend, False):
        fail(statement, code)
        with pytest.raises((StoreUnavailable, IntegrityFailure)):
            backend.append([put("b", "two")])
        backend.append([put("c", "three")])
    assert set(contents(backend)) == {"a", "c"}
    assert backend.verify().ok
    assert backend.mark().version == 2


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY])
def test_a_full_disk_does_not(failing: tuple[SqliteBackend, Plan], code: int) -> None:
    """S83: after a rollback the same connection is as good as before."""
    backend, fail = failing
    with connection_stays(backend, True):
        fail("COMMIT", code)
        with pytest.raises((StorageFull, StoreUnavailable)):
            backend.append([put("b", "two")])
        backend.append([put("c", "three")])
    assert set(contents(backend)) == {"a", "c"}
    assert backend.verify().ok


def test_a_rollback_that_fails_poisons_too(failing: tuple[SqliteBackend, Plan]) -> None:
    """A connection of which nobody knows whether it is in a transaction is not used again; the caller hears the first error."""
    backend, fail = failing
    with connection_stays(backend, False):
        fail("COMMIT", sqlite3.SQLITE_FULL)
        fail("ROLLBACK", IOERR_WRITE)
        with pytest.raises(StorageFull):
            backend.append([put("b", "two")])
        backend.append([put("c", "three")])
    assert set(contents(backend)) == {"a", "c"}
    assert backend.verify().ok


def test_a_failed_checkpoint_poisons_too(failing: tuple[SqliteBackend, Plan]) -> None:
    """S75, S83: the same outside a transaction."""
    backend, fail = failing
    with connection_stays(backend, False):
        fail("PRAGMA wal_checkpoint", IOERR_FSYNC)
        with pytest.raises(StoreUnavailable):
            backend.vacuum()
        backend.append([put("b", "two")])
    assert backend.verify().ok


def test_a_failed_read_is_not_repeated_on_its_connection(failing: tuple[SqliteBackend, Plan]) -> None:
    """A reader with an I/O error is dropped; the next read works."""
    backend, fail = failing
    backend.mark()
    idle = list(backend._connections._idle)
    fail("SELECT", IOERR_WRITE)
    with pytest.raises(StoreUnavailable):
        backend.mark()
    assert backend.mark().version == 1
    assert idle
    assert not set(map(id, idle)) & set(map(id, backend._connections._idle))


def test_everything_refuses_after_close(path: Path) -> None:
    """S14: a closed store says so in every verb, and closing twice is fine."""
    backend = open_engine(path)
    backend.append([put("a", "one")])
    backend.close()
    backend.close()
    calls: list[Callable[[], object]] = [
        lambda: backend.append([put("b", "two")]), backend.mark, backend.events, backend.verify, backend.rebuild, backend.vacuum,
        backend.statistics, lambda: backend.ingest([]), lambda: backend.setting("x"), lambda: backend.setting("x", "y"),
        lambda: backend.backup(str(path) + ".copy"), lambda: backend.position(version=1), lambda: backend.votes([]),
        lambda: backend.cache_get(("c",), None, 0), lambda: backend.cache_put(("c",), []), lambda: backend.put_vectors([]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreClosed):
            call()
    with closing(open_engine(path)) as again:
        assert set(contents(again)) == {"a"}
