"""Where a store under test lies: a file, this process, or the reference's plain objects."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from indelible.backend.interface import Backend
from indelible.backend.sqlite import SqliteBackend
from indelible.errors import UnsupportedOperation
from indelible.faces.engine import TextIndexer
from indelible.testing.contract.doors import FileDoor, MediumDoor
from indelible.testing.contract.driver import BackDoor, Power
from indelible.testing.fakes import FakeClock
from indelible.testing.reference import ReferenceBackend
from indelible.testing.reference_log import Medium


class Place(Protocol):
    """A medium that backends can be opened on.

    Attributes:
        path: what a face shows as its path.
        powers: what this medium adds to what a face can do.
    """

    path: str
    powers: frozenset[Power]

    def open(self, clock: FakeClock) -> Backend: ...

    def door(self) -> BackDoor: ...

    def copied(self) -> Place: ...


class FilePlace:
    """An SQLite file."""

    powers = frozenset({Power.REOPEN, Power.SHARE, Power.PROCESSES, Power.BACK_DOOR, Power.COPY, Power.VACUUM})

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)

    def open(self, clock: FakeClock) -> Backend:
        return SqliteBackend(self.path, TextIndexer(), clock=clock)

    def door(self) -> BackDoor:
        return FileDoor(self.path)

    def copied(self) -> FilePlace:
        """A plain copy of the closed file, as a user would make it."""
        return FilePlace(shutil.copy(self.path, self.path + ".copy"))


class MemoryPlace:
    """An SQLite database in this process."""

    path = ":memory:"
    powers = frozenset({Power.VACUUM})

    def open(self, clock: FakeClock) -> Backend:
        return SqliteBackend(self.path, TextIndexer(), clock=clock)

    def door(self) -> BackDoor:
        raise UnsupportedOperation("a database in memory is gone once it is closed")

    def copied(self) -> Place:
        raise UnsupportedOperation("a database in memory cannot be copied as a file")


class ReferencePlace:
    """The reference's plain objects."""

    path = ":memory:"
    powers = frozenset({Power.REOPEN, Power.SHARE, Power.BACK_DOOR, Power.COPY})

    def __init__(self, medium: Medium | None = None) -> None:
        self.medium = medium or Medium()

    def open(self, clock: FakeClock) -> Backend:
        return ReferenceBackend(self.medium, clock=clock)

    def door(self) -> BackDoor:
        return MediumDoor(self.medium)

    def copied(self) -> ReferencePlace:
        return ReferencePlace(self.medium.copied())
