"""The shared contract through the classes for documents, in both directions between each and the core."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract import Driver, Power
from indelible.testing.contract.law import needs
from indelible.testing.contract.laws.keys import REFUSED_KEYS
from tests.interop.langchain import document_drivers, index_drivers, retriever_drivers
from tests.interop.langchain.contract_subject import Subject, refused


class RetrieversSay(Subject):
    """A retriever has no keys: what the suite calls one is looked for by a function of the document, which may say no to anything."""

    __test__ = False

    def test_a_key_that_cannot_be_kept_is_refused(self, driver: Driver) -> None:
        """S2, where it is written; whatever is asked for, nothing is found."""
        refused(driver, REFUSED_KEYS)
        assert [driver.get(key) for key in REFUSED_KEYS] == [None] * len(REFUSED_KEYS)

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """Likewise."""
        keys: list[Any] = [1, b"k", ("k",), 1.5, ["k"]]
        refused(driver, keys)
        assert [driver.get(key) for key in keys] == [None] * len(keys)

    @needs(Power.PAST)
    def test_a_point_in_the_past_is_a_number_or_a_time(self, driver: Driver) -> None:
        """S9, but ``as_of=None`` is now."""
        driver.remember("k", "one")
        points: list[Any] = [True, 1.0, "1", datetime(2026, 1, 1)]
        for when in points:
            with pytest.raises(ValueError, match=r"as_of|version|time"):
                driver.at(when).get("k")
        assert driver.at(None).get("k") == "one"  # type: ignore[arg-type]  # that is the law


class IndexSays(Subject):
    """An id is text to LangChain, which makes it of a number."""

    __test__ = False

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2, but a number is the text of it."""
        refused(driver, [("k",), ["k"]])
        driver.remember(1, "text")  # type: ignore[arg-type]  # that is the law
        assert (driver.get("1"), driver.keys()) == ("text", ["1"])
        with pytest.raises(InvalidInput):
            driver.get(1)  # type: ignore[arg-type]  # likewise


class BytesSay(Subject):
    """A cache is no memory."""

    __test__ = False

    @needs(Power.EXPIRY)
    def test_what_expired_is_not_listed(self, driver: Driver) -> None:
        """S71, but what expired is not there any more, however it is asked for."""
        driver.remember_for("k", "short", 1000)
        driver.remember("other", "long")
        driver.advance_clock(1000)
        assert (driver.keys(), driver.get_expired("k"), driver.get_expired("other")) == (["other"], None, "long")


class TestDocuments(Subject):
    __test__ = True
    driver_class = document_drivers.DocumentsDriver
    in_a_file = True


class TestWrittenByDocuments(Subject):
    __test__ = True
    driver_class = document_drivers.WrittenByDocumentsDriver


class TestReadByDocuments(Subject):
    __test__ = True
    driver_class = document_drivers.ReadByDocumentsDriver


class TestRetrievedFacts(RetrieversSay):
    __test__ = True
    driver_class = retriever_drivers.RetrievedFactsDriver
    in_a_file = True


class TestRetrievedCollection(RetrieversSay):
    __test__ = True
    driver_class = retriever_drivers.RetrievedCollectionDriver


class TestRetrievedDocuments(RetrieversSay):
    __test__ = True
    driver_class = retriever_drivers.RetrievedDocumentsDriver


class TestIndexed(IndexSays):
    __test__ = True
    driver_class = index_drivers.IndexedDriver
    in_a_file = True


class TestWrittenByIndex(IndexSays):
    __test__ = True
    driver_class = index_drivers.WrittenByIndexDriver


class TestKnownToRecords(Subject):
    __test__ = True
    driver_class = index_drivers.KnownToRecordsDriver
    in_a_file = True


class TestBytes(BytesSay):
    __test__ = True
    driver_class = index_drivers.BytesDriver
    in_a_file = True


class TestWrittenByBytes(BytesSay):
    __test__ = True
    driver_class = index_drivers.WrittenByBytesDriver


class TestReadByBytes(BytesSay):
    __test__ = True
    driver_class = index_drivers.ReadByBytesDriver
