"""The shared contract through the classes for LlamaIndex, and in both directions between them and the core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import ContractSuite, Driver
from indelible.testing.contract.drivers import FilePlace, MemoryPlace
from tests.interop.llamaindex.drivers import (
    DocumentsDriver,
    NodesDriver,
    ReadByNodesDriver,
    ReadByValuesDriver,
    ValuesDriver,
    WrittenByNodesDriver,
    WrittenByValuesDriver,
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


class NodesSay(Subject):
    """Where LlamaIndex asks for something else than the core, the law is its own."""

    __test__ = False

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2, but no node can be made with such an id in the first place."""
        for key in (1, ("k",), 1.5, ["k"]):
            with pytest.raises(ValueError, match="validation error"):
                driver.remember(key, "text")  # type: ignore[arg-type]  # that is the law
        with pytest.raises(InvalidInput):
            driver.get(1)  # type: ignore[arg-type]  # likewise
        assert driver.keys() == []


class ReadAsNodesSay(NodesSay):
    """Likewise where nodes are read."""

    __test__ = False

    def test_a_point_in_the_past_is_a_number_or_a_time(self, driver: Driver) -> None:
        """S9, but ``as_of=None`` is now."""
        driver.remember("k", "one")
        points: list[Any] = [True, 1.0, "1", datetime(2026, 1, 1)]
        for when in points:
            with pytest.raises(InvalidInput):
                driver.at(when).get("k")
        assert driver.at(None).get("k") == "one"  # type: ignore[arg-type]  # that is the law


class AnyTopK(NodesSay):
    """What is recalled is a vector: that the words it was made of were blank is not seen."""

    __test__ = False

    def test_recall_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46: 0 is nothing, more than there is is everything; negative, bool, text and float are InvalidInput."""
        for key in ("a", "b", "c"):
            driver.remember(key, f"tea {key}")
        assert [len(driver.recall("tea", limit)) for limit in (0, 1, 2, 2**70)] == [0, 1, 2, 3]
        limits: list[Any] = [-1, True, "1", 1.0]
        for limit in limits:
            with pytest.raises(InvalidInput):
                driver.recall("tea", limit)


class TestNodes(ReadAsNodesSay, AnyTopK):
    __test__ = True
    make = staticmethod(lambda folder: NodesDriver(FilePlace(folder / "store.db")))

    def test_conditions_are_met_exactly(self, driver: Driver) -> None:
        """S49, but a filter of LlamaIndex cannot hold a bool, so 1 asks for true too; and presence is "not empty"."""
        for key, metadata in (("a", {"n": 1}), ("b", {"n": "1"}), ("c", {"n": True}), ("d", {}), ("e", {"n": 2**53 + 1})):
            driver.remember_with(key, "text", metadata)
        conditions = [("eq", 1), ("eq", "1"), ("ne", 1), ("gt", 1), ("gte", 2**53 + 1), ("exists", False)]
        answers = [driver.keys_where({"path": ["n"], "op": op, "value": value}) for op, value in conditions]
        assert answers == [["a", "c"], ["b"], ["b", "d", "e"], ["e"], ["e"], ["d"]]

    def test_bad_metadata_is_refused(self, driver: Driver) -> None:
        """S31, but LlamaIndex's own form of metadata as JSON makes NaN null and a set a list before it reaches the store."""
        deep: dict[str, Any] = {}
        for _ in range(40):
            deep = {"a": deep}
        bad: list[Any] = [{"a": "\x00"}, {"a": "\ud800"}, {"a": object()}, deep, {"a": "x" * 70_000}]
        for metadata in bad:
            with pytest.raises(ValueError, match=r"."):
                driver.remember_with("k", "text", metadata)
        assert driver.keys() == []


class TestWrittenByNodes(NodesSay):
    """Written through the vector store, read by the core."""

    __test__ = True
    make = staticmethod(lambda folder: WrittenByNodesDriver(MemoryPlace()))
    test_recall_limits_are_whole_numbers = AnyTopK.test_recall_limits_are_whole_numbers


class TestReadByNodes(ReadAsNodesSay, AnyTopK):
    """Written by the core, read through the vector store."""

    __test__ = True
    make = staticmethod(lambda folder: ReadByNodesDriver(MemoryPlace()))

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2, on both sides."""
        with pytest.raises(InvalidInput):
            driver.remember(1, "text")  # type: ignore[arg-type]  # that is the law
        with pytest.raises(InvalidInput):
            driver.get(1)  # type: ignore[arg-type]  # likewise
        assert driver.keys() == []


class ValuesSay(Subject):
    """A tuple is a list, as in every store that writes JSON."""

    __test__ = False

    def test_what_json_cannot_hold_is_refused(self, driver: Driver) -> None:
        """S7, but for tuples."""
        for value in ({1}, b"x", float("nan"), float("inf"), object(), [[[{1}]]], ["a\x00"], "\ud800"):
            with pytest.raises(InvalidInput):
                driver.remember_value("k", value)
        assert (driver.version(), driver.keys()) == (0, [])
        driver.remember_value("k", (1, (2,)))
        assert driver.value("k") == [1, [2]]


class TestValues(ValuesSay):
    __test__ = True
    make = staticmethod(lambda folder: ValuesDriver(FilePlace(folder / "store.db")))


class TestWrittenByValues(ValuesSay):
    """Written through the key/value store, read by the core."""

    __test__ = True
    make = staticmethod(lambda folder: WrittenByValuesDriver(MemoryPlace()))


class TestReadByValues(Subject):
    """Written by the core, read through the key/value store."""

    __test__ = True
    make = staticmethod(lambda folder: ReadByValuesDriver(MemoryPlace()))


class TestDocuments(NodesSay):
    __test__ = True
    make = staticmethod(lambda folder: DocumentsDriver(FilePlace(folder / "store.db")))
