"""The store of LangGraph beside LangGraph's own, at several sizes, and what the adapter adds to the core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Measurement, Plan, each_in_turn, median, quiet, seconds
from benchmarks.texts import sentences

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from langchain_indelible import IndelibleStore

SIZES = (1_000, 10_000, 50_000)
DIM = 384
ROUNDS = 30
BATCH = 500
OVERHEAD_BAR_MS = 0.2
OVERHEAD_ROUNDS = 7
"""As many times more rounds: the difference of two nearly equal numbers."""
OURS, MEMORY, SQLITE = "IndelibleStore", "InMemoryStore", "SqliteStore"
NO_VECTORS = "SqliteStore, which embeds nothing here"
"""It needs an extension that this Python cannot load: what it puts has no vectors."""
NAMESPACE = ("bench", "notes")


class Drawn:
    """Vectors drawn once per text, so that an embedder's own time is next to nothing."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Any:
        import numpy as np

        if text not in self._made:
            self._made[text] = np.random.default_rng(len(self._made)).standard_normal(DIM, np.float32)
        return self._made[text]


def run(plan: Plan) -> list[Measurement]:
    """Fill each store, then put, get, search by vector, and search by filter, one of each store in every round."""
    found: list[Measurement] = []
    for size in SIZES:
        count = plan.times(size, least=50)
        with ExitStack() as opened:
            stores = {name: opened.enter_context(store) for name, store in _stores(plan, f"{size}").items()}
            texts = sentences(count + 2 * ROUNDS, seed=size)
            found += _filled(stores, texts[:count], count)
            found += _used(stores, texts, plan.times(ROUNDS), count)
    return found


def _stores(plan: Plan, name: str) -> dict[str, Any]:
    """Ours and theirs by name, to be opened. ``SqliteStore`` embeds only where its extension can be loaded."""
    from langgraph.store.memory import InMemoryStore
    from langgraph.store.sqlite import SqliteStore

    from langchain_indelible import IndelibleStore

    draw = Drawn()
    index: Any = {"dims": DIM, "embed": draw, "fields": ["text"]}

    @contextmanager
    def memory() -> Iterator[BaseStore]:
        yield InMemoryStore(index=index)

    @contextmanager
    def sqlite() -> Iterator[BaseStore]:
        wanted = index if _extensions_load() else None
        with SqliteStore.from_conn_string(str(plan.folder / f"theirs-{name}.db"), index=wanted) as store:
            store.setup()
            yield store

    return {OURS: IndelibleStore(plan.folder / f"ours-{name}.db", index=index), MEMORY: memory(), SQLITE: sqlite()}


def _extensions_load() -> bool:
    import sqlite3

    return hasattr(sqlite3.Connection, "enable_load_extension")


def _ranks(name: str) -> bool:
    return name != SQLITE or _extensions_load()


def _filled(stores: dict[str, BaseStore], texts: Sequence[str], count: int) -> list[Measurement]:
    from langgraph.store.base import PutOp

    def fill(store: BaseStore) -> None:
        for start in range(0, count, BATCH):
            chunk = range(start, min(start + BATCH, count))
            store.batch([PutOp(NAMESPACE, f"k{number}", {"text": texts[number], "n": number % 100}) for number in chunk])

    rates = {name: count / seconds(partial(fill, store)) for name, store in stores.items()}
    return _rows(f"{BATCH} puts a batch, up to {count:,}", rates, "items/s", "more")


def _used(stores: dict[str, BaseStore], texts: Sequence[str], rounds: int, count: int) -> list[Measurement]:
    queries = texts[count:]

    def timed(call: Callable[[BaseStore, int], object], wanted: Sequence[str] = (OURS, MEMORY, SQLITE)) -> dict[str, float]:
        calls: dict[str, Callable[[int], object]] = {name: partial(call, store) for name, store in stores.items() if name in wanted}
        return {name: 1000 * median(times) for name, times in each_in_turn(calls, rounds, warm_up=3).items()}

    there = f"{count:,} items"
    ranking = [name for name in stores if _ranks(name)]
    found = _rows(f"get, {there}", timed(lambda store, number: store.get(NAMESPACE, f"k{number * 7 % count}")))
    found += _rows(f"search by vector, 10 of {there}", timed(lambda store, n: store.search(NAMESPACE, query=queries[n]), ranking))
    narrowed = timed(lambda store, n: store.search(NAMESPACE, query=queries[n], filter={"n": n % 100}), ranking)
    found += _rows(f"search by vector and filter, 10 of {there}", narrowed)
    found += _rows(f"search by filter, 10 of {there}", timed(lambda store, number: store.search(NAMESPACE, filter={"n": number % 100})))
    found += _rows(f"put one, {there}", timed(lambda store, n: store.put(NAMESPACE, f"k{n}", {"text": queries[n], "n": n % 100})))
    ours: Any = stores[OURS]
    return [*found, _overhead(ours, queries, OVERHEAD_ROUNDS * rounds, there)]


def _overhead(store: IndelibleStore, queries: Sequence[str], rounds: int, there: str) -> Measurement:
    """What a search by vector costs through the store beyond the same search of the core, given the same vectors."""
    draw: Any = (store.index_config or {})["embed"]
    model: Any = store._index.model
    collection = store.store.collection("langgraph", *NAMESPACE, model=model)
    vectors = [tuple(map(float, draw([query])[0])) for query in queries]
    calls: dict[str, Callable[[int], object]] = {
        "store": lambda number: store.search(NAMESPACE, query=queries[number % len(queries)]),
        "core": lambda number: collection.search(vector=vectors[number % len(vectors)], mode="semantic", limit=10),
    }
    spent: dict[str, list[float]] = {name: [] for name in calls}
    with quiet():
        for number in range(rounds):
            for name, call in calls.items():
                # The time of the processor and not of the clock: the difference is far smaller than what other programs add.
                began = time.thread_time()
                call(number)
                spent[name].append(1000 * (time.thread_time() - began))
    whole, core = median(spent["store"]), median(spent["core"])
    what = f"added to the core's search, processor time, {there}"
    return Measurement(what, max(whole - core, 1e-6), "ms", core, "the core's search", OVERHEAD_BAR_MS)


def _rows(what: str, values: dict[str, float], unit: str = "ms", better: Any = "less") -> list[Measurement]:
    """Ours beside each of theirs."""
    ours = values[OURS]
    named = {SQLITE: SQLITE if _extensions_load() else NO_VECTORS}
    theirs = [(named.get(name, name), value) for name, value in values.items() if name != OURS]
    return [Measurement(what, ours, unit, value, name, better=better) for name, value in theirs]
