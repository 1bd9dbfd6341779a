"""Drivers of the contract suite for values, index structs and documents, and twins that read or write through the core."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.data_structs.data_structs import IndexDict
from llama_index.core.schema import Document

from indelible import Collection, Put
from indelible.testing.contract import Driver, Happened, Power, Reader, refuse
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from llama_index_indelible import IndelibleDocumentStore, IndelibleIndexStore, IndelibleKVStore


def text_of(value: Mapping[str, Any]) -> str | None:
    """The text in the JSON that a value, an index struct or a document is kept as."""
    found: str | None = json.loads(value["__data__"])["summary"] if "__data__" in value else value.get("text")
    return found


class RecordReader(Reader):
    """Records of a collection as the core sees them, now or in the past."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    def get(self, key: str) -> str | None:
        record = self.collection.get(key)
        return None if record is None else text_of(record.value)

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]


class KeptDriver(StoreDriver):
    """What a face that hands out its collection of the core can do through that."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.HISTORY, Power.PAST, Power.UNDO, Power.RESTORE, Power.PURGE}
    collection: Collection

    def history(self, key: str) -> list[Happened]:
        changes = self.collection.history(key)
        texts = {change.version: None if change.record is None else text_of(change.record.value) for change in changes}
        return [Happened(line.version, line.op, texts[line.version]) for line in happened(changes)]

    def at(self, when: When) -> Reader:
        return RecordReader(self.collection.at(when))

    def undo(self, key: str) -> None:
        self.collection.undo(key)

    def restore(self, key: str, version: int) -> None:
        self.collection.restore(key, version)

    def purge(self, key: str) -> int:
        return self.collection.purge(key)


# Values


class ValuesDriver(KeptDriver):
    """``IndelibleKVStore``, reads and writes."""

    face_powers = KeptDriver.face_powers | {Power.VALUES, Power.BATCH, Power.SCOPES}
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
        self._open(self.whose)

    def _open(self, whose: str | None) -> None:
        self.values = IndelibleKVStore(store=self.store, namespace="contract", user_id=whose)
        self.collection = self.values.collection()

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

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.values.put_all([(key, {"text": text}) for key, text in items])

    def within(self, whose: str) -> Driver:
        return _ScopedValues(self, whose)


class _ScopedValues(ValuesDriver):
    """The same values for one user."""

    powers = ValuesDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}

    def __init__(self, whole: ValuesDriver, whose: str) -> None:
        self.store, self.clock = whole.store, whole.clock
        self._open(whose)


class WrittenByValuesDriver(ValuesDriver):
    """Written through the key/value store, read by the core."""

    face_powers = ValuesDriver.face_powers - {Power.SCOPES}

    def _open(self, whose: str | None) -> None:
        super()._open(whose)
        self.collection = self.store.collection("contract", "data")

    def get(self, key: str) -> str | None:
        return RecordReader(self.collection).get(key)

    def value(self, key: str) -> Any:
        record = self.collection.get(key)
        return None if record is None else record.value["value"]

    def keys(self) -> list[str]:
        return RecordReader(self.collection).keys()

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)


class ReadByValuesDriver(ValuesDriver):
    """Written by the core, read through the key/value store."""

    face_powers = ValuesDriver.face_powers - {Power.SCOPES}

    def _open(self, whose: str | None) -> None:
        super()._open(whose)
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


# Index structs


class IndexesDriver(KeptDriver):
    """``IndelibleIndexStore``: a struct for each key, the text its summary."""

    face_powers = KeptDriver.face_powers | {Power.SCOPES}
    elsewhere_program = """
