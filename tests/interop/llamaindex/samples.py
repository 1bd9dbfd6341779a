"""What the tests of the LlamaIndex package share. No test of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import BaseNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery, VectorStoreQueryMode

from indelible.testing import HashEmbedder
from indelible.testing.contract.drivers.facts import contract_loop
from llama_index_indelible import IndelibleVectorStore

DIM = 64
WAYS = ("plain", "awaited")
T = TypeVar("T")


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near; nothing is loaded."""

    model_name: str = "words"

    def _get_text_embedding(self, text: str) -> list[float]:
        found: list[float] = HashEmbedder(DIM).embed_query(text).tolist()
        return found

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def vector_of(text: str) -> list[float]:
    """The vector of a text in the model of the tests."""
    return WordEmbedding().get_text_embedding(text)


def node(id_: str, text: str = "", *, of: str | None = None, vector: Sequence[float] | None = None, **metadata: Any) -> TextNode:
    """A node with a vector: of its text, or of its id if it has none."""
    source = {} if of is None else {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=of)}
    embedding = vector_of(text or id_ or "empty") if vector is None else list(vector)
    return TextNode(id_=id_, text=text, metadata=metadata, embedding=embedding, relationships=source)


def asked(
    store: IndelibleVectorStore,
    words: str | None = None,
    *,
    mode: str = "default",
    top_k: int = 10,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> list[str]:
    """The ids that a query finds, best first."""
    result = store.query(query_of(words, mode=mode, top_k=top_k, **more), **(options or {}))
    assert result.nodes is not None
    assert result.ids is not None
    assert result.similarities is not None
    assert len(result.nodes) == len(result.ids) == len(result.similarities)
    assert [found.node_id for found in result.nodes] == result.ids
    return list(result.ids)


def query_of(words: str | None = None, *, mode: str = "default", top_k: int = 10, embed: bool = True, **more: Any) -> VectorStoreQuery:
    """A query by words, and by their vector where the mode takes one."""
    vector = vector_of(words) if words is not None and embed and mode not in ("text_search", "sparse") else None
    return VectorStoreQuery(
        **{"query_embedding": vector, "query_str": words, "similarity_top_k": top_k, "mode": VectorStoreQueryMode(mode), **more}
    )


def matching(store: IndelibleVectorStore, filters: MetadataFilters | None, **more: Any) -> list[str]:
    """The ids of the nodes that filters leave, sorted, by every way to ask: a query with and without a vector, and ``get_nodes``."""
    listed = sorted(asked(store, filters=filters, top_k=1000, **more))
    assert sorted(asked(store, "anything", filters=filters, top_k=1000, **more)) == listed
    if not more:
        assert sorted(found.node_id for found in store.get_nodes(filters=filters)) == listed
    return listed


def where(**values: Any) -> MetadataFilters:
    """Nodes whose metadata have all of these values."""
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value) for key, value in values.items()])


def ids_of(nodes: Sequence[BaseNode]) -> list[str]:
    return [found.node_id for found in nodes]


def awaited(result: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, run in another thread's loop."""
    return asyncio.run_coroutine_threadsafe(result, contract_loop()).result(timeout=120)


class Awaited:
    """A store whose verbs are its coroutines, each waited for."""

    VERBS = MappingProxyType(
        {"add": "async_add"} | {name: f"a{name}" for name in ("delete", "delete_nodes", "get_nodes", "query", "clear")}
    )

    def __init__(self, store: IndelibleVectorStore) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, self.VERBS.get(name, name))
        return (lambda *given, **options: awaited(found(*given, **options))) if name in self.VERBS else found


def both_ways(store: IndelibleVectorStore, way: str) -> IndelibleVectorStore:
    """The store by its plain verbs or by its coroutines, as ``way`` says: ``"plain"`` or ``"awaited"``."""
    return store if way == "plain" else cast(IndelibleVectorStore, Awaited(store))
