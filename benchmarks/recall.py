"""Warm recall in a slice of a thousand facts out of twenty thousand, and what the rest of the store costs such a slice.

``python -m benchmarks.recall 10000 100000 1000000`` measures only the second, in stores of these sizes (the last one fills 2.5 GB).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from benchmarks.filled import SLICE, filled
from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.embed import resolve_embedder
from indelible.faces.store import ScopedView

ROUNDS = 200
FIRST_ROUNDS = 20
SIZES = (10_000, 100_000)
"""Facts in the stores that are compared."""
TURNS = 10
Ask = Callable[[MemoryStore, int], object]


def run(plan: Plan) -> list[Measurement]:
    """Ask by text, by vector and by words, each in turn, beside one product of the slice's vectors with a query."""
    import numpy as np

    rounds, warm_up = plan.times(ROUNDS), 10
    questions = [" ".join(text.split()[:6]) for text in sentences(rounds + warm_up, seed=3)]
    model = resolve_embedder()
    vectors = [model.embed_query(text) for text in islice(cycle(questions[:50]), rounds + warm_up)]
    given = [[float(number) for number in vector] for vector in vectors]
    with MemoryStore(filled(plan)) as store:
        view = store.scope(agent_id="bench", user_id="user 3")
        matrix = np.array(_vectors(store), np.float32)
        earlier = store.version - 1

        def product(number: int) -> None:
            scores = matrix @ vectors[number]
            np.argpartition(scores, -5)[-5:]

        calls: dict[str, Callable[[int], object]] = {
            "product": product,
            "embed": lambda number: model.embed_query(questions[number]),
            "recall by vector": lambda number: view.recall(vector=given[number]),
            "recall by text": lambda number: view.recall(questions[number]),
            "hybrid recall": lambda number: view.recall(questions[number], mode="hybrid"),
            "keyword search, any word": lambda number: view.search(questions[number], match="any"),
            "recall by text as of an earlier version": lambda number: view.recall(questions[number], as_of=earlier),
        }
        spent = each_in_turn(calls, rounds, warm_up=warm_up)
    bare, embedding = (1000 * median(spent.pop(name)) for name in ("product", "embed"))
    against, embedded = f"numpy product of {len(matrix)} vectors, top 5", "embedding the question"
    found = [Measurement(against, bare, "ms"), Measurement(embedded, embedding, "ms")]
    for name, times in spent.items():
        by_model = "text" in name or "hybrid" in name
        reference = (embedding, embedded) if by_model else (bare, against)
        found.append(Measurement(f"{name}, p50", 1000 * median(times), "ms", *reference))
        found.append(Measurement(f"{name}, p95", 1000 * percentile(times, 95), "ms", *reference))
    return found + by_size(plan, [plan.times(size, least=100) for size in SIZES])


def by_size(plan: Plan, sizes: Sequence[int]) -> list[Measurement]:
    """The same slice of facts, asked in stores of several sizes: each number beside that of the first store.

    Warm, and as the first question after opening, when nothing is kept in memory yet and all comes from the file.
    """
    size = plan.times(SLICE, least=50)
    rounds, first_rounds = plan.times(ROUNDS), plan.times(FIRST_ROUNDS)
    questions = [" ".join(text.split()[:6]) for text in sentences(rounds + 10, seed=3)]
    paths = {facts: _store_of(plan, facts, size) for facts in sizes}
    vectors = [[float(number) for number in vector] for vector in map(resolve_embedder("static").embed_query, questions)]
    kinds: dict[str, Ask] = {
        "recall by vector": lambda store, number: _slice(store).recall(vector=vectors[number]),
        "keyword search, any word": lambda store, number: _slice(store).search(questions[number], match="any"),
        "hybrid recall": lambda store, number: _slice(store).recall(questions[number], mode="hybrid"),
    }
    found = []
    for name, ask in kinds.items():
        with ExitStack() as stack:
            stores = {facts: stack.enter_context(MemoryStore(path, embedder="static")) for facts, path in paths.items()}
            warm = each_in_turn({str(facts): partial(ask, store) for facts, store in stores.items()}, rounds, warm_up=10)
        fresh = each_in_turn({str(facts): partial(_first, path, ask) for facts, path in paths.items()}, first_rounds, warm_up=1)
        for how, spent in (("warm", warm), ("first after opening", fresh)):
            least = 1000 * median(spent[str(sizes[0])])
            found.append(Measurement(f"{name}, {how}, {size:,} of {sizes[0]:,} facts, p50", least, "ms"))
            found += [
                Measurement(f"the same of {facts:,} facts", 1000 * median(spent[str(facts)]), "ms", least, f"in a store of {sizes[0]:,}")
                for facts in sizes[1:]
            ]
    return found


def _slice(store: MemoryStore) -> ScopedView:
    return store.scope(agent_id="bench", user_id="user 0")


def _first(path: Path, ask: Ask, number: int) -> None:
    with MemoryStore(path, embedder="static") as store:
        ask(store, number)


def _store_of(plan: Plan, facts: int, size: int) -> Path:
    """The file of a store with so many facts, whose users wrote theirs in turn, so that no slice lies in one piece."""
    path = plan.folder / f"facts-{facts}.db"
    texts = {user: sentences(size, seed=user) for user in range(max(1, facts // size))}
    with MemoryStore(path, embedder="static") as store:
        for start in range(0, size, size // TURNS):
            for user, own in texts.items():
                store.remember_many(own[start : start + size // TURNS], agent_id="bench", user_id=f"user {user}")
        store.vacuum()
    return path


def _vectors(store: MemoryStore) -> list[tuple[float, ...]]:
    records = store.list(agent_id="bench", user_id="user 3")
    kept = [store.get(record.id, with_vectors=True) for record in records]
    return [record.vectors[""] for record in kept if record is not None and record.vectors]


def main() -> None:
    """Measure stores of the sizes given."""
    from rich.console import Console

    from benchmarks.__main__ import show

    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory(prefix="indelible-bench-") as folder:
        show(Console(highlight=False), "recall by size of the store", by_size(Plan(Path(folder), 1.0, None), sizes))


if __name__ == "__main__":
    main()
