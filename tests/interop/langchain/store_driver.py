"""Drivers of the contract suite: everything through the store of LangGraph, and its twins, which read or write through the core instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.store.base import IndexConfig, PutOp

from indelible import Collection, Part, Put, Record
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from langchain_indelible import IndelibleItem, IndelibleStore
from langchain_indelible.testing import RecordingEmbeddings

_ALL = 10**6
_MS_PER_MINUTE = 60_000
_OPS = {"remember": "remember", "revise": "remember", "restore": "remember"}
NAMESPACE = ("notes",)


class ItemReader(Reader):
    """Items, now or in the past."""

    items: IndelibleStore
    namespace: tuple[str, ...] = NAMESPACE
    when: When | None = None

    def get(self, key: str) -> str | None:
        return text_of(self.items.get(self.namespace, key, as_of=self.when))

    def keys(self) -> list[str]:
        return [item.key for item in self.items.search(self.namespace, limit=_ALL, as_of=self.when)]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        found = self.items.search(self.namespace, query=query, limit=_ALL if limit is None else limit, as_of=self.when)
        return [Match(item.key, item.score) for item in found]


class PastItems(ItemReader):
    """Items as they were."""

    def __init__(self, items: IndelibleStore, namespace: tuple[str, ...], when: When) -> None:
        self.items, self.namespace, self.when = items, namespace, when


class ItemVerbs(ItemReader, Driver):
    """Writing items."""

    def remember(self, key: str, text: str) -> None:
        self.items.put(self.namespace, key, {"text": text})

    def forget(self, key: str) -> None:
        self.items.delete(self.namespace, key)

    def remember_value(self, key: str, value: Any) -> None:
        self.items.put(self.namespace, key, {"value": value})

    def value(self, key: str) -> Any:
        item = self.items.get(self.namespace, key)
        return None if item is None else item.value["value"]

    def history(self, key: str) -> list[Happened]:
        changes = [change for change in self.items.history(self.namespace, key) if change.op != "touch"]
        return [Happened(change.version, _OPS.get(change.op, change.op), text_of(change.item)) for change in changes]

    def at(self, when: When) -> Reader:
        return PastItems(self.items, self.namespace, when)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.items.put(self.namespace, key, {"text": text}, ttl=ttl_ms / _MS_PER_MINUTE)

    def get_expired(self, key: str) -> str | None:
        """What was put last, whatever became of it; a delete ends it."""
        changes = [change for change in self.items.history(self.namespace, key) if change.op != "touch"]
        return text_of(changes[-1].item) if changes else None

    def compare_and_set(self, key: str, text: str, expected: int) -> None:
        self.items.put(self.namespace, key, {"text": text}, expected_version=expected)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.items.batch([PutOp(self.namespace, key, {"text": text}) for key, text in items])


_POWERS = frozenset(
    {
        Power.ORDER,
        Power.VALUES,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.COMPARE_AND_SET,
        Power.BATCH,
        Power.RECALL,
    }
)


class _OpenItems(ItemVerbs, StoreDriver):
    """A store of LangGraph on a place. A contract's reader writes nothing, so reading refreshes no time to live."""

    face_powers = _POWERS | StoreDriver.store_powers
    elsewhere_program = """
import sys
from indelible.testing import FakeClock
from langchain_indelible import IndelibleStore
from langchain_indelible.testing import RecordingEmbeddings
path, now, key, text = sys.argv[1:]
index = {"embed": RecordingEmbeddings(), "fields": ["text"]}
with IndelibleStore(path, index=index, namespace=("contract",), clock=FakeClock(int(now))) as store:
    store.put(("notes",), key, {"text": text})
"""

    def open(self) -> None:
        super().open()
        index: IndexConfig = {"embed": RecordingEmbeddings(), "fields": ["text"]}
        self.items = IndelibleStore(self.store, index=index, ttl={"refresh_on_read": False}, namespace=("contract",))


class ItemsDriver(_OpenItems):
    """``IndelibleStore``, reads and writes."""

    face_powers = _OpenItems.face_powers | {Power.SWEEP, Power.SCOPES}

    def forget_expired(self) -> int:
        return self.items.sweep_ttl()

    def within(self, whose: str) -> Driver:
        return _NamespaceDriver(self, (*NAMESPACE, whose))


class _NamespaceDriver(ItemVerbs):
    """The same store in the namespace of one user, which is what LangGraph has for scopes."""

    powers = _POWERS | {Power.VERSION}

    def __init__(self, whole: ItemsDriver, namespace: tuple[str, ...]) -> None:
        self.items = whole.items
        self.namespace = namespace
        self.clock = whole.clock
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


# The twins


class RecordReader(Reader):
    """The same items as the core sees them: records of a collection."""

    collection: Collection

    def get(self, key: str) -> str | None:
        return text_of(self.collection.get(key))

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        hits = self.collection.search(query, mode="semantic", limit=_ALL if limit is None else limit)
        return [Match(hit.record.key or "", hit.score) for hit in hits]


class PastRecords(RecordReader):
    """Records as they were."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection


class WrittenByItemsDriver(RecordReader, _OpenItems):
    """Written through the store, read by the core."""

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", *NAMESPACE, model=RecordingEmbeddings())

    def value(self, key: str) -> Any:
        record = self.collection.get(key)
        return None if record is None else record.value["value"]

    def history(self, key: str) -> list[Happened]:
        changes = {change.version: change for change in self.collection.history(key)}
        return [Happened(line.version, line.op, text_of(changes[line.version].record)) for line in happened(list(changes.values()))]

    def at(self, when: When) -> Reader:
        return PastRecords(self.collection.at(when))

    def get_expired(self, key: str) -> str | None:
        return text_of(self.collection.get(key, include_expired=True))


class ReadByItemsDriver(_OpenItems):
    """Written by the core, read through the store."""

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", *NAMESPACE, model=RecordingEmbeddings())

    def remember(self, key: str, text: str) -> None:
        self.collection.batch([_put(key, text)])

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def remember_value(self, key: str, value: Any) -> None:
        self.collection.put(key, value={"value": value})

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.collection.put(key, value={"text": text}, parts=[Part("text", text)], ttl_ms=ttl_ms)

    def compare_and_set(self, key: str, text: str, expected: int) -> None:
        self.collection.put(key, value={"text": text}, parts=[Part("text", text)], expected_version=expected)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([_put(key, text) for key, text in items])


def _put(key: str, text: str) -> Put:
    return Put(key, value={"text": text}, parts=[Part("text", text)])


def text_of(found: IndelibleItem | Record | None) -> str | None:
    """The text of an item or record."""
    return None if found is None else found.value.get("text")
