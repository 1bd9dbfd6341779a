"""Drivers of the contract suite: everything through the classes for LlamaIndex, and their twins, which read or write through the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from llama_index.core.schema import Document
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters, VectorStoreQuery

from indelible import Collection, Part, Put
from indelible.testing.contract import Driver, Happened, Match, Power, Reader, refuse
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from llama_index_indelible import IndelibleDocumentStore, IndelibleKVStore, IndelibleVectorStore
from tests.interop.llamaindex.samples import node, vector_of

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

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        asked = VectorStoreQuery(query_embedding=vector_of(query), similarity_top_k=_ALL if limit is None else limit)
        result = self.nodes.query(asked, **self.when)
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


_POWERS = frozenset({Power.ORDER, Power.HISTORY, Power.PAST, Power.EXPIRY, Power.BATCH, Power.RECALL})


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

    def __init__(self, whole: NodesDriver, whose: str) -> None:
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


class ValuesDriver(StoreDriver):
    """``IndelibleKVStore``, reads and writes."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.VALUES, Power.HISTORY, Power.BATCH, Power.SCOPES}
    elsewhere_program = """
import sys
from llama_index_indelible import IndelibleKVStore
path, now, key, text = sys.argv[1:]
IndelibleKVStore(path, namespace="contract").put(key, {"text": text})
"""
    values: IndelibleKVStore
    whose: str | None = None

    def open(self) -> None:
        super().open()
        self.values = IndelibleKVStore(store=self.store, namespace="contract", user_id=self.whose)

    def get(self, key: str) -> str | None:
        return (self.values.get(key) or {}).get("text")

    def keys(self) -> list[str]:
        return list(self.values.get_all())

    def remember(self, key: str, text: str) -> None:
        self.values.put(key, {"text": text})

    def forget(self, key: str) -> None:
        self.values.delete(key)

    def remember_value(self, key: str, value: Any) -> None:
        self.values.put(key, {"value": value})

    def value(self, key: str) -> Any:
        return (self.values.get(key) or {}).get("value")

    def history(self, key: str) -> list[Happened]:
        changes = self.values.collection().history(key)
        texts = {change.version: None if change.record is None else change.record.value.get("text") for change in changes}
        return [Happened(line.version, line.op, texts[line.version]) for line in happened(changes)]

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.values.put_all([(key, {"text": text}) for key, text in items])

    def within(self, whose: str) -> Driver:
        return _ScopedValues(self, whose)


class _ScopedValues(ValuesDriver):
    """The same values for one user."""

    def __init__(self, whole: ValuesDriver, whose: str) -> None:
        self.store, self.clock = whole.store, whole.clock
        self.powers = (whole.face_powers - {Power.SCOPES}) & {Power.ORDER, Power.VALUES, Power.HISTORY, Power.BATCH, Power.VERSION}
        self.values = IndelibleKVStore(store=whole.store, namespace="contract", user_id=whose)


class WrittenByValuesDriver(ValuesDriver):
    """Written through the key/value store, read by the core."""

    face_powers = ValuesDriver.face_powers - {Power.SCOPES}

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", "data")

    def get(self, key: str) -> str | None:
        record = self.collection.get(key)
        return None if record is None else record.value.get("text")

    def value(self, key: str) -> Any:
        return self.collection.get(key).value["value"]

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)


class ReadByValuesDriver(ValuesDriver):
    """Written by the core, read through the key/value store."""

    face_powers = ValuesDriver.face_powers - {Power.SCOPES}

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", "data")

    def remember(self, key: str, text: str) -> None:
        self.collection.put(key, value={"text": text})

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def remember_value(self, key: str, value: Any) -> None:
        self.collection.put(key, value={"value": value})

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([Put(key, value={"text": text}) for key, text in items])

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)


class DocumentsDriver(StoreDriver):
    """``IndelibleDocumentStore``. A write of it is two events, the node and its hash, so it declares no version."""

    face_powers = frozenset({Power.ORDER, Power.VERIFY, Power.TRANSFER, Power.HISTORY, Power.BATCH})
    documents: IndelibleDocumentStore

    def open(self) -> None:
        super().open()
        self.documents = IndelibleDocumentStore(store=self.store, namespace="contract")

    def get(self, key: str) -> str | None:
        found = self.documents.get_document(key, raise_error=False)
        return None if found is None else found.get_content()

    def keys(self) -> list[str]:
        return list(self.documents.docs)

    def remember(self, key: str, text: str) -> None:
        self.documents.add_documents([Document(id_=key, text=text)])

    def forget(self, key: str) -> None:
        self.documents.delete_document(key, raise_error=False)

    def history(self, key: str) -> list[Happened]:
        changes = self.documents.collection.history(key)
        texts = {change.version: None if change.record is None else change.record.value["text"] for change in changes}
        return [Happened(line.version, line.op, texts[line.version]) for line in happened(changes)]

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.documents.add_documents([Document(id_=key, text=text) for key, text in items])

    def version(self) -> int:
        refuse(self, Power.VERSION)
