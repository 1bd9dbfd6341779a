"""The shared contract through what agents remember by, in both directions between each and the core."""

from __future__ import annotations

from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.faces.prompt import fact_line
from indelible.testing.contract import Driver, Power
from indelible.testing.contract.law import needs
from tests.interop.langchain import agent_drivers
from tests.interop.langchain.contract_subject import SaidPiecesStay, Subject

LONG = 4000
"""Characters of a memory that a model is shown."""


class AnswersAreShort(Subject):
    """What a tool answers is for a model."""

    __test__ = False

    def test_text_in_any_script_comes_back(self, driver: Driver) -> None:
        """Character by character, and no more of it than a model can do with; all of it is kept."""
        texts = ["naïve e\u0301", "猫が好き", "שלום", "a\nb\r\n\tc", "'; DROP TABLE event; --", '{"a":1}', "x" * 10_000]
        for number, text in enumerate(texts):
            driver.remember(f"k{number}", text)
        assert [driver.get(f"k{number}") for number in range(len(texts))] == [text[:LONG] for text in texts]
        assert isinstance(driver, agent_drivers.UserFacts)
        assert [driver.core_text(f"k{number}") for number in range(len(texts))] == texts


class SearchedByModels(Subject):
    """What a model may ask for has bounds, of which it is told."""

    __test__ = False

    @needs(Power.SEARCH)
    def test_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46, but at least one and not more than fifty; what is refused says so."""
        for key in ("a", "b", "c"):
            driver.remember(key, "tea")
        assert [len(driver.search("tea", limit)) for limit in (1, 2, 50)] == [1, 2, 3]
        limits: list[Any] = [0, -1, 51, 2**70, "one", 1.5]
        for limit in limits:
            with pytest.raises(InvalidInput, match="limit"):
                driver.search("tea", limit)


class RetriesAreOne(Subject):
    """A model that says the same again repeats itself."""

    __test__ = False

    @needs(Power.VERSION)
    def test_each_write_is_one_version(self, driver: Driver) -> None:
        """S9, S11, S12: but the same text again is none."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.remember("k", "two")
        assert driver.version() == 2
        driver.forget("k")
        assert driver.version() == 3

    @needs(Power.HISTORY)
    def test_the_same_text_again_is_a_new_version(self, driver: Driver) -> None:
        """S11: so it is not."""
        driver.remember("k", "same")
        driver.remember("k", "same")
        assert [line.text for line in driver.history("k")] == ["same"]


class TestTools(AnswersAreShort, SearchedByModels, RetriesAreOne):
    __test__ = True
    driver_class = agent_drivers.ToolsDriver
    in_a_file = True


class TestWrittenByTools(RetriesAreOne):
    __test__ = True
    driver_class = agent_drivers.WrittenByToolsDriver


class TestReadByTools(AnswersAreShort, SearchedByModels):
    __test__ = True
    driver_class = agent_drivers.ReadByToolsDriver


class TestShown(Subject):
    __test__ = True
    driver_class = agent_drivers.ShownDriver
    in_a_file = True

    def test_text_in_any_script_comes_back(self, driver: Driver) -> None:
        """As the core shows it: each memory is one line and what belongs to it, and nothing in it can be taken for something else."""
        texts = [
            "naïve e\u0301",
            "猫が好き",
            "שלום",
            "a\nb\r\n\tc",
            "'; DROP TABLE event; --",
            '{"a":1}',
            "- a\n- b (2026-01-01)",
            "x" * 10_000,
        ]
        assert isinstance(driver, agent_drivers.ShownDriver)
        for number, text in enumerate(texts):
            driver.remember(f"k{number}", text)
            (record,) = driver.facts(f"k{number}").list()
            assert f"- {driver.get(f'k{number}')} ({record.occurred_at:%Y-%m-%d})" == fact_line(record)


class TestCaptured(SaidPiecesStay):
    __test__ = True
    driver_class = agent_drivers.CapturedDriver
    in_a_file = True
