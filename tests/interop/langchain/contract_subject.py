"""What the contract suite runs on here: one class for each driver. No test of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indelible.testing.contract import LAWS, ContractSuite, Driver, Power
from indelible.testing.contract.drivers import FilePlace, MemoryPlace
from indelible.testing.contract.drivers.base import StoreDriver
from indelible.testing.contract.law import needs


class Subject(ContractSuite):
    """A suite for one driver. A law that LangChain's interface makes another is stated anew by a subclass.

    Attributes:
        driver_class: the driver.
        in_a_file: whether it lies in a file; otherwise in memory.
    """

    __test__ = False
    driver_class: type[StoreDriver]
    in_a_file = False

    @pytest.fixture(scope="class")
    @classmethod
    def refusing(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
        """One driver for all laws that it must refuse, which write nothing."""
        driver = cls.made(tmp_path_factory.mktemp("refusing"))
        yield driver
        driver.close()

    @pytest.fixture
    def driver(self, request: pytest.FixtureRequest, refusing: Driver) -> Iterator[Driver]:
        """A new one for each law that holds here."""
        if not getattr(request.function, "powers", frozenset()) <= refusing.powers:
            yield refusing
            return
        driver = self.made(request.getfixturevalue("tmp_path"))
        yield driver
        driver.close()

    @classmethod
    def made(cls, folder: Path) -> StoreDriver:
        """A new driver."""
        return cls.driver_class(FilePlace(folder / "store.db") if cls.in_a_file else MemoryPlace())

    def test_every_power_is_put_to_a_law(self, driver: Driver) -> None:
        """What is declared is tested: for each power there is a law that needs it and nothing that is not declared as well."""
        tried: set[Power] = set()
        for law in LAWS:
            needed: frozenset[Power] = getattr(getattr(type(self), law), "powers", frozenset())
            tried |= needed if needed <= driver.powers else frozenset()
        assert driver.powers <= tried


class SaidPiecesStay(Subject):
    """What is said is added to what was said: a forget takes each piece."""

    __test__ = False

    @needs(Power.VERSION)
    def test_each_write_is_one_version(self, driver: Driver) -> None:
        """S9, S11, S12: but a forget is an event for each piece."""
        driver.remember("k", "same")
        driver.remember("k", "same")
        assert driver.version() == 2
        driver.forget("k")
        assert driver.version() == 4

    @needs(Power.PAST)
    def test_each_version_reads_as_it_was(self, driver: Driver) -> None:
        """S9, S83: as one step, of which half is never seen."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.forget("k")
        driver.remember("k", "three")
        assert [driver.at(version).get("k") for version in range(6)] == [None, "one", "two", "two", None, "three"]


def refused(driver: Driver, keys: list[Any]) -> None:
    """Nothing of these can be remembered, and nothing was."""
    for key in keys:
        with pytest.raises(ValueError, match=r"\S"):
            driver.remember(key, "text")
    assert driver.keys() == []
