"""One durable write at a time, beside a bare SQLite commit of one row with the same settings in the same folder and the same rounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from benchmarks.measuring import Measurement, Plan, each_in_turn, percentile
from benchmarks.ready_made import ReadyMade
from benchmarks.texts import sentences
from indelible import MemoryStore, PersistentMemory
from indelible.testing import HashEmbedder

ROUNDS = 1000
PERCENTS = (50, 95)
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
    """Time each way of writing, a write and a bare commit in every round."""
    rounds, warm_up = plan.times(ROUNDS), plan.times(100)
    texts, model = sentences(rounds + warm_up), HashEmbedder()
    made = ReadyMade(model.dim)
    made.hold(texts, model.embed_documents(texts))
    with (
        closing(bare(plan.folder / "bare.db")) as connection,
        PersistentMemory("kept", path=plan.folder / "kept.db") as kept,
        MemoryStore(plan.folder / "collection.db") as documents,
        MemoryStore(plan.folder / "ready.db", embedder=made) as ready,
        MemoryStore(plan.folder / "facts.db", embedder=model) as facts,
    ):
        collection = documents.collection("documents")

        def commit(number: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO note (body) VALUES (?)", (texts[number],))
            connection.execute("COMMIT")

        # In pairs: four files in turn would each find the processor's and the disk's caches full of the other three.
        ways: dict[str, Callable[[int], object]] = {
            "PersistentMemory.remember": lambda number: kept.remember(f"key {number}", texts[number]),
            "collection.put": lambda number: collection.put(f"key {number}", texts[number]),
            "store.remember, vectors made beforehand": lambda number: ready.remember(texts[number]),
            "store.remember, hash vectors": lambda number: facts.remember(texts[number]),
        }
        pairs = {name: each_in_turn({AGAINST: commit, name: way}, rounds, warm_up=warm_up) for name, way in ways.items()}
    bare_times = [spent for pair in pairs.values() for spent in pair[AGAINST]]
    found = [Measurement(f"{AGAINST}, p{percent}", 1000 * percentile(bare_times, percent), "ms") for percent in PERCENTS]
    for name, pair in pairs.items():
        for percent in PERCENTS:
            value, reference = (1000 * percentile(times, percent) for times in (pair[name], pair[AGAINST]))
            bar = BAR_MS if percent == 50 else None
            found.append(Measurement(f"{name}, p{percent}", value, "ms", reference, f"{AGAINST}, p{percent}", bar))
    return found
