"""Laws of filters on the fields of values."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, keys_of

ITEMS: dict[str, dict[str, Any]] = {
    "red": {"colour": "red", "price": 3, "tags": ["a", "b"], "size": {"w": 1, "h": 2}, "sold": True},
    "blue": {"colour": "blue", "price": 5.5, "tags": ["a"], "size": {"w": 1, "h": 3}, "sold": False},
    "grey": {"colour": "grey", "price": "7", "tags": [], "size": None, "sold": None},
    "bare": {"other": 1},
    "list": {"colour": ["red"], "price": [3], "rows": [{"id": 1, "x": "p"}, {"id": 2, "x": "q"}]},
}
MATCHES: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"colour": "red"}, "red"),
    "number": ({"price": 3}, "red"),
    "whole float": ({"price": 3.0}, "red"),
    "flag": ({"sold": False}, "blue"),
    "several fields": ({"colour": "red", "price": 3}, "red"),
    "several fields, one wrong": ({"colour": "red", "price": 5.5}, ""),
    "unknown field": ({"nowhere": "red"}, ""),
    "$eq": ({"colour": {"$eq": "blue"}}, "blue"),
    "$ne": ({"colour": {"$ne": "red"}}, "blue grey bare list"),
    "$gt": ({"price": {"$gt": 3}}, "blue"),
    "$gte": ({"price": {"$gte": 3}}, "red blue"),
    "$lt": ({"price": {"$lt": 5.5}}, "red"),
    "$lte": ({"price": {"$lte": 5.5}}, "red blue"),
    "$gt text": ({"colour": {"$gt": "blue"}}, "red grey"),
    "$lte text": ({"colour": {"$lte": "grey"}}, "blue grey"),
    "two operators": ({"price": {"$gt": 3, "$lt": 6}}, "blue"),
    "two operators, none": ({"price": {"$gt": 3, "$lt": 5}}, ""),
    "list": ({"tags": ["a", "b"]}, "red"),
    "list, other order": ({"tags": ["b", "a"]}, ""),
    "list, shorter": ({"tags": ["a"]}, "blue"),
    "empty list": ({"tags": []}, "grey"),
    "$eq list": ({"tags": {"$eq": ["a", "b"]}}, "red"),
    "$ne list": ({"tags": {"$ne": ["a", "b"]}}, "blue grey bare list"),
    "object": ({"size": {"w": 1, "h": 2}}, "red"),
    "part of an object": ({"size": {"w": 1}}, "red blue"),
    "operator inside an object": ({"size": {"h": {"$gt": 2}}}, "blue"),
    "$eq object": ({"size": {"$eq": {"h": 2, "w": 1}}}, "red"),
    "$eq part of an object": ({"size": {"$eq": {"w": 1}}}, ""),
    "list of objects": ({"rows": [{"id": 1}, {"x": "q"}]}, "list"),
    "list of objects, one wrong": ({"rows": [{"id": 1}, {"x": "p"}]}, ""),
    "null or missing": ({"sold": None}, "grey bare list"),
    "not null": ({"sold": {"$ne": None}}, "red blue"),
    "no condition": ({}, "red blue grey bare list"),
}


class FilterLaws(StoreLaws):
    """A filter is a condition on each field it names."""

    @pytest.fixture
    def shelf(self, store: BaseStore) -> BaseStore:
        for key, value in ITEMS.items():
            store.put(NAMESPACE, key, value)
        return store

    @pytest.mark.parametrize("case", MATCHES)
    def test_filters_match(self, shelf: BaseStore, case: str) -> None:
        """Equality, order, lists, objects and null mean what they say; what is missing or of another kind does not match."""
        spec, expected = MATCHES[case]
        assert sorted(keys_of(shelf.search(NAMESPACE, filter=spec))) == sorted(expected.split())

    @pytest.mark.parametrize("operator", ["$gt", "$gte", "$lt", "$lte"])
    @pytest.mark.parametrize("operand", [5, "5"], ids=["number", "text"])
    def test_other_kinds_have_no_order(self, store: BaseStore, operator: str, operand: Any) -> None:
        """A missing field, null, a flag, a list, or text where a number is asked for: no match, and never an error."""
        strange: list[dict[str, Any]] = [{}, {"v": None}, {"v": True}, {"v": [5]}, {"v": {}}, {"v": "5" if operand == 5 else 5}]
        for number, value in enumerate(strange):
            store.put(NAMESPACE, f"strange{number}", value)
        store.put(NAMESPACE, "below", {"v": 4 if operand == 5 else "4"})
        store.put(NAMESPACE, "above", {"v": 6 if operand == 5 else "6"})
        assert keys_of(store.search(NAMESPACE, filter={"v": {operator: operand}})) == ["above" if "g" in operator else "below"]

    def test_not_equal_includes_what_is_missing(self, store: BaseStore) -> None:
        """A field that is not there is not equal to a value."""
        store.put(NAMESPACE, "with", {"v": 1})
        store.put(NAMESPACE, "without", {"w": 1})
        assert keys_of(store.search(NAMESPACE, filter={"v": {"$ne": 1}})) == ["without"]

    def test_a_flag_is_no_number(self, store: BaseStore) -> None:
        """``True`` and ``1`` are told apart."""
        store.put(NAMESPACE, "flag", {"v": True})
        store.put(NAMESPACE, "number", {"v": 1})
        assert keys_of(store.search(NAMESPACE, filter={"v": True})) == ["flag"]
        assert keys_of(store.search(NAMESPACE, filter={"v": 1})) == ["number"]

    def test_numbers_compare_exactly(self, store: BaseStore) -> None:
        """Also beyond what a float can hold."""
        for number in (2**53, 2**53 + 1, 2**70 + 1):
            store.put(NAMESPACE, str(number), {"v": number})
        assert keys_of(store.search(NAMESPACE, filter={"v": 2**53 + 1})) == [str(2**53 + 1)]
        assert keys_of(store.search(NAMESPACE, filter={"v": {"$gt": 2**70}})) == [str(2**70 + 1)]

    @pytest.mark.parametrize("operator", ["$bogus", "$regex", "$GT", "$"])
    def test_an_unknown_operator_is_an_error(self, shelf: BaseStore, operator: str) -> None:
        """Not an empty answer."""
        with pytest.raises(ValueError, match=r".+"):
            shelf.search(NAMESPACE, filter={"price": {operator: 3}})

    @pytest.mark.parametrize(
        "name", ["a b", "a-b", "a'b", 'a"b', "ä", "鍵", "0", "", "a]b", "$", "a$b", "'; DROP TABLE x; --", "x') OR 1=1 --"]
    )
    def test_a_field_may_have_any_name(self, store: BaseStore, name: str) -> None:
        """Names are literal: found where they are, and harmless where they are not."""
        store.put(NAMESPACE, "k", {name: 1})
        store.put(NAMESPACE, "other", {"x": 1})
        assert keys_of(store.search(NAMESPACE, filter={name: 1})) == ["k"]
        assert store.search(NAMESPACE, filter={name: 2}) == []
        assert len(store.search(NAMESPACE)) == 2

    def test_a_dotted_name_is_a_field_or_a_path(self, store: BaseStore) -> None:
        """The field of that very name where there is one, else the path it spells."""
        store.put(NAMESPACE, "name", {"a.b": 1, "a": {"b": 2}})
        store.put(NAMESPACE, "path", {"a": {"b": 1}})
        assert keys_of(store.search(NAMESPACE, filter={"a.b": 1})) == ["name", "path"]
        assert keys_of(store.search(NAMESPACE, filter={"a.b": {"$gt": 1}})) == []

    @pytest.mark.parametrize("text", ["' OR '1'='1", "%", "_", "*", "red' --", "\\", '"'])
    def test_a_value_is_literal(self, shelf: BaseStore, text: str) -> None:
        """No text in a filter is a pattern, or a piece of a statement."""
        shelf.put(NAMESPACE, "exact", {"colour": text})
        assert keys_of(shelf.search(NAMESPACE, filter={"colour": text})) == ["exact"]

    def test_filters_come_before_the_limit(self, store: BaseStore) -> None:
        """Items that do not match use up no page."""
        for number in range(30):
            store.put(NAMESPACE, f"k{number:02}", {"even": number % 2 == 0})
        found = [keys_of(store.search(NAMESPACE, filter={"even": True}, limit=4, offset=offset)) for offset in (0, 4, 12)]
        assert [len(page) for page in found] == [4, 4, 3]
        assert len({key for page in found for key in page}) == 11

    def test_filters_respect_the_namespace(self, store: BaseStore) -> None:
        """They narrow what the prefix reaches, and never widen it."""
        store.put(("a",), "mine", {"v": 1})
        store.put(("b",), "yours", {"v": 1})
        assert keys_of(store.search(("a",), filter={"v": 1})) == ["mine"]
