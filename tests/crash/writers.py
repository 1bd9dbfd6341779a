"""What the killed processes do, and three ways of doing it wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from indelible import MemoryStore, PersistentMemory, Put
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.pragmas import PRAGMAS
from indelible.backend.sqlite.transaction import Transaction
from indelible.base.plan import Draft, Planned
from indelible.testing import HashEmbedder
from tests.crash.checker import BATCH, BATCH_SIZE, ONE
from tests.crash.children import Say, Work
from tests.crash.engine import open_engine, put

Writer = Callable[[str, str, Say], object]
"""Takes a database, a name that no other writer has, and where to acknowledge."""


def of_every_kind(path: str, name: str, say: Say) -> None:
    """Facts, keyed records, batches and key/value memory, one after the other, each acknowledged once the call has returned."""
    if name.endswith(".0"):
        PRAGMAS["wal_autocheckpoint"] = 50  # so that some die while they move the write-ahead log into the database
    store = MemoryStore(path, embedder=HashEmbedder())
    memory = PersistentMemory("log", path=path)
    notes = store.collection("notes")
    for number in count():
        this = f"{name}.{number}"
        if number % 4 == 0:
            store.remember(this)
            say(f"{ONE} {this}")
        elif number % 4 == 1:
            notes.put(this, this)
            say(f"{ONE} {this}")
        elif number % 4 == 2:
            notes.batch([Put(f"{this}#{member}", f"{this}#{member}") for member in range(BATCH_SIZE)])
            say(f"{BATCH} {this}")
        else:
            memory.remember(this, this)
            say(f"{ONE} {this}")


def batch_of(name: str) -> list[Draft]:
    return [put(f"{name}#{number}", f"{name}#{number}") for number in range(BATCH_SIZE)]


def batches(path: str, name: str, say: Say) -> None:
    """Batches only."""
    _write_batches(open_engine(path), name, say)


def _write_batches(backend: SqliteBackend, name: str, say: Say) -> None:
    for number in count():
        backend.append(batch_of(f"{name}.{number}"))
        say(f"{BATCH} {name}.{number}")


def working(writer: Writer, path: object, names: Sequence[str]) -> list[Work]:
    """The works of several writers on one file."""
    return [lambda say, name=name: writer(str(path), name, say) for name in names]  # type: ignore[misc]  # a default binds the loop's name


# The wrong ways. Each is the library with one rule broken; the checker has to notice.


def acknowledging_before_commit(path: str, name: str, say: Say) -> None:
    """WRONG: says that a batch is safe when the transaction has only begun."""
    due: list[str] = []

    class Early(sqlite3.Connection):
        def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
            cursor = super().execute(sql, *arguments)
            if sql == "BEGIN IMMEDIATE" and due:
                say(due.pop())
            return cursor

    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    sqlite3.connect = lambda *args, **kwargs: connect(*args, **{**kwargs, "factory": Early})  # type: ignore[assignment]  # only here
    backend = open_engine(path)
    for number in count():
        due.append(f"{BATCH} {name}.{number}")
        backend.append(batch_of(f"{name}.{number}"))


def projecting_in_a_second_transaction(path: str, name: str, say: Say) -> None:
    """WRONG: commits the log first, and the views on it afterwards."""
    project = Transaction._project

    def project_later(self: Transaction, planned: Sequence[Planned]) -> None:
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")
        project(self, planned)

    Transaction._project = project_later  # type: ignore[method-assign]  # only in the child
    _write_batches(open_engine(path), name, say)


def splitting_batches(path: str, name: str, say: Say) -> None:
    """WRONG: writes the records of a batch one by one."""
    backend = open_engine(path)
    for number in count():
        for draft in batch_of(f"{name}.{number}"):
            backend.append([draft])
        say(f"{BATCH} {name}.{number}")
