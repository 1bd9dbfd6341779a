"""Indelible, as its users call it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.ready_made import ReadyMade
from benchmarks.speed.data import DIM, PIECE, Corpus, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits, sizes_of_tables

GROUPS = {
    "log: events": ("event",),
    "log: clear text": ("payload",),
    "states": ("state",),
    "keyword index": ("keyword", "posting"),
    "vectors": ("vector", "pack"),
}
VERSIONS = 10


class Indelible(Engine):
    """A store of facts: the user is ``user_id``, the fields are metadata."""

    def load(self) -> None:
        import indelible
        from indelible.backend.sqlite.schema import SCHEMA_VERSION

        self.version = f"indelible {indelible.__version__}, schema {SCHEMA_VERSION}"
        self._class = indelible.MemoryStore

    def open(self) -> None:
        self._ready = ReadyMade(DIM)
        self._store = self._class(self.folder / "store.db", embedder=self._ready)

    def close(self) -> None:
        self._store.close()

    def add(self, rows: Rows) -> None:
        self._ready.hold(rows.texts, rows.vectors)
        items: list[dict[str, Any]] = [
            {"content": text, "user_id": user, "metadata": {"n": number, **fields}}
            for number, text, user, fields in zip(rows.numbers, rows.texts, rows.users, rows.metadata, strict=True)
        ]
        if len(items) == 1:
            self._store.remember(**items[0], agent_id="bench")
        else:
            self._store.remember_many(items, agent_id="bench")

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        filters = None if field is None else {field: 1}
        return _hits(self._store.recall(vector=asked.numbers, limit=LIMIT, filters=filters, **_scope(user)))

    def keyword(self, asked: Question, user: str | None) -> Hits:
        return _hits(self._store.search(asked.words, match="any", limit=LIMIT, **_scope(user)))

    def hybrid(self, asked: Question, user: str | None) -> Hits:
        return _hits(self._store.recall(asked.words, vector=asked.numbers, mode="hybrid", limit=LIMIT, **_scope(user)))

    def parts(self) -> dict[str, int]:
        with closing(sqlite3.connect(self.folder / "store.db")) as connection:
            try:
                return sizes_of_tables(connection, GROUPS)
            except sqlite3.OperationalError:  # an SQLite without dbstat
                return super().parts()


class Versions:
    """A store whose records have ten versions each, asked as it was.

    Args:
        folder: an own one.
        corpus: its size is how many versions there are, each with a text and a vector of its own.
    """

    def __init__(self, folder: Path, corpus: Corpus) -> None:
        from indelible import MemoryStore

        self._ready, self._corpus = ReadyMade(DIM), corpus
        self._store = MemoryStore(folder / "versions.db", embedder=self._ready)
        self.records = max(1, corpus.size // VERSIONS // corpus.users) * corpus.users
        """The same user in every version: a multiple of the number of users."""

    def fill(self) -> None:
        """Remember every key, then every key again, and so on."""
        total, key = self.records * VERSIONS, 0
        for number in range(-(-total // PIECE)):
            rows = self._corpus.piece(number).part(0, total - number * PIECE)
            for start in range(0, len(rows.texts), self.records):  # no key twice in one transaction
                part = rows.part(start, start + self.records)
                self._ready.hold(part.texts, part.vectors)
                items = []
                for text, user in zip(part.texts, part.users, strict=True):
                    items.append({"content": text, "user_id": user, "key": f"key {key % self.records}"})
                    key += 1
                self._store.remember_many(items, agent_id="bench")

    def ask(self, asked: Question, percent: int | None, user: str | None) -> int:
        """Recall at so many percent of the log, or now.

        Returns:
            how many were found.
        """
        when = None if percent is None else self._store.version * percent // 100
        return len(self._store.recall(vector=asked.numbers, limit=LIMIT, as_of=when, **_scope(user)))

    def close(self) -> None:
        """Let go of it."""
        self._store.close()


def _scope(user: str | None) -> dict[str, Any]:
    return {"agent_id": "bench"} if user is None else {"agent_id": "bench", "user_id": user}


def _hits(found: list[Any]) -> Hits:
    return [(int(hit.metadata["n"]), hit.content) for hit in found]
