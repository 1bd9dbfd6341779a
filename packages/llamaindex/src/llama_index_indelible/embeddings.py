"""Embedding models, in both directions: ours for LlamaIndex, and LlamaIndex's for the core."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from indelible.embed import resolve_embedder
from indelible.embed.callable_embedder import CallableEmbedder
from indelible.faces.threads import on_a_thread

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder


class IndelibleEmbedding(BaseEmbedding):
    """The bundled embedding model, offline. Loaded with the first text; async calls run on a worker thread.

    Args:
        model_name: ``"bge-256"``, ``"static"`` or ``"static-query"``.
        **options: of every ``BaseEmbedding``: ``embed_batch_size``, ``embeddings_cache``, ``num_workers`` and so on.

    Raises:
        InvalidInput: no such model.
    """

    _embedder: Any = PrivateAttr()

    def __init__(self, model_name: str = "bge-256", **options: Any) -> None:
        super().__init__(model_name=model_name, **options)
        self._embedder = resolve_embedder(model_name)

    @classmethod
    def class_name(cls) -> str:
        """Its name in what LlamaIndex writes down."""
        return "IndelibleEmbedding"

    @property
    def embedder(self) -> Embedder:
        """The model of the core."""
        found: Embedder = self._embedder
        return found

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self.embedder.embed_query(query).tolist()
        return vector

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.embedder.embed_documents(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await on_a_thread(partial(self._get_query_embedding, query))

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await on_a_thread(partial(self._get_text_embedding, text))

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await on_a_thread(partial(self._get_text_embeddings, texts))


def as_embedder(embedding: BaseEmbedding, *, id: str | None = None, space: str | None = None) -> Embedder:
    """Any embedding model of LlamaIndex as an embedder of the core, for ``MemoryStore(embedder=...)`` or ``collection(model=...)``.

    Args:
        embedding: the model.
        id: its identity, kept with each vector; by default its class and the model name it carries.
        space: the name of its vector space; ``id`` by default.

    Raises:
        InvalidInput: it has not the methods of an embedding model.
    """
    if isinstance(embedding, IndelibleEmbedding) and id is None and space is None:
        return embedding.embedder
    return CallableEmbedder(embedding, id=id, space=space)
