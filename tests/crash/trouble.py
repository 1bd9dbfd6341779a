"""What the fault tests share: stores of each kind, users without rights, and how a call ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from indelible import IndelibleError, MemoryStore, PersistentMemory, StoreUnavailable
from tests.crash.children import Say, Work

NOBODY = 65534
Face = Callable[[Path], MemoryStore | PersistentMemory]
FACES: dict[str, Face] = {
    "store": lambda path: MemoryStore(path, timeout_s=0.2),
    "memory": lambda path: PersistentMemory("log", path=path),
}


def answers(path: Path) -> None:
    """It says what it said, verifies, and takes a write."""
    with MemoryStore(path) as store:
        memory = store.memory()
        assert memory.recall("kept") == "as it was"
        memory.remember("more", store.version)
        assert store.verify().ok


def as_nobody(work: Work) -> Work:
    """``work`` as a user without rights: root would not notice a mode."""

    def demoted(say: Say) -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work(say)

    return demoted


def error_of(work: Callable[[], object]) -> str:
    """The name of the library error that a call ends with, and whether trying again may help."""
    try:
        work()
    except StoreUnavailable as error:
        return f"StoreUnavailable {error.retryable}"
    except IndelibleError as error:
        return type(error).__name__
    return "no error"


def write(path: Path, face: str) -> None:
    with closing(FACES[face](path)) as opened:
        memory = opened.memory() if isinstance(opened, MemoryStore) else opened
        memory.remember("new", "value")
