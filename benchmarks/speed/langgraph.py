"""LangGraph's SqliteStore on a connection of apsw, which can load the extension that its search needs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from benchmarks.speed.data import DIM, Matrix, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits
from benchmarks.speed.vec import connect


class Connection:
    """So much of ``sqlite3.Connection`` as the store uses, over one of apsw."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def create_function(self, name: str, count: int, function: Callable[..., Any], *, deterministic: bool = False) -> None:
        """Make a function known to SQL."""
        self._inner.create_scalar_function(name, function, count, deterministic=deterministic)

    def enable_load_extension(self, on: bool) -> None:
        """Allow extensions."""
        self._inner.enable_load_extension(on)

    def load_extension(self, _path: str) -> None:
        """Nothing: it was loaded when the file was opened, and a second time it fails."""

    def executescript(self, script: str) -> None:
        """Run statements."""
        self._inner.execute(script)

    def execute(self, query: str, values: Sequence[Any] = ()) -> Any:
        """Run one."""
        return self.cursor().execute(query, tuple(values))

    def cursor(self) -> Any:
        """To run more."""
        return self._inner.cursor()


class LangGraph(Engine):
    """A namespace per user. Text, fields and vector are one item."""

    cannot: ClassVar[dict[str, str]] = {"keyword": "searches by meaning alone", "hybrid": "searches by meaning alone"}

    def load(self) -> None:
        self._apsw, self._vec = importlib.import_module("apsw"), importlib.import_module("sqlite_vec")
        self._class: Any = importlib.import_module("langgraph.store.sqlite").SqliteStore
        self._put: Any = importlib.import_module("langgraph.store.base").PutOp
        self.version = f"langgraph-checkpoint-sqlite {version('langgraph-checkpoint-sqlite')}"

    def open(self) -> None:
        self._held: dict[str, Matrix] = {}
        self._inner = connect(self._apsw, self._vec, self.folder / "store.db")
        index = {"dims": DIM, "embed": self._embed, "fields": ["text"], "text_fields": ["text"]}  # it documents the one, reads the other
        self._store = self._class(Connection(self._inner), index=index)
        self._store.setup()

    def close(self) -> None:
        self._inner.close()

    def add(self, rows: Rows) -> None:
        self._held = dict(zip(rows.texts, rows.vectors, strict=True))
        self._store.batch(
            self._put(("bench", user), str(number), {"text": text, **fields})
            for number, text, user, fields in zip(rows.numbers, rows.texts, rows.users, rows.metadata, strict=True)
        )

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        self._held = {asked.words: asked.vector}
        within = ("bench",) if user is None else ("bench", user)
        found = self._store.search(within, query=asked.words, limit=LIMIT, filter=None if field is None else {field: 1})
        return [(int(item.key), item.value["text"]) for item in found]

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._held[text].tolist() for text in texts]
