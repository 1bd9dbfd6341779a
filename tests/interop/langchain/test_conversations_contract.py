"""The shared contract through what chains remember by, in both directions between each and the core."""

from __future__ import annotations

from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import Driver, Power
from indelible.testing.contract.law import needs
from indelible.testing.contract.laws.keys import STRANGE_KEYS
from tests.interop.langchain import conversation_drivers
from tests.interop.langchain.contract_subject import SaidPiecesStay, Subject, refused


class SessionsSay(SaidPiecesStay):
    """A session's name is a label of a namespace."""

    __test__ = False

    def test_strange_keys_are_distinct(self, driver: Driver) -> None:
        """S2, but a label has no control characters."""
        with pytest.raises(InvalidInput, match="control character"):
            driver.remember("a\nb", "text")
        keys = [key for key in STRANGE_KEYS if "\n" not in key]
        for key in keys:
            driver.remember(key, f"text of {key!r}")
        assert [driver.get(key) for key in keys] == [f"text of {key!r}" for key in keys]
        assert sorted(driver.keys()) == sorted(keys)


class FieldsSay(Subject):
    """A session's or user's name is a field of the memory, whose type its class checks: also a ``ValueError``."""

    __test__ = False

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2: nothing is written."""
        keys: list[Any] = [1, ("k",), 1.5, ["k"]]
        refused(driver, keys)
        for key in keys:
            with pytest.raises(ValueError, match=r"\S"):
                driver.get(key)


class TestHistory(SessionsSay):
    __test__ = True
    driver_class = conversation_drivers.HistoryDriver
    in_a_file = True


class TestWrittenByHistory(SessionsSay):
    __test__ = True
    driver_class = conversation_drivers.WrittenByHistoryDriver


class TestReadByHistory(SessionsSay):
    __test__ = True
    driver_class = conversation_drivers.ReadByHistoryDriver

    @needs(Power.PAST)
    def test_each_version_reads_as_it_was(self, driver: Driver) -> None:
        """S9: the core takes each piece in a step of its own, the first one first."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.forget("k")
        assert [driver.at(version).get("k") for version in range(5)] == [None, "one", "two", "two", None]


class TestChainMemory(SessionsSay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.ChainMemoryDriver
    in_a_file = True


class TestWrittenByChain(SessionsSay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.WrittenByChainDriver
    in_a_file = True


class TestReadByChain(SessionsSay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.ReadByChainDriver
    in_a_file = True


class TestChainFacts(SaidPiecesStay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.ChainFactsDriver
    in_a_file = True


class TestWrittenByChainFacts(SaidPiecesStay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.WrittenByChainFactsDriver


class TestReadByChainFacts(SaidPiecesStay, FieldsSay):
    __test__ = True
    driver_class = conversation_drivers.ReadByChainFactsDriver
