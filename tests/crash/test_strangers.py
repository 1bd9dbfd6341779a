"""S14: a path under which something else stands, or a store that another release has changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from indelible import IndelibleError, MemoryStore, PersistentMemory, SchemaMismatch, StoreUnavailable
from indelible.backend.sqlite.schema import SCHEMA_VERSION
from tests.crash.trouble import FACES, answers, write


def a_folder(path: Path) -> None:
    path.mkdir()


def text(path: Path) -> None:
    path.write_text("This is not a database, but it is longer than the header of one would be. " * 10)


def a_short_text(path: Path) -> None:
    path.write_text("xy")


def a_truncated_database(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\x10\x00\x02\x02" + bytes(60))


def the_database_of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id=7")
        connection.execute("CREATE TABLE event (x)")
        connection.commit()


def a_database_without_a_name(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE memories (x)")
        connection.commit()


def a_store_of_a_newer_release(path: Path) -> None:
    MemoryStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=1000")
        connection.commit()
    Path(f"{path}.lock").unlink()


STRANGERS: list[tuple[Callable[[Path], None], type[IndelibleError]]] = [
    (a_folder, StoreUnavailable),
    (text, SchemaMismatch),
    (a_short_text, SchemaMismatch),
    (a_truncated_database, SchemaMismatch),
    (the_database_of_another_program, SchemaMismatch),
    (a_database_without_a_name, SchemaMismatch),
    (a_store_of_a_newer_release, SchemaMismatch),
]


@pytest.mark.parametrize(("make", "error"), STRANGERS)
@pytest.mark.parametrize("face", FACES)
def test_what_is_not_ours_is_left_alone(tmp_path: Path, make: Callable[[Path], None], error: type[IndelibleError], face: str) -> None:
    """S14: one clear error; not a byte of it is changed, and nothing is put beside it."""
    path = tmp_path / "stranger"
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(error, match="stranger"):
        FACES[face](path)
    assert (None if path.is_dir() else path.read_bytes()) == before
    assert [file.name for file in tmp_path.iterdir()] == ["stranger"]


@pytest.mark.parametrize("face", FACES)
def test_an_empty_file_becomes_a_store(tmp_path: Path, face: str) -> None:
    """An empty file is nobody's: ``mktemp`` makes one."""
    path = tmp_path / "store.db"
    path.touch()
    write(path, face)
    with PersistentMemory("log", path=path) as memory:
        assert memory.recall("new") == "value"


@pytest.mark.parametrize("face", FACES)
def test_a_path_below_a_file_is_refused(tmp_path: Path, face: str) -> None:
    """S14: a file is no folder."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreUnavailable, match="file"):
        FACES[face](tmp_path / "file" / "store.db")
    with pytest.raises(StoreUnavailable):
        FACES[face](tmp_path / ("n" * 300) / "store.db")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_newer_release_that_migrates_under_us_is_noticed(filled: Path) -> None:
    """S14: another program brought the open file to a schema this release does not know: no write, and nothing is lost."""
    with MemoryStore(filled) as store:
        with closing(sqlite3.connect(filled)) as newer:
            newer.execute("PRAGMA user_version=1000")
            newer.commit()
        with pytest.raises(SchemaMismatch, match="1000"):
            store.memory().remember("new", 1)
        assert store.version == 1
    with closing(sqlite3.connect(filled)) as older:
        older.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        older.commit()
    answers(filled)


def test_what_was_refused_once_stays_refused(tmp_path: Path) -> None:
    """S14: a program that has written, and goes on after the refusal, does not write into the schema it does not know."""
    path = tmp_path / "store.db"
    with MemoryStore(path) as store:
        store.memory().remember("old", 1)
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("PRAGMA user_version=1000")
            newer.commit()
        for _ in range(3):
            with pytest.raises(SchemaMismatch, match="1000"):
                store.memory().remember("new", 1)
        assert store.version == 1
