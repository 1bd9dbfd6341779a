"""The shared contract through conversations, the memory block, the tools and the retriever over facts, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

import llama_index_indelible
from indelible.errors import InvalidInput
from indelible.testing.contract import LAWS, Driver, Power, needs
from indelible.testing.contract.drivers import FilePlace, MemoryPlace
from indelible.testing.contract.drivers.base import StoreDriver
from indelible.testing.contract.laws.keys import STRANGE_KEYS
from tests.interop.llamaindex import chat_drivers, fact_drivers, node_drivers, test_contract, value_drivers
from tests.interop.llamaindex.test_contract import Subject


class SessionsSay(Subject):
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


class TestChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.ChatsDriver
    in_a_file = True


class TestWrittenByChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.WrittenByChatsDriver
    in_a_file = True


class TestReadByChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.ReadByChatsDriver
    in_a_file = True


class TestBufferChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.BufferChatsDriver
    in_a_file = True


class TestWrittenByBufferChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.OneWritesDriver
    in_a_file = True


class TestReadByBufferChats(SessionsSay):
    __test__ = True
    driver_class = chat_drivers.ReadByBufferChatsDriver
    in_a_file = True


class TestBlock(Subject):
    __test__ = True
    driver_class = chat_drivers.BlockDriver
    in_a_file = True


class TestWrittenByBlock(Subject):
    __test__ = True
    driver_class = chat_drivers.WrittenByBlockDriver
    in_a_file = True


class TestReadByBlock(Subject):
    __test__ = True
    driver_class = chat_drivers.ReadByBlockDriver
    in_a_file = True


class TestRetrieverOverFacts(Subject):
    """Written by the core, found through the retriever."""

    __test__ = True
    driver_class = fact_drivers.RetrieverDriver
    in_a_file = True


class ToolsSay(Subject):
    """A model that says the same again has not heard the answer: its tools write nothing new. What they show is not endless."""

    __test__ = False

    @needs(Power.VERSION)
    def test_each_write_is_one_version(self, driver: Driver) -> None:
        """S9, but telling the same again is a retry."""
        for key, text in (("k", "same"), ("k", "same"), ("k", "other"), ("l", "other")):
            driver.remember(key, text)
        assert driver.version() == 3
        driver.forget("k")
        assert driver.version() == 4

    @needs(Power.HISTORY)
    def test_the_same_text_again_is_a_new_version(self, driver: Driver) -> None:
        """S11, but telling the same again is a retry."""
        for text in ("same", "same", "other", "same"):
            driver.remember("k", text)
        assert [line.text for line in driver.history("k")] == ["same", "other", "same"]


class ShownByTools(Subject):
    """What tools show is not endless."""

    __test__ = False

    def test_text_in_any_script_comes_back(self, driver: Driver) -> None:
        """Character by character; of a long text the beginning."""
        texts = ["naïve e\u0301", "猫が好き", "שלום", "a\nb\r\n\tc", "'; DROP TABLE event; --", '{"a":1}', "\u200d\ufeff", "x" * 100_000]
        for number, text in enumerate(texts):
            driver.remember(f"k{number}", text)
        assert [driver.get(f"k{number}") for number in range(len(texts))] == [*texts[:-1], "x" * 4000]

    @needs(Power.SEARCH)
    def test_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46, but from 1 to 50."""
        for key in ("a", "b", "c"):
            driver.remember(key, "tea")
        assert [len(driver.search("tea", limit)) for limit in (1, 2, 50)] == [1, 2, 3]
        limits: list[Any] = [-1, 0, 51, 1.5, "many"]
        for limit in limits:
            with pytest.raises(InvalidInput):
                driver.search("tea", limit)


class TestTools(ToolsSay, ShownByTools):
    __test__ = True
    driver_class = fact_drivers.ToolsDriver
    in_a_file = True


class TestWrittenByTools(ToolsSay):
    """Written with the tools, read by the core."""

    __test__ = True
    driver_class = fact_drivers.WrittenByToolsDriver


class TestReadByTools(ShownByTools):
    """Written by the core, read with the tools."""

    __test__ = True
    driver_class = fact_drivers.ReadByToolsDriver


KEEPS: dict[str, tuple[type[StoreDriver], ...]] = {
    "IndelibleVectorStore": (node_drivers.NodesDriver, node_drivers.WrittenByNodesDriver, node_drivers.ReadByNodesDriver),
    "IndelibleKVStore": (value_drivers.ValuesDriver, value_drivers.WrittenByValuesDriver, value_drivers.ReadByValuesDriver),
    "IndelibleIndexStore": (value_drivers.IndexesDriver, value_drivers.WrittenByIndexesDriver, value_drivers.ReadByIndexesDriver),
    "IndelibleDocumentStore": (value_drivers.DocumentsDriver, value_drivers.WrittenByDocumentsDriver, value_drivers.ReadByDocumentsDriver),
    "IndelibleChatStore": (chat_drivers.ChatsDriver, chat_drivers.WrittenByChatsDriver, chat_drivers.ReadByChatsDriver),
    "IndelibleBufferChatStore": (chat_drivers.BufferChatsDriver, chat_drivers.OneWritesDriver, chat_drivers.ReadByBufferChatsDriver),
    "IndelibleMemoryBlock": (chat_drivers.BlockDriver, chat_drivers.WrittenByBlockDriver, chat_drivers.ReadByBlockDriver),
    "IndelibleToolSpec": (fact_drivers.ToolsDriver, fact_drivers.WrittenByToolsDriver, fact_drivers.ReadByToolsDriver),
    "IndelibleRetriever": (node_drivers.RetrieverDriver, fact_drivers.RetrieverDriver),
}
"""Each class that keeps or finds something, alone and with its twins. A retriever writes nothing: everything is written by the core."""
PARTS = {"IndelibleEmbedding", "IndelibleStorageContext"}
"""One keeps nothing, the other consists of those above."""


SUBJECTS = [kind for kind in (*vars(test_contract).values(), *globals().values()) if isinstance(kind, type) and issubclass(kind, Subject)]
SUBJECTS = [kind for kind in SUBJECTS if kind.__test__]


def test_every_class_is_a_subject_with_its_twins() -> None:
    """None is left out of the suite."""
    classes = {name for name in llama_index_indelible.__all__ if name.startswith("Indelible")}
    assert classes == set(KEEPS) | PARTS
    assert {driver for drivers in KEEPS.values() for driver in drivers} == {kind.driver_class for kind in SUBJECTS}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda kind: kind.__name__)
def test_every_declared_power_is_tried_by_a_law(subject: type[Subject]) -> None:
    """None is declared for nothing: for each there is a law all of whose powers the driver has."""
    declared = subject.driver_class.face_powers
    has = declared | (FilePlace.powers if subject.in_a_file else MemoryPlace.powers)
    needed: list[frozenset[Power]] = [getattr(getattr(subject, law), "powers", frozenset()) for law in LAWS]
    assert frozenset[Power]().union(*(powers for powers in needed if powers <= has)) >= declared
