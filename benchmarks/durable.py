"""One durable write at a time, beside a bare SQLite commit of one row with the same settings in the same folder and the same rounds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile
from benchmarks.texts import sentences
from indelible import MemoryStore, PersistentMemory
from indelible.testing import HashEmbedder

ROUNDS = 1000
BAR_MS = 0.4
AGAINST = "bare SQLite commit of one row, WAL, FULL"


def bare(path: Path) -> sqlite3.Connection:
    """A table of texts in SQLite and nothing else, as durable as a store."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    return connection


def run(plan: Plan) -> list[Measurement]:
    """Time each way of writing, one write of each in every round."""
    rounds, warm_up = plan.times(ROUNDS), plan.times(100)
    texts = sentences(rounds + warm_up)
    with (
        closing(bare(plan.folder / "bare.db")) as connection,
        PersistentMemory("kept", path=plan.folder / "kept.db") as kept,
        MemoryStore(plan.folder / "collection.db") as documents,
        MemoryStore(plan.folder / "facts.db", embedder=HashEmbedder()) as facts,
    ):
        collection = documents.collection("documents")

        def commit(number: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO note (body) VALUES (?)", (texts[number],))
            connection.execute("COMMIT")

        spent = each_in_turn(
            {
                AGAINST: commit,
                "PersistentMemory.remember": lambda number: kept.remember(f"key {number}", texts[number]),
                "collection.put": lambda number: collection.put(f"key {number}", texts[number]),
                "store.remember, hash vectors": lambda number: facts.remember(texts[number]),
            },
            rounds,
            warm_up=warm_up,
        )
    found = []
    for name, times in spent.items():
        for percent in (50, 95):
            value, reference = (1000 * (median(t) if percent == 50 else percentile(t, percent)) for t in (times, spent[AGAINST]))
            is_reference = name == AGAINST
            found.append(
                Measurement(
                    f"{name}, p{percent}",
                    value,
                    "ms",
                    None if is_reference else reference,
                    "" if is_reference else f"{AGAINST}, p{percent}",
                    BAR_MS if percent == 50 and not is_reference else None,
                )
            )
    return found
