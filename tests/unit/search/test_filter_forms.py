"""The forms a filter comes in, and what each refuses."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.filters import (
    MAX_DEPTH,
    MAX_NODES,
    And,
    Compare,
    Filter,
    Not,
    Or,
    Predicate,
    filter_from_json,
    filter_to_json,
    matches,
    parse_filter,
    where,
)
from tests.unit.search.filter_strategies import FILTERS, METADATA

NAMES = st.sampled_from(["path", "op", "value", "and", "or", "not", "a"])
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=2)
    | st.sampled_from(["eq", "in", "lt", "exists", b"x", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3) | st.tuples(inner),
    max_leaves=12,
)
NEARLY = st.fixed_dictionaries(
    {"path": JUNK | st.just(["a"]), "op": st.sampled_from(["eq", "in", "gt", "exists", "text_match"]) | JUNK, "value": JUNK}
)


@given(FILTERS)
def test_json_round_trip(condition: Filter) -> None:
    """What is written down reads back equal, by either reader."""
    text = json.dumps(filter_to_json(condition))
    assert filter_from_json(json.loads(text)) == condition == parse_filter(json.loads(text))


@given(JUNK | NEARLY | st.lists(NEARLY, max_size=2).map(lambda children: {"or": children}), METADATA)
def test_junk_is_refused_and_nothing_worse(spec: Any, metadata: dict[str, Any]) -> None:
    """Whatever is given: a filter that works, or InvalidInput."""
    for read in (parse_filter, filter_from_json):
        try:
            condition = read(spec)
        except InvalidInput:
            continue
        assert matches(condition, metadata) in (True, False)


def test_forms() -> None:
    """None, a filter, a shorthand, JSON, a function."""
    condition = where("a").eq(1)
    assert parse_filter(None) is None
    assert parse_filter(condition) is condition
    assert parse_filter({"a": 1}) == condition
    assert parse_filter({"a": 1, "b.c": "x"}) == condition & where("b.c").eq("x")
    assert parse_filter({}) == And(())
    assert parse_filter({"path": ["a"], "op": "eq", "value": 1}) == condition
    assert parse_filter(math.isfinite) == Predicate(math.isfinite)  # type: ignore[arg-type]  # any function will do


def test_json() -> None:
    """The form that tools and the command line take."""
    spec = {"or": [{"path": ["a", "b"], "op": "in", "value": [1, "x"]}, {"not": [{"path": ["c"], "op": "exists"}]}]}
    condition = where("a", "b").in_([1, "x"]) | Not((where("c").exists(),))
    assert filter_from_json(spec) == condition
    assert filter_to_json(condition)["or"][1] == {"not": [{"path": ["c"], "op": "exists", "value": True}]}


def test_shorthand_and_json_never_meet() -> None:
    """Keys that happen to be called path, op, and, or, not are ordinary keys of a shorthand, since it takes no lists."""
    assert parse_filter({"path": "/tmp", "op": "eq", "value": 1}) == where("path").eq("/tmp") & where("op").eq("eq") & where("value").eq(1)
    assert parse_filter({"and": "x"}) == where("and").eq("x")
    assert parse_filter({"and": []}) == And(())
    assert parse_filter({"or": [{"path": ["path"], "op": "ne", "value": None}]}) == Or([where("path").ne(None)])


@pytest.mark.parametrize(
    "spec",
    [
        {"a": [1]},
        {"a": {"$eq": 1}},
        {"a": math.nan},
        {1: "x"},
        {"a": object()},
        {"not": {"path": ["a"], "op": "eq", "value": 1}},
        {"path": [], "op": "eq", "value": 1},
        {"path": ["a"], "op": "eq"},
        {"path": ["a"], "value": 1},
        {"path": ["a"], "op": "eq", "value": 1, "extra": 2},
        {"path": ["a"], "op": "eq", "value": {"b": 1}},
        {"path": [1], "op": "eq", "value": 1},
        {"path": ["a"] * 33, "op": "eq", "value": 1},
        {"path": ["a"], "op": "equals", "value": 1},
        {"path": ["a"], "op": "", "value": 1},
        {"path": ["a"], "op": ["eq"], "value": 1},
        {"path": ["a\ud800"], "op": "eq", "value": 1},
        {"path": ["a\x00"], "op": "eq", "value": 1},
        {"and": [{"a": 1}]},
        {"and": [None]},
        {"and": [], "or": []},
        {"xor": []},
        "a = 1",
        ["a"],
        3,
    ],
    ids=lambda spec: str(type(spec).__name__),
)
def test_faulty_filters(spec: Any) -> None:
    """Each is named as wrong input."""
    with pytest.raises(InvalidInput):
        parse_filter(spec)


@pytest.mark.parametrize(
    ("op", "value"),
    [
        ("in", "abc"), ("nin", 1), ("any", None), ("all", {"a": 1}), ("in", [[1]]), ("any", [math.inf]), ("in", {1, 2}), ("in", range(3)),
        ("eq", math.nan), ("ne", -math.inf), ("eq", {"a": 1}), ("eq", [[1]]), ("eq", b"x"), ("eq", object()),
        ("eq", "\ud800"), ("eq", "\x00"),
        ("lt", True), ("gt", None), ("gte", [1]), ("lte", math.nan), ("contains", [1]), ("contains", {}), ("text_match", 1),
        ("text_match_insensitive", None), ("exists", 1), ("exists", "yes"), ("is_empty", 0), ("regex", "a"), ("EQ", 1),
    ],
)  # fmt: skip
def test_faulty_operands(op: str, value: Any) -> None:
    """An operand the operator does not take is refused when the condition is made, not when it meets data."""
    with pytest.raises(InvalidInput):
        Compare(("a",), op, value)


@pytest.mark.parametrize("path", ["a", (), None, 3, ("a", 1), ("a", None), (b"a",)])
def test_faulty_paths(path: Any) -> None:
    """A path is a tuple of text; a lone str is not taken apart into letters."""
    with pytest.raises(InvalidInput):
        Compare(path, "eq", 1)
    with pytest.raises(InvalidInput):
        where(path, 1) if path != () else where()  # type: ignore[arg-type]  # a wrong key is the point


@pytest.mark.parametrize("children", [where("a").eq(1), "ab", {"a": 1}, 3, None, [None], [{"a": 1}], [And]])
@pytest.mark.parametrize("kind", [And, Or, Not])
def test_faulty_groups(kind: type[And] | type[Or] | type[Not], children: Any) -> None:
    """Groups are over filters."""
    with pytest.raises(InvalidInput):
        kind(children)
    with pytest.raises(InvalidInput):
        Predicate(children)


def test_only_filters_join() -> None:
    """Joining with anything else is Python's own type error."""
    for other in (None, True, {"a": 1}):
        with pytest.raises(TypeError):
            where("a").eq(1) & other  # type: ignore[operator]  # a wrong operand is the point
        with pytest.raises(TypeError):
            where("a").eq(1) | other  # type: ignore[operator]  # a wrong operand is the point


