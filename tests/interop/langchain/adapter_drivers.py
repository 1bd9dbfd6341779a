"""Drivers of the contract suite through the classes for LangChain, and the twins that read or write through the core instead.

A conversation has no keys: there, each key is a session, and its text what was said last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from indelible import where
from indelible.search.filters import parse_filter
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When, refuse
from indelible.testing.contract.drivers.base import StoreDriver, happened
from indelible.testing.contract.drivers.collection import CollectionReader, CollectionVerbs
from indelible.testing.contract.drivers.facts import FactReader, FactsDriver
from langchain_indelible import (
    IndelibleByteStore,
    IndelibleChatMessageHistory,
    IndelibleMemory,
    IndelibleRetriever,
    IndelibleVectorStore,
    memory_tools,
)

_ALL = 10**6
_PROGRAM = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
import langchain_indelible
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    """

# The vector store


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
    found = documents.similarity_search_with_score(query, _ALL if limit is None else limit, **options)
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
        found = {document.id for document in self.documents.similarity_search("text", _ALL, filter=parse_filter(filters))}
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


class _OpenDocuments(StoreDriver):
    face_powers = _DOCUMENT_POWERS | StoreDriver.store_powers
    elsewhere_program = (
        _PROGRAM + "langchain_indelible.IndelibleVectorStore(store, namespace=('contract', 'notes')).add_texts([text], ids=[key])"
    )

    def open(self) -> None:
        super().open()
        self.documents = IndelibleVectorStore(self.store, namespace=("contract", "notes"))
        self.collection = self.store.collection("contract", "notes", model="store")


class DocumentsDriver(DocumentVerbs, _OpenDocuments):
    """``IndelibleVectorStore``, reads and writes."""

    face_powers = _OpenDocuments.face_powers | {Power.SCOPES}

    def within(self, whose: str) -> Driver:
        return _ScopedDocuments(self, IndelibleVectorStore(self.store, namespace=("contract", "notes"), user_id=whose))


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


class WrittenByDocumentsDriver(CollectionReader, DocumentVerbs, _OpenDocuments):
    """Written through the vector store, read by the core."""

    def history(self, key: str) -> list[Happened]:
        return happened(self.collection.history(key))

    def at(self, when: When) -> Reader:
        return CollectionVerbs.at(self, when)  # type: ignore[arg-type]  # it needs the collection only

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        return [record.key or "" for record in self.collection.list(filters=filters)]


class ReadByDocumentsDriver(DocumentReader, CollectionVerbs, _OpenDocuments):
    """Written by the core, read through the vector store."""

    face_powers = _OpenDocuments.face_powers | {Power.UNDO, Power.RESTORE, Power.PURGE, Power.COMPARE_AND_SET, Power.VALUES}

    def at(self, when: When) -> Reader:
        return PastDocuments(self.documents.at(when))


# The retriever


class RetrievedReader(FactReader):
    """Facts found by the retriever."""

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return self._found(words, limit, "keyword", "rank_score")

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return self._found(query, limit, "semantic", "score")

    def _found(self, query: str, limit: int | None, mode: str, score: str) -> list[Match]:
        retriever = IndelibleRetriever(memory=self.facts, mode=mode, provenance=True)
        found = retriever.invoke(query, k=_ALL if limit is None else limit)
        return [Match(document.id or "", document.metadata["indelible"][score]) for document in found]


class PastRetrieved(RetrievedReader):
    """Facts found in the past."""

    def __init__(self, facts: Any) -> None:
        self.facts = facts


class RetrieverDriver(RetrievedReader, FactsDriver):
    """Written by the core, found through ``IndelibleRetriever``."""

    face_powers = FactsDriver.face_powers - {Power.SCOPES}

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)

    def at(self, when: When) -> Reader:
        return PastRetrieved(self.facts.at(when))


# Conversations


class _NoLog(StoreDriver):
    """A driver whose verbs are not one event each, so that it declares no power that counts them."""

    face_powers = frozenset({Power.VERIFY})

    def version(self) -> int:
        refuse(self, Power.VERSION)

    def export(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)

    def import_(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)


