"""A query of LlamaIndex as the arguments of a search of the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

from indelible import EmbedderMismatch, InvalidInput, Mmr
from indelible.faces.request import Accept, Rerank, checked_rerank
from llama_index_indelible.filters import conditions

_BY_WORDS: Final = (VectorStoreQueryMode.TEXT_SEARCH, VectorStoreQueryMode.SPARSE)
_MODES: Final = (VectorStoreQueryMode.DEFAULT, *_BY_WORDS, VectorStoreQueryMode.HYBRID, VectorStoreQueryMode.MMR)
_NARROWING: Final = frozenset(
    "filter filters where metadata_filter metadata_filters metadata doc_ids node_ids namespace scope "
    "agent_id user_id org_id workspace_id".split()
)
"""Words by which other stores are narrowed. Ignoring one would answer with what should have been left out."""
_PREFETCH_FACTOR: Final = 4.0


@contextmanager
def of_one_model(namespace: tuple[str, ...]) -> Iterator[None]:
    """Around what takes vectors: one of another dimension is refused with what to do about it here, where vectors come from outside.

    Raises:
        EmbedderMismatch: there was one.
    """
    try:
        yield
    except EmbedderMismatch as error:
        what, _, _ = str(error).partition(":")
        other = (*namespace[:-1], f"{namespace[-1]}-2")
        raise EmbedderMismatch(f"{what}: nodes of another embedding model need a namespace of their own, such as {other}") from error


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that look like conditions and would have no effect. Others of other stores are let through.

    Raises:
        TypeError: there is one.
    """
    for name in options:
        if name in _NARROWING:
            raise TypeError(
                f"a query is not narrowed by the option {name!r}: conditions are the query's filters, doc_ids and "
                "node_ids, and whose nodes are searched is settled when the vector store is made"
            )


def search_arguments(query: VectorStoreQuery, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """What ``Collection.search`` is called with, ``None`` if nothing can be found.

    Args:
        query: the query. Empty ``node_ids`` are no restriction, since LlamaIndex's own retriever sends them; empty ``doc_ids`` are one.
        options: ``as_of``, ``include_expired``, and for mmr ``mmr_threshold``, ``mmr_prefetch_factor``, ``mmr_prefetch_k``;
            ``rerank``, as for ``MemoryStore.recall``, where there is something to rank by.

    Raises:
        ValueError: a mode that is not offered, or one without what it needs.
        TypeError: an option that looks like a condition.
    """
    check_options(options)
    if query.doc_ids is not None and not query.doc_ids:
        return None
    found = conditions(query.filters)
    parent, from_documents = _from_documents(query.doc_ids)
    return {
        "prefix": False,
        "filters": found.filters,
        "accept": _both(from_documents, found.accept),
        "keys": query.node_ids or None,
        "parent": parent,
        "as_of": options.get("as_of"),
        "include_expired": bool(options.get("include_expired", False)),
        **_reranked(_ranking(query, options), query, checked_rerank(options.get("rerank"))),
    }


def _both(first: Accept | None, second: Accept | None) -> Accept | None:
    if first is None or second is None:
        return first or second
    return lambda record: first(record) and second(record)


def _from_documents(ids: Sequence[str] | None) -> tuple[str | None, Accept | None]:
    if ids is None:
        return None, None
    wanted = frozenset(ids)
    if len(wanted) == 1 and "" not in wanted:
        return next(iter(wanted)), None
    return None, lambda record: record.parent in wanted


def _ranking(query: VectorStoreQuery, options: Mapping[str, Any]) -> dict[str, Any]:
    """By what the hits are ranked, and how many there are."""
    mode = query.mode
    if mode not in _MODES:
        offered = ", ".join(known.value for known in _MODES)
        raise InvalidInput(f"Invalid query mode: {getattr(mode, 'value', mode)!r} is none of {offered}")
    limit = query.similarity_top_k
    if mode in _BY_WORDS:
        return _by_words(query, query.sparse_top_k or limit)
    if mode == VectorStoreQueryMode.HYBRID:
        return _hybrid(query, query.hybrid_top_k or limit)
    vector = _direction(query.query_embedding)
    mmr = _mmr(query, options) if mode == VectorStoreQueryMode.MMR else None
    if vector is None:  # nothing to compare with: what the conditions leave, in the order in which it came
        return {"limit": limit}
    return {"vector": vector, "mode": "semantic", "mmr": mmr, "limit": limit}


def _reranked(ranking: dict[str, Any], query: VectorStoreQuery, rerank: Rerank | None) -> dict[str, Any]:
    """The same with a second look, which reads the words also where the search itself does not."""
    if rerank is None or not ranking.keys() & {"query", "vector"}:
        return ranking
    return {**ranking, "query": query.query_str, "rerank": rerank}


def _by_words(query: VectorStoreQuery, limit: int) -> dict[str, Any]:
    if query.query_str is None:
        raise InvalidInput(f"query_str must be specified for mode {query.mode.value!r}")
    return {"query": query.query_str, "mode": "hybrid", "balance": 0.0, "limit": limit}


def _hybrid(query: VectorStoreQuery, limit: int) -> dict[str, Any]:
    alpha = 0.5 if query.alpha is None else query.alpha
    vector = _direction(query.query_embedding)
    if alpha == 1 and vector is not None:
        return {"vector": vector, "mode": "semantic", "limit": limit}
    if query.query_embedding is None and alpha != 0:
        raise InvalidInput("query_embedding must be specified for mode 'hybrid', or alpha=0 to search by words alone")
    if vector is None:
        return _by_words(query, limit)
    if query.query_str is None:
        raise InvalidInput("query_str must be specified for mode 'hybrid', or alpha=1 to search by meaning alone")
    return {"query": query.query_str, "vector": vector, "mode": "hybrid", "balance": float(alpha), "limit": limit}


def _direction(vector: Sequence[float] | None) -> list[float] | None:
    """A vector with a direction; LlamaIndex sends one of zeros for an empty query, and nothing is nearer to that than anything else."""
    if vector is None:
        return None
    numbers = [float(number) for number in vector]
    return numbers if any(numbers) else None


def _mmr(query: VectorStoreQuery, options: Mapping[str, Any]) -> Mmr:
    threshold = options.get("mmr_threshold", query.mmr_threshold)
    factor, pool = options.get("mmr_prefetch_factor"), options.get("mmr_prefetch_k")
    if factor is not None and pool is not None:
        raise InvalidInput("mmr_prefetch_factor and mmr_prefetch_k were both given: give one")
    if pool is None:
        pool = int(query.similarity_top_k * (_PREFETCH_FACTOR if factor is None else factor))
    return Mmr(0.5 if threshold is None else threshold, max(pool, query.similarity_top_k))
