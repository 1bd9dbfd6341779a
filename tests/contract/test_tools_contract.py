"""The shared contract through the toolbox, and in both directions between it and the core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import ContractSuite, Driver, Power
from indelible.testing.contract.drivers import FilePlace
from indelible.testing.contract.law import needs
from indelible.tools.verbs import MOST_SHOWN
from tests.contract import tools_drivers


class Subject(ContractSuite):
    """A suite for one driver, in a file. A law that tools for models make another is stated anew."""

    __test__ = False
    driver_class: type[tools_drivers.ToolsBase]

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Iterator[Driver]:
        driver = self.driver_class(FilePlace(tmp_path / "store.db"))
        yield driver
        driver.close()

    @needs(Power.VERSION)
    def test_each_write_is_one_version(self, driver: Driver) -> None:
        """S9, S11, S12: but a model that says the same again repeats itself."""
        for text in ("one", "two", "two"):
            driver.remember("k", text)
        driver.forget("k")
        again = isinstance(driver, tools_drivers.ReadByToolbox)
        assert driver.version() == (4 if again else 3)

    @needs(Power.HISTORY)
    def test_the_same_text_again_is_a_new_version(self, driver: Driver) -> None:
        """S11: but not through tools, where it is a retry."""
        driver.remember("k", "same")
        driver.remember("k", "same")
        again = isinstance(driver, tools_drivers.ReadByToolbox)
        assert [line.text for line in driver.history("k")] == ["same"] * (2 if again else 1)


class Labelled(Subject):
    """A key is a label there, and a label is any JSON: only what none is, is refused."""

    __test__ = False

    def test_a_key_that_cannot_be_kept_is_refused(self, driver: Driver) -> None:
        """S31: NUL, lone surrogates and more than 64 KiB, and nothing is written."""
        for key in ("a\x00b", "\ud800", "x" * 70_000):
            with pytest.raises(InvalidInput):
                driver.remember(key, "text")
        assert driver.keys() == []

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S31: unless JSON has it."""
        keys: list[Any] = [b"k", {1: 2}, float("nan"), {"a", "b"}]
        for key in keys:
            with pytest.raises(InvalidInput):
                driver.remember(key, "text")
        assert driver.keys() == []


class Bounded(Subject):
    """Answers are for a model: short, and no more than it may ask for."""

    __test__ = False

    def test_text_in_any_script_comes_back(self, driver: Driver) -> None:
        """Character by character, as far as an answer goes; all of it is kept."""
        texts = ["naïve e\u0301", "猫が好き", "שלום", "a\nb\tc", "'; DROP TABLE event; --", '{"a":1}', "x" * 10_000]
        for number, text in enumerate(texts):
            driver.remember(f"k{number}", text)
        assert [driver.get(f"k{number}") for number in range(len(texts))] == [text[:MOST_SHOWN] for text in texts]
        assert isinstance(driver, tools_drivers.ToolsBase)
        kept = [record.content.removeprefix(f"k{number}: ") for number, record in enumerate(driver.facts.list())]
        assert kept == texts

    @needs(Power.SEARCH)
    def test_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46, but at least one and at most fifty; what is refused says so."""
        self._limits(driver, driver.search)

    @needs(Power.RECALL)
    def test_recall_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46, in the same bounds."""
        self._limits(driver, driver.recall)

    def _limits(self, driver: Driver, find: Any) -> None:
        for key in ("a", "b", "c"):
            driver.remember(key, "tea")
        assert [len(find("tea", limit)) for limit in (1, 2, 50)] == [1, 2, 3]
        for limit in (0, -1, 51, 2**70, "one", 1.5, True):
            with pytest.raises(InvalidInput, match="limit"):
                find("tea", limit)


class TestToolbox(Labelled, Bounded):
    __test__ = True
    driver_class = tools_drivers.ToolboxDriver


class TestWrittenByToolbox(Labelled):
    __test__ = True
    driver_class = tools_drivers.WrittenByToolbox


class TestReadByToolbox(Labelled, Bounded):
    __test__ = True
    driver_class = tools_drivers.ReadByToolbox


class TestKeyTools(Bounded):
    __test__ = True
    driver_class = tools_drivers.KeyToolsDriver
