"""S49: filters over what is stored say what the same tree says in plain Python over a list of everything."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore, where
from indelible.search.filters import Filter, Or, filter_to_json, matches
from tests.unit.facts.stores import contents, ids, open_store
from tests.unit.search.filter_strategies import FILTERS, METADATA

RECORDS = st.lists(METADATA, min_size=1, max_size=8)


def holding(store: MemoryStore, metadata: list[dict[str, Any]]) -> None:
    store.remember_many([{"content": f"fact {number}", "metadata": each} for number, each in enumerate(metadata)])


@given(RECORDS, FILTERS)
def test_s49_listing_is_the_oracle_over_everything(metadata: list[dict[str, Any]], tree: Filter) -> None:
    with open_store() as store:
        holding(store, metadata)
        expected = [record for record in store.list() if matches(tree, record.metadata)]
        assert store.list(filters=tree) == store.list(filters=filter_to_json(tree)) == expected
        for limit in (1, 2):
            assert store.list(filters=tree, limit=limit, offset=1) == expected[1 : 1 + limit]


@given(RECORDS, FILTERS)
def test_s49_recall_and_search_are_the_oracle_over_everything(metadata: list[dict[str, Any]], tree: Filter) -> None:
    with open_store() as store:
        holding(store, metadata)
        for mode in ("semantic", "keyword", "hybrid"):
            everything = store.recall("fact", mode=mode, limit=100)
            assert len(everything) == len(metadata)
            expected = {hit.id for hit in everything if matches(tree, hit.metadata)}
            assert set(ids(store.recall("fact", mode=mode, limit=100, filters=tree))) == expected


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**53, 2**53 + 1, 2.0**53, 2**63, -(2**63) - 1, 0.1 + 0.2, 5e-324, -0.0]),
)


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_s49_numbers_are_equal_to_themselves_only(numbers: list[float]) -> None:
    """Whatever an engine makes of them on the way: no stored number is missed, and none is taken for its neighbour."""
    with open_store() as store:
        holding(store, [{"n": number} for number in numbers])
        for number in numbers:
            expected = [f"fact {index}" for index, other in enumerate(numbers) if other == number]
            assert contents(store.list(filters={"n": number})) == expected
            near = math.nextafter(number, math.inf) if isinstance(number, float) else number + 1
            if math.isfinite(near) and near not in numbers:
                assert store.list(filters={"n": near}) == []


HOSTILE = [
    "'",
    '"',
    "'; DROP TABLE event; --",
    "$.a",
    "a.b",
    "a[0]",
    "%",
    "_",
    "\\",
    "\n",
    "\u2028",
    "null",
    "é",
    "e\u0301",
    "\U0001f600",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_s49_keys_and_values_are_only_bound(store: MemoryStore, text: str) -> None:
    """No text is query syntax, neither as a key nor as a value."""
    store.remember("this one", metadata={text: text, "x": 1})
    store.remember("another", metadata={text + "x": text + "x", "x": 1})
    assert contents(store.list(filters={text: text})) == ["this one"]
    assert contents(store.recall("this", filters=where(text).eq(text) & where("x").eq(1))) == ["this one"]
    assert contents(store.search("this", filters=where(text).in_([text]))) == ["this one"]
    assert contents(store.list(filters=~where(text).exists())) == ["another"]


@pytest.mark.parametrize(
    "bad",
    [
        5,
        "a = 1",
        [("a", 1)],
        {"path": ["a"], "op": "like", "value": 1},
        {"path": [], "op": "eq", "value": 1},
        {"and": [{"path": ["a"]}]},
        {"a": {"$gt": 1}},
        {"a": float("nan")},
        {5: 1},
    ],
)
@pytest.mark.parametrize("verb", ["list", "recall", "search", "search_semantic"])
def test_s49_bad_filters_are_refused(store: MemoryStore, bad: object, verb: str) -> None:
    store.remember("tea", metadata={"a": 1})
    call = getattr(store, verb)
    with pytest.raises(InvalidInput):
        call(filters=bad) if verb == "list" else call("tea", filters=bad)


def test_s49_a_function_is_a_filter_and_its_failure_is_ours(store: MemoryStore) -> None:
    store.remember_many([{"content": "tea", "metadata": {"n": 1}}, {"content": "milk"}])
    assert contents(store.list(filters=lambda metadata: "n" in metadata)) == ["tea"]
    with pytest.raises(InvalidInput, match="KeyError"):
        store.list(filters=lambda metadata: metadata["n"] > 0)


def test_s49_no_filter_is_everything_and_no_alternative_nothing(store: MemoryStore) -> None:
    store.remember("tea")
    assert contents(store.list(filters=None)) == contents(store.list(filters={})) == ["tea"]
    assert store.list(filters=Or(())) == []
