"""A memory, a store and a clock that stands still, for each test of a face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indelible import MemoryStore, PersistentMemory
from indelible.testing import FakeClock, HashEmbedder


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, so that a test can say what else came to stand in it."""
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "memory.db"


@pytest.fixture
def ledger(path: Path, clock: FakeClock) -> Iterator[PersistentMemory]:
    """An empty persistent memory in a file."""
    with PersistentMemory("ledger", path, clock=clock) as opened:
        yield opened


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    """An empty store in a file, with an embedder that needs no model."""
    with MemoryStore(path, embedder=HashEmbedder(), clock=clock) as opened:
        yield opened
