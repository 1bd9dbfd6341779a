"""S14, S83: every public verb of every object while the file is locked, full, taken over by a newer release or not to be written any more.

Each ends with what it always says or with the error of ours that names the fault. Nothing is half-written, and when the fault is gone
the same objects go on.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from indelible import IndelibleError, MemoryStore, PersistentMemory, SchemaMismatch, StorageFull, StoreUnavailable, UnsupportedOperation
from tests.crash.children import Say, run
from tests.crash.disks import quick_folder
from tests.crash.trouble import as_nobody
from tests.unit.bad_input.public_calls import VERBS, Verb, World

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs flock and fork: run on Linux or macOS")


class OneFile(World):
    """A world whose store and memory share one file, so that one fault meets both."""

    def _open_memory(self) -> PersistentMemory:
        return self.store.memory("log")

    @property
    def path(self) -> str:
        return self.store.path


@contextmanager
def our_lock_is_taken(world: OneFile) -> Iterator[None]:
    """By another writer of ours, in a write that takes its time. A lock belongs to the opened file, so it need not be another process."""
    with open(f"{world.path}.lock", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def a_stranger_writes(world: OneFile) -> Iterator[None]:
    """Another program, which knows nothing of our lock."""
    with closing(sqlite3.connect(world.path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def a_newer_release_took_over(world: OneFile) -> Iterator[None]:
    """It migrated the file while we had it open."""
    with closing(sqlite3.connect(world.path, isolation_level=None)) as connection:
        before = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("PRAGMA user_version=1000")
        yield
        connection.execute(f"PRAGMA user_version={before}")


@contextmanager
def the_disk_is_full(world: OneFile) -> Iterator[None]:
    """The database may not grow by a page."""
    with world.store._engine.backend._connections.exclusive() as connection:  # type: ignore[attr-defined]  # where SQLite can be told
        connection.execute(f"CREATE TABLE filler AS SELECT zeroblob(4000) FROM (VALUES {','.join(['(0)'] * 4)})")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA max_page_count=1")  # as many as there are
    yield
    with world.store._engine.backend._connections.exclusive() as connection:  # type: ignore[attr-defined]  # likewise
        connection.execute("PRAGMA max_page_count=1073741823")
        connection.execute("DROP TABLE filler")


@contextmanager
def the_folder_is_read_only(world: OneFile) -> Iterator[None]:
    """The file, its side files and the folder may only be read."""
    connections = world.store._engine.backend._connections  # type: ignore[attr-defined]  # of the SQLite backend
    connections._close_all()  # what is open may be written whatever the mode says
    connections.lock.close()
    folder = Path(world.path).parent
    files = [*folder.iterdir()]
    for file in files:
        file.chmod(0o444 if file.is_file() else 0o555)
    folder.chmod(0o555)
    yield
    folder.chmod(0o755)
    for file in files:
        file.chmod(0o600 if file.is_file() else 0o755)


@dataclass(frozen=True)
class Fault:
    """What is wrong with the file.

    Attributes:
        makes: makes it so for a while.
        errors: what may be said of it.
        rights: whether it takes a user without rights to notice.
    """

    makes: Callable[[OneFile], AbstractContextManager[None]]
    errors: tuple[type[IndelibleError], ...]
    rights: bool = False

    def __str__(self) -> str:
        return self.makes.__name__


FAULTS = [
    Fault(our_lock_is_taken, (StoreUnavailable,)),
    Fault(a_stranger_writes, (StoreUnavailable,)),
    Fault(a_newer_release_took_over, (SchemaMismatch,)),
    Fault(the_disk_is_full, (StorageFull,)),
    Fault(the_folder_is_read_only, (StoreUnavailable,), rights=True),
]
OF_A_FILE = [
    "MemoryStore",
    "AsyncMemoryStore",
    "ScopedView",
    "PastView",
    "Collection",
    "PastCollection",
    "CacheCollection",
    "PersistentMemory",
    "PastMemory",
]
WRITERS = {"MemoryStore", "AsyncMemoryStore", "ScopedView", "Collection", "CacheCollection", "PersistentMemory"}
BIG = "a long text about tea " * 2000


def call(verb: Verb, world: OneFile) -> str | None:
    """The name of the error of ours that a call ends with, if any; any other error is not caught."""
    changed = {name: BIG for name in ("content", "value") if name in verb.good}
    outcome = None
    try:
        outcome = verb.call(world, **changed)
    except UnsupportedOperation:
        return None
    except IndelibleError as error:
        return type(error).__name__ if str(error).strip() else "an error that says nothing"
    finally:
        if isinstance(outcome, MemoryStore | PersistentMemory):
            outcome.close()
    return None


def trouble(fault: Fault, of: str, folder: Path) -> list[str]:
    """Everything that is wrong with how the verbs of an object take a fault."""
    found: list[str] = []
    stopped = 0
    here = new_world(folder)
    try:
        for verb in (verb for verb in VERBS if verb.of == of):
            before = here.version()
            said = met(fault, verb, here, found)
            stopped += said is not None
            if not here.answers():
                found.append(f"{verb}: the store does not say what it said")
            if here.version() == before:
                continue
            if said is not None:
                found.append(f"{verb}: {said}, and wrote all the same")
            found += problems_afterwards(here)
            here.close()
            here = new_world(folder)  # so that the next verb finds what it is about
        found += problems_afterwards(here)
    finally:
        here.close()
    if of in WRITERS and not stopped:
        found.append(f"{of}: nothing was stopped, so the fault was none")
    return found


def new_world(folder: Path) -> OneFile:
    place = folder / f"world {len(list(folder.iterdir()))}"
    place.mkdir()
    return OneFile(place, on_disk=True, timeout_s=0.02)


def met(fault: Fault, verb: Verb, here: OneFile, found: list[str]) -> str | None:
    """How a verb meets a fault: the name of the error of ours, if any."""
    arguments = {name: make(here) for name, make in verb.good.items()}  # made while all is well
    prepared = Verb(verb.of, verb.name, {name: (lambda world, value=value: value) for name, value in arguments.items()}, verb.more)  # type: ignore[misc]  # bound by a default
    with fault.makes(here):
        try:
            said = call(prepared, here)
        except Exception as error:
            found.append(f"{verb}: {type(error).__name__}: {error}")
            return None
    if said not in {None, *(error.__name__ for error in fault.errors)}:
        found.append(f"{verb}: ended with {said}")
    return said


def problems_afterwards(here: OneFile) -> tuple[str, ...]:
    """What ``verify`` says after the very objects have written again."""
    here.memory.remember("afterwards", 1)
    here.store.remember("afterwards", user_id="ada")
    return here.store.verify().problems


@pytest.mark.parametrize("of", OF_A_FILE)
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_of_the_file_is_named_and_survived(fault: Fault, of: str, tmp_path: Path) -> None:
    """Whatever the verb: an error that names the fault, or its usual answer; afterwards everything works."""
    with quick_folder(tmp_path) as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        if not fault.rights:
            assert trouble(fault, of, place) == []
            return
        place.chmod(0o777)

        def work(say: Say) -> None:
            home = place / "home"
            home.mkdir()
            for line in trouble(fault, of, home):
                say(line.replace("\n", " ")[:2000])

        assert run(as_nobody(work)) == [[]]


def test_each_object_of_a_file_is_tried() -> None:
    """A new kind of object must be named here."""
    assert set(OF_A_FILE) == {verb.of for verb in VERBS} - {"indelible", "Memory"}
