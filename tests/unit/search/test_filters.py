"""What a filter means: tables of cases, and the algebra that any tree obeys."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.filters import (
    MAX_DEPTH,
    MAX_NODES,
    OPERATORS,
    And,
    Compare,
    Filter,
    Not,
    Or,
    Predicate,
    equalities,
    matches,
    where,
)
from tests.unit.search.filter_strategies import FILTERS, LISTS, METADATA, ORDERED, PATHS, SCALARS

RECORDS: dict[int, dict[str, Any]] = {
    1: {
        "rank": "a",
        "weight": 1.0,
        "count": 1,
        "title": "Hello World",
        "quote": "it's",
        "opt": "x",
        "tags": ["alpha", "beta"],
        "nums": [1, 2],
    },
    2: {"rank": "b", "weight": 2.0, "count": 2, "title": "hello there", "quote": "100%_x", "tags": ["beta"], "nums": [2]},
    3: {"rank": "c", "weight": 3.0, "count": 3, "title": "Goodbye", "opt": "y", "tags": []},
    4: {"rank": "ab", "weight": 10.0, "count": 10, "title": "", "opt": None},
}


def found(condition: Filter) -> str:
    """The numbers of the records that match."""
    return "".join(str(number) for number, metadata in RECORDS.items() if matches(condition, metadata))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (where("rank").eq("a"), "1"),
        (where("weight").eq(2), "2"),
        (where("count").eq(2.0), "2"),
        (where("count").eq("2"), ""),
        (where("rank").eq(1), ""),
        (where("nowhere").eq("a"), ""),
        (where("quote").eq("it's"), "1"),
        (where("ra'nk").eq("a"), ""),
        (where("opt").eq(None), "4"),
        (where("tags").eq("beta"), ""),
        (where("tags").eq(["beta"]), "2"),
        (where("nums").eq([1.0, 2]), "1"),
        (where("nums").eq([2, 1]), ""),
        (where("tags").ne(["beta"]), "134"),
        (where("rank").ne("a"), "234"),
        (where("opt").ne("x"), "234"),
        (where("opt").ne(None), "123"),
        (where("weight").ne(1), "234"),
        (where("nowhere").ne("a"), "1234"),
        (where("weight").gt(2), "34"),
        (where("weight").gte(2), "234"),
        (where("weight").lt(2), "1"),
        (where("weight").lte(2), "12"),
        (where("rank").gt("a"), "234"),
        (where("rank").lt(5), ""),
        (where("opt").lte("z"), "13"),
        (where("tags").gt("a"), ""),
        (where("rank").in_(["a", "c"]), "13"),
        (where("count").in_([1, 3.0]), "13"),
        (where("rank").in_([]), ""),
        (where("opt").in_([None, "y"]), "34"),
        (where("rank").nin(["c"]), "124"),
        (where("opt").nin(["x"]), "234"),
        (where("rank").nin([]), "1234"),
        (where("title").text_match("hello"), "2"),
        (where("quote").text_match("%"), "2"),
        (where("quote").text_match("_"), "2"),
        (where("title").text_match("llo Wor"), "1"),
        (where("count").text_match("1"), ""),
        (where("tags").text_match("beta"), ""),
        (where("title").text_match_insensitive("HELLO"), "12"),
        (where("nowhere").text_match(""), ""),
        (where("tags").contains("beta"), "12"),
        (where("nums").contains(2), "12"),
        (where("nums").contains(2.0), "12"),
        (where("nums").contains("2"), ""),
        (where("nums").contains(True), ""),
        (where("title").contains("Hello"), "1"),
        (where("count").contains(1), ""),
        (where("tags").any(["alpha", "beta"]), "12"),
        (where("tags").any([]), ""),
        (where("rank").any(["a"]), ""),
        (where("tags").all(["alpha", "beta"]), "1"),
        (where("tags").all([]), "123"),
        (where("opt").is_empty(), "24"),
        (where("title").is_empty(), "4"),
        (where("tags").is_empty(), "34"),
        (where("opt").is_empty(False), "13"),
        (where("opt").exists(), "134"),
        (where("opt").exists(False), "2"),
        (where("rank").eq("a") | where("rank").eq("c"), "13"),
        (~where("rank").eq("a"), "234"),
        (Not((where("rank").eq("a"), where("rank").eq("b"))), "34"),
        (~where("opt").eq("x"), "234"),
        (~where("opt").gt("w"), "24"),
        (And(()), "1234"),
        (Or(()), ""),
        (Not(()), "1234"),
        ((where("rank").eq("a") | where("rank").eq("b")) & ~where("nums").contains(1), "2"),
    ],
)
def test_cases(condition: Filter, wanted: str) -> None:
    """S49, case by case."""
    assert found(condition) == wanted


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_what_a_missing_key_matches(op: str) -> None:
    """S49: ne, nin, is_empty and exists=false, and not of anything it does not match; inside a non-object everything is missing."""
    operand = {"in": ["x"], "nin": ["x"], "any": [], "all": [], "exists": False}.get(op, None if op == "is_empty" else "x")
    for metadata in ({}, {"a": None}, {"a": "x"}, {"a": [{"b": "x"}]}):
        condition = Compare(("a", "b"), op, operand)  # type: ignore[arg-type]  # lists are taken too
        assert matches(condition, metadata) == (op in ("ne", "nin", "is_empty", "exists"))
        assert matches(~condition, metadata) != matches(condition, metadata)


@given(SCALARS, SCALARS)
def test_equality_is_strict_and_exact(one: Any, other: Any) -> None:
    """S49: numbers equal numbers whatever their type, nothing else crosses kinds, a bool is no number."""
    kinds = [bool if isinstance(value, bool) else float if isinstance(value, int | float) else type(value) for value in (one, other)]
    equal = kinds[0] is kinds[1] and one == other
    assert matches(where("a").eq(one), {"a": other}) == equal
    assert matches(where("a").in_([one]), {"a": other}) == equal
    assert matches(where("a").contains(one), {"a": [other]}) == equal
    assert matches(where("a").any([one]), {"a": [other]}) == equal
    assert matches(where("a").all([one]), {"a": [other]}) == equal
    assert matches(where("a").eq([one]), {"a": [other]}) == equal
    assert (where("a").eq(one) == where("a").eq(other)) == equal


def test_large_numbers_are_exact() -> None:
    """S49: 2**53+1 is not 2**53, and no float is it."""
    big = 2**53 + 1
    assert matches(where("n").eq(big), {"n": big})
    assert not matches(where("n").eq(big), {"n": 2.0**53})
    assert not matches(where("n").eq(float(big)), {"n": big})
    assert matches(where("n").gt(2.0**53), {"n": big})
    assert matches(where("n").lt(10**400), {"n": 1e308})
    assert not matches(where("n").in_([2**53, 2**53 + 2]), {"n": big})


@given(SCALARS, ORDERED)
def test_order(value: Any, operand: Any) -> None:
    """S49: exactly one of less, equal and greater within a kind, none across kinds."""
    metadata = {"a": value}
    less, equal, greater = (
        matches(condition, metadata) for condition in (where("a").lt(operand), where("a").eq(operand), where("a").gt(operand))
    )
    comparable = isinstance(value, str) == isinstance(operand, str) and value is not None and not isinstance(value, bool)
    assert less + equal + greater == comparable
    assert matches(where("a").lte(operand), metadata) == (less or equal)
    assert matches(where("a").gte(operand), metadata) == (greater or equal)
    if comparable:
        assert less == (value < operand)


@given(st.text(), st.text())
def test_text_is_ordered_by_code_point(value: str, operand: str) -> None:
    """S49: not by collation, nor by UTF-16 units."""
    operand = operand.replace("\x00", "")
    wanted = [ord(character) for character in value] < [ord(character) for character in operand]
    assert matches(where("a").lt(operand), {"a": value}) == wanted
    assert matches(where("a").gt("\uffff"), {"a": "\U0001f60d"})


@given(st.lists(FILTERS, max_size=3), METADATA)
def test_groups(children: list[Filter], metadata: dict[str, Any]) -> None:
    """S49: and, or, and NOR."""
    each = [matches(child, metadata) for child in children]
    assert matches(And(children), metadata) == all(each)
    assert matches(Or(children), metadata) == any(each)
    assert matches(Not(children), metadata) == (not any(each))


@given(FILTERS, FILTERS, METADATA)
def test_de_morgan(one: Filter, other: Filter, metadata: dict[str, Any]) -> None:
    """Negation is two-valued: a missing key has no third answer."""
    assert matches(~(one & other), metadata) == matches(~one | ~other, metadata)
    assert matches(~(one | other), metadata) == matches(~one & ~other, metadata) == matches(Not((one, other)), metadata)
    assert matches(~~one, metadata) == matches(one, metadata) != matches(~one, metadata)


@given(PATHS, SCALARS, LISTS, METADATA)
def test_opposites(path: tuple[str, ...], value: Any, values: list[Any], metadata: dict[str, Any]) -> None:
    """ne, nin and the false forms are exact negations; in is an OR of eq."""
    place = where(*path)
    assert matches(place.ne(value), metadata) != matches(place.eq(value), metadata)
    assert matches(place.nin(values), metadata) != matches(place.in_(values), metadata)
    assert matches(place.exists(False), metadata) != matches(place.exists(), metadata)
    assert matches(place.is_empty(False), metadata) != matches(place.is_empty(), metadata)
    assert matches(place.in_(values), metadata) == matches(Or([place.eq(item) for item in values]), metadata)
    assert matches(place.any(values), metadata) == any(matches(place.all([item]), metadata) for item in values)


@given(FILTERS, METADATA)
def test_equalities_are_sound(condition: Filter, metadata: dict[str, Any]) -> None:
    """A record that breaks one of them does not match."""
    if not all(matches(Compare(path, "eq", value), metadata) for path, value in equalities(condition)):
        assert not matches(condition, metadata)


def test_equalities() -> None:
    """They are found below `and`, and nowhere that would be wrong."""
    one, two = where("a").eq(1), where("b", "c").eq("x")
    assert equalities(one & two & where("d").gt(3)) == [(("a",), 1), (("b", "c"), "x")]
    assert equalities(Or([one]) & where("d").in_([True])) == [(("a",), 1), (("d",), True)]
    for none in (None, one | two, ~one, where("a").eq([1]), where("a").in_([1, 2]), Predicate(bool)):
        assert equalities(none) == []


@given(FILTERS, METADATA)
def test_matching_changes_nothing(condition: Filter, metadata: dict[str, Any]) -> None:
    """Filters and metadata are only read; copies are equal and mean the same."""
    before = copy.deepcopy(metadata)
    twin = copy.deepcopy(condition)
    assert matches(condition, metadata) == matches(twin, metadata)
    assert metadata == before
    assert twin == condition
    assert hash(twin) == hash(condition)


def test_no_filter_matches_everything() -> None:
    """`None` is the absence of a filter."""
    assert matches(None, {})


def test_equal_filters_ask_the_same() -> None:
    """1 and 1.0 are one condition, 1 and True are two: a cache by filter must not mix them."""
    assert where("a").eq(1) == where("a").eq(1.0)
    assert where("a").eq(1) != where("a").eq(True)
    assert where("a").eq([1]) != where("a").eq([True])
    assert where("a").eq([1]) != where("a").eq(1)
    groups: list[Filter] = [kind([where("a").eq(1)]) for kind in (And, Or, Not)]
    assert len(set(groups)) == 3
    assert len({where("a").eq(0), where("a").eq(False), where("a").eq(-0.0)}) == 2


def test_a_path_is_literal() -> None:
    """One str is one key, dots and quotes in it included; several are a nested path."""
    metadata = {"a.b": 1, "a": {"b": 2, "": 3}, "$": 4, "'; DROP": 5}
    for condition in (where("a.b").eq(1), where("a", "b").eq(2), where("a", "").eq(3), where("$").eq(4), where("'; DROP").eq(5)):
        assert matches(condition, metadata)
    assert not matches(where("a.b").eq(2), metadata)


def test_chains_stay_flat() -> None:
    """Hundreds of conditions may be chained: the tree does not grow deeper."""
    chain: Filter = where("n").eq(0)
    for number in range(1, 500):
        chain = chain | where("n").eq(number)
    assert isinstance(chain, Or)
    assert (chain.depth, chain.size) == (2, 501)
    assert matches(chain, {"n": 499})
    assert not matches(chain, {"n": 500})


def test_trees_are_bounded() -> None:
    """Depth 32 and 1,000 nodes are accepted, one more is not, and no tree that exists can exhaust the stack."""
    leaf = where("a").eq(1)
    deep: Filter = leaf
    for _ in range(MAX_DEPTH - 1):
        deep = Not((deep,))
    assert matches(deep, {"a": 1}) == bool(MAX_DEPTH % 2)
    with pytest.raises(InvalidInput, match="levels deep"):
        Not((deep,))
    assert matches(And([leaf] * (MAX_NODES - 1)), {"a": 1})
    with pytest.raises(InvalidInput, match="1001 conditions"):
        And([leaf] * MAX_NODES)


def test_a_filter_is_no_condition_of_python() -> None:
    """`a and b` would silently be b alone."""
    with pytest.raises(InvalidInput, match="&"):
        where("a").eq(1) and where("b").eq(2)
    with pytest.raises(InvalidInput, match="neither true nor false"):
        bool(~where("a").eq(1))


def test_predicates() -> None:
    """Any function of the metadata is a leaf, and joins with the rest."""
    even = Predicate(lambda metadata: metadata["n"] % 2 == 0)
    assert matches(even & where("n").gt(2), {"n": 4})
    assert not matches(even & where("n").gt(2), {"n": 2})
    assert matches(~even, {"n": 3})


def test_a_failing_predicate_is_an_input_error() -> None:
    """What a caller's function raises comes back as one error, with its cause."""
    with pytest.raises(InvalidInput, match="KeyError") as caught:
        matches(Predicate(lambda metadata: metadata["n"] > 1), {})
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_predicate_cannot_write() -> None:
    """Metadata is handed over read-only."""

    def spoil(metadata: Mapping[str, Any]) -> bool:
        metadata["a"] = 2  # type: ignore[index]  # the point: it must not work
        return True

    metadata = {"a": 1}
    with pytest.raises(InvalidInput, match="TypeError"):
        matches(Predicate(spoil), metadata)
    assert metadata == {"a": 1}


def test_numbers_are_what_they_are_worth() -> None:
    """A subclass of a number that cannot be hashed, or is equal to nothing, is asked for as its number."""

    class Odd(int):
        __hash__ = None  # type: ignore[assignment]  # on purpose

        def __eq__(self, other: object) -> bool:
            return False

    class OddFloat(float):
        __hash__ = None  # type: ignore[assignment]  # on purpose

        def __eq__(self, other: object) -> bool:
            raise TypeError

    for number in (Odd(3), OddFloat(3.0)):
        for condition in (where("a").eq(number), where("a").in_([number]), where("a").lte(number), ~where("a").ne(number)):
            assert matches(condition, {"a": 3})
        assert not matches(where("a").gt(number), {"a": 3})
    assert type(where("a").eq(True).value) is bool
    with pytest.raises(InvalidInput):
        where("a").eq(OddFloat("nan"))
