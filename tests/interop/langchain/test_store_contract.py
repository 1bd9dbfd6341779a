"""The shared contract through the store of LangGraph, and in both directions between it and the core."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import Driver
from tests.interop.langchain.contract_subject import Subject
from tests.interop.langchain.store_driver import ItemsDriver, ReadByItemsDriver, WrittenByItemsDriver


class LangGraphSays(Subject):
    """Where LangGraph's interface asks for something else than the core, the law is its own."""

    __test__ = False

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """LangGraph: a key is ``str(key)``."""
        driver.remember(1, "text")  # type: ignore[arg-type]  # that is the law
        assert (driver.get("1"), driver.keys()) == ("text", ["1"])

    def test_what_json_cannot_hold_is_refused(self, driver: Driver) -> None:
        """S7, but a tuple is a list, as in every store that writes JSON."""
        for value in ({1}, b"x", float("nan"), float("inf"), object(), [[[{1}]]], ["a\x00"], "\ud800"):
            with pytest.raises(InvalidInput):
                driver.remember_value("k", value)
        assert (driver.version(), driver.keys()) == (0, [])
        driver.remember_value("k", (1, (2,)))
        assert driver.value("k") == [1, [2]]

    def test_a_bad_time_to_live_is_refused(self, driver: Driver) -> None:
        """S70, but it is given in minutes, which may be fractions."""
        for ttl_ms in (0, -1, float("nan"), float("inf"), 10**18):
            with pytest.raises(InvalidInput):
                driver.remember_for("k", "text", ttl_ms)  # type: ignore[arg-type]  # that is the law
        assert driver.keys() == []


class ReadAsLangGraphSays(Subject):
    """Likewise where items are read."""

    __test__ = False

    def test_a_point_in_the_past_is_a_number_or_a_time(self, driver: Driver) -> None:
        """S9, but ``as_of=None`` is now."""
        driver.remember("k", "one")
        points: list[Any] = [True, 1.0, "1", datetime(2026, 1, 1)]
        for when in points:
            with pytest.raises(InvalidInput):
                driver.at(when).get("k")
        assert driver.at(None).get("k") == "one"  # type: ignore[arg-type]  # that is the law

    def test_recall_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46, but a blank query is no query, and everything comes as it was put."""
        for key in ("c", "a", "b"):
            driver.remember(key, f"tea {key}")
        assert [len(driver.recall("tea", limit)) for limit in (0, 1, 2, 2**70)] == [0, 1, 2, 3]
        limits: list[Any] = [-1, True, "1", 1.0]
        for limit in limits:
            with pytest.raises(InvalidInput):
                driver.recall("tea", limit)
        assert [(match.key, match.score) for match in driver.recall(" ")] == [("c", None), ("a", None), ("b", None)]


class TestItems(LangGraphSays, ReadAsLangGraphSays):
    __test__ = True
    driver_class = ItemsDriver
    in_a_file = True


class TestWrittenByItems(LangGraphSays):
    """Written through the store, read by the core."""

    __test__ = True
    driver_class = WrittenByItemsDriver


class TestReadByItems(ReadAsLangGraphSays):
    """Written by the core, read through the store."""

    __test__ = True
    driver_class = ReadByItemsDriver

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """The core refuses to write one, and reading goes by LangGraph's ``str(key)``."""
        with pytest.raises(InvalidInput):
            driver.remember(1, "text")  # type: ignore[arg-type]  # that is the law
        assert driver.get(1) is None  # type: ignore[arg-type]  # likewise
