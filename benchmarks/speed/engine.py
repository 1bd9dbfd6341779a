"""What a store must be able to do to be measured."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from benchmarks.speed.data import Question, Rows

LIMIT = 10
Hits: TypeAlias = "list[tuple[int, str]]"
"""Numbers of records with their texts, best first."""


class Engine(ABC):
    """One store in a folder. What it cannot do, it does not define, and is left out of that row with ``cannot``'s reason."""

    version = ""
    cannot: ClassVar[dict[str, str]] = {}
    aside: ClassVar[dict[str, str]] = {}
    """What it does, but not as asked: it is timed and never counts as the best, for this reason."""

    def __init__(self, folder: Path, slice_size: int) -> None:
        """Remember where; open nothing.

        Args:
            folder: an own one.
            slice_size: about how many records a user has.
        """
        self.folder, self.slice_size = folder, slice_size

    @abstractmethod
    def load(self) -> None:
        """Import what it needs, which is not part of any measurement."""

    @abstractmethod
    def open(self) -> None:
        """Open it, or make it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""

    @abstractmethod
    def add(self, rows: Rows) -> None:
        """Keep records in one call or transaction, durably where the store has a say."""

    def settle(self) -> bool:
        """Do what its documentation says to do after much was added; says whether there is anything."""
        return False

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        """The nearest by cosine: of one user or of all; only those whose ``field`` is 1."""
        raise NotImplementedError

    def keyword(self, asked: Question, user: str | None) -> Hits:
        """Records with any of the words, best first."""
        raise NotImplementedError

    def hybrid(self, asked: Question, user: str | None) -> Hits:
        """Both at once."""
        raise NotImplementedError

    def timed(self, call: Callable[[Question], Hits], asked: Question) -> tuple[float, Hits]:
        """Ask.

        Args:
            call: what asks this store.
            asked: the question.

        Returns:
            seconds it took, and what was found.
        """
        began = time.perf_counter()
        found = call(asked)
        return time.perf_counter() - began, found

    def parts(self) -> dict[str, int]:
        """Bytes on disk, by what they are for; asked when it is closed."""
        found: dict[str, int] = {}
        for path in self.folder.rglob("*"):
            if path.is_file():
                name = path.suffix.lstrip(".") or path.name
                found[name] = found.get(name, 0) + path.stat().st_size
        return found


def reciprocal_ranks(rankings: list[Hits]) -> Hits:
    """Fuse rankings, for stores that leave it to their users."""
    scores: dict[int, float] = {}
    texts: dict[int, str] = {}
    for ranking in rankings:
        for rank, (number, text) in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + 1 / (60 + rank)
            texts[number] = text
    best = sorted(scores, key=lambda number: -scores[number])[:LIMIT]
    return [(number, texts[number]) for number in best]


def sizes_of_tables(cursor: Any, groups: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Bytes of an SQLite file's tables and indexes by group, each name going to the first group with a beginning of it."""
    found: dict[str, int] = {}
    for name, size in cursor.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        group = next((group for group, starts in groups.items() if name.startswith(starts)), "everything else")
        found[group] = found.get(group, 0) + size
    return found
