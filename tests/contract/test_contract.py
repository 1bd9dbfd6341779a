"""The one suite, over every face on every medium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indelible.testing.contract import ContractSuite, Driver
from indelible.testing.contract.drivers import (
    AsyncFactsDriver,
    BackendDriver,
    CollectionDriver,
    FactsDriver,
    FilePlace,
    MemoryPlace,
    PersistentMemoryDriver,
    ReferencePlace,
    SessionMemoryDriver,
    StoreMemoryDriver,
    ViewDriver,
)


class Subject(ContractSuite):
    """A suite whose driver is made by ``make``."""

    __test__ = False
    make: Callable[[Path], Driver]

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Iterator[Driver]:
        driver = type(self).make(tmp_path)
        yield driver
        driver.close()


class TestSessionMemory(Subject):
    __test__ = True
    make = staticmethod(lambda folder: SessionMemoryDriver())


class TestPersistentMemory(Subject):
    __test__ = True
    make = staticmethod(lambda folder: PersistentMemoryDriver(FilePlace(folder / "memory.db")))


class TestStoreMemory(Subject):
    __test__ = True
    make = staticmethod(lambda folder: StoreMemoryDriver(FilePlace(folder / "store.db")))


class TestStoreMemoryOnReference(Subject):
    __test__ = True
    make = staticmethod(lambda folder: StoreMemoryDriver(ReferencePlace()))


class TestCollection(Subject):
    __test__ = True
    make = staticmethod(lambda folder: CollectionDriver(FilePlace(folder / "store.db")))


class TestCollectionInMemory(Subject):
    __test__ = True
    make = staticmethod(lambda folder: CollectionDriver(MemoryPlace()))


class TestCollectionOnReference(Subject):
    __test__ = True
    make = staticmethod(lambda folder: CollectionDriver(ReferencePlace()))


class TestFacts(Subject):
    __test__ = True
    make = staticmethod(lambda folder: FactsDriver(FilePlace(folder / "store.db")))


class TestFactsInMemory(Subject):
    __test__ = True
    make = staticmethod(lambda folder: FactsDriver(MemoryPlace()))


class TestFactsOnReference(Subject):
    __test__ = True
    make = staticmethod(lambda folder: FactsDriver(ReferencePlace()))


class CodedSubject(Subject):
    """One whose slices all count as large, so that their vectors are coded and read through the verbs for those."""

    __test__ = False

    @pytest.fixture
    def driver(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
        monkeypatch.setattr("indelible.faces.large_vectors.LARGE", 0)
        driver = type(self).make(tmp_path)
        yield driver
        driver.close()


class TestFactsCoded(CodedSubject):
    __test__ = True
    make = staticmethod(lambda folder: FactsDriver(FilePlace(folder / "store.db")))


class TestFactsCodedOnReference(CodedSubject):
    __test__ = True
    make = staticmethod(lambda folder: FactsDriver(ReferencePlace()))


class TestCollectionCoded(CodedSubject):
    __test__ = True
    make = staticmethod(lambda folder: CollectionDriver(FilePlace(folder / "store.db")))


class TestScopedView(Subject):
    __test__ = True
    make = staticmethod(lambda folder: ViewDriver(FilePlace(folder / "store.db")))


class TestScopedViewOnReference(Subject):
    __test__ = True
    make = staticmethod(lambda folder: ViewDriver(ReferencePlace()))


class TestAsyncFacts(Subject):
    __test__ = True
    make = staticmethod(lambda folder: AsyncFactsDriver(FilePlace(folder / "store.db")))


class TestSqliteBackend(Subject):
    __test__ = True
    make = staticmethod(lambda folder: BackendDriver(FilePlace(folder / "log.db")))


class TestReferenceBackend(Subject):
    __test__ = True
    make = staticmethod(lambda folder: BackendDriver(ReferencePlace()))
