"""Drivers of the contract suite: everything through the vector store, and its twins, which read or write through the core instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from indelible.search.filters import parse_filter
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from indelible.testing.contract.drivers.collection import CollectionReader, CollectionVerbs
from langchain_indelible import IndelibleVectorStore

ALL = 10**6
PROGRAM = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
import langchain_indelible
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    """
"""What another process runs, up to the writing itself."""
WHERE = ("contract", "notes")


class DocumentReader(Reader):
    """Documents of a vector store, now or in the past."""

    documents: IndelibleVectorStore

    def get(self, key: str) -> str | None:
        found = self.documents.get_by_ids([key])
        return found[0].page_content if found else None

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.documents.collection.list()]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return _documents_found(self.documents, words, limit, mode="keyword")

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return _documents_found(self.documents, query, limit)


def _documents_found(documents: IndelibleVectorStore, query: str, limit: int | None, **options: Any) -> list[Match]:
    found = documents.similarity_search_with_score(query, ALL if limit is None else limit, **options)
    return [Match(document.id or "", score) for document, score in found]


class PastDocuments(DocumentReader):
    """Documents as they were."""

    def __init__(self, documents: IndelibleVectorStore) -> None:
        self.documents = documents


class DocumentVerbs(DocumentReader, Driver):
    """Writing documents."""

    def remember(self, key: str, text: str) -> None:
        self.documents.add_texts([text], ids=[key])

    def forget(self, key: str) -> None:
        self.documents.delete([key])

    def history(self, key: str) -> list[Happened]:
        return happened(self.documents.collection.history(key))

    def at(self, when: When) -> Reader:
        return PastDocuments(self.documents.at(when))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.documents.add_texts([text], ids=[key], ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        record = self.documents.collection.get(key, include_expired=True)
        return None if record is None else record.content

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.documents.add_texts([text for _, text in items], ids=[key for key, _ in items])

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        self.documents.add_documents([Document(id=key, page_content=text, metadata=dict(metadata))])

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        found = {document.id for document in self.documents.similarity_search("text", ALL, filter=parse_filter(filters))}
        return [key for key in self.keys() if key in found]


_DOCUMENT_POWERS = frozenset(
    {
        Power.ORDER,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.BATCH,
        Power.FILTERS,
        Power.SEARCH,
        Power.RECALL,
    }
)


class OpenDocuments(StoreDriver):
    """A vector store on a place, and the collection that it is."""

    face_powers = _DOCUMENT_POWERS | StoreDriver.store_powers
    elsewhere_program = (
        PROGRAM + "langchain_indelible.IndelibleVectorStore(store, namespace=('contract', 'notes')).add_texts([text], ids=[key])"
    )

    def open(self) -> None:
        super().open()
        self.documents = IndelibleVectorStore(self.store, namespace=WHERE)
        self.collection = self.store.collection(*WHERE, model="store")


class DocumentsDriver(DocumentVerbs, OpenDocuments):
    """``IndelibleVectorStore``, reads and writes."""

    face_powers = OpenDocuments.face_powers | {Power.SCOPES}

    def within(self, whose: str) -> Driver:
        return _ScopedDocuments(self, IndelibleVectorStore(self.store, namespace=WHERE, user_id=whose))


class _ScopedDocuments(DocumentVerbs):
    """The same for one user."""

    powers = _DOCUMENT_POWERS | {Power.VERSION}

    def __init__(self, whole: DocumentsDriver, documents: IndelibleVectorStore) -> None:
        self.clock = whole.clock
        self.documents = documents
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


class WrittenByDocumentsDriver(CollectionReader, DocumentVerbs, OpenDocuments):
    """Written through the vector store, read by the core."""

    def history(self, key: str) -> list[Happened]:
        return happened(self.collection.history(key))

    def at(self, when: When) -> Reader:
        return CollectionVerbs.at(self, when)  # type: ignore[arg-type]  # it needs the collection only

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        return [record.key or "" for record in self.collection.list(filters=filters)]


class ReadByDocumentsDriver(DocumentReader, CollectionVerbs, OpenDocuments):
    """Written by the core, read through the vector store."""

    face_powers = OpenDocuments.face_powers | {Power.UNDO, Power.RESTORE, Power.PURGE, Power.COMPARE_AND_SET, Power.VALUES}

    def at(self, when: When) -> Reader:
        return PastDocuments(self.documents.at(when))
