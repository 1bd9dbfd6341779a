"""Drivers of facts: a store, a view of it, and the same behind coroutines."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import threading
import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from indelible.faces.aio import AsyncFace, AsyncMemoryStore
from indelible.testing.contract.driver import Driver, Happened, Match, Power, Reader, When
from indelible.testing.contract.drivers.base import PlacedDriver, StoreDriver, happened
from indelible.testing.embedder import HashEmbedder

_ALL = 10**6
_NO_ID = str(uuid.UUID(int=0))


class FactReader(Reader):
    """Facts, by the caller's keys. ``facts`` is a store, a view or a view of the past, and has their verbs."""

    facts: Any

    def get(self, key: str) -> str | None:
        found = self.facts.list(key=key)
        return found[0].content if found else None

    def keys(self) -> list[str]:
        return [record.key for record in self.facts.list() if record.key is not None]

    def look(self, keys: Sequence[str]) -> tuple[list[str | None], list[str]]:
        texts = {record.key: record.content for record in self.facts.list() if record.key is not None}
        return [texts.get(key) for key in keys], list(texts)

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.facts.search(words, limit=_ALL if limit is None else limit)
        return [Match(hit.record.key, hit.rank_score) for hit in hits]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        hits = self.facts.recall(query, limit=_ALL if limit is None else limit)
        return [Match(hit.record.key, hit.score) for hit in hits]


class PastFacts(FactReader):
    """Facts as they were."""

    def __init__(self, facts: Any) -> None:
        self.facts = facts


class FactVerbs(FactReader, Driver):
    """Writing facts. Verbs on an id remember which id a key had, also once it is hidden."""

    ids: dict[str, str]

    def _id(self, key: str) -> str:
        found = self.facts.list(key=key, include_expired=True)
        if found:
            self.ids[key] = found[0].id
        return self.ids.get(key, _NO_ID)

    def remember(self, key: str, text: str) -> None:
        self.ids[key] = self.facts.remember(text, key=key).id

    def forget(self, key: str) -> None:
        self.facts.forget(self._id(key))

    def history(self, key: str) -> list[Happened]:
        return happened(self.facts.history(self._id(key)))

    def at(self, when: When) -> Reader:
        return PastFacts(self.facts.at(when))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.ids[key] = self.facts.remember(text, key=key, ttl_ms=ttl_ms).id

    def get_expired(self, key: str) -> str | None:
        found = self.facts.list(key=key, include_expired=True)
        return found[0].content if found else None

    def forget_expired(self) -> int:
        return int(self.facts.forget_expired())

    def undo(self, key: str) -> None:
        self.facts.undo(self._id(key))

    def restore(self, key: str, version: int) -> None:
        self.facts.restore(self._id(key), version)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        for record in self.facts.remember_many([{"content": text, "key": key} for key, text in items]):
            self.ids[record.key] = record.id

    def remember_once(self, text: str, idempotency_key: str) -> str:
        return str(self.facts.remember(text, idempotency_key=idempotency_key).id)

    def vote(self, key: str, vote: str) -> None:
        self.facts.feedback(self._id(key), vote)

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        self.ids[key] = self.facts.remember(text, key=key, metadata=dict(metadata)).id

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        return [record.key for record in self.facts.list(filters=filters)]

    def purge(self, key: str) -> int:
        return int(self.facts.purge(self._id(key)))


_POWERS = frozenset(
    {
        Power.ORDER,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.SWEEP,
        Power.UNDO,
        Power.RESTORE,
        Power.BATCH,
        Power.RETRY,
        Power.VOTES,
        Power.FILTERS,
        Power.SEARCH,
        Power.RECALL,
        Power.SCOPES,
        Power.PURGE,
    }
)


class FactsDriver(FactVerbs, StoreDriver):
    """``MemoryStore`` itself."""

    face_powers = _POWERS | StoreDriver.store_powers
    elsewhere_program = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    store.remember(text, key=key)
"""

    def open(self) -> None:
        super().open()
        self.facts = self.store
        self.ids = getattr(self, "ids", {})

    def within(self, whose: str) -> Driver:
        return _ScopedFacts(self, self.facts.scope(agent_id="agent", user_id=whose))


class ViewDriver(FactsDriver):
    """``store.scope(...)``: a bound view; there is more in the store than it sees."""

    elsewhere_program = FactsDriver.elsewhere_program.replace("store.remember(", 'store.scope("agent", "reader").remember(')

    def open(self) -> None:
        super().open()
        self.facts = self.store.scope(agent_id="agent", user_id="reader")

    def within(self, whose: str) -> Driver:
        # A view cannot be left, so its neighbours are views of the store.
        return _ScopedFacts(self, self.store.scope(agent_id="agent", user_id=whose))


class _ScopedFacts(FactVerbs):
    """The same store for one user."""

    powers = _POWERS - {Power.SCOPES} | {Power.VERSION}

    def __init__(self, whole: Driver, facts: Any) -> None:
        self.clock = whole.clock
        self.facts = facts
        self.ids = {}
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


class Blocking:
    """A face of coroutines, called from ordinary code: each call waits for its result."""

    def __init__(self, face: AsyncFace, loop: asyncio.AbstractEventLoop) -> None:
        self._face = face
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._face, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            result = found(*args, **kwargs)
            if inspect.isawaitable(result):
                result = asyncio.run_coroutine_threadsafe(_awaited(result), self._loop).result(timeout=120)
            return Blocking(result, self._loop) if isinstance(result, AsyncFace) else result

        return call


@cache
def contract_loop() -> asyncio.AbstractEventLoop:
    """One loop for all drivers, in a thread of its own until the process ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="contract loop", daemon=True)
    thread.start()

    def end() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(end)
    return loop


async def _awaited(result: Any) -> Any:
    return await result


class AsyncFactsDriver(FactVerbs, PlacedDriver):
    """``AsyncMemoryStore``, from a loop in another thread."""

    face_powers = _POWERS | StoreDriver.store_powers

    def open(self) -> None:
        store = AsyncMemoryStore(self.place.path, embedder=HashEmbedder(), clock=self.clock, backend=self.place.open(self.clock))
        self.facts: Any = Blocking(store, contract_loop())
        self.ids = getattr(self, "ids", {})

    def close(self) -> None:
        self.facts.close()

    def within(self, whose: str) -> Driver:
        return _ScopedFacts(self, self.facts.scope(agent_id="agent", user_id=whose))

    def version(self) -> int:
        return int(self.facts.version)

    def export(self, path: Path) -> None:
        self.facts.export(path)

    def import_(self, path: Path) -> None:
        self.facts.import_(path)

    def problems(self) -> Sequence[str]:
        return tuple(self.facts.verify().problems)

    def rebuild(self) -> None:
        self.facts.rebuild()

    def vacuum(self) -> None:
        self.facts.vacuum()
