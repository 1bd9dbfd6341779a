"""Stores as the tests of facts open them, and short names for what they answer. No test of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from indelible import Hit, MemoryStore, Record
from indelible.testing import FakeClock, HashEmbedder

SCOPE = {"agent_id": "a", "user_id": "u"}
Act = Callable[[], object]
Before = Callable[[Act], None]
"""Lets a rival act between what a store reads and what it then writes."""


def open_store(path: Path | str = ":memory:", *, clock: FakeClock | None = None, embedder: object = None, **options: Any) -> MemoryStore:
    """A store with a clock that stands still and an embedder that needs no model."""
    return MemoryStore(path, clock=clock or FakeClock(), embedder=embedder or HashEmbedder(), **options)


def contents(found: Iterable[Hit | Record]) -> list[str]:
    """The texts, in the order found."""
    return [item.content for item in found]


def near(store: Any, query: str, record: Record) -> float:
    """The cosine of a memory with a query."""
    return next(hit.score for hit in store.recall(query, limit=100) if hit.id == record.id) or 0.0


def ids(found: Iterable[Hit | Record]) -> list[str]:
    return [item.id for item in found]


_OTHER = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
store = MemoryStore(sys.argv[1], clock=FakeClock(), embedder=HashEmbedder())
"""


def other_process(path: Path, program: str) -> str:
    """Run a program in a fresh interpreter, with ``store`` open on the file and closed at its end; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", f"{_OTHER}\n{program}\nstore.close()", str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder; only for stores that nobody has open in this process."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
