"""Drivers of the contract suite for nodes: the vector store and the retriever over it, and twins that read or write through the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters, VectorStoreQuery, VectorStoreQueryMode

from indelible import Collection, Part, Put
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from llama_index_indelible import IndelibleRetriever, IndelibleVectorStore
from tests.interop.llamaindex.samples import WordEmbedding, node, vector_of

_ALL = 10**6
_WHERE = ("contract", "nodes")
_OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "exists": "is_empty"}


class NodeReader(Reader):
    """Nodes, now or in the past."""

    nodes: IndelibleVectorStore
    when: Mapping[str, Any]

    def get(self, key: str) -> str | None:
        found = self.nodes.get_nodes([key], **self.when)
        return found[0].get_content() if found else None

    def keys(self) -> list[str]:
        return [found.node_id for found in self.nodes.get_nodes(**self.when)]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return self._asked(limit, query_str=words, mode=VectorStoreQueryMode.TEXT_SEARCH)

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return self._asked(limit, query_embedding=vector_of(query))

    def _asked(self, limit: int | None, **query: Any) -> list[Match]:
        result = self.nodes.query(VectorStoreQuery(similarity_top_k=_ALL if limit is None else limit, **query), **self.when)
        return [Match(*found) for found in zip(result.ids or (), result.similarities or (), strict=True)]


class PastNodes(NodeReader):
    """Nodes as they were."""

    def __init__(self, nodes: IndelibleVectorStore, when: When) -> None:
        self.nodes, self.when = nodes, {"as_of": when}


class NodeVerbs(NodeReader, Driver):
    """Writing nodes."""

    when = MappingProxyType[str, Any]({})

    def remember(self, key: str, text: str) -> None:
        self.nodes.add([node(key, text)])

    def forget(self, key: str) -> None:
        self.nodes.delete_nodes([key])

    def history(self, key: str) -> list[Happened]:
        return happened(self.nodes.collection.history(key))

    def at(self, when: When) -> Reader:
        return PastNodes(self.nodes, when)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.nodes.add([node(key, text)], ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        result = self.nodes.query(VectorStoreQuery(node_ids=[key]), include_expired=True)
        return result.nodes[0].get_content() if result.nodes else None

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.nodes.add([node(key, text) for key, text in items])

    # The collection of the core that a vector store hands out.

    def undo(self, key: str) -> None:
        self.nodes.collection.undo(key)

    def restore(self, key: str, version: int) -> None:
        self.nodes.collection.restore(key, version)

    def purge(self, key: str) -> int:
        return self.nodes.collection.purge(key)


_POWERS = frozenset(
    {
        Power.ORDER,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.BATCH,
        Power.SEARCH,
        Power.RECALL,
        Power.UNDO,
        Power.RESTORE,
        Power.PURGE,
    }
)


class _OpenNodes(NodeVerbs, StoreDriver):
    """A vector store on a place."""

    face_powers = _POWERS | StoreDriver.store_powers
    elsewhere_program = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
from llama_index.core.schema import TextNode
from llama_index_indelible import IndelibleVectorStore
path, now, key, text = sys.argv[1:]
with MemoryStore(path, clock=FakeClock(int(now))) as store:
    vector = HashEmbedder().embed_query(text).tolist()
    IndelibleVectorStore(store=store, namespace=("contract", "nodes")).add([TextNode(id_=key, text=text, embedding=vector)])
"""

    def open(self) -> None:
        super().open()
        self.nodes = IndelibleVectorStore(store=self.store, namespace=_WHERE)


class NodesDriver(_OpenNodes):
    """``IndelibleVectorStore``, reads and writes."""

    face_powers = _OpenNodes.face_powers | {Power.FILTERS, Power.SCOPES}

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        self.nodes.add([node(key, text).model_copy(update={"metadata": dict(metadata)})])

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        (name,) = filters["path"]
        value = None if filters["op"] == "exists" else filters["value"]
        leaf = MetadataFilter(key=name, operator=FilterOperator(_OPERATORS[filters["op"]]), value=value)
        return [found.node_id for found in self.nodes.get_nodes(filters=MetadataFilters(filters=[leaf]))]

    def within(self, whose: str) -> Driver:
        return _ScopedNodes(self, whose)


