"""The operations of ``steady``: ``python -m benchmarks.steady_work FILE OPERATIONS EVERY RECORDS PART`` prints a sample a line.

The caches of a store are bounded, but so widely that a hundred thousand operations would not fill them, and filling them looks like a
leak. Here they have one of PART parts of their bounds, so that they are full when the warm-up is over.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.steady import Sample
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.backend.sqlite import pragmas
from indelible.faces.slice_cache import SliceCache
from indelible.testing import HashEmbedder

USERS = 200
TOPICS = 10
PAGE_CACHE_KIB = 4096
WEIGHTS = {
    "remember": 12,
    "remember_many": 4,
    "edit": 8,
    "forget": 20,
    "purge": 1,
    "feedback": 5,
    "recall": 15,
    "hybrid": 6,
    "search": 8,
    "list": 6,
    "history": 7,
    "as_of": 8,
}
"""How often each is drawn. As many records are forgotten as are remembered; bounds see to the rest."""


def tighten(store: MemoryStore, part: int) -> None:
    """Give the caches of a store one of so many parts of their bounds."""
    for cache in caches(store):
        cache._max_bytes //= part


def cached(store: MemoryStore) -> int:
    """Bytes that the caches of a store count themselves with."""
    return sum(cache._held for cache in caches(store))


def caches(store: MemoryStore) -> list[SliceCache[Any]]:
    """All caches of a store."""
    return [held for held in vars(store._engine).values() if isinstance(held, SliceCache)]


def resident() -> int:
    """Bytes of this process in memory: now, or where the system does not say so at most."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Work:
    """A store, and what is done to it by lot.

    Args:
        store: an empty one with an embedder.
        records: how many are live at most.
        seed: another seed, other operations.

    Attributes:
        done: how often each operation was done.
    """

    def __init__(self, store: MemoryStore, records: int, seed: int = 0) -> None:
        self._store, self._most = store, records
        self._chance = random.Random(seed)
        self._texts = sentences(2000, seed=seed)
        self._embedder = HashEmbedder()
        self._live: list[str] = []
        self._gone: list[str] = []
        self.done: Counter[str] = Counter()
        self._calls: dict[str, Callable[[], object]] = {name: getattr(self, f"_{name}") for name in WEIGHTS}

    @property
    def live(self) -> int:
        """Records that are not forgotten."""
        return len(self._live)

    def fill(self) -> None:
        """Remember nearly as many as there may be."""
        while self.live < self._most * 7 // 8:
            self._keep(min(500, self._most * 7 // 8 - self.live))

    def step(self) -> None:
        """One operation."""
        name = self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if name.startswith("remember") and self.live >= self._most:
            name = "forget"
        elif name in ("forget", "purge") and self.live <= self._most * 3 // 4:
            name = "remember"
        self._calls[name]()
        self.done[name] += 1

    def _keep(self, number: int) -> None:
        items = [{"content": self._text(), "user_id": self._user(), "metadata": self._metadata()} for _ in range(number)]
        self._live += [record.id for record in self._store.remember_many(items, agent_id="steady")]

    def _text(self) -> str:
        return self._chance.choice(self._texts)

    def _user(self) -> str:
        return f"user {self._chance.randrange(USERS)}"

    def _metadata(self) -> dict[str, int]:
        return {"topic": self._chance.randrange(TOPICS)}

    def _words(self) -> str:
        return " ".join(self._chance.sample(self._text().split(), 3))

    def _vector(self) -> list[float]:
        return [float(number) for number in self._embedder.embed_query(self._text())]

    def _any(self) -> str:
        return self._chance.choice(self._live)

    def _taken(self) -> str:
        place = self._chance.randrange(self.live)
        self._live[place], self._live[-1] = self._live[-1], self._live[place]
        return self._live.pop()

    def _remember(self) -> None:
        record = self._store.remember(self._text(), agent_id="steady", user_id=self._user(), metadata=self._metadata())
        self._live.append(record.id)

    def _remember_many(self) -> None:
        self._keep(self._chance.randint(2, 4))

    def _edit(self) -> None:
        self._store.edit(self._any(), self._text())

    def _forget(self) -> None:
        id = self._taken()
        self._store.forget(id)
        self._gone = [*self._gone[-99:], id]

    def _purge(self) -> None:
        self._store.purge(self._taken())

    def _feedback(self) -> None:
        self._store.feedback(self._any(), self._chance.choice(("up", "down")))

    def _recall(self) -> None:
        self._store.recall(vector=self._vector(), agent_id="steady", user_id=self._user())

    def _hybrid(self) -> None:
        self._store.recall(self._words(), mode="hybrid", agent_id="steady", user_id=self._user())

    def _search(self) -> None:
        self._store.search(self._words(), match="any", agent_id="steady", user_id=self._user())

    def _list(self) -> None:
        self._store.list(filters=self._metadata(), limit=10, agent_id="steady", user_id=self._user())

    def _history(self) -> None:
        self._store.history(self._chance.choice(self._gone) if self._gone and self._chance.random() < 0.5 else self._any())

    def _as_of(self) -> None:
        version = self._chance.randint(1, self._store.version)
        self._store.recall(vector=self._vector(), as_of=version, agent_id="steady", user_id=self._user())


def main() -> None:
    """Work, and print samples."""
    path, (operations, every, records, part) = Path(sys.argv[1]), map(int, sys.argv[2:6])
    pragmas.PRAGMAS["cache_size"] = -PAGE_CACHE_KIB
    with MemoryStore(path, embedder=HashEmbedder()) as store:
        tighten(store, part)
        work = Work(store, records)
        work.fill()
        for number in range(operations + 1):
            if number:
                work.step()
            if number % every == 0:
                sample = Sample(number, resident(), cached(store), work.live, store.version, path.stat().st_size)
                print(json.dumps(sample), flush=True)


if __name__ == "__main__":
    main()
