"""A store in a file of its own for each test of the SQLite engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indelible.backend.sqlite import SqliteBackend
from tests.crash.engine import SteppingClock, open_engine


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SqliteBackend]:
    opened = open_engine(path, clock=SteppingClock())
    yield opened
    opened.close()
