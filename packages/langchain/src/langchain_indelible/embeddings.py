"""Embedding models, in both directions: ours for LangChain, and LangChain's for the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from indelible.embed import resolve_embedder
from indelible.embed.callable_embedder import CallableEmbedder

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder


class IndelibleEmbeddings(Embeddings):
    """The bundled embedding model, offline. Loaded with the first text.

    Args:
        model: ``"bge-256"``, ``"static"``, ``"static-query"``, or anything that a store takes as ``embedder``.

    Raises:
        InvalidInput: no such model.
    """

    def __init__(self, model: object = "bge-256") -> None:
        self.embedder: Embedder = resolve_embedder(model)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of unit length per text."""
        vectors: list[list[float]] = self.embedder.embed_documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector to search with."""
        vector: list[float] = self.embedder.embed_query(text).tolist()
        return vector

    def __repr__(self) -> str:
        return f"IndelibleEmbeddings({self.embedder.id!r})"


def as_embedder(embeddings: Embeddings, *, id: str | None = None, space: str | None = None) -> Embedder:
    """Any embedding model of LangChain as an embedder of the core, for ``MemoryStore(embedder=...)`` or ``collection(model=...)``.

    Args:
        embeddings: the model.
        id: its identity, kept with each vector; by default its class and the model name it carries.
        space: the name of its vector space; ``id`` by default.

    Raises:
        InvalidInput: it has not the methods of an embedding model.
    """
    if isinstance(embeddings, IndelibleEmbeddings) and id is None and space is None:
        return embeddings.embedder
    return CallableEmbedder(embeddings, id=id, space=space)
