"""What the tests of the adapters are given."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from indelible import MemoryStore
from langchain_indelible import IndelibleVectorStore
from tests.interop.langchain.models import WordEmbeddings, open_store

FEW = 60
"""Values that a statement may bind: enough for any of the engine's, and for no list of keys."""


@pytest.fixture
def few_variables(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lets the engine refuse a statement that binds a value per key, at far fewer keys than its own limit of 32,766 or 250,000.

    To be asked for before a store.
    """
    connect = sqlite3.connect

    def limited(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, FEW)
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited)
    return FEW


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    with open_store() as opened:
        yield opened


@pytest.fixture
def embeddings() -> WordEmbeddings:
    return WordEmbeddings()


@pytest.fixture
def documents(store: MemoryStore, embeddings: WordEmbeddings) -> IndelibleVectorStore:
    return IndelibleVectorStore(store, embeddings)
