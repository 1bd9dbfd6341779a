"""The schema: readable in one file, made by migrations, and the two are the same."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indelible.backend.sqlite.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, queries, script, statements
from indelible.errors import SchemaMismatch
from tests.crash.engine import open_engine, put

Schema = set[tuple[str, str, str, str | None]]


def schema_of(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    return {(kind, name, table, sql and " ".join(sql.split())) for kind, name, table, sql in rows}


def made_by(*scripts: str) -> Schema:
    with closing(sqlite3.connect(":memory:")) as connection:
        for name in scripts:
            for statement in statements(script(name)):
                connection.execute(statement)
        return schema_of(connection)


def test_the_schema_equals_the_sum_of_the_migrations() -> None:
    """schema.sql is for reading; what migrations make is what stores have."""
    assert made_by("schema.sql") == made_by(*(f"migrations/{name}" for name in MIGRATIONS))


def test_a_new_store_has_that_schema(path: Path) -> None:
    """What is created on first use is what schema.sql says."""
    open_engine(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert schema_of(connection) == made_by("schema.sql")


def test_migrations_are_numbered_without_gaps() -> None:
    """The schema's version is the number of migrations."""
    assert [int(name[:4]) for name in MIGRATIONS] == list(range(1, SCHEMA_VERSION + 1))


def test_every_named_query_is_valid(path: Path) -> None:
    """A typing mistake in queries.sql shows here and not at a user's."""
    open_engine(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("raw_id", 1, bytes.fromhex, deterministic=True)
        for name, sql in queries().items():
            assert connection.execute(f"EXPLAIN {sql}", [None] * _parameters(sql)).fetchall(), name


def _parameters(sql: str) -> int:
    numbered = [int(number) for number in re.findall(r"\?(\d+)", sql)]
    return max(numbered) if numbered else sql.count("?")


@pytest.mark.parametrize("steps", range(1, SCHEMA_VERSION))
def test_an_older_schema_is_brought_up_to_date(path: Path, steps: int) -> None:
    """A file that stopped at an earlier migration gets the rest on opening."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in MIGRATIONS[:steps]:
            for statement in statements(script(f"migrations/{name}")):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={steps}")
    with closing(open_engine(path)) as backend:
        backend.append([put("a", "one")])
        assert backend.verify().ok
    with closing(sqlite3.connect(path)) as connection:
        assert schema_of(connection) == made_by("schema.sql")


def test_what_may_be_sent_again_is_known_after_an_update(path: Path) -> None:
    """Schema 3 kept one write per idempotency key; the next has them all, from the log."""
    draft = replace(put("a", "one"), idempotency_key="once")
    with closing(open_engine(path)) as backend:
        first = backend.append([draft, put("b", "two")])[0]
    older = statements(script("migrations/0002_projections.sql")) + statements(script("migrations/0003_keyword.sql"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        texts = connection.execute("SELECT doc, words, length FROM keyword").fetchall()
        tables = ("retry", "vector", "keyword", "posting", "pack", "packed")
        for change in (*(f"TABLE {table}" for table in tables), "INDEX state_slice", "INDEX state_split"):
            connection.execute(f"DROP {change}")
        for statement in older:
            if {"retry", "retry_record", "vector", "vector_part", "keyword", "keyword_index", "state_slice"} & set(statement.split()[2:5]):
                connection.execute(statement)
        connection.executemany("INSERT INTO keyword(doc, record, slice, words, stems, length) VALUES (?, x'', '1', ?, '', ?)", texts)
        connection.execute("DELETE FROM meta WHERE name = 'packed'")
        connection.execute("PRAGMA user_version=3")
    with closing(open_engine(path)) as backend:
        assert backend.append([draft])[0] == first._replace(changed=False)
        assert backend.verify().ok
    with closing(sqlite3.connect(path)) as connection:
        assert schema_of(connection) == made_by("schema.sql")


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, SCHEMA_VERSION + 40])
def test_a_newer_schema_is_refused(path: Path, version: int) -> None:
    """S14: a file of a newer release is refused with what to do, and is not touched."""
    open_engine(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="newer release"):
        open_engine(path)
    assert path.read_bytes() == before


def test_statements_keep_triggers_whole() -> None:
    """A script is split at the end of statements, not at every semicolon."""
    found = statements("-- note\nCREATE TABLE t (a);\n\nCREATE TRIGGER x BEFORE DELETE ON t\nBEGIN SELECT 1; SELECT 2; END;\n")
    assert [text.split()[1] for text in found] == ["TABLE", "TRIGGER"]
    assert found[1].endswith("END;")
