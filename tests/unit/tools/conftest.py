"""A store that needs no model, and the tools of one user on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.faces.store import ScopedView
from indelible.testing import FakeClock, HashEmbedder
from indelible.tools import FACT_TOOLS, TOOLS, Toolbox


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    """An empty store in a file."""
    with MemoryStore(tmp_path / "memory.db", embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


@pytest.fixture
def view(store: MemoryStore) -> ScopedView:
    return store.scope(agent_id="helper", user_id="ada")


@pytest.fixture
def toolbox(view: ScopedView) -> Toolbox:
    """Every tool of facts, on the account of a session."""
    return Toolbox(view, tools=(*TOOLS, *FACT_TOOLS), model="a model", session="monday")
