"""What a slice costs follows the slice: no read of one goes through a whole table, and neither does a write."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indelible.backend.interface import Backend, Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.connection import Connections
from indelible.base.canonical import dumps
from indelible.base.draft import Draft, PartVector
from indelible.base.event import Op
from indelible.base.record import Scope, ScopeFilter
from tests.crash.engine import open_engine

SLICE = Selection(namespace=("n",), scope=ScopeFilter(user_id="u"), now_ms=1)
BELOW = replace(SLICE, namespace=("n",), prefix=True)
PAST = replace(SLICE, version=3)
SOME = replace(SLICE, records=(b"r" * 16,), namespace=None, scope=ScopeFilter())
RECORD = b"r" * 16


def vectors(models: str = "m") -> tuple[PartVector, ...]:
    return (PartVector("", models, b"\0" * 8),)


def note(number: int, **given: object) -> Draft:
    fields = {"content": dumps(f"tea {number}")}
    return Draft(Op.REMEMBER, ("n",), Scope(user_id="u"), fields=fields, vectors=vectors(), **given)  # type: ignore[arg-type]


READS: dict[str, Callable[[Backend, Selection], object]] = {
    "select": lambda backend, where: backend.select(where),
    "rows": lambda backend, where: backend.rows([RECORD]),
    "rows of the past": lambda backend, where: backend.rows([RECORD], version=3),
    "find": lambda backend, where: backend.find(where, [[["tea"]]], match="any"),
    "resolve": lambda backend, where: backend.resolve(where, [1, 2, -1]),
    "size": lambda backend, where: backend.size(where, 10),
    "lengths": lambda backend, where: backend.lengths(np.array([1, 2])),
    "vectors in pieces": lambda backend, where: list(backend.vector_chunks(np.array([1, 2, 3, 1000]), ["m"], 2)),
    "documents": lambda backend, where: backend.documents(where),
    "words": lambda backend, where: backend.words(where),
    "counted": lambda backend, where: [backend.counted(where, [["tea"]], lengths=lengths) for lengths in (False, True)],
    "corpus": lambda backend, where: backend.corpus(where),
    "vectors": lambda backend, where: backend.vectors(where, ["m"]),
    "embedded": lambda backend, where: backend.embedded(where, ["m"]),
    "unembedded": lambda backend, where: backend.unembedded(where, ["m"], context=True),
    "changed": lambda backend, where: backend.changed(2),
    "mark": lambda backend, where: backend.mark(),
    "position": lambda backend, where: backend.position(version=2),
    "votes": lambda backend, where: backend.votes([RECORD]),
    "events of a record": lambda backend, where: backend.events(record=RECORD),
    "stored vectors": lambda backend, where: backend.stored_vectors(1),
    "dependents": lambda backend, where: backend.dependents([RECORD]),
}
SELECTIONS = {"a slice": SLICE, "what is below": BELOW, "the past": PAST, "some records": SOME}


@pytest.fixture
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[SqliteBackend], object]], set[str]]:
    """Runs something on a store of a few records, and gives the plan of every statement that it ran."""
    ran: list[str] = []
    connect = Connections.connect

    def traced(self: Connections) -> sqlite3.Connection:
        connection = connect(self)
        connection.set_trace_callback(ran.append)
        return connection

    monkeypatch.setattr(Connections, "connect", traced)

    def run(work: Callable[[SqliteBackend], object]) -> set[str]:
        path = tmp_path / "store.db"
        with closing(open_engine(path)) as backend:
            backend.append([note(number, key=f"k{number}") for number in range(5)])
            ran.clear()
            work(backend)
            asked = [text for text in ran if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE)", text)]
            assert asked
        with closing(sqlite3.connect(path)) as connection:
            connection.create_function("raw_id", 1, bytes.fromhex, deterministic=True)
            return {f"{row[3]}  in  {text}" for text in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()}

    return run


def scans(plans: set[str]) -> list[str]:
    """The steps that go through a table whole: not those of lists that the statement brings itself, nor those that end at once."""
    harmless = re.compile(r"SCAN (json_each|j|CONSTANT|\(subquery|SUBQUERY)\b|.*LIMIT 1\)?$", re.DOTALL)
    return sorted(step for step in plans if ("SCAN" in step or "AUTOMATIC" in step) and not harmless.match(step))


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize("where", SELECTIONS)
def test_a_slice_is_read_by_its_indexes(plans: Callable[..., set[str]], verb: str, where: str) -> None:
    assert scans(plans(lambda backend: READS[verb](backend, SELECTIONS[where]))) == []


@pytest.mark.parametrize("verb", ["select", "words", "embedded", "documents", "counted"])
def test_some_records_of_a_slice_are_looked_up_by_themselves(plans: Callable[..., set[str]], verb: str) -> None:
    """What a few writes cost the next reader must not grow with its slice."""
    steps = plans(lambda backend: READS[verb](backend, replace(SLICE, records=(RECORD,))))
    assert any("PRIMARY KEY (record=?)" in step for step in steps)
    assert not [step for step in steps if "state_slice" in step]


WRITES: dict[str, Callable[[SqliteBackend], object]] = {
    "remember": lambda backend: backend.append([note(9)]),
    "under a key": lambda backend: backend.append([note(9, key="k1")]),
    "once": lambda backend: backend.append([note(9, idempotency_key="i")]),
    "forget": lambda backend: backend.append([Draft(Op.FORGET, ("n",), Scope(user_id="u"), key="k1")]),
    "vectors": lambda backend: backend.put_vectors([(1, vectors()[0])]),
    "what fills packs": lambda backend: backend.append([note(number) for number in range(40)]),
    "drop vectors": lambda backend: backend.drop_vectors(SLICE, ["m"]),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_write_goes_through_no_table(plans: Callable[..., set[str]], what: str) -> None:
    assert scans(plans(WRITES[what])) == []
