"""What the tests of the adapters are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indelible import MemoryStore
from langchain_indelible import IndelibleVectorStore
from tests.interop.langchain.models import WordEmbeddings, open_store


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