class _ScopedNodes(NodeVerbs):
    """The same nodes for one user."""

    powers = _POWERS | {Power.VERSION}

    def __init__(self, whole: _OpenNodes, whose: str) -> None:
        self.nodes = whole.nodes.within(user_id=whose)
        self.clock = whole.clock
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


class RecordReader(Reader):
    """The same nodes as the core sees them: records of a collection."""

    collection: Collection

    def get(self, key: str) -> str | None:
        record = self.collection.get(key)
        return None if record is None else record.content

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.collection.search(words, mode="hybrid", balance=0.0, limit=_ALL if limit is None else limit)
        return [Match(hit.record.key or "", hit.rank_score) for hit in hits]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        hits = self.collection.search(vector=vector_of(query), limit=_ALL if limit is None else limit)
        return [Match(hit.record.key or "", hit.score) for hit in hits]


class PastRecords(RecordReader):
    """Records as they were."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection


class WrittenByNodesDriver(RecordReader, _OpenNodes):
    """Written through the vector store, read by the core."""

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection(*_WHERE)

    def at(self, when: When) -> Reader:
        return PastRecords(self.collection.at(when))

    def get_expired(self, key: str) -> str | None:
        record = self.collection.get(key, include_expired=True)
        return None if record is None else record.content


class ReadByNodesDriver(_OpenNodes):
    """Written by the core, read through the vector store."""

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection(*_WHERE)

    def remember(self, key: str, text: str) -> None:
        self.collection.batch([_put(key, text)])

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.collection.put(key, text, parts=[Part("", text, tuple(vector_of(text)))], ttl_ms=ttl_ms)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([_put(key, text) for key, text in items])


def _put(key: str, text: str) -> Put:
    return Put(key, text, parts=[Part("", text, tuple(vector_of(text) if text.isprintable() and "\ud800" not in text else [1.0] * 64))])


# The retriever over nodes


class RetrievedReader(NodeReader):
    """Nodes found by the retriever, which makes the vectors itself.

    Attributes:
        searched: what the retriever is given; beyond what it may find there.
        scope: whose it is to find.
    """

    searched: IndelibleVectorStore
    scope: Mapping[str, Any] = MappingProxyType({})

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return self._retrieved(words, limit, "text_search")

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return self._retrieved(query, limit, "default")

    def _retrieved(self, query: str, limit: int | None, mode: str) -> list[Match]:
        options: dict[str, Any] = {"similarity_top_k": _ALL if limit is None else limit, **self.when, **self.scope}
        retriever = IndelibleRetriever(self.searched, WordEmbedding(), mode=mode, **options)
        return [Match(hit.node_id, hit.score) for hit in retriever.retrieve(QueryBundle(query))]


class PastRetrieved(RetrievedReader, PastNodes):
    """Nodes found in the past."""

    def __init__(self, now: RetrievedReader, when: When) -> None:
        super().__init__(now.nodes, when)
        self.searched, self.scope = now.searched, now.scope


class RetrieverDriver(RetrievedReader, ReadByNodesDriver):
    """Written by the core, found through ``IndelibleRetriever``."""

    face_powers = ReadByNodesDriver.face_powers | {Power.SCOPES}

    def open(self) -> None:
        super().open()
        self.searched = self.nodes

    def at(self, when: When) -> Reader:
        return PastRetrieved(self, when)

    def within(self, whose: str) -> Driver:
        return _ScopedRetrieved(self, whose)


class _ScopedRetrieved(RetrievedReader, _ScopedNodes):
    """One user's, found in a vector store of everybody by a retriever that is told whose to find."""

    def __init__(self, whole: RetrieverDriver, whose: str) -> None:
        super().__init__(whole, whose)
        self.searched, self.scope = whole.nodes, {"user_id": whose}

    def at(self, when: When) -> Reader:
        return PastRetrieved(self, when)
