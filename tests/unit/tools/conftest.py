"""A store that needs no model, and the tools of one user on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


COUNTS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = []


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[[str, int, int], None]:
    """Note a fraction, to be printed at the end of the run."""
    noted = request.config.stash[COUNTS]
    return lambda what, number, of: noted.append(f"{what}: {number} of {of}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print them: measured, not promised."""
    if config.stash[COUNTS]:
        terminalreporter.section("screening of what models write")
        for line in config.stash[COUNTS]:
            terminalreporter.write_line(line)