import sys
from llama_index.core.data_structs.data_structs import IndexDict
from llama_index_indelible import IndelibleIndexStore
path, now, key, text = sys.argv[1:]
IndelibleIndexStore(path, namespace="contract").add_index_struct(IndexDict(index_id=key, summary=text))
"""
    indexes: IndelibleIndexStore

    def open(self) -> None:
        super().open()
        self._open(None)

    def _open(self, whose: str | None) -> None:
        self.indexes = IndelibleIndexStore(store=self.store, namespace="contract", user_id=whose)
        self.collection = self.indexes.collection

    def get(self, key: str) -> str | None:
        found = self.indexes.get_index_struct(key)
        return None if found is None else found.summary

    def keys(self) -> list[str]:
        return [struct.index_id for struct in self.indexes.index_structs()]

    def remember(self, key: str, text: str) -> None:
        self.indexes.add_index_struct(IndexDict(index_id=key, summary=text))

    def forget(self, key: str) -> None:
        self.indexes.delete_index_struct(key)

    def within(self, whose: str) -> Driver:
        return _ScopedIndexes(self, whose)


class _ScopedIndexes(IndexesDriver):
    """The same for one user."""

    powers = IndexesDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}

    def __init__(self, whole: IndexesDriver, whose: str) -> None:
        self.store, self.clock = whole.store, whole.clock
        self._open(whose)


class _CoreIndexesDriver(IndexesDriver):
    """Where the core sees index structs."""

    face_powers = IndexesDriver.face_powers - {Power.SCOPES}

    def _open(self, whose: str | None) -> None:
        super()._open(whose)
        self.collection = self.store.collection("contract", "structs/data")

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)


class WrittenByIndexesDriver(_CoreIndexesDriver):
    """Written through the index store, read by the core."""

    def get(self, key: str) -> str | None:
        return RecordReader(self.collection).get(key)

    def keys(self) -> list[str]:
        return RecordReader(self.collection).keys()


class ReadByIndexesDriver(_CoreIndexesDriver):
    """Written by the core, read through the index store."""

    def remember(self, key: str, text: str) -> None:
        self.collection.put(key, value={"__type__": "vector_store", "__data__": json.dumps({"index_id": str(key), "summary": text})})

    def forget(self, key: str) -> None:
        self.collection.delete(key)


# Documents


class DocumentsDriver(StoreDriver):
    """``IndelibleDocumentStore``. A write of it is two events, the node and its hash, so it declares no version."""

    face_powers = frozenset({Power.ORDER, Power.VERIFY, Power.TRANSFER, Power.HISTORY, Power.BATCH, Power.SCOPES})
    elsewhere_program = """
import sys
from llama_index.core.schema import Document
from llama_index_indelible import IndelibleDocumentStore
path, now, key, text = sys.argv[1:]
IndelibleDocumentStore(path, namespace="contract").add_documents([Document(id_=key, text=text)])
"""
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
        texts = {change.version: None if change.record is None else text_of(change.record.value) for change in changes}
        return [Happened(line.version, line.op, texts[line.version]) for line in happened(changes)]

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.documents.add_documents([Document(id_=key, text=text) for key, text in items])

    def version(self) -> int:
        refuse(self, Power.VERSION)

    def within(self, whose: str) -> Driver:
        return _ScopedDocuments(self, whose)


class _ScopedDocuments(DocumentsDriver):
    """The same for one user."""

    powers = DocumentsDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}

    def __init__(self, whole: DocumentsDriver, whose: str) -> None:
        self.store, self.clock = whole.store, whole.clock
        self.documents = IndelibleDocumentStore(store=whole.store, namespace="contract", user_id=whose)


class WrittenByDocumentsDriver(DocumentsDriver):
    """Written through the document store, read by the core."""

    face_powers = DocumentsDriver.face_powers - {Power.SCOPES}

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", "data")

    def get(self, key: str) -> str | None:
        return RecordReader(self.collection).get(key)

    def keys(self) -> list[str]:
        return RecordReader(self.collection).keys()

    def within(self, whose: str) -> Driver:
        refuse(self, Power.SCOPES)


class ReadByDocumentsDriver(KeptDriver):
    """Written by the core, one event each, read through the document store."""

    face_powers = KeptDriver.face_powers | {Power.BATCH}

    def open(self) -> None:
        super().open()
        self.documents = IndelibleDocumentStore(store=self.store, namespace="contract")
        self.collection = self.store.collection("contract", "data")

    get, keys = DocumentsDriver.get, DocumentsDriver.keys

    def remember(self, key: str, text: str) -> None:
        self.remember_all([(key, text)])

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([Put(key, value={"class_name": "Document", "id_": key, "text": text}) for key, text in items])
