"""Filters: their meaning once more in plain Python, how they are joined, and what is no filter."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import PutOp

from indelible.errors import InvalidInput
from langchain_indelible import IndelibleStore
from langchain_indelible.filters import parse_filter

NAMESPACE = ("notes", "ada")

SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, -1, 2**60, "", "a", "b"])
VALUES = st.dictionaries(
    st.sampled_from("xyz"),
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2),
    max_size=3,
)
CONDITIONS = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=2),
    st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2),
    st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), SCALARS, min_size=1, max_size=2),
)


def same(one: Any, other: Any) -> bool:
    """Equality as JSON has it: a flag is no number."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def holds(found: Any, wanted: Any) -> bool:
    """What a condition means, said once more in plain Python."""
    if isinstance(wanted, dict) and any(key.startswith("$") for key in wanted):
        return all(compares(found, name, operand) for name, operand in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(holds(found.get(key), inner) for key, inner in wanted.items())
    return same(found, wanted)


def compares(found: Any, name: str, operand: Any) -> bool:
    if name in ("$eq", "$ne"):
        return same(found, operand) is (name == "$eq")
    kinds = [str if isinstance(value, str) else None if value is None or isinstance(value, bool) else float for value in (found, operand)]
    if kinds[0] is None or kinds[0] is not kinds[1] or isinstance(found, list | dict):
        return False
    return bool({"$gt": found > operand, "$gte": found >= operand, "$lt": found < operand, "$lte": found <= operand}[name])


@given(st.lists(VALUES, max_size=4), st.dictionaries(st.sampled_from("xyz"), CONDITIONS, max_size=2))
def test_filters_agree_with_their_meaning(values: list[dict[str, Any]], spec: dict[str, Any]) -> None:
    """Whatever the values and conditions; what the engine may skip beforehand, and what it knows from the second search on, included."""
    meant = [number for number, value in enumerate(values) if all(holds(value.get(key), wanted) for key, wanted in spec.items())]
    with IndelibleStore(":memory:") as store:
        store.store._engine.filter_cache.least_listed = 0
        store.batch([PutOp(NAMESPACE, str(number), value) for number, value in enumerate(values)])
        for _ in range(3):
            assert [int(item.key) for item in store.search(NAMESPACE, filter=spec, limit=100)] == meant
        assert [int(item.key) for item in store.search(NAMESPACE, filter=spec, limit=1, offset=1)] == meant[1:2]


def test_filters_can_be_joined() -> None:
    """``$and``, ``$or`` and ``$not``, nested, beside fields; ``$in`` and ``$nin`` on a field."""
    specs: list[dict[str, Any]] = [
        {"$or": [{"colour": "red", "size": 1}, {"size": 2}]},
        {"$and": [{"colour": "red"}, {"$not": {"size": 1}}]},
        {"$not": [{"colour": "red"}, {"size": 1}]},
        {"colour": {"$in": ["red", "green"]}, "$or": [{"size": 2}]},
        {"colour": {"$nin": ["red"]}},
        {"$price": 3},
        {"$price": {"$gte": 2}},
        {"size": {"$lt": float("inf")}},
        {"size": float("nan")},
    ]
    with IndelibleStore(":memory:") as store:
        for key, (colour, size) in enumerate(itertools.product(("red", "blue"), (1, 2))):
            store.put(NAMESPACE, str(key), {"colour": colour, "size": size, "$price": key})
        found = ["".join(item.key for item in store.search(NAMESPACE, filter=spec)) for spec in specs]
    assert found == ["013", "1", "3", "1", "23", "3", "23", "0123", ""]


@pytest.mark.parametrize(
    "spec", [{"$nor": []}, {"$eq": 1}, {"$and": {}}, {"$or": 1}, {"$where": {"x": 1}}, {"x": {"$gt": 1, "y": 2}}], ids=str
)
def test_an_operator_in_the_wrong_place_is_an_error(spec: Any) -> None:
    """And never an empty answer."""
    with pytest.raises(InvalidInput):
        parse_filter(spec)
