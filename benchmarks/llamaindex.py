"""The vector store for LlamaIndex beside others, at several sizes, and what the adapter adds to the core."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile, quiet, seconds
from benchmarks.texts import sentences

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

    from llama_index_indelible import IndelibleVectorStore

ROUNDS = {1_000: 50, 10_000: 30, 100_000: 5}
"""Queries of each kind by how many nodes there are."""
DIM = 256
ABOUT_ONE_THING = 50
"""So many vectors lie around one point, as those of texts about one thing do. Of vectors spread evenly, an index that looks at a part only
would find nearly none of the nearest."""
BATCH = 500
TOP_K = 10
WARM_UP = 1
OVERHEAD_ROUNDS = 200
"""Many more: the difference of two nearly equal numbers."""
OVERHEAD_BAR_MS = 0.3
OURS, SIMPLE, CHROMA, LANCE = "IndelibleVectorStore", "SimpleVectorStore", "ChromaVectorStore", "LanceDBVectorStore"
IN_MEMORY = {SIMPLE: "SimpleVectorStore, in memory"}
"""It writes nothing down before it is told to, and then all of it."""


def run(plan: Plan) -> list[Measurement]:
    """Fill each store, then query by vector, and with filters, one of each store in every round; all on the same vectors.

    Chroma and LanceDB take part where their integrations are installed; see ``requirements-peers.txt``.
    """
    found: list[Measurement] = []
    for size, rounds in ROUNDS.items():
        count = plan.times(size, least=50)
        stores = _stores(plan, str(size))
        made = _nodes(count, size)
        found += _filled(stores, made)
        found += _used(stores, made, plan.times(rounds))
        ours: Any = stores[OURS]
        ours.client.close()
    return found


def _stores(plan: Plan, name: str) -> dict[str, Any]:
    from llama_index.core.vector_stores.simple import SimpleVectorStore

    from llama_index_indelible import IndelibleVectorStore

    found: dict[str, Any] = {OURS: IndelibleVectorStore(plan.folder / f"ours-{name}.db"), SIMPLE: SimpleVectorStore()}
    for peer, make in {CHROMA: _chroma, LANCE: _lance}.items():
        try:
            found[peer] = make(str(plan.folder / f"{peer}-{name}"))
        except ImportError as error:  # it, or something that it needs without saying so, is not installed
            _left_out(peer, str(error))
    return found


@cache
def _left_out(peer: str, reason: str) -> None:
    """Say once that a store takes no part, and why."""
    print(f"without {peer}: {reason}: pip install -r benchmarks/requirements-peers.txt", file=sys.stderr)


def _chroma(path: str) -> Any:
    chromadb: Any = import_module("chromadb")
    client = chromadb.PersistentClient(path, settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("bench", metadata={"hnsw:space": "cosine"})
    return import_module("llama_index.vector_stores.chroma").ChromaVectorStore(chroma_collection=collection)


def _lance(path: str) -> Any:
    logging.getLogger("llama_index.vector_stores.lancedb.base").setLevel(logging.ERROR)  # it warns that there is no table yet
    return import_module("llama_index.vector_stores.lancedb").LanceDBVectorStore(uri=path, table_name="bench")


def _vectors(count: int, among: int, seed: int = 0) -> Any:
    """Unit vectors, with which every store ranks by cosine, around the points that ``among`` vectors lie around."""
    import numpy as np

    points = np.random.default_rng(among).standard_normal((-(-among // ABOUT_ONE_THING), DIM), np.float32)
    chance = np.random.default_rng(seed)
    vectors = points[chance.integers(len(points), size=count)] + 0.7 * chance.standard_normal((count, DIM), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _nodes(count: int, seed: int) -> list[TextNode]:
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    texts, vectors = sentences(count, seed=seed), _vectors(count, count)
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

    rates = {}
    for name, store in stores.items():
        with _silent():
            rates[name] = len(made) / seconds(partial(fill, store))
    return _rows(f"{BATCH} nodes an add, up to {len(made):,}", rates, "nodes/s", "more")


def _used(stores: dict[str, Any], made: Sequence[TextNode], rounds: int) -> list[Measurement]:
    from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters, VectorStoreQuery

    vectors = _vectors(max(rounds + WARM_UP, 32), len(made), seed=7)
    asked = vectors.tolist()
    found: dict[str, dict[int, list[str]]] = {name: {} for name in stores}

    def one_in_a_hundred(number: int) -> MetadataFilters:
        return MetadataFilters(filters=[MetadataFilter(key="n", value=10 + number % 90)])

    def one_in_four(number: int) -> MetadataFilters:
        return MetadataFilters(
            filters=[MetadataFilter(key="even", value="yes"), MetadataFilter(key="n", value=50, operator=FilterOperator.LT)]
        )

    def query(name: str, narrow: Callable[[int], MetadataFilters] | None, number: int) -> None:
        filters = None if narrow is None else narrow(number)
        result = stores[name].query(VectorStoreQuery(query_embedding=asked[number], similarity_top_k=TOP_K, filters=filters))
        if narrow is None:
            found[name][number] = result.ids

    there = f"{TOP_K} of {len(made):,} nodes"
    rows = []
    kinds = {"by vector": None, "by vector and filter, 1 in 100": one_in_a_hundred, "by vector and two filters, 1 in 4": one_in_four}
    for kind, narrow in kinds.items():
        calls: dict[str, Callable[[int], object]] = {name: partial(query, name, narrow) for name in stores}
        with _silent():
            spent = each_in_turn(calls, rounds, warm_up=WARM_UP)
        rows += _rows(f"query {kind}, {there}", {name: 1000 * median(times) for name, times in spent.items()})
    rows += _nearest(found, made, vectors, there)
    ours = stores[OURS]
    return [*rows, *_own(ours, made, rounds, there), *_overhead(ours, asked, there)]


def _nearest(found: dict[str, dict[int, list[str]]], made: Sequence[TextNode], vectors: Any, there: str) -> list[Measurement]:
    """How many of the nearest each store found: some look at a part only, and are the faster for it."""
    import numpy as np

    cosines = vectors @ np.array([node.embedding for node in made], np.float32).T
    nearest = [{made[place].node_id for place in np.argsort(-row)[:TOP_K]} for row in cosines]
    shares = {name: 100 * sum(len(nearest[n] & set(ids)) for n, ids in each.items()) / (TOP_K * len(each)) for name, each in found.items()}
    return [Measurement(f"of the nearest found by {name}, {there}", max(share, 1e-6), "%", better="more") for name, share in shares.items()]


def _own(store: IndelibleVectorStore, made: Sequence[TextNode], rounds: int, there: str) -> list[Measurement]:
    """What none of the others does here: by words, by both, and in the past, beside the same query by vector now."""
    from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

    def query(mode: VectorStoreQueryMode, number: int, **options: Any) -> object:
        node = made[number * 7 % len(made)]
        words = " ".join(node.get_content().split()[:4])
        given = VectorStoreQuery(query_embedding=node.embedding, query_str=words, similarity_top_k=TOP_K, mode=mode)
        return store.query(given, **options)

    version = store.client.version
    modes = VectorStoreQueryMode
    calls: dict[str, Callable[[int], object]] = {
        "by vector": partial(query, modes.DEFAULT),
        "by vector as of a version": lambda number: query(modes.DEFAULT, number, as_of=version - 1),
        "by four words": partial(query, modes.TEXT_SEARCH),
        "by vector and four words": partial(query, modes.HYBRID),
    }
    spent = {name: 1000 * median(times) for name, times in each_in_turn(calls, rounds, warm_up=WARM_UP).items()}
    plain = spent.pop("by vector")
    return [Measurement(f"query {name}, {there}", value, "ms", plain, "by vector, now") for name, value in spent.items()]


def _overhead(store: IndelibleVectorStore, vectors: Sequence[list[float]], there: str) -> list[Measurement]:
    """What a query costs through the store beyond the same search of the core: the median of differences within a round."""
    from llama_index.core.vector_stores.types import VectorStoreQuery

    search = store.collection.search

    def through(number: int) -> object:
        return store.query(VectorStoreQuery(query_embedding=vectors[number % len(vectors)], similarity_top_k=TOP_K))

    def core(number: int) -> object:
        return search(vector=vectors[number % len(vectors)], prefix=False, limit=TOP_K)

    whole, alone = [], []
    with quiet():
        for number in range(OVERHEAD_ROUNDS):
            # Whoever is second finds everything warm, so they take turns; the time of the processor, because the difference is far
            # smaller than what other programs add.
            first, second = (through, core) if number % 2 else (core, through)
            took = [_processor_ms(first, number), _processor_ms(second, number)]
            whole.append(took[0] if number % 2 else took[1])
            alone.append(took[1] if number % 2 else took[0])
    reference, against = median(alone), "the core's search"
    added = [one - other for one, other in zip(whole, alone, strict=True)]
    return [
        Measurement(f"query of the store, processor time, {there}, p95", percentile(whole, 95), "ms", percentile(alone, 95), against),
        Measurement(f"added to the core's search, {there}", max(median(added), 1e-6), "ms", reference, against, OVERHEAD_BAR_MS),
    ]


def _processor_ms(call: Callable[[int], object], number: int) -> float:
    began = time.thread_time()
    call(number)
    return 1000 * (time.thread_time() - began)


@contextmanager
def _silent() -> Iterator[None]:
    """LanceDB's integration prints."""
    with redirect_stdout(sys.stderr):
        yield


def _rows(what: str, values: dict[str, float], unit: str = "ms", better: Any = "less") -> list[Measurement]:
    """Ours beside each of the others."""
    ours = values[OURS]
    others = [(IN_MEMORY.get(name, name), value) for name, value in values.items() if name != OURS]
    return [Measurement(what, ours, unit, value, name, better=better) for name, value in others]
