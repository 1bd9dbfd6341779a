"""Laws of single items: put, get, delete."""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Mapping
from datetime import UTC, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, keys_of

EVERY_KIND: dict[str, Any] = {
    "null": None,
    "flag": True,
    "zero": 0,
    "whole": 1.0,
    "small": -0.25,
    "long": 2**100,
    "text": 'ключ 鍵 🔑 "quoted"\n\ttabbed\\',
    "empty": {"text": "", "list": [], "object": {}},
    "nested": [[1, [2, {"deep": [None, False]}]], {"a": {"b": {"c": "d"}}}],
    "a.b": "dotted",
    " ": "a space",
}


class ValueLaws(StoreLaws):
    """An item is what was put, and nothing else."""

    def test_get_returns_what_was_put(self, store: BaseStore) -> None:
        """A value comes back equal, under its namespace and key."""
        store.put(("a", "b"), "k", {"x": 1})
        item = store.get(("a", "b"), "k")
        assert item is not None
        assert (item.namespace, item.key, item.value) == (("a", "b"), "k", {"x": 1})

    def test_get_of_nothing_is_none(self, store: BaseStore) -> None:
        """A key, or a whole namespace, that was never put is ``None``, no error."""
        store.put(NAMESPACE, "k", {"x": 1})
        assert store.get(NAMESPACE, "other") is None
        assert store.get(("nowhere", "at", "all"), "k") is None

    def test_put_returns_none(self, store: BaseStore) -> None:
        """As the interface says."""
        assert store.put(NAMESPACE, "k", {"x": 1}) is None  # type: ignore[func-returns-value]  # that is the law

    def test_a_put_replaces_the_whole_value(self, store: BaseStore) -> None:
        """Fields of the old value do not linger."""
        store.put(NAMESPACE, "k", {"x": 1, "y": 2})
        store.put(NAMESPACE, "k", {"x": 3})
        assert _value(store, "k") == {"x": 3}

    def test_every_kind_of_json_round_trips(self, store: BaseStore) -> None:
        """Null, flags, numbers of any size, text of any script, lists and objects come back equal."""
        store.put(NAMESPACE, "k", EVERY_KIND)
        assert _value(store, "k") == EVERY_KIND

    def test_types_round_trip(self, store: BaseStore) -> None:
        """A flag stays a flag, a whole number whole, a float a float."""
        store.put(NAMESPACE, "k", EVERY_KIND)
        value = _value(store, "k")
        assert [type(value[name]) for name in ("flag", "zero", "whole", "long")] == [bool, int, float, int]

    def test_large_values_round_trip(self, store: BaseStore) -> None:
        """A megabyte of text, and ten thousand fields."""
        value = {"text": "äb" * 350_000, "fields": {f"f{number}": number for number in range(10_000)}}
        store.put(NAMESPACE, "k", value)
        assert _value(store, "k") == value

    @pytest.mark.parametrize("kind", [UserDict, MappingProxyType], ids=["UserDict", "MappingProxyType"])
    def test_any_mapping_can_be_put(self, store: BaseStore, kind: Any) -> None:
        """The interface takes any mapping, and gives back a dict."""
        value: Mapping[str, Any] = kind({"x": 1})
        store.put(NAMESPACE, "k", value)
        assert _value(store, "k") == {"x": 1}

    @pytest.mark.parametrize("bad", [object(), {1, 2}, float("nan"), b"bytes", {1: "a"}], ids=["object", "set", "nan", "bytes", "int key"])
    def test_what_is_no_json_is_refused(self, store: BaseStore, bad: Any) -> None:
        """It raises, and what the key held before stays; nothing is dropped or changed without a word."""
        store.put(NAMESPACE, "k", {"x": 1})
        with pytest.raises((ValueError, TypeError)):
            store.put(NAMESPACE, "k", {"x": {"deep": [bad]}})
        assert _value(store, "k") == {"x": 1}

    def test_keys_are_exact(self, store: BaseStore) -> None:
        """Case, spaces and look-alikes make different keys; none is a pattern or a path."""
        keys = ["a", "A", " a", "a ", "a.b", "a/b", "a%", "a_", "*", "ä", "a\u0308", "鍵", "'; --", "0", "00"]
        for number, key in enumerate(keys):
            store.put(NAMESPACE, key, {"n": number})
        assert [_value(store, key)["n"] for key in keys] == list(range(len(keys)))

    def test_a_key_that_is_no_text_becomes_text(self, store: BaseStore) -> None:
        """The interface says ``str(key)``."""
        store.put(NAMESPACE, 5, {"x": 1})  # type: ignore[arg-type]  # that is the law
        assert _value(store, "5") == {"x": 1}

    def test_namespaces_keep_keys_apart(self, store: BaseStore) -> None:
        """The same key in two namespaces is two items, also where one namespace contains the other."""
        places = [("a",), ("a", "b"), ("b",)]
        for place in places:
            store.put(place, "k", {"place": list(place)})
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert [item.value["place"] for place in places[1:] if (item := store.get(place, "k"))] == [["a", "b"], ["b"]]

    def test_a_deleted_item_is_gone(self, store: BaseStore) -> None:
        """From get and from search, and it can be put again."""
        store.put(NAMESPACE, "k", {"x": 1})
        store.delete(NAMESPACE, "k")
        assert store.get(NAMESPACE, "k") is None
        assert store.search(NAMESPACE) == []
        store.put(NAMESPACE, "k", {"x": 2})
        assert _value(store, "k") == {"x": 2}

    def test_deleting_nothing_is_fine(self, store: BaseStore) -> None:
        """An unknown key or namespace, or a second delete, is no error."""
        store.delete(NAMESPACE, "k")
        store.put(NAMESPACE, "k", {"x": 1})
        store.delete(NAMESPACE, "k")
        store.delete(NAMESPACE, "k")
        store.delete(("nowhere",), "k")

    def test_times_are_aware(self, store: BaseStore) -> None:
        """``created_at`` and ``updated_at`` are instants in UTC."""
        store.put(NAMESPACE, "k", {"x": 1})
        item = store.get(NAMESPACE, "k")
        assert item is not None
        assert item.created_at.utcoffset() == item.updated_at.utcoffset() == timedelta(0)
        assert item.created_at.astimezone(UTC).year > 2000

    def test_created_at_survives_an_update(self, store: BaseStore) -> None:
        """It says when the item was first put, not when it was last changed."""
        store.put(NAMESPACE, "k", {"x": 1})
        first = store.get(NAMESPACE, "k")
        store.put(NAMESPACE, "k", {"x": 2})
        second = store.get(NAMESPACE, "k")
        assert first is not None
        assert second is not None
        assert second.created_at == first.created_at

    def test_updated_at_strictly_advances(self, store: BaseStore) -> None:
        """However fast the updates follow each other."""
        stamps = []
        for number in range(20):
            store.put(NAMESPACE, "k", {"n": number})
            item = store.get(NAMESPACE, "k")
            assert item is not None
            stamps.append(item.updated_at)
        assert stamps == sorted(set(stamps))

    def test_a_value_is_taken_by_value(self, store: BaseStore) -> None:
        """Changing the object after it was put changes nothing stored."""
        value = {"list": [1], "object": {"x": 1}}
        store.put(NAMESPACE, "k", value)
        value["list"].append(2)  # type: ignore[attr-defined]  # a list
        value["object"]["x"] = 2  # type: ignore[index]  # a dict
        assert _value(store, "k") == {"list": [1], "object": {"x": 1}}

    def test_a_value_is_given_by_value(self, store: BaseStore) -> None:
        """Changing what get or search returned changes nothing stored."""
        store.put(NAMESPACE, "k", {"list": [1]})
        _value(store, "k")["list"].append(2)
        store.search(NAMESPACE)[0].value["list"].append(3)
        assert _value(store, "k") == {"list": [1]}

    def test_an_item_can_be_sent_as_json(self, store: BaseStore) -> None:
        """``dict()`` of what get and search return holds plain JSON."""
        store.put(NAMESPACE, "k", {"x": [1, None]})
        item = store.get(NAMESPACE, "k")
        assert item is not None
        assert json.loads(json.dumps(item.dict()))["value"] == {"x": [1, None]}
        assert json.loads(json.dumps(store.search(NAMESPACE)[0].dict()))["score"] is None

    def test_search_and_get_agree(self, store: BaseStore) -> None:
        """The same item has the same fields from either."""
        store.put(NAMESPACE, "k", {"x": 1})
        item = store.get(NAMESPACE, "k")
        found = store.search(NAMESPACE)
        assert keys_of(found) == ["k"]
        assert item is not None
        assert (found[0].value, found[0].created_at, found[0].updated_at) == (item.value, item.created_at, item.updated_at)


def _value(store: BaseStore, key: str) -> dict[str, Any]:
    item = store.get(NAMESPACE, key)
    assert item is not None, f"{key!r} is not there"
    return item.value
