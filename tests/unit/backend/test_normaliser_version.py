"""S42: the normaliser has a version, the store keeps it, and an index made by another one is made anew."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from indelible.backend.interface import Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.base.draft import Draft
from indelible.base.event import Op
from indelible.testing import FakeClock


class Indexer:
    """Words by white space; another version writes them backwards."""

    def __init__(self, version: int) -> None:
        self.version = version

    def words(self, text: str) -> str:
        return " ".join(word if self.version == 1 else word[::-1] for word in text.split())

    def stem(self, word: str) -> str:
        return ""


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    with closing(SqliteBackend(path, Indexer(1), clock=FakeClock())) as backend:
        backend.append([Draft(Op.REMEMBER, fields={"content": dumps("green kettle")})])
    return path


def found(backend: SqliteBackend, word: str) -> int:
    return len(backend.find(Selection(), [[[word]]], match="all"))


def test_s42_another_normaliser_indexes_anew(path: str) -> None:
    """What only the new one's words find is found, the epoch rose once, and the store verifies."""
    with closing(SqliteBackend(path, Indexer(2), clock=FakeClock())) as backend:
        assert (found(backend, "green"), found(backend, "neerg")) == (0, 1)
        assert backend.verify().ok
        epoch = backend.mark().epoch
    with closing(SqliteBackend(path, Indexer(2), clock=FakeClock())) as backend:
        assert backend.mark().epoch == epoch > 0


def test_s42_the_same_normaliser_changes_nothing(path: str) -> None:
    """Opening again is no rebuild."""
    with closing(SqliteBackend(path, Indexer(1), clock=FakeClock())) as backend:
        assert found(backend, "green") == 1
        assert backend.mark().epoch == 0
