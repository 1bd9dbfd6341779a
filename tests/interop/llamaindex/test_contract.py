"""The shared contract through the classes for LlamaIndex, and in both directions between them and the core."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import ContractSuite, Driver, Power, needs
from indelible.testing.contract.drivers import FilePlace, MemoryPlace
from indelible.testing.contract.drivers.base import StoreDriver
from tests.interop.llamaindex import node_drivers, value_drivers


class Subject(ContractSuite):
    """A suite for one driver."""

    __test__ = False
    driver_class: type[StoreDriver]
    in_a_file = False

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Iterator[Driver]:
        driver = self.driver_class(FilePlace(tmp_path / "store.db") if self.in_a_file else MemoryPlace())
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


class WordsOfNodes(Subject):
    """A search of nodes by words is one by any of them, weighed as search engines do."""

    __test__ = False

    @needs(Power.SEARCH)
    def test_words_are_found(self, driver: Driver) -> None:
        """S41, but one of the words is enough, and those without a meaning of their own are left out where there are others."""
        driver.remember("a", "The green Kettle of Zoë")
        driver.remember("b", "a kettledrum")
        queries = ("KETTLE", "zoe green", "kettle drum", "what is a kettle", "nothing")
        assert [[match.key for match in driver.search(words)] for words in queries] == [["a"], ["a"], ["a"], ["a"], []]

    @needs(Power.SEARCH)
    def test_more_occurrences_come_first(self, driver: Driver) -> None:
        """S41, but a word counts for more in a short text; of equals, the newer comes first."""
        for key, text in (("a", "tea milk sugar"), ("b", "tea tea milk"), ("c", "tea milk sugar"), ("d", "tea milk sugar and a biscuit")):
            driver.remember(key, text)
        assert [match.key for match in driver.search("tea")] == ["b", "c", "a", "d"]


class ReadAsNodesSay(WordsOfNodes, NodesSay):
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
    driver_class = node_drivers.NodesDriver
    in_a_file = True

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


class TestWrittenByNodes(WordsOfNodes, NodesSay):
    """Written through the vector store, read by the core."""

    __test__ = True
    driver_class = node_drivers.WrittenByNodesDriver
    test_recall_limits_are_whole_numbers = AnyTopK.test_recall_limits_are_whole_numbers


class WrittenByTheCore(ReadAsNodesSay, AnyTopK):
    """Keys are checked on both sides."""

    __test__ = False

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2, on both sides."""
        with pytest.raises(InvalidInput):
            driver.remember(1, "text")  # type: ignore[arg-type]  # that is the law
        with pytest.raises(InvalidInput):
            driver.get(1)  # type: ignore[arg-type]  # likewise
        assert driver.keys() == []


class TestReadByNodes(WrittenByTheCore):
    """Written by the core, read through the vector store."""

    __test__ = True
    driver_class = node_drivers.ReadByNodesDriver


class TestRetriever(WrittenByTheCore):
    """Written by the core, found through the retriever."""

    __test__ = True
    driver_class = node_drivers.RetrieverDriver


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
    driver_class = value_drivers.ValuesDriver
    in_a_file = True


class TestWrittenByValues(ValuesSay):
    """Written through the key/value store, read by the core."""

    __test__ = True
    driver_class = value_drivers.WrittenByValuesDriver


class TestReadByValues(Subject):
    """Written by the core, read through the key/value store."""

    __test__ = True
    driver_class = value_drivers.ReadByValuesDriver


class DocumentsSay(NodesSay):
    """A write is two events, the node and its hash, so these say without a version what the laws say with one."""

    __test__ = False

    @needs(Power.BATCH)
    def test_a_batch_is_written_whole(self, driver: Driver) -> None:
        """S83: every item, in order."""
        driver.remember_all([("a", "one"), ("b", "two"), ("c", "three")])
        assert [driver.get(key) for key in ("a", "b", "c")] == ["one", "two", "three"]
        assert driver.keys() == ["a", "b", "c"]

    @needs(Power.BATCH, Power.HISTORY)
    def test_a_bad_item_stops_the_batch(self, driver: Driver) -> None:
        """S83: all or nothing: the store is as it was."""
        driver.remember("a", "before")
        for bad in (("b", "\ud800"), ("\x00", "text")):
            with pytest.raises(ValueError, match=r"."):
                driver.remember_all([("a", "after"), bad, ("c", "three")])
        assert (driver.get("a"), driver.keys(), len(driver.history("a"))) == ("before", ["a"], 1)


class TestDocuments(DocumentsSay):
    __test__ = True
    driver_class = value_drivers.DocumentsDriver
    in_a_file = True


class TestWrittenByDocuments(DocumentsSay):
    """Written through the document store, read by the core."""

    __test__ = True
    driver_class = value_drivers.WrittenByDocumentsDriver
    in_a_file = True


class TestReadByDocuments(Subject):
    """Written by the core, read through the document store."""

    __test__ = True
    driver_class = value_drivers.ReadByDocumentsDriver


class TestIndexes(Subject):
    __test__ = True
    driver_class = value_drivers.IndexesDriver
    in_a_file = True


class TestWrittenByIndexes(Subject):
    """Written through the index store, read by the core."""

    __test__ = True
    driver_class = value_drivers.WrittenByIndexesDriver


class TestReadByIndexes(Subject):
    """Written by the core, read through the index store."""

    __test__ = True
    driver_class = value_drivers.ReadByIndexesDriver
