"""LangChain's many ways to search documents, as the one search of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from indelible import Collection, Hit, Mmr, Rerank
from indelible.embed.reranker import Reranker
from langchain_indelible.documents import DocumentFilter, document_of, listed, score_of, search_conditions


class DocumentSearches(VectorStore):
    """The reading half of a vector store. What each search takes beside its own arguments is said there."""

    _collection: Collection

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, without those that are not there."""
        found = {record.id: record for record in self._collection.get_many(listed(ids, "ids")) if record is not None}
        return [document_of(record) for record in found.values()]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The documents nearest to a query."""
        return [document_of(hit.record) for hit in self._hits(query, None, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """The same with the cosine of each, higher is nearer; of what was found by its words alone, with what it is ranked by."""
        return [(document_of(hit.record), score_of(hit)) for hit in self._hits(query, None, k, **kwargs)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """The documents nearest to a vector."""
        return [document_of(hit.record) for hit in self._hits(None, embedding, k, **kwargs)]

    def similarity_search_with_score_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """The same with the cosine of each."""
        return [(document_of(hit.record), score_of(hit)) for hit in self._hits(None, embedding, k, **kwargs)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Documents near the query and unlike each other, chosen from the ``fetch_k`` nearest."""
        return [document_of(hit.record) for hit in self._hits(query, None, k, mmr=Mmr(lambda_mult, fetch_k), **kwargs)]

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """The same for a vector."""
        return [document_of(hit.record) for hit in self._hits(None, embedding, k, mmr=Mmr(lambda_mult, fetch_k), **kwargs)]

    def _hits(
        self,
        query: str | None,
        vector: list[float] | None,
        k: int,
        *,
        filter: DocumentFilter | None = None,
        as_of: int | datetime | None = None,
        mode: str | None = None,
        mmr: Mmr | None = None,
        rerank: bool | Rerank | Reranker | None = None,
    ) -> list[Hit]:
        conditions = search_conditions(filter)
        return self._collection.search(query, vector, prefix=False, limit=k, as_of=as_of, mode=mode, mmr=mmr, rerank=rerank, **conditions)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        # A cosine of at most 0 is no relevance at all: unlike a shift into [0, 1], this keeps thresholds comparable with other stores.
        return lambda cosine: min(max(cosine, 0.0), 1.0)
