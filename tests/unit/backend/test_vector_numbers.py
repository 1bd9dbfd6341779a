"""The vectors of a document are numbered within a range of its own, however often others took their places."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from indelible.backend.sqlite.schema import queries, script, statements

LAST = (1 << 20) - 1


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements(script("schema.sql")):
        connection.execute(statement)
    yield connection
    connection.close()


def put(connection: sqlite3.Connection, doc: int, part: str) -> None:
    connection.execute(queries()["set_vector"], (doc, part, 1, part.encode()))


def numbers(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    return connection.execute("SELECT id, part FROM vector ORDER BY id").fetchall()


def taken(connection: sqlite3.Connection, doc: int, *places: int) -> None:
    for place in places:
        connection.execute(queries()["add_vector"], ((doc << 20) + place, f"old {place}", 1, b""))


@pytest.mark.parametrize("doc", [7, -7])
def test_a_document_does_not_run_into_the_next(connection: sqlite3.Connection, doc: int) -> None:
    """S88: every reindex numbers on; when the last number is taken, the ones that were given up are used again."""
    taken(connection, doc, LAST)
    put(connection, doc + 1, "of the next")
    for part in ("a", "b"):
        put(connection, doc, part)
    first = doc << 20
    assert numbers(connection) == [
        (first, "a"), (first + 1, "b"), (first + LAST, f"old {LAST}"), (first + LAST + 1, "of the next"),
    ]  # fmt: skip


def test_a_gap_is_filled(connection: sqlite3.Connection) -> None:
    """S88: the lowest number that is free."""
    taken(connection, 7, 0, 1, 3, LAST)
    put(connection, 7, "a")
    assert ((7 << 20) + 2, "a") in numbers(connection)


def test_setting_a_vector_again_keeps_its_number(connection: sqlite3.Connection) -> None:
    """S33: the part's vector is replaced where it stands, also at the very end."""
    taken(connection, 7, 0, LAST)
    put(connection, 7, f"old {LAST}")
    assert numbers(connection) == [(7 << 20, "old 0"), ((7 << 20) + LAST, f"old {LAST}")]


def test_a_document_that_is_full_takes_no_place_of_another(connection: sqlite3.Connection) -> None:
    """S83: more than there are numbers for is refused, and nothing is written over."""
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
        "INSERT INTO vector(id, part, model, data) SELECT 7 * 1048576 + i, 'p' || i, 1, x'' FROM n",
        (LAST,),
    )
    with pytest.raises(sqlite3.IntegrityError, match="mismatch"):
        put(connection, 7, "one more")
    assert connection.execute("SELECT max(id) FROM vector").fetchone() == ((7 << 20) + LAST,)
