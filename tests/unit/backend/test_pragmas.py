"""S80, S82: how every connection is set, and that a setting which does not stick is an error."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.connection import Connections
from indelible.backend.sqlite.pragmas import PRAGMAS
from indelible.backend.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from indelible.errors import IntegrityFailure
from tests.crash.engine import open_engine, put

Opened = list[sqlite3.Connection]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Every connection the library opens from here on."""
    connections: Opened = []
    original = Connections.connect

    def connect(self: Connections) -> sqlite3.Connection:
        connections.append(original(self))
        return connections[-1]

    monkeypatch.setattr(Connections, "connect", connect)
    return connections


def read_back(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_every_connection_is_durable_and_careful(path: Path, opened: Opened) -> None:
    """S80, S82: the writer and the readers have WAL, FULL and every other setting, as SQLite itself says."""
    with closing(open_engine(path)) as backend:
        backend.append([put("a", "one")])
        backend.mark()
        assert len(opened) >= 2
        for connection in opened:
            assert read_back(connection, "journal_mode") == "wal"
            assert read_back(connection, "synchronous") == 2
            assert {name: read_back(connection, name) for name in PRAGMAS} == PRAGMAS
            assert connection.isolation_level is None


def test_the_durable_settings_are_what_they_should_be() -> None:
    """S80: a change of these is a change of what an acknowledgement means, so it must be made here too."""
    assert PRAGMAS["synchronous"] == 2
    assert PRAGMAS["secure_delete"] == 1
    assert PRAGMAS["mmap_size"] == 0
    assert PRAGMAS["trusted_schema"] == 0
    assert (PRAGMAS.get("fullfsync"), PRAGMAS.get("checkpoint_fullfsync")) == ((1, 1) if sys.platform == "darwin" else (None, None))


def test_the_file_says_whose_it_is(path: Path) -> None:
    """S14: application id and schema version stand in the header."""
    open_engine(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert read_back(connection, "application_id") == APPLICATION_ID
        assert read_back(connection, "user_version") == SCHEMA_VERSION


def test_health_reports_what_was_read_back(backend: SqliteBackend) -> None:
    """S76: the numbers for health and doctor come from the connection, not from what was wished."""
    pragmas = backend.statistics()["pragmas"]
    assert pragmas["journal_mode"] == "wal"
    assert pragmas["user_version"] == SCHEMA_VERSION
    assert {name: pragmas[name] for name in PRAGMAS} == PRAGMAS


class _Stubborn(sqlite3.Connection):
    """An engine that says yes to ``synchronous=FULL`` and stays at NORMAL."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("PRAGMA synchronous=2", "PRAGMA synchronous=1"), *arguments)


def test_a_setting_that_does_not_stick_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S82: settings are read back; one that SQLite did not take is an error, not a store that may lose writes."""
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, **{**kwargs, "factory": _Stubborn}))
    with pytest.raises(IntegrityFailure, match="synchronous"):
        open_engine(path)


def test_every_write_takes_the_write_lock_first(path: Path, opened: Opened) -> None:
    """S80: no write begins as a read: each transaction of the writer is BEGIN IMMEDIATE."""
    with closing(open_engine(path)) as backend:
        traced: list[str] = []
        for connection in opened:
            connection.set_trace_callback(traced.append)
        backend.append([put("a", "one"), put("b", "two")])
        backend.setting("name", "value")
        begins = [sql for sql in traced if sql.startswith("BEGIN")]
        assert begins == ["BEGIN IMMEDIATE", "BEGIN IMMEDIATE"]
        assert traced.count("COMMIT") == 2
