"""A retriever over nodes or over the facts of a memory, now or in the past."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.vector_stores.types import MetadataFilters, VectorStoreQuery, VectorStoreQueryMode

from indelible import Hit, InvalidInput, Rerank
from indelible.base.record import UNSET, Unset
from indelible.embed.reranker import Reranker
from indelible.faces.facts_read import FactReads
from indelible.faces.request import checked_rerank
from indelible.faces.threads import on_a_thread
from llama_index_indelible.filters import conditions
from llama_index_indelible.nodes import node_of_fact
from llama_index_indelible.vector_store import IndelibleVectorStore

_WORDS = (VectorStoreQueryMode.TEXT_SEARCH, VectorStoreQueryMode.SPARSE)
_OF_FACTS = {
    VectorStoreQueryMode.DEFAULT: "semantic",
    VectorStoreQueryMode.MMR: "semantic",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.TEXT_SEARCH: "keyword",
    VectorStoreQueryMode.SPARSE: "keyword",
}


class IndelibleRetriever(BaseRetriever):
    """Finds nodes of a vector store, or facts that a memory was told, by meaning and by words.

    Unlike an index's own retriever it takes a scope and a point in time, and refuses arguments it does not know.

    Args:
        memory: a vector store; or a ``MemoryStore`` or a view of one (``store.scope(...)``, ``store.at(...)``).
        embed_model: the model of the vector store's nodes, by default ``Settings.embed_model``; facts have that of their store.
        similarity_top_k: how many nodes at most.
        mode: ``"hybrid"``, ``"default"`` (by meaning), ``"text_search"``, ``"sparse"`` or ``"mmr"``. By words alone, nodes hold one of
            those that mean something, facts all words, as in ``MemoryStore.search``.
        alpha: of a hybrid search of nodes, 0 for words alone to 1 for meaning alone.
        mmr_threshold: of mmr, 0 for variety alone to 1 for nearness alone.
        filters, doc_ids, node_ids: conditions; the last two are on nodes only.
        as_of: a version or time: what would have been found then.
        rerank: ``True``, a ``Rerank`` or a reranker, as for ``MemoryStore.recall``: a model reads the query beside each of the best.
        agent_id, user_id, org_id, workspace_id: only this scope.
        callback_manager, object_map, objects, verbose: as for any retriever.

    Raises:
        InvalidInput: an unknown mode, something else than a memory, a scope outside the vector store's own.
    """

    def __init__(
        self,
        memory: IndelibleVectorStore | FactReads,
        embed_model: BaseEmbedding | None = None,
        *,
        similarity_top_k: int = 5,
        mode: str | VectorStoreQueryMode = VectorStoreQueryMode.HYBRID,
        alpha: float | None = None,
        mmr_threshold: float | None = None,
        filters: MetadataFilters | None = None,
        doc_ids: list[str] | None = None,
        node_ids: list[str] | None = None,
        as_of: int | datetime | None = None,
        rerank: bool | Rerank | Reranker | None = None,
        agent_id: str | None | Unset = UNSET,
        user_id: str | None | Unset = UNSET,
        org_id: str | None | Unset = UNSET,
        workspace_id: str | None | Unset = UNSET,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[Any] | None = None,
        verbose: bool = False,
    ) -> None:
        scope = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
        given = {name: value for name, value in scope.items() if not isinstance(value, Unset)}
        if mode not in _OF_FACTS:
            raise InvalidInput(f"mode must be one of {', '.join(known.value for known in _OF_FACTS)}, got {mode!r}")
        self._mode = VectorStoreQueryMode(mode)
        self._top_k, self._alpha, self._mmr, self._filters = similarity_top_k, alpha, mmr_threshold, filters
        self._doc_ids, self._node_ids, self._as_of, self._rerank = doc_ids, node_ids, as_of, checked_rerank(rerank)
        self._embed_model = embed_model
        self._nodes: IndelibleVectorStore | None = None
        if isinstance(memory, IndelibleVectorStore):
            self._nodes = memory.within(**given) if given else memory
        elif isinstance(memory, FactReads):
            self._recall = self._recalling(memory, given)
        else:
            raise InvalidInput(f"a retriever needs an IndelibleVectorStore or a MemoryStore, got {type(memory).__name__}")
        super().__init__(callback_manager=callback_manager, object_map=object_map, objects=objects, verbose=verbose)

    def _recalling(self, memory: FactReads, scope: dict[str, Any]) -> Callable[..., list[Hit]]:
        if self._doc_ids is not None or self._node_ids is not None or self._alpha is not None:
            raise InvalidInput("doc_ids, node_ids and alpha are about nodes: facts are narrowed by filters and scope")
        narrowed = conditions(self._filters)
        mmr = (0.5 if self._mmr is None else self._mmr) if self._mode == VectorStoreQueryMode.MMR else None
        return partial(
            memory.recall,
            limit=self._top_k,
            mode=_OF_FACTS[self._mode],
            mmr=mmr,
            filters=narrowed.filters,
            accept=narrowed.accept,
            as_of=self._as_of,
            rerank=self._rerank,
            **scope,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        embedding = query_bundle.embedding
        if embedding is None and self._needs_model:
            embedding = self._model.get_agg_embedding_from_queries(query_bundle.embedding_strs)
        return self._found(query_bundle.query_str, embedding)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        embedding = query_bundle.embedding
        if embedding is None and self._needs_model:
            embedding = await self._model.aget_agg_embedding_from_queries(query_bundle.embedding_strs)
        return await on_a_thread(partial(self._found, query_bundle.query_str, embedding))

    @property
    def _needs_model(self) -> bool:
        return self._nodes is not None and self._mode not in _WORDS

    @property
    def _model(self) -> BaseEmbedding:
        return Settings.embed_model if self._embed_model is None else self._embed_model

    def _found(self, words: str, embedding: list[float] | None) -> list[NodeWithScore]:
        if self._nodes is None:
            vector = None if self._mode in _WORDS else embedding
            return [NodeWithScore(node=node_of_fact(hit.record), score=hit.rank_score) for hit in self._recall(words, vector=vector)]
        query = VectorStoreQuery(
            query_embedding=embedding,
            query_str=words,
            similarity_top_k=self._top_k,
            mode=self._mode,
            alpha=self._alpha,
            mmr_threshold=self._mmr,
            filters=self._filters,
            doc_ids=self._doc_ids,
            node_ids=self._node_ids,
        )
        result = self._nodes.query(query, as_of=self._as_of, rerank=self._rerank)
        return [NodeWithScore(node=node, score=score) for node, score in zip(result.nodes or (), result.similarities or (), strict=True)]
