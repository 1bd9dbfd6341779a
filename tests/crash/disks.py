"""Places for files that need not survive the machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY_DISK = "/dev/shm"


@contextmanager
def quick_folder(otherwise: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a sync costs nothing there, and a process that is killed loses nothing by it.

    Args:
        otherwise: an empty folder to use on other machines.
    """
    if not os.access(_MEMORY_DISK, os.W_OK | os.X_OK):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY_DISK) as folder:
        yield Path(folder)
