"""Chroma, a local file: an HNSW graph, which is approximate, and filters by metadata."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from benchmarks.speed.data import Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits


class Chroma(Engine):
    """A collection with cosine distance and its own settings otherwise. The user is a field of the metadata."""

    cannot: ClassVar[dict[str, str]] = {"hybrid": "the local store fuses nothing"}
    aside: ClassVar[dict[str, str]] = {"keyword": "any part of a word, unranked"}

    def load(self) -> None:
        self._chroma: Any = importlib.import_module("chromadb")
        self._settings: Any = importlib.import_module("chromadb.config").Settings
        self.version = f"chromadb {self._chroma.__version__}"

    def open(self) -> None:
        self._client = self._chroma.PersistentClient(str(self.folder), self._settings(anonymized_telemetry=False))
        self._collection = self._client.get_or_create_collection("bench", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def close(self) -> None:
        self._collection = self._client = None

    def add(self, rows: Rows) -> None:
        metadata = [{"user": user, **fields} for user, fields in zip(rows.users, rows.metadata, strict=True)]
        self._collection.add(
            ids=[str(number) for number in rows.numbers], embeddings=rows.vectors, documents=rows.texts, metadatas=metadata
        )

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        where = _where(user, field)
        found = self._collection.query(query_embeddings=[asked.vector], n_results=LIMIT, include=["documents"], **where)
        return [(int(id), text) for id, text in zip(found["ids"][0], found["documents"][0], strict=True)]

    def keyword(self, asked: Question, user: str | None) -> Hits:
        words = {"$or": [{"$contains": word} for word in asked.words.split()]}
        found = self._collection.get(where_document=words, limit=LIMIT, include=["documents"], **_where(user, None))
        return [(int(id), text) for id, text in zip(found["ids"], found["documents"], strict=True)]


def _where(user: str | None, field: str | None) -> dict[str, Any]:
    if user is not None:
        return {"where": {"user": user}}
    return {} if field is None else {"where": {field: 1}}
