"""Stores filled with a set, and the ways of asking them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Literal

from benchmarks.quality.metrics import DEPTH
from benchmarks.quality.sets import Document, Question, QuestionSet
from indelible import Hit, MemoryStore, Mmr
from indelible.embed.protocol import Embedder

Context = Literal["", "date", "previous", "previous and date"]
BM25 = "MEMORY_FTS5_BM25"


class SettableClock:
    """Stands where it is put."""

    def __init__(self) -> None:
        self.us = 1_700_000_000_000_000

    def now_us(self) -> int:
        """Microseconds since 1970."""
        return self.us

    def put(self, when: datetime) -> None:
        """To a time."""
        self.us = int(when.timestamp()) * 1_000_000


class FilledStore:
    """A store in memory that holds a set.

    Args:
        asked: the set.
        embedder: its model.
        context: what each turn is indexed with.
    """

    def __init__(self, asked: QuestionSet, embedder: Embedder, context: Context = "") -> None:
        self._clock = SettableClock()
        self._store = MemoryStore(":memory:", embedder=embedder, clock=self._clock)
        self._ids: dict[str, str] = {}
        self._last = max((document.date for document in asked.documents if document.date), default=None)
        documents = [document for document in asked.documents if document.text.strip()]
        for _, turns in groupby(documents, key=lambda document: document.session or "none"):
            self._remember(list(turns), context)

    def _remember(self, turns: list[Document], context: Context) -> None:
        items: list[dict[str, Any]] = [
            {"content": turn.text, "metadata": {"id": turn.id}, "occurred_at": turn.date, "user_id": turn.group or "all"} for turn in turns
        ]
        if "previous" in context and turns[0].session:
            # As the face does it: with the turn before, and with the date where the turn has one.
            for item, turn in zip(items, turns, strict=True):
                item["role"] = turn.role or None
                if context == "previous":
                    del item["occurred_at"]
            records = self._store.remember_turns(items)
        else:
            for item, turn in zip(items, turns, strict=True):
                if "date" in context and turn.date is not None:
                    item["context"] = [turn.date]
            records = self._store.remember_many(items)
        self._ids |= {turn.id: record.id for turn, record in zip(turns, records, strict=True)}

    def close(self) -> None:
        """Let go of it."""
        self._store.close()

    def cast_votes(self) -> None:
        """Votes that have nothing to do with any question: one for every tenth document, up and down by turns."""
        for number, record in enumerate(list(self._ids.values())[::10]):
            self._store.feedback(record, "up" if number % 2 else "down")

    def search(self, question: Question, *, bm25: bool) -> list[str]:
        """By words, any of them."""
        with _variable(BM25, "1" if bm25 else None):
            return _ids(self._store.search(question.text, match="any", limit=DEPTH, user_id=question.group or "all"))

    def recall(self, question: Question, mode: str, *, depth: int = DEPTH, **priors: Any) -> list[str]:
        """By meaning, or hybrid; at the time of the question."""
        asked = question.date or (self._last + timedelta(days=1) if self._last else None)
        if asked is not None:
            self._clock.put(asked)
        return _ids(self._store.recall(question.text, mode=mode, limit=depth, user_id=question.group or "all", **priors))


PRIORS: dict[str, dict[str, Any]] = {"recency": {"recency": True}, "feedback": {"feedback": True}, "MMR": {"mmr": Mmr()}}
"""Each as it comes when it is asked for."""


def _ids(hits: list[Hit]) -> list[str]:
    return [str(hit.metadata["id"]) for hit in hits]


@contextmanager
def _variable(name: str, value: str | None) -> Iterator[None]:
    before = os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before
