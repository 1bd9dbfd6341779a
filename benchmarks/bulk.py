"""Many writes in few transactions, beside a bare executemany of the same texts in transactions of the same size."""

from __future__ import annotations

from contextlib import closing

from benchmarks.durable import bare
from benchmarks.measuring import Measurement, Plan, each_in_turn, median
from benchmarks.texts import sentences
from indelible import MemoryStore, Put
from indelible.testing import HashEmbedder

RECORDS = 20_000
PER_TRANSACTION = 1000
ROUNDS = 3
BAR = 20_000.0
HASHING = "of which making hash vectors, alone"
AGAINST = f"bare SQLite executemany, {PER_TRANSACTION} rows a commit"


def run(plan: Plan) -> list[Measurement]:
    """Write the same texts by each way, three times over, into files that go on growing."""
    number = plan.times(RECORDS, least=PER_TRANSACTION)
    chunks = [sentences(PER_TRANSACTION, seed=seed) for seed in range(number // PER_TRANSACTION)]
    with (
        closing(bare(plan.folder / "bulk-bare.db")) as connection,
        MemoryStore(plan.folder / "bulk-collection.db") as documents,
        MemoryStore(plan.folder / "bulk-facts.db", embedder=HashEmbedder()) as facts,
    ):
        collection = documents.collection("documents")

        def rows(_: int) -> None:
            for chunk in chunks:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT INTO note (body) VALUES (?)", [(text,) for text in chunk])
                connection.execute("COMMIT")

        def puts(turn: int) -> None:
            for at, chunk in enumerate(chunks):
                collection.batch([Put(f"{turn} {at} {number}", text) for number, text in enumerate(chunk)])

        def values(turn: int) -> None:
            for at, chunk in enumerate(chunks):
                collection.batch([Put(f"v {turn} {at} {number}", value=text) for number, text in enumerate(chunk)])

        def many(_: int) -> None:
            for chunk in chunks:
                facts.remember_many(chunk)

        model = HashEmbedder()

        def embedding(_: int) -> None:
            for chunk in chunks:
                model.embed_documents(chunk)

        spent = each_in_turn(
            {
                AGAINST: rows,
                "collection.batch, values only": values,
                "collection.batch, searchable text": puts,
                "remember_many, searchable text and hash vectors": many,
                HASHING: embedding,
            },
            ROUNDS,
        )
    rates = {name: number / median(times) for name, times in spent.items()}
    return [
        Measurement(name, rate, "events/s", better="more")
        if name in (AGAINST, HASHING)
        else Measurement(name, rate, "events/s", rates[AGAINST], AGAINST, BAR, "more")
        for name, rate in rates.items()
    ]
