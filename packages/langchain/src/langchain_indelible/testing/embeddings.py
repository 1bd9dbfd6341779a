"""Embeddings for tests: deterministic, offline, and they remember what they were asked."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from indelible.testing import HashEmbedder


class RecordingEmbeddings(Embeddings):
    """Texts that share words are near.

    Attributes:
        dims: numbers in a vector.
        documents: every text embedded as a document, in order.
        queries: every text embedded as a query, in order.
    """

    def __init__(self, dims: int = 64) -> None:
        self.dims = dims
        self.documents: list[str] = []
        self.queries: list[str] = []
        self._model = HashEmbedder(dims)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += texts
        return [[float(number) for number in row] for row in self._model.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return [float(number) for number in self._model.embed_query(text)]
