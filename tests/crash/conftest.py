"""What the crash tests need from the machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Require
from tests.crash.faults import Host, compile_shim

_MEMORY_DISK = "/dev/shm"


@pytest.fixture
def _can_fork(require: Require) -> None:
    require(hasattr(os, "fork"), "needs os.fork: run on Linux or macOS")


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a sync costs nothing there, and a process that is killed loses nothing by it."""
    if not os.access(_MEMORY_DISK, os.W_OK | os.X_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY_DISK) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def fault_host(tmp_path_factory: pytest.TempPathFactory, require: Require) -> Iterator[Host]:
    """A process in which disks can fail."""
    shim, reason = compile_shim(tmp_path_factory.mktemp("shim"))
    require(shim is not None, reason)
    assert shim is not None
    host = Host(shim)
    yield host
    host.close()
