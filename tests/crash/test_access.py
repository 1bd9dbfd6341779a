"""S14, S83: a store that is locked, or may not be written. Every outcome is an error of ours, and it answers as before afterwards."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from indelible import MemoryStore
from tests.crash.children import Say, Work, hear, run, start
from tests.crash.trouble import FACES, answers, as_nobody, error_of, write

pytestmark = pytest.mark.usefixtures("_can_fork")


def hold_the_lock(path: Path) -> Work:
    """Another of our processes, in a write that takes its time."""

    def work(say: Say) -> None:
        with open(f"{path}.lock", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            say("locked")
            os.read(_never(), 1)

    return work


def begin_exclusive(path: Path) -> Work:
    """Another program that writes with SQLite and knows nothing of our lock."""

    def work(say: Say) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        say("locked")
        os.read(_never(), 1)

    return work


def lock_for_good(path: Path) -> Work:
    """A program that keeps the file to itself."""

    def work(say: Say) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        say("locked")
        os.read(_never(), 1)

    return work


def _never() -> int:
    """A descriptor on which nothing ever comes: a read waits until the process is killed."""
    return os.pipe()[0]


@pytest.mark.parametrize("holder", [hold_the_lock, begin_exclusive, lock_for_good])
def test_a_locked_file_is_busy_and_then_free(filled: Path, holder: Callable[[Path], Work]) -> None:
    """S83: beyond the deadline StoreUnavailable that says that trying again may help; when the other is gone, the same object works."""
    child = start(holder(filled))
    hear(child, 1)
    store: MemoryStore | None = None
    try:
        if holder is not lock_for_good:
            store = MemoryStore(filled, timeout_s=0.2)
            memory = store.memory()
            assert memory.recall("kept") == "as it was", "readers do not wait for writers"
            assert error_of(lambda: memory.remember("new", 1)) == "StoreUnavailable True"
        else:
            assert error_of(lambda: write(filled, "store")) == "StoreUnavailable True"
    finally:
        os.kill(child.pid, 9)
        child.wait()
    if store is not None:
        store.memory().remember("new", 1)
        store.close()
    answers(filled)


def a_folder_that_cannot_be_written(path: Path) -> None:
    path.chmod(0o666)
    path.parent.chmod(0o555)


def a_file_that_cannot_be_written(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o777)


def a_file_that_cannot_be_read(path: Path) -> None:
    path.chmod(0o000)
    path.parent.chmod(0o777)


def a_lock_that_cannot_be_opened(path: Path) -> None:
    path.chmod(0o666)
    path.parent.chmod(0o777)
    Path(f"{path}.lock").chmod(0o000)


RESTRICTIONS = [a_folder_that_cannot_be_written, a_file_that_cannot_be_written, a_file_that_cannot_be_read, a_lock_that_cannot_be_opened]


@pytest.mark.parametrize("restrict", RESTRICTIONS)
@pytest.mark.parametrize("face", FACES)
def test_what_may_not_be_written_is_unavailable(filled: Path, restrict: Callable[[Path], None], face: str) -> None:
    """S14: opening or the first write says so; afterwards the owner finds everything as it was."""
    modes = {file: stat.S_IMODE(file.stat().st_mode) for file in (filled, filled.parent, Path(f"{filled}.lock"))}
    before = filled.read_bytes()
    restrict(filled)
    try:
        [[said]] = run(as_nobody(lambda say: say(error_of(lambda: write(filled, face)))))
        assert said == "StoreUnavailable False"
        assert filled.read_bytes() == before
    finally:
        for file, mode in modes.items():
            file.chmod(mode)
    with suppress(FileNotFoundError):
        Path(f"{filled}-shm").unlink()
    answers(filled)


@pytest.mark.parametrize("face", FACES)
def test_nothing_is_made_where_nothing_may_be_made(open_folder: Path, face: str) -> None:
    """S13, S14: a new store in a folder that cannot be written is refused, and no part of it is made there or elsewhere."""
    open_folder.chmod(0o555)
    try:
        for path in (open_folder / "store.db", open_folder / "deeper" / "store.db"):
            [[said]] = run(as_nobody(lambda say, path=path: say(error_of(lambda: write(path, face)))))  # type: ignore[misc]  # bound by a default
            assert said == "StoreUnavailable False"
        assert not list(open_folder.iterdir())
    finally:
        open_folder.chmod(0o755)