def test_errors_survive_numbers_that_cannot_be_written() -> None:
    """The interpreter refuses to print very long integers; a message about one must not fail over it."""
    number = 10**5000
    specs: list[Any] = [{"path": ["a"], "op": number}, {"path": [number], "op": "eq", "value": 1}, {number: []}, {"and": [number]}, number]
    for spec in specs:
        with pytest.raises(InvalidInput):
            filter_from_json(spec)
        with pytest.raises(InvalidInput):
            parse_filter(spec)
    assert matches(where("a").eq(number), {"a": number})


def nested(levels: int, width: int = 1) -> Any:
    spec: Any = {"path": ["a"], "op": "exists"}
    for _ in range(levels):
        spec = {"and": [spec] * width}
    return spec


def test_json_is_bounded() -> None:
    """S45: neither deep, nor wide, nor a small structure that unfolds into a huge one, nor one that holds itself."""
    assert filter_from_json(nested(MAX_DEPTH - 1)).depth == MAX_DEPTH
    assert filter_from_json(nested(1, MAX_NODES - 1)).size == MAX_NODES
    itself: dict[str, Any] = {}
    itself["not"] = [itself]
    for spec in (nested(MAX_DEPTH), nested(100_000), nested(1, MAX_NODES), nested(31, 1000), itself):
        with pytest.raises(InvalidInput, match="32 levels and 1000"):
            filter_from_json(spec)


def test_a_function_cannot_be_written_down() -> None:
    """JSON holds data only."""
    with pytest.raises(InvalidInput, match="function"):
        filter_to_json(where("a").eq(1) & Predicate(lambda _: True))
