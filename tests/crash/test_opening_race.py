"""S14, S15, S85: many processes open a path at the same moment, where there is nothing yet or an old schema."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from indelible import MemoryStore, PersistentMemory
from indelible.backend.sqlite.schema import APPLICATION_ID, MIGRATIONS, script, statements
from tests.crash.checker import damage
from tests.crash.children import Say, hear, listen, start
from tests.crash.engine import open_engine, put

pytestmark = pytest.mark.usefixtures("_can_fork")
PROCESSES = 20


def write_with_engine(path: Path, name: str) -> None:
    with closing(open_engine(path)) as backend:
        backend.append([put(name, name)])


def write_with_store(path: Path, name: str) -> None:
    with MemoryStore(path) as store:
        store.collection("notes").put(name, name)


def write_with_memory(path: Path, name: str) -> None:
    with PersistentMemory("log", path=path) as memory:
        memory.remember(name, name)


OPENERS: list[Callable[[Path, str], None]] = [write_with_engine, write_with_store, write_with_memory]


def race(path: Path) -> None:
    """Open from twenty processes at once, write one record from each, and look."""
    gate, open_gate = os.pipe()

    def work(number: int) -> Callable[[Say], None]:
        def run(say: Say) -> None:
            os.close(open_gate)
            say("ready")
            os.read(gate, 1)  # returns at the moment when the parent closes its end
            OPENERS[number % len(OPENERS)](path, f"by-{number}")

        return run

    children = [start(work(number)) for number in range(PROCESSES)]
    for child in children:
        hear(child, 1)
    os.close(open_gate)
    listen(children)
    for child in children:
        child.wait()
    os.close(gate)
    assert not damage(path, {f"by-{number}" for number in range(PROCESSES)})
    with closing(open_engine(path)) as backend:
        events = backend.events()
        assert len(events) == PROCESSES
        assert len({event.device for event in events}) == 1, "one file, one device"


@pytest.mark.parametrize("turn", range(3))
def test_a_fresh_path(tmp_path: Path, turn: int) -> None:
    """The first opener makes folder, file and schema; the others find them. No error, no half schema, nothing lost."""
    race(tmp_path / f"new-{turn}" / "folder" / "store.db")


@pytest.mark.parametrize("steps", range(len(MIGRATIONS)))
def test_an_old_schema(tmp_path: Path, steps: int) -> None:
    """One of them migrates, once; the others wait for it."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in MIGRATIONS[:steps]:
            for statement in statements(script(f"migrations/{name}")):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID if steps else 0}")
        connection.execute(f"PRAGMA user_version={steps}")
    race(path)


@pytest.mark.torture
@pytest.mark.parametrize("turn", range(100))
def test_a_fresh_path_many_times(tmp_path: Path, turn: int) -> None:
    """A race that goes wrong once in a hundred shows here."""
    race(tmp_path / str(turn) / "store.db")
