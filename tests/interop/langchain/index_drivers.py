"""Drivers of the contract suite through the record manager and the byte store, and their twins, which read or write through the core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.indexing import index

from indelible import Put
from indelible.faces.cache import CacheCollection
from indelible.testing.contract import Power
from indelible.testing.contract.driver import refuse
from indelible.testing.contract.drivers.base import StoreDriver
from indelible.testing.contract.drivers.places import Place
from indelible.testing.fakes import FakeClock
from langchain_indelible import IndelibleByteStore, IndelibleRecordManager
from tests.interop.langchain.document_drivers import PROGRAM, OpenDocuments

# The record manager


class _OpenRecords(OpenDocuments):
    """A vector store and what is known of its documents. A version is the document's: what is noted of one lies outside the log."""

    face_powers = StoreDriver.store_powers | {Power.BATCH}
    elsewhere_program = (
        PROGRAM
        + """documents = langchain_indelible.IndelibleVectorStore(store, namespace=('contract', 'notes'))
    records = langchain_indelible.IndelibleRecordManager(documents, exclusive=True)
    documents.add_texts([text], ids=[key])
    records.update([key])
"""
    )

    def open(self) -> None:
        super().open()
        self.records = IndelibleRecordManager(self.documents, exclusive=True)


class IndexedDriver(_OpenRecords):
    """Written by LangChain's ``index`` with ``IndelibleRecordManager``, read through both."""

    def remember(self, key: str, text: str) -> None:
        self.remember_all([(key, text)])

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        documents = [Document(page_content=text, metadata={"key": key}) for key, text in items]
        # A key stays one key when its text changes: that is what the suite means by it, and not what a hash of the text would be.
        index(documents, self.records, self.documents, cleanup=None, key_encoder=lambda found: found.metadata["key"], force_update=True)

    def forget(self, key: str) -> None:
        self.documents.delete([key])
        self.records.delete_keys([key])

    def get(self, key: str) -> str | None:
        found = self.documents.get_by_ids([key]) if self.records.exists([key]) == [True] else []
        return found[0].page_content if found else None

    def keys(self) -> list[str]:
        noted = self.records.list_keys()
        return [key for key, there in zip(noted, self.records.exists(noted), strict=True) if there]


class WrittenByIndexDriver(IndexedDriver):
    """Written by ``index``, read by the core."""

    def get(self, key: str) -> str | None:
        record = self.collection.get(key)
        return None if record is None else record.content

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]


class KnownToRecordsDriver(IndexedDriver):
    """Written by the core, and known to the record manager all the same."""

    def remember(self, key: str, text: str) -> None:
        self.collection.put(key, text)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([Put(key, text) for key, text in items])

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def keys(self) -> list[str]:
        return sorted(super().keys())


# Bytes


class BytesDriver(StoreDriver):
    """``IndelibleByteStore``, which lies outside the log: none of its writes is an event, and no export holds one."""

    face_powers = frozenset({Power.VERIFY, Power.EXPIRY})
    elsewhere_program = PROGRAM + "langchain_indelible.IndelibleByteStore(store).mset([(key, text.encode())])"

    def __init__(self, place: Place, clock: FakeClock | None = None) -> None:
        super().__init__(place, clock)
        self.powers -= {Power.COPY, Power.VACUUM}  # what can be said of them is said of the log

    @property
    def cache(self) -> CacheCollection:
        found: CacheCollection = self.store.collection("bytes", cache=True)
        return found

    def remember(self, key: str, text: str) -> None:
        IndelibleByteStore(self.store).mset([(key, text.encode())])

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        IndelibleByteStore(self.store, ttl_ms=ttl_ms).mset([(key, text.encode())])

    def get(self, key: str) -> str | None:
        (found,) = IndelibleByteStore(self.store).mget([key])
        return None if found is None else found.decode()

    def get_expired(self, key: str) -> str | None:
        """A cache says nothing of what expired."""
        return self.get(key)

    def forget(self, key: str) -> None:
        IndelibleByteStore(self.store).mdelete([key])

    def keys(self) -> list[str]:
        return list(IndelibleByteStore(self.store).yield_keys())

    def version(self) -> int:
        refuse(self, Power.VERSION)

    def export(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)

    def import_(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)

    def vacuum(self) -> None:
        refuse(self, Power.VACUUM)


class WrittenByBytesDriver(BytesDriver):
    """Written through the byte store, read by the core."""

    def get(self, key: str) -> str | None:
        found = self.cache.get(key)
        return None if found is None else str(found.decode())

    def keys(self) -> list[str]:
        return self.cache.keys()


class ReadByBytesDriver(BytesDriver):
    """Written by the core, read through the byte store."""

    def remember(self, key: str, text: str) -> None:
        self.cache.put(key, text.encode())

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.cache.put(key, text.encode(), ttl_ms=ttl_ms)

    def forget(self, key: str) -> None:
        self.cache.delete(key)
