"""A vector store whose documents keep every version of themselves."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from indelible import Collection, Delete, InvalidInput, MemoryStore, Put
from langchain_indelible.document_searches import DocumentSearches
from langchain_indelible.documents import listed
from langchain_indelible.embeddings import IndelibleEmbeddings, as_embedder
from langchain_indelible.labels import labels_of


class IndelibleVectorStore(DocumentSearches):
    """Documents in a namespace of a store, found by meaning.

    A document's id is its key: adding one with a known id is a new version of it, deleting leaves its history. Metadata comes back exactly
    as it went in. Every search takes ``filter`` (see ``search_conditions``), ``as_of`` (a version or time), ``mode`` (``"semantic"``,
    ``"keyword"`` or ``"hybrid"``) and, where there is a query, ``rerank``, as for ``MemoryStore.recall``; a retriever takes them as
    ``search_kwargs``. Calls may come from any thread.

    Args:
        store: where the documents live, beside everything else of the store.
        embedding: their model; ``None`` for the store's own.
        namespace: a label or several.
        agent_id, user_id, org_id, workspace_id: whose documents these are, matched exactly.

    Raises:
        InvalidInput: a bad namespace or scope.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedding: Embeddings | None = None,
        *,
        namespace: str | Sequence[str] = ("documents",),
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        self.store = store
        self._embedding = embedding
        model = "store" if embedding is None else as_embedder(embedding)
        self._collection = store.collection(
            *labels_of(namespace), agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id, model=model
        )

    @property
    def collection(self) -> Collection:
        """The collection of the core that holds the documents: their history, undo, purge."""
        return self._collection

    @property
    def embeddings(self) -> Embeddings:
        """The model of the documents."""
        return self._embedding if self._embedding is not None else IndelibleEmbeddings(self._collection.embedder)

    def at(self, when: int | datetime) -> IndelibleVectorStore:
        """The vector store as it was at a version or time; it can only be read."""
        past = object.__new__(type(self))
        past.__dict__.update(self.__dict__, _collection=self._collection.at(when))
        return past

    def add_documents(
        self,
        documents: Iterable[Document],
        *,
        ids: Sequence[str | None] | None = None,
        ttl_ms: int | None = None,
        source: str | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add documents, or new versions of them, in one transaction: all or none.

        Args:
            documents: what to add; they are not changed.
            ids: their ids, before ``Document.id``; what has neither gets one.
            ttl_ms: milliseconds until they are no longer shown.
            source: who writes.
            batch_size: of no meaning here; the indexing API gives it.
            **kwargs: refused.

        Returns:
            The ids, in the order of the documents. Of several documents with one id the last is written.

        Raises:
            InvalidInput: as many ids as documents were not given, or something cannot be kept; nothing was written.
        """
        if kwargs:
            raise TypeError(f"add_documents has no argument {next(iter(kwargs))!r}")
        added = list(documents)
        for document in added:
            if not isinstance(document, Document):
                raise InvalidInput(f"documents must be Documents, got {type(document).__name__}: texts are added by add_texts")
        given = [None] * len(added) if ids is None else listed(ids, "ids", len(added))
        names = [doc.id if name is None else name for doc, name in zip(added, given, strict=True)]
        keys = [str(uuid.uuid4()) if name is None else name for name in names]
        self._collection.batch(
            [Put(key, doc.page_content, metadata=doc.metadata, ttl_ms=ttl_ms, source=source) for key, doc in zip(keys, added, strict=True)]
        )
        return keys

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add texts; see ``add_documents``."""
        if isinstance(texts, str):
            raise InvalidInput("texts must be several texts, got one str: put it into a list")
        contents = list(texts)
        given = [{}] * len(contents) if metadatas is None else listed(metadatas, "metadatas", len(contents))
        documents = [Document(page_content=text, metadata=metadata or {}) for text, metadata in zip(contents, given, strict=True)]
        return self.add_documents(documents, ids=ids, **kwargs)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Forget documents; their history stays. What is not there is fine.

        Args:
            ids: which; ``None`` for all.
            **kwargs: refused.
        """
        if kwargs:
            raise TypeError(f"delete has no argument {next(iter(kwargs))!r}")
        if ids is None:
            ids = [record.key or "" for record in self._collection.list(include_expired=True)]
        self._collection.batch([Delete(key) for key in listed(ids, "ids")])
        return True

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        store: MemoryStore | None = None,
        path: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> IndelibleVectorStore:
        """Make a vector store of texts.

        Args:
            texts, metadatas, ids: what to add.
            embedding: their model.
            store: where; or
            path: a file to open; without either, a store that is not kept.
            **kwargs: as for the constructor.

        Raises:
            InvalidInput: both a store and a path, or as for ``add_documents``.
        """
        if store is not None and path is not None:
            raise InvalidInput("give either a store or the path of one, not both")
        if store is None:
            store = MemoryStore(":memory:" if path is None else path)
        made = cls(store, embedding, **kwargs)
        made.add_texts(texts, metadatas, ids=ids)
        return made
