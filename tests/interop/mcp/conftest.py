"""The SDK, whose client every test here talks with; and servers to share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mcp import Client

collect_ignore = [] if find_spec("mcp") else [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_sdk.py"]
"""Without the SDK one test is left, which says so: a skip on a laptop, a failure on CI."""


@dataclass(frozen=True)
class Served:
    """A server that is bound to the agent "bot" and to no user.

    Attributes:
        connect: a new conversation of the official client with it.
        path: its store's file.
        url: its address, if it has one.
    """

    connect: Callable[[], AbstractAsyncContextManager[Client]]
    path: Path
    url: str = ""


@pytest.fixture(scope="session")
def http_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One over HTTP for all tests, each of which has users of its own."""
    from tests.interop.mcp import servers

    path = tmp_path_factory.mktemp("served") / "memory.db"
    with servers.http_server(path, "--agent-id", "bot") as url:
        yield Served(lambda: servers.http(url), path, url)


@pytest.fixture(params=["stdio", "http"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Served:
    """One over each transport."""
    from tests.interop.mcp import servers

    if request.param == "http":
        shared: Served = request.getfixturevalue("http_served")
        return shared
    path = tmp_path / "memory.db"
    return Served(lambda: servers.stdio(path, "--agent-id", "bot"), path)
