"""S12: the log cannot be rewritten, not even by somebody with the file open in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indelible.base.event import Op
from indelible.base.plan import Draft
from tests.crash.engine import NOTES, open_engine, put

FORBIDDEN = (
    "UPDATE event SET op = 'forget' WHERE version = 1",
    "UPDATE event SET version = 100 WHERE version = 1",
    "DELETE FROM event WHERE version = 1",
    "DELETE FROM event",
    "REPLACE INTO event SELECT * FROM event WHERE version = 1",
    "INSERT INTO event SELECT * FROM event WHERE version = 1 ON CONFLICT DO UPDATE SET recorded_at = 0",
    "UPDATE payload SET body = '{}' WHERE version = 1",
    "UPDATE payload SET salt = zeroblob(16)",
    "DELETE FROM payload WHERE version = 1",
    "DELETE FROM payload",
    "REPLACE INTO payload VALUES (1, zeroblob(16), '{}')",
)


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, opened without the library: three events, the third purged away."""
    with closing(open_engine(path)) as backend:
        backend.append([put("a", "one"), put("b", "two"), put("c", "three")])
        backend.append([Draft(Op.PURGE, NOTES, key="c")])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # SQLite runs delete triggers for a REPLACE only with this; the library sets it on each of its connections.
        connection.execute("PRAGMA recursive_triggers=1")
        yield connection


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_log_refuses(raw: sqlite3.Connection, statement: str) -> None:
    """S12: triggers abort every UPDATE and DELETE of events, and every change of a payload that no purge explains."""
    before = raw.execute("SELECT * FROM event").fetchall(), raw.execute("SELECT * FROM payload").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match=r"append-only|never rewritten|only by a purge"):
        raw.execute(statement)
    assert (raw.execute("SELECT * FROM event").fetchall(), raw.execute("SELECT * FROM payload").fetchall()) == before


def test_a_purge_takes_the_payload_and_leaves_the_skeleton(raw: sqlite3.Connection) -> None:
    """S74: numbering stays unbroken; what the purged record said is gone and the purge itself says why."""
    assert [row[0] for row in raw.execute("SELECT version FROM event ORDER BY version")] == [1, 2, 3, 4]
    assert [row[0] for row in raw.execute("SELECT version FROM payload ORDER BY version")] == [1, 2, 4]


def test_a_purge_payload_stays(raw: sqlite3.Connection) -> None:
    """The purge's own payload, its reason, is no part of what it destroys."""
    with pytest.raises(sqlite3.IntegrityError, match="only by a purge"):
        raw.execute("DELETE FROM payload WHERE version = 4")
