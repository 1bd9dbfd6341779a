"""The vector store for LlamaIndex beside others, at several sizes, and what the adapter adds to the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile, seconds
from benchmarks.texts import sentences

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

    from llama_index_indelible import IndelibleVectorStore

SIZES = (1_000, 10_000, 100_000)
DIM = 256
ROUNDS = 30
BATCH = 500
TOP_K = 10
OVERHEAD_BAR_MS = 0.3
OURS, SIMPLE, CHROMA, LANCE = "IndelibleVectorStore", "SimpleVectorStore", "ChromaVectorStore", "LanceDBVectorStore"


def run(plan: Plan) -> list[Measurement]:
    """Fill each store, then query by vector, with a filter, and of one document, one of each store in every round.

    Chroma and LanceDB take part where their integrations are installed.
    """
    found: list[Measurement] = []
    for size in SIZES:
        count = plan.times(size, least=50)
        stores = _stores(plan, str(size))
        made = _nodes(count, size)
        found += _filled(stores, made)
        found += _used(stores, plan.times(ROUNDS), count)
        ours: Any = stores[OURS]
        ours.client.close()
    return found


def _stores(plan: Plan, name: str) -> dict[str, Any]:
    from llama_index.core.vector_stores.simple import SimpleVectorStore

    from llama_index_indelible import IndelibleVectorStore

    found: dict[str, Any] = {OURS: IndelibleVectorStore(plan.folder / f"ours-{name}.db"), SIMPLE: SimpleVectorStore()}
    for peer, make in {CHROMA: _chroma, LANCE: _lance}.items():
        with suppress(ImportError):  # it, or something that it needs without saying so, is not installed
            found[peer] = make(str(plan.folder / f"{peer}-{name}"))
    return found


def _chroma(path: str) -> Any:
    chromadb: Any = import_module("chromadb")
    client = chromadb.PersistentClient(path, settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("bench", metadata={"hnsw:space": "cosine"})
    return import_module("llama_index.vector_stores.chroma").ChromaVectorStore(chroma_collection=collection)


def _lance(path: str) -> Any:
    return import_module("llama_index.vector_stores.lancedb").LanceDBVectorStore(uri=path, table_name="bench")


def _nodes(count: int, seed: int) -> list[TextNode]:
    import numpy as np
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    texts = sentences(count, seed=seed)
    vectors = np.random.default_rng(seed).standard_normal((count, DIM), np.float32)
    return [
        TextNode(
            id_=f"n{number}",
            text=texts[number],
            metadata={"n": number % 100, "even": "yes" if number % 2 == 0 else "no"},
            embedding=vectors[number].tolist(),
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc{number // 10}")},
        )
        for number in range(count)
    ]


def _filled(stores: dict[str, Any], made: list[TextNode]) -> list[Measurement]:
    def fill(store: Any) -> None:
        for start in range(0, len(made), BATCH):
            store.add(made[start : start + BATCH])

    rates = {name: len(made) / seconds(partial(fill, store)) for name, store in stores.items()}
    return _rows(f"{BATCH} nodes an add, up to {len(made):,}", rates, "nodes/s", "more")


def _used(stores: dict[str, Any], rounds: int, count: int) -> list[Measurement]:
    import numpy as np
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery

    vectors = np.random.default_rng(7).standard_normal((rounds + 3, DIM), np.float32).tolist()

    def query(store: Any, narrow: bool, number: int) -> object:
        n = MetadataFilters(filters=[MetadataFilter(key="n", value=number % 100)]) if narrow else None
        return store.query(VectorStoreQuery(query_embedding=vectors[number], similarity_top_k=TOP_K, filters=n))

    def timed(narrow: bool) -> dict[str, float]:
        calls: dict[str, Callable[[int], object]] = {name: partial(query, store, narrow) for name, store in stores.items()}
        return {name: 1000 * median(times) for name, times in each_in_turn(calls, rounds, warm_up=3).items()}

    there = f"{TOP_K} of {count:,} nodes"
    found = _rows(f"query by vector, {there}", timed(narrow=False))
    found += _rows(f"query by vector and filter, {there}", timed(narrow=True))
    return [*found, *_overhead(stores[OURS], vectors, rounds, there)]


def _overhead(store: IndelibleVectorStore, vectors: Sequence[list[float]], rounds: int, there: str) -> list[Measurement]:
    """What a query costs through the store beyond the same search of the core."""
    from llama_index.core.vector_stores.types import VectorStoreQuery

    search = store.collection.search
    spent = each_in_turn(
        {
            "store": lambda number: store.query(VectorStoreQuery(query_embedding=vectors[number], similarity_top_k=TOP_K)),
            "core": lambda number: search(vector=vectors[number], prefix=False, limit=TOP_K),
        },
        rounds,
        warm_up=3,
    )
    core, against = 1000 * median(spent["core"]), "the core's search"
    added = [1000 * (one - other) for one, other in zip(spent["store"], spent["core"], strict=True)]
    return [
        Measurement(f"query of the store, {there}, p95", 1000 * percentile(spent["store"], 95), "ms", core, against),
        Measurement(f"added to the core's search, {there}", max(median(added), 1e-6), "ms", core, against, OVERHEAD_BAR_MS),
    ]


def _rows(what: str, values: dict[str, float], unit: str = "ms", better: Any = "less") -> list[Measurement]:
    """Ours beside each of the others."""
    ours = values[OURS]
    return [Measurement(what, ours, unit, value, name, better=better) for name, value in values.items() if name != OURS]
