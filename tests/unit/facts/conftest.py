"""A store of facts for each test, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.base.draft import Draft, Written
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, ReferenceBackend
from indelible.testing.reference_log import Medium
from tests.unit.facts.stores import Act, Before, open_store


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


@pytest.fixture(params=["file", "reference"])
def pair(request: pytest.FixtureRequest, path: Path, clock: FakeClock) -> Iterator[tuple[MemoryStore, MemoryStore]]:
    """A store and its rival's, on one medium."""
    medium = Medium()
    with ExitStack() as stack:
        yield tuple(  # type: ignore[misc]  # two
            stack.enter_context(
                open_store(path, clock=clock)
                if request.param == "file"
                else open_store(clock=clock, backend=ReferenceBackend(medium, TextIndexer(), clock=clock))
            )
            for _ in range(2)
        )


@pytest.fixture
def before_the_write(pair: tuple[MemoryStore, MemoryStore], monkeypatch: pytest.MonkeyPatch) -> Before:
    """Lets the rival act after the store has looked, and before it takes the write lock."""
    backend = pair[0]._engine.backend
    append = backend.append
    acts: list[Act] = []

    def late(drafts: Sequence[Draft]) -> list[Written]:
        while acts:
            acts.pop(0)()
        return append(drafts)

    monkeypatch.setattr(backend, "append", late)
    return acts.append
