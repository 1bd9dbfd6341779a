"""Stores for the tests of the LlamaIndex package."""

from __future__ import annotations

from pathlib import Path

import pytest

from llama_index_indelible import IndelibleVectorStore


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Where a store may be."""
    return str(tmp_path / "memory.db")


@pytest.fixture
def nodes() -> IndelibleVectorStore:
    """An empty vector store in memory."""
    return IndelibleVectorStore(":memory:")
