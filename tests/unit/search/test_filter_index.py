"""S49: an index of metadata says of every record what ``matches`` says, whatever was added and removed before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.filter_index import MAX_COLUMNS, FilterIndex
from indelible.search.filters import Filter, Or, Predicate, matches, where
from tests.unit.search.filter_strategies import FILTERS, METADATA

STEPS = st.lists(st.tuples(st.integers(1, 8), st.none() | METADATA, st.none() | FILTERS), max_size=20)
"""A record gets metadata, or (``None``) is taken out; then, perhaps, a filter is asked, which makes columns."""


def filled(steps: list[tuple[int, dict[str, Any] | None, Filter | None]]) -> tuple[FilterIndex, dict[int, dict[str, Any]]]:
    """An index after some steps, and what is in it."""
    index = FilterIndex()
    kept: dict[int, dict[str, Any]] = {}
    for document, metadata, asked in steps:
        index.remove(document)
        kept.pop(document, None)
        if metadata is not None:
            index.add(document, metadata)
            kept[document] = metadata
        if asked is not None:
            index.match(asked)
    return index, kept


@given(STEPS, FILTERS)
def test_it_matches_as_a_scan_does(steps: list[tuple[int, dict[str, Any] | None, Filter | None]], wanted: Filter) -> None:
    """The same records, and asking changes nothing."""
    index, kept = filled(steps)
    plain = {document for document, metadata in kept.items() if matches(wanted, metadata)}
    assert index.match(wanted) == plain
    index.match(wanted).clear()
    assert index.match(wanted) == plain, "what is given out is not what is kept"
    assert len(index) == len(kept)


@given(STEPS, FILTERS)
def test_what_is_taken_out_leaves_nothing(steps: list[tuple[int, dict[str, Any] | None, Filter | None]], wanted: Filter) -> None:
    """S74: no value of it stays in memory."""
    index, kept = filled(steps)
    index.match(wanted)
    for document in kept:
        index.remove(document)
    assert index._metadata == {}
    assert all(column.holders == {} for column in index._columns.values())
    assert all(column.texts == 0 for column in index._columns.values())
    assert index._weight == 0


def test_functions_are_asked_as_a_scan_asks_them() -> None:
    """Only of records that the rest of the tree leaves open, and what they raise is an error of ours."""
    index = FilterIndex()
    for number in range(6):
        index.add(number, {"n": number})
    asked: list[int] = []

    def odd(metadata: Mapping[str, Any]) -> bool:
        asked.append(metadata["n"])
        return bool(metadata["n"] % 2)

    assert index.match(where("n").gt(2) & Predicate(odd)) == {3, 5}
    assert asked == [3, 4, 5]
    assert index.match(~Predicate(odd)) == {0, 2, 4}
    with pytest.raises(InvalidInput, match="ZeroDivisionError"):
        index.match(Predicate(lambda metadata: bool(1 // 0)))


def test_places_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters may ask about any number of places, in one question or in many: the last ones are kept."""
    index = FilterIndex()
    for number in range(10):
        index.add(number, {"n": number, f"k{number}": 1})
    places = [where(f"k{number % 20}").exists() | where(f"other {number}").eq(1) for number in range(3 * MAX_COLUMNS)]
    assert [len(index.match(place)) for place in places] == [1 if number % 20 < 10 else 0 for number in range(3 * MAX_COLUMNS)]
    assert index.match(Or(places[:150])) == set(range(10))
    assert len(index._columns) == MAX_COLUMNS
    monkeypatch.setattr("indelible.search.filter_index.MAX_CELLS", 25)
    assert index.match(where("n").lt(3) & where("k1").exists() & where("k2").is_empty()) == {1}
    assert len(index._columns) == 2, "of many records, fewer"


def test_what_is_kept_is_counted() -> None:
    """Metadata by its size, and what is made of it."""
    index = FilterIndex()
    index.add(1, {"text": "x" * 10_000, "list": ["y" * 10_000]})
    held = index.nbytes
    assert held > 20_000
    index.match(where("list").contains("z"))
    assert index.nbytes > held + 10_000, "lists are told apart by their text"
