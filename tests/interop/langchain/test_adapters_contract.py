"""The shared contract through every class for LangChain that keeps something, and in both directions between it and the core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import ContractSuite, Driver
from indelible.testing.contract.drivers import FilePlace, MemoryPlace
from indelible.testing.contract.drivers.base import StoreDriver
from indelible.testing.contract.laws.keys import STRANGE_KEYS
from tests.interop.langchain import adapter_drivers


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


class TestDocuments(Subject):
    __test__ = True
    driver_class = adapter_drivers.DocumentsDriver
    in_a_file = True


class TestWrittenByDocuments(Subject):
    __test__ = True
    driver_class = adapter_drivers.WrittenByDocumentsDriver


class TestReadByDocuments(Subject):
    __test__ = True
    driver_class = adapter_drivers.ReadByDocumentsDriver


class TestRetriever(Subject):
    __test__ = True
    driver_class = adapter_drivers.RetrieverDriver


class TestHistory(SessionsSay):
    __test__ = True
    driver_class = adapter_drivers.HistoryDriver
    in_a_file = True


class TestWrittenByHistory(SessionsSay):
    __test__ = True
    driver_class = adapter_drivers.WrittenByHistoryDriver


class TestReadByHistory(SessionsSay):
    __test__ = True
    driver_class = adapter_drivers.ReadByHistoryDriver


class TestChainMemory(SessionsSay):
    __test__ = True
    driver_class = adapter_drivers.ChainMemoryDriver


class TestBytes(Subject):
    __test__ = True
    driver_class = adapter_drivers.BytesDriver


class TestWrittenByBytes(Subject):
    __test__ = True
    driver_class = adapter_drivers.WrittenByBytesDriver


class TestReadByBytes(Subject):
    __test__ = True
    driver_class = adapter_drivers.ReadByBytesDriver


class TestTools(Subject):
    """A tool has no keys: what the suite calls one is a label, which may be longer, and of any type."""

    __test__ = True
    driver_class = adapter_drivers.ToolsDriver

    def test_a_key_that_cannot_be_kept_is_refused(self, driver: Driver) -> None:
        """S31: the text that the model gets says why; nothing is written."""
        for key in ("a\x00b", "\ud800"):
            driver_class: Any = driver
            assert "metadata" in driver_class._tools["remember"].invoke({"content": "text", "metadata": {"key": key}})
        assert driver.keys() == []

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """A model's call with an argument of another type is answered with what is wrong."""
        tools: Any = driver
        for content in (1, None, ["k"]):
            assert "content" in tools._tools["remember"].invoke({"content": content})
        assert driver.keys() == []
