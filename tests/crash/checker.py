"""Is a file what its writers were promised? Asks the library itself, then looks with plain SQL."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tests.crash.engine import open_engine

ONE, BATCH = "one", "batch"
BATCH_SIZE = 5
"""How many records a writer's batch has; their names end in ``#0`` to ``#4``."""


def acknowledged(lines: Iterable[str]) -> set[str]:
    """The names of records that writers said were safe: ``one NAME`` or ``batch NAME``."""
    names = set()
    for line in lines:
        kind, name = line.split(" ", 1)
        if kind == ONE:
            names.add(name)
        elif kind == BATCH:
            names |= {f"{name}#{number}" for number in range(BATCH_SIZE)}
    return names


def damage(path: Path, acked: set[str]) -> list[str]:
    """What is wrong with a store that nobody has open.

    Args:
        path: the database.
        acked: names of records that must be there, each once.
    """
    with closing(open_engine(path)) as backend:
        report = backend.verify()
    with closing(sqlite3.connect(path)) as connection:
        found = [*_lost(connection, acked), *_gaps(connection), *_half_batches(connection), *_half_projected(connection)]
    return found + list(report.problems)


def names(connection: sqlite3.Connection) -> dict[str, list[tuple[int, int]]]:
    """By the name in their text, the (version, txn) of every remember."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rows = connection.execute(
        "SELECT e.version, e.txn, p.body FROM event e JOIN payload p USING (version) WHERE e.op IN ('remember', 'revise')"
    )
    for version, txn, body in rows:
        fields = json.loads(body)
        found[fields.get("content") or fields["value"]].append((version, txn))
    return found


def _lost(connection: sqlite3.Connection, acked: set[str]) -> list[str]:
    there = names(connection)
    lost = [f"acknowledged but lost: {name}" for name in sorted(acked - there.keys())]
    return lost + [f"written {len(places)} times: {name}" for name, places in sorted(there.items()) if len(places) > 1]


def _gaps(connection: sqlite3.Connection) -> list[str]:
    count, first, last = connection.execute("SELECT count(*), min(version), max(version) FROM event").fetchone()
    return [] if count == 0 or (first, last) == (1, count) else [f"{count} events have the versions {first} to {last}"]


def _half_batches(connection: sqlite3.Connection) -> list[str]:
    members: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, places in names(connection).items():
        if "#" in name:
            members[name.split("#")[0]] += places
    return [
        f"batch {name} is there in part or in pieces: {places}"
        for name, places in sorted(members.items())
        if len(places) != BATCH_SIZE or len({txn for _, txn in places}) != 1
    ]


def _half_projected(connection: sqlite3.Connection) -> list[str]:
    missing = connection.execute(
        "SELECT version FROM event JOIN payload USING (version) WHERE op IN ('remember', 'revise') "
        "AND version NOT IN (SELECT version FROM state)"
    ).fetchall()
    unindexed = connection.execute(
        "SELECT p.version FROM payload p JOIN event e USING (version) WHERE instr(p.body, '\"content\":') AND e.op = 'remember' "
        "AND p.version NOT IN (SELECT doc FROM keyword)"
    ).fetchall()
    # Every fact here was written with its vector; keyed records of other namespaces have none.
    unembedded = connection.execute(
        "SELECT s.version FROM state s JOIN slice l ON l.id = s.slice WHERE l.namespace = '' AND s.visible = 1 "
        "AND (EXISTS (SELECT 1 FROM vector) OR EXISTS (SELECT 1 FROM packed)) "
        "AND s.doc NOT IN (SELECT id >> 20 FROM vector UNION ALL SELECT doc FROM packed)"
    ).fetchall()
    places = (("the state view", missing), ("the keyword index", unindexed), ("the vectors", unembedded))
    return [f"version {row[0]} is in the log but not in {place}" for place, rows in places for row in rows]
