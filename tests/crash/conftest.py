"""What the crash tests need from the machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from indelible import MemoryStore
from tests.conftest import Require
from tests.crash.disks import quick_folder
from tests.crash.faults import Host, compile_shim


@pytest.fixture
def _can_fork(require: Require) -> None:
    require(hasattr(os, "fork"), "needs os.fork: run on Linux or macOS")


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one."""
    with quick_folder(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="session")
def fault_host(tmp_path_factory: pytest.TempPathFactory, require: Require) -> Iterator[Host]:
    """A process in which disks can fail."""
    shim, reason = compile_shim(tmp_path_factory.mktemp("shim"))
    require(shim is not None, reason)
    assert shim is not None
    host = Host(shim)
    yield host
    host.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def filled(open_folder: Path) -> Path:
    """A store with one key, closed."""
    path = open_folder / "store.db"
    with MemoryStore(path) as store:
        store.memory().remember("kept", "as it was")
    return path
