"""The store of LangGraph beside LangGraph's own, at several sizes, and what the adapter adds to the core.

LangGraph's ``SqliteStore`` searches by vector with a loadable extension, which many builds of Python cannot load. Where it can be loaded,
the store is measured whole; where not, without an index: its puts, which embed nothing then, its gets and its searches by filter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from importlib import import_module
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
OVERHEAD_ROUNDS = 10
"""As many times more rounds: the difference of two nearly equal numbers."""
OURS, MEMORY, SQLITE = "IndelibleStore", "InMemoryStore", "SqliteStore"
NO_VECTORS = "SqliteStore without an index: its search by vector needs an extension that cannot be loaded here"
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
        wanted = index if _extension_loads() else None
        with SqliteStore.from_conn_string(str(plan.folder / f"theirs-{name}.db"), index=wanted) as store:
            store.setup()
            yield store

    return {OURS: IndelibleStore(plan.folder / f"ours-{name}.db", index=index), MEMORY: memory(), SQLITE: sqlite()}


@cache
def _extension_loads() -> bool:
    """Whether the extension that ``SqliteStore`` needs for vectors is there, and this Python can load it."""
    import sqlite3

    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.enable_load_extension(True)
            import_module("sqlite_vec").load(connection)
    except (ImportError, AttributeError, sqlite3.Error):
        return False
    return True


def _ranks(name: str) -> bool:
    return name != SQLITE or _extension_loads()


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
    return [*found, *_overhead(ours, queries, OVERHEAD_ROUNDS * rounds, there)]


def _overhead(store: IndelibleStore, queries: Sequence[str], rounds: int, there: str) -> list[Measurement]:
    """What searches cost through the store beyond the same searches of the core, given the same vectors and conditions."""
    draw: Any = (store.index_config or {})["embed"]
    model: Any = store._index.model
    collection = store.store.collection("langgraph", *NAMESPACE, model=model)
    vectors = [tuple(map(float, draw([query])[0])) for query in queries]
    many = len(queries)
    whole = _paired(
        lambda number: store.search(NAMESPACE, query=queries[number % many]),
        lambda number: collection.search(vector=vectors[number % many], mode="semantic", limit=10),
        rounds,
    )
    bare = _paired(lambda number: store.get(NAMESPACE, f"k{number}"), lambda number: collection.get(f"k{number}"), rounds)
    return [
        Measurement(f"added to the core's search, median of paired differences, processor time, {there}", *whole),
        Measurement(f"added to the core's get, likewise, {there}", *bare),
    ]


def _paired(adapter: Callable[[int], object], core: Callable[[int], object], rounds: int) -> tuple[float, str, float, str, float]:
    """Value to bar of a measurement: the median of the differences of calls made one right after the other, in alternating order."""
    added, alone = [], []
    with quiet():
        for number in range(-5, rounds):
            spent: dict[Callable[[int], object], float] = {}
            for call in (adapter, core) if number % 2 else (core, adapter):
                # The time of the processor and not of the clock: the difference is far smaller than what other programs add.
                began = time.thread_time()
                call(max(number, 0))
                spent[call] = 1000 * (time.thread_time() - began)
            if number >= 0:
                added.append(spent[adapter] - spent[core])
                alone.append(spent[core])
    return max(median(added), 1e-6), "ms", median(alone), "the same call of the core", OVERHEAD_BAR_MS


def _rows(what: str, values: dict[str, float], unit: str = "ms", better: Any = "less") -> list[Measurement]:
    """Ours beside each of theirs."""
    ours = values[OURS]
    named = {SQLITE: SQLITE if _extension_loads() else NO_VECTORS}
    theirs = [(named.get(name, name), value) for name, value in values.items() if name != OURS]
    return [Measurement(what, ours, unit, value, name, better=better) for name, value in theirs]
