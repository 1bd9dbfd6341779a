"""Warm recall in a slice of a thousand facts out of twenty thousand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice

from benchmarks.filled import filled
from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.embed import resolve_embedder

ROUNDS = 200


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
    return found


def _vectors(store: MemoryStore) -> list[tuple[float, ...]]:
    records = store.list(agent_id="bench", user_id="user 3")
    kept = [store.get(record.id, with_vectors=True) for record in records]
    return [record.vectors[""] for record in kept if record is not None and record.vectors]
