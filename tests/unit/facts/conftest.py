"""A store of facts for each test, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.testing import FakeClock
from tests.unit.facts.stores import open_store


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made: alone in its folder."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "facts.db"


@pytest.fixture
def store(clock: FakeClock) -> Iterator[MemoryStore]:
    """An empty store in memory."""
    with open_store(clock=clock) as opened:
        yield opened


@pytest.fixture
def kept(path: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    """An empty store in a file."""
    with open_store(path, clock=clock) as opened:
        yield opened
