"""S49: an index of metadata says of every record what ``matches`` says, whatever was added and removed before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.filter_index import FilterIndex
from indelible.search.filters import Filter, Predicate, matches, where
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
