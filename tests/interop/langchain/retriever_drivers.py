"""Drivers of the contract suite: what the core or the vector store wrote, read through the retriever, which writes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from indelible.search.filters import parse_filter
from indelible.testing.contract import Driver, Match, Power, Reader
from indelible.testing.contract.driver import When, refuse
from indelible.testing.contract.drivers.collection import CollectionVerbs
from indelible.testing.contract.drivers.facts import FactsDriver, FactVerbs
from langchain_indelible import IndelibleRetriever
from tests.interop.langchain.document_drivers import ALL, DocumentVerbs, OpenDocuments


class RetrievedReader(Reader):
    """Whatever a retriever finds: by meaning everything does, more or less, so that what it does not find is not there.

    A retriever has no keys. A document's id is one, and the order of keys is asked of the core.
    """

    memory: Any
    when: When | None = None

    def get(self, key: str) -> str | None:
        found = self._invoke("text", None, filter=lambda document: document.id == key)
        return found[0].page_content if found else None

    def keys(self) -> list[str]:
        found = {str(document.id) for document in self._invoke("text", None)}
        told = [key for key in self._told() if key in found]
        return [*told, *sorted(found.difference(told))]

    def _told(self) -> list[str]:
        past = self.memory if self.when is None else self.memory.at(self.when)
        return [str(record.key) for record in past.list()]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return _matches(self._invoke(words, limit, mode="keyword"), "rank_score")

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return _matches(self._invoke(query, limit), "score")

    def _invoke(self, query: str, limit: int | None, **options: Any) -> list[Document]:
        retriever = IndelibleRetriever(memory=self.memory, mode="semantic", as_of=self.when, provenance=True)
        return retriever.invoke(query, k=ALL if limit is None else limit, **options)


def _matches(found: Sequence[Document], score: str) -> list[Match]:
    return [Match(str(document.id), document.metadata["indelible"][score]) for document in found]


class PastRetrieved(RetrievedReader):
    """What would have been found in the past."""

    def __init__(self, memory: Any, when: When) -> None:
        self.memory, self.when = memory, when


class RetrievedFactsDriver(RetrievedReader, FactsDriver):
    """Facts, written by the core, read through ``IndelibleRetriever``."""

    def open(self) -> None:
        super().open()
        self.memory = self.facts

    def at(self, when: When) -> Reader:
        return PastRetrieved(self.facts, when)

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        found = {document.id for document in self._invoke("text", None, filter=parse_filter(filters))}
        return [key for key in self._told() if key in found]

    def within(self, whose: str) -> Driver:
        return _RetrievedFacts(self, whose)


class _RetrievedFacts(RetrievedReader, FactVerbs):
    """The same for one user, whom the retriever is told."""

    powers = FactsDriver.face_powers & {Power.SEARCH, Power.RECALL, Power.PAST, Power.HISTORY, Power.RETRY, Power.UNDO, Power.PURGE}

    def __init__(self, whole: RetrievedFactsDriver, whose: str) -> None:
        self.clock, self.ids = whole.clock, {}
        self.memory = whole.store
        self.facts = whole.store.scope(agent_id="agent", user_id=whose)
        self._whose: dict[str, Any] = {"agent_id": "agent", "user_id": whose}
        self._whole = whole

    def _invoke(self, query: str, limit: int | None, **options: Any) -> list[Document]:
        retriever = IndelibleRetriever(memory=self.memory, mode="semantic", as_of=self.when, provenance=True, **self._whose)
        return retriever.invoke(query, k=ALL if limit is None else limit, **options)

    def _told(self) -> list[str]:
        return [str(record.key) for record in self.facts.list()]

    def at(self, when: When) -> Reader:
        return PastRetrieved(self.facts, when)

    def close(self) -> None:
        self._whole.close()


class RetrievedCollectionDriver(RetrievedReader, CollectionVerbs, OpenDocuments):
    """A collection, written by the core, read through ``IndelibleRetriever``."""

    face_powers = OpenDocuments.face_powers | {Power.UNDO, Power.RESTORE, Power.PURGE, Power.COMPARE_AND_SET}

    def open(self) -> None:
        super().open()
        self.memory = self.collection

    def remember_value(self, key: str, value: Any) -> None:
        refuse(self, Power.VALUES)

    def value(self, key: str) -> Any:
        refuse(self, Power.VALUES)

    def at(self, when: When) -> Reader:
        return PastRetrieved(self.collection, when)

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        found = {document.id for document in self._invoke("text", None, filter=parse_filter(filters))}
        return [key for key in self._told() if key in found]


class RetrievedDocumentsDriver(RetrievedReader, DocumentVerbs, OpenDocuments):
    """Written through the vector store, read through the retriever: the other direction, for a class that writes nothing itself."""

    def open(self) -> None:
        super().open()
        self.memory = self.documents.collection

    def at(self, when: When) -> Reader:
        return PastRetrieved(self.documents.collection, when)