class HistoryDriver(_NoLog):
    """``IndelibleChatMessageHistory``: a session for each key."""

    elsewhere_program = _PROGRAM + "langchain_indelible.IndelibleChatMessageHistory(store, key).add_user_message(text)"

    def remember(self, key: str, text: str) -> None:
        IndelibleChatMessageHistory(self.store, key).add_user_message(text)

    def get(self, key: str) -> str | None:
        messages = IndelibleChatMessageHistory(self.store, key).messages
        return str(messages[-1].text) if messages else None

    def forget(self, key: str) -> None:
        IndelibleChatMessageHistory(self.store, key).clear()

    def keys(self) -> list[str]:
        return [name[-1] for name in self.store.collection("chat").namespaces()]


class WrittenByHistoryDriver(HistoryDriver):
    """Written through the history, read by the core."""

    def get(self, key: str) -> str | None:
        records = self.store.collection("chat", key).list()
        return records[-1].content if records else None


class ReadByHistoryDriver(HistoryDriver):
    """Written by the core, read through the history."""

    def remember(self, key: str, text: str) -> None:
        self.store.collection("chat", key).put(f"message {self.store.version}", text)

    def forget(self, key: str) -> None:
        for record in self.store.collection("chat", key).list():
            self.store.collection("chat", key).delete(record.key or "")


class ChainMemoryDriver(HistoryDriver):
    """``IndelibleMemory``: a session for each key, loaded as a chain does."""

    def _memory(self, key: str) -> IndelibleMemory:
        # A bad session id is found when the memory is used, not by pydantic before that.
        return IndelibleMemory.model_construct(**{**_defaults(), "store": self.store, "session_id": key})

    def remember(self, key: str, text: str) -> None:
        self._memory(key).save_context({"input": text}, {"output": ""})

    def get(self, key: str) -> str | None:
        messages = self._memory(key).load_memory_variables({})["history"]
        return str(messages[-2].text) if messages else None

    def forget(self, key: str) -> None:
        self._memory(key).clear()


def _defaults() -> dict[str, Any]:
    return {"return_messages": True}


# Bytes


class BytesDriver(_NoLog):
    """``IndelibleByteStore``, which lies outside the log."""

    def remember(self, key: str, text: str) -> None:
        IndelibleByteStore(self.store).mset([(key, text.encode())])

    def get(self, key: str) -> str | None:
        (found,) = IndelibleByteStore(self.store).mget([key])
        return None if found is None else found.decode()

    def forget(self, key: str) -> None:
        IndelibleByteStore(self.store).mdelete([key])

    def keys(self) -> list[str]:
        return list(IndelibleByteStore(self.store).yield_keys())


class WrittenByBytesDriver(BytesDriver):
    """Written through the byte store, read by the core."""

    def get(self, key: str) -> str | None:
        found = self.store.collection("bytes", cache=True).get(key)
        return None if found is None else str(found.decode())


class ReadByBytesDriver(BytesDriver):
    """Written by the core, read through the byte store."""

    def remember(self, key: str, text: str) -> None:
        self.store.collection("bytes", cache=True).put(key, text.encode())


# Tools


class ToolsDriver(StoreDriver):
    """Written with the tools, read by the core. A tool knows ids and no keys: a key is kept as a label."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.PAST}

    def open(self) -> None:
        super().open()
        self.facts = self.store.scope("agent", "user")
        self._tools = {tool.name: tool for tool in memory_tools(self.facts)}

    def _id(self, key: str) -> str | None:
        found = self.facts.list(filters=where("key").eq(key))
        return found[0].id if found else None

    def remember(self, key: str, text: str) -> None:
        id = self._id(key)
        if id is None:
            self._tools["remember"].invoke({"content": text, "metadata": {"key": key}})
        else:
            self._tools["edit"].invoke({"id": id, "content": text})

    def get(self, key: str) -> str | None:
        found = self.facts.list(filters=where("key").eq(key))
        return found[0].content if found else None

    def forget(self, key: str) -> None:
        self._tools["forget"].invoke({"id": self._id(key) or "unknown"})

    def keys(self) -> list[str]:
        return [record.metadata["key"] for record in self.facts.list()]

    def at(self, when: int | datetime) -> Reader:
        return _PastLabels(self.facts.at(when))


class _PastLabels(Reader):
    """The same in the past."""

    def __init__(self, facts: Any) -> None:
        self.facts = facts

    def get(self, key: str) -> str | None:
        found = self.facts.list(filters=where("key").eq(key))
        return str(found[0].content) if found else None

    def keys(self) -> list[str]:
        return [str(record.metadata["key"]) for record in self.facts.list()]
