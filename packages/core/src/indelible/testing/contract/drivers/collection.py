"""The driver of a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indelible.faces.collection import Collection
from indelible.faces.operations import Put
from indelible.testing.contract.driver import Driver, Happened, Match, Power, Reader, When
from indelible.testing.contract.drivers.base import StoreDriver, happened

_ALL = 10**6


class CollectionReader(Reader):
    """A collection, now or in the past."""

    collection: Collection

    def get(self, key: str) -> str | None:
        record = self.collection.get(key)
        return None if record is None else record.content

    def keys(self) -> list[str]:
        return [record.key or "" for record in self.collection.list()]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return self._matches(words, "keyword", limit)

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return self._matches(query, "semantic", limit)

    def _matches(self, query: str, mode: str, limit: int | None) -> list[Match]:
        hits = self.collection.search(query, mode=mode, limit=_ALL if limit is None else limit)
        return [Match(hit.record.key or "", hit.rank_score if mode == "keyword" else hit.score) for hit in hits]


class PastCollection(CollectionReader):
    """A collection as it was."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection


class CollectionVerbs(CollectionReader, Driver):
    """Writing to a collection."""

    def remember(self, key: str, text: str) -> None:
        self.collection.put(key, text)

    def forget(self, key: str) -> None:
        self.collection.delete(key)

    def remember_value(self, key: str, value: Any) -> None:
        self.collection.put(key, value=value)

    def value(self, key: str) -> Any:
        record = self.collection.get(key)
        return None if record is None else record.value

    def history(self, key: str) -> list[Happened]:
        return happened(self.collection.history(key))

    def at(self, when: When) -> Reader:
        return PastCollection(self.collection.at(when))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.collection.put(key, text, ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        record = self.collection.get(key, include_expired=True)
        return None if record is None else record.content

    def compare_and_set(self, key: str, text: str, expected: int) -> None:
        self.collection.put(key, text, expected_version=expected)

    def undo(self, key: str) -> None:
        self.collection.undo(key)

    def restore(self, key: str, version: int) -> None:
        self.collection.restore(key, version)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.collection.batch([Put(key, text) for key, text in items])

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        self.collection.put(key, text, metadata=dict(metadata))

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        return [record.key or "" for record in self.collection.list(filters=filters)]

    def purge(self, key: str) -> int:
        return self.collection.purge(key)


_POWERS = frozenset(
    {
        Power.ORDER,
        Power.VALUES,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.COMPARE_AND_SET,
        Power.UNDO,
        Power.RESTORE,
        Power.BATCH,
        Power.FILTERS,
        Power.SEARCH,
        Power.RECALL,
        Power.SCOPES,
        Power.PURGE,
    }
)


class CollectionDriver(CollectionVerbs, StoreDriver):
    """``store.collection(...)`` with the store's model."""

    face_powers = _POWERS | StoreDriver.store_powers
    elsewhere_program = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    store.collection("contract", "notes", model="store").put(key, text)
"""

    def open(self) -> None:
        super().open()
        self.collection = self.store.collection("contract", "notes", model="store")

    def within(self, whose: str) -> Driver:
        return _ScopedCollection(self, self.store.collection("contract", "notes", user_id=whose, model="store"))


class _ScopedCollection(CollectionVerbs):
    """The same collection for one user."""

    powers = _POWERS - {Power.SCOPES} | {Power.VERSION}

    def __init__(self, whole: CollectionDriver, collection: Collection) -> None:
        self.clock = whole.clock
        self.collection = collection
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()
