"""Random steps against the model, over both backends and the faces on them."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from indelible.faces.engine import Engine
from indelible.faces.persistent import PersistentMemory
from indelible.testing.contract import Driver, Power
from indelible.testing.contract.drivers import (
    AsyncFactsDriver,
    BackendDriver,
    CollectionDriver,
    FilePlace,
    PersistentMemoryDriver,
    ReferencePlace,
    StoreMemoryDriver,
)
from indelible.testing.machine import StoreMachine
from indelible.testing.model import Model
from tests.conftest import ON_CI

STEPS = settings(max_examples=200 if ON_CI else 20, stateful_step_count=50)


class _SqliteMachine(StoreMachine):
    make = staticmethod(lambda folder: BackendDriver(FilePlace(folder / "log.db")))


class _ReferenceMachine(StoreMachine):
    make = staticmethod(lambda folder: BackendDriver(ReferencePlace()))


class _CollectionMachine(StoreMachine):
    make = staticmethod(lambda folder: CollectionDriver(FilePlace(folder / "store.db")))


class _CollectionOnReference(StoreMachine):
    make = staticmethod(lambda folder: CollectionDriver(ReferencePlace()))


class _AsyncFacts(AsyncFactsDriver):
    """What is purged leaves its caller nothing to ask by; asked by its id, its history would say that it was purged."""

    def purge(self, key: str) -> int:
        purged = super().purge(key)
        self.ids.pop(key, None)
        return purged


class _AsyncFactsMachine(StoreMachine):
    """Facts under keys of the caller's, through the coroutines."""

    POWERS = StoreMachine.POWERS - {Power.COMPARE_AND_SET}
    make: Callable[[Path], Driver] = staticmethod(lambda folder: _AsyncFacts(FilePlace(folder / "store.db")))

    def _new_store(self) -> Driver:
        driver = super()._new_store()
        assert isinstance(driver, AsyncFactsDriver)
        # A caller who moves to another store takes the ids of what is hidden along.
        self.ids: dict[str, str] = getattr(self, "ids", driver.ids)
        driver.ids = self.ids
        return driver


class _AsyncFactsOnReference(_AsyncFactsMachine):
    make = staticmethod(lambda folder: _AsyncFacts(ReferencePlace()))


class _PersistentMemoryMachine(StoreMachine):
    """A key/value memory: it notes every forget, and nothing in it expires, is undone or purged."""

    POWERS = frozenset({Power.ORDER, Power.VERSION, Power.HISTORY, Power.PAST, Power.REOPEN, Power.VERIFY})
    make: Callable[[Path], Driver] = staticmethod(lambda folder: PersistentMemoryDriver(FilePlace(folder / "memory.db")))
    model_of = staticmethod(lambda: Model(notes_every_forget=True))


class _MemoryOverReference(PersistentMemoryDriver):
    """The same face on the reference's medium."""

    def open(self) -> None:
        self._backend = self.place.open(self.clock)
        self.memory = PersistentMemory.inside(Engine(self._backend, self.clock), "contract", self.place.path)

    def close(self) -> None:
        self._backend.close()


class _PersistentMemoryOnReference(_PersistentMemoryMachine):
    make = staticmethod(lambda folder: _MemoryOverReference(ReferencePlace()))


class _StoreMemoryMachine(_PersistentMemoryMachine):
    """``store.memory(name)``, which moves with its store."""

    POWERS = _PersistentMemoryMachine.POWERS | {Power.TRANSFER}
    make = staticmethod(lambda folder: StoreMemoryDriver(FilePlace(folder / "store.db")))


class _StoreMemoryOnReference(_StoreMemoryMachine):
    make = staticmethod(lambda folder: StoreMemoryDriver(ReferencePlace()))


def _case(machine: type[StoreMachine]) -> type[unittest.TestCase]:
    case: type[unittest.TestCase] = machine.TestCase
    case.settings = STEPS  # type: ignore[attr-defined]  # hypothesis reads it there
    return case


TestSqlite = _case(_SqliteMachine)
TestReference = _case(_ReferenceMachine)
TestCollection = _case(_CollectionMachine)
TestCollectionOnReference = _case(_CollectionOnReference)
TestAsyncFacts = _case(_AsyncFactsMachine)
TestAsyncFactsOnReference = _case(_AsyncFactsOnReference)
TestPersistentMemory = _case(_PersistentMemoryMachine)
TestPersistentMemoryOnReference = _case(_PersistentMemoryOnReference)
TestStoreMemory = _case(_StoreMemoryMachine)
TestStoreMemoryOnReference = _case(_StoreMemoryOnReference)
pytestmark = pytest.mark.slow
