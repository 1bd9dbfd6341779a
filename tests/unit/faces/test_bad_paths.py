"""Line 14 of the semantics: paths at which no memory can be, and odd ones at which it can; for memories and stores alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indelible import IndelibleError, InvalidInput, MemoryStore, PersistentMemory, SchemaMismatch, StoreUnavailable

Open = Callable[[Any], object]
OPENERS: dict[str, Open] = {"memory": lambda path: PersistentMemory("memory", path), "store": lambda path: MemoryStore(path)}


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest) -> Open:
    return OPENERS[request.param]


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, with the bytes of each file. Nobody in this process has one of them open."""
    return {str(found.relative_to(folder)): found.read_bytes() if found.is_file() else None for found in folder.rglob("*")}


def a_directory(path: Path) -> None:
    path.mkdir()


def a_text_file(path: Path) -> None:
    path.write_text("Dear diary,\n" * 500, encoding="utf-8")


def a_short_file(path: Path) -> None:
    path.write_bytes(b"hello")


def a_newer_release(path: Path) -> None:
    with PersistentMemory("memory", path) as memory:
        memory.remember("a", 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (a_directory, StoreUnavailable, "is a folder"),
        (a_text_file, SchemaMismatch, "is not a database"),
        (a_short_file, SchemaMismatch, "is not a database"),
        (a_newer_release, SchemaMismatch, "newer release"),
    ],
)
def test_s14_what_is_no_memory_of_ours_is_left_alone(
    opener: Open, folder: Path, path: Path, make: Callable[[Path], None], kind: type[IndelibleError], said: str
) -> None:
    """S14: one clear error that names the path; nothing is made beside it and not a byte of it changes."""
    make(path)
    before = snapshot(folder)
    with pytest.raises(kind, match=said) as raised:
        opener(path)
    assert str(path) in str(raised.value)
    assert snapshot(folder) == before


def test_s14_the_database_of_another_program(opener: Open, path: Path) -> None:
    """S14: neither one with its own mark nor one without gets our tables, or another journal mode."""
    for mark in (0, 42):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE theirs(x)")
            connection.execute(f"PRAGMA application_id={mark}")
        before = path.read_bytes()
        with pytest.raises(SchemaMismatch, match="another path"):
            opener(path)
        assert path.read_bytes() == before


def test_s14_a_file_in_the_place_of_a_folder(opener: Open, folder: Path) -> None:
    """S14: the path goes through something that is no folder."""
    (folder / "file").write_bytes(b"mine")
    before = snapshot(folder)
    with pytest.raises(StoreUnavailable, match="path"):
        opener(folder / "file" / "sub" / "memory.db")
    assert snapshot(folder) == before


@pytest.mark.parametrize("path", ["", "a\0b", b"memory.db", 5, True, ["a"], object()])
def test_s14_what_is_no_path(opener: Open, path: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: InvalidInput, and nothing is made."""
    monkeypatch.chdir(folder)
    with pytest.raises(InvalidInput, match="path must be"):
        opener(path)
    assert snapshot(folder) == {}


@pytest.mark.parametrize(
    "name", ["a b.db", "?mode=ro", "#x.db", "100%25.db", "ä💾.db", "'; --.db", "file:x.db", "-x", "a&b=c.db", ":memory:x"]
)
def test_s14_a_name_is_only_a_name(name: str, folder: Path) -> None:
    """A path is never read as part of a URI, a query or an option; the file has just this name."""
    with PersistentMemory("memory", folder / name) as memory:
        memory.remember("a", 1)
    assert name in snapshot(folder)
    with PersistentMemory("memory", folder / name) as memory:
        assert memory.recall("a") == 1


def test_s14_an_empty_file_becomes_a_memory(path: Path) -> None:
    """A file made beforehand, say by ``mktemp``, is nobody's yet."""
    path.touch(mode=0o600)
    with PersistentMemory("memory", path) as memory:
        memory.remember("a", 1)
        assert memory.recall("a") == 1


def test_s14_a_memory_that_was_closed(ledger: PersistentMemory) -> None:
    """Every verb says so; closing again is fine."""
    ledger.remember("a", 1)
    ledger.close()
    ledger.close()
    for verb in (lambda: ledger.recall("a"), lambda: ledger.remember("a", 2), ledger.keys, lambda: ledger.history("a"), ledger.verify):
        with pytest.raises(IndelibleError, match="closed"):
            verb()
    assert Path(ledger.path).is_file()
