"""Canonical JSON: what passes the gate reads back equal, type for type; everything else is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.base.canonical import MAX_LABEL_BYTES, check_text, dumps, encode, loads, loads_foreign
from indelible.errors import InvalidInput

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20)


def exact(value: Any) -> Any:
    """A value with its types and the sign of its zeros spelled out, so that 1, 1.0 and True differ."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return type(value).__name__, value, math.copysign(1, value) if isinstance(value, float) else 0


@given(values)
def test_what_passes_reads_back_equal(value: Any) -> None:
    """S7: every type, every number and the sign of zero round-trip."""
    assert exact(loads(encode(value, "value"))) == exact(value)


@given(values)
def test_it_is_json_in_one_form(value: Any) -> None:
    """Keys sorted, no spaces, UTF-8 as it is; what another JSON library writes with the same settings is the same text."""
    assert dumps(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@given(st.dictionaries(texts, values, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], random: Any) -> None:
    """Two equal objects have one text."""
    keys = list(value)
    random.shuffle(keys)
    assert dumps({key: value[key] for key in keys}) == dumps(value)


@pytest.mark.parametrize("number", [2**100, -(2**63), 10**4300, -(10**9001) + 7, 10**4000, 10**4000 - 1, 1 << 200_000], ids=int.bit_length)
@pytest.mark.parametrize("inside", ["bare", "list", "object"])
def test_integers_of_any_size_are_exact(number: int, inside: str) -> None:
    """S7: also those that the interpreter refuses to write in one piece."""
    value: Any = {"bare": number, "list": [1, [number, "x", 1.5]], "object": {"b": number, "a": None}}[inside]
    assert loads(encode(value, "value")) == value


def cycle_of_lists() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def cycle_of_objects() -> dict[str, Any]:
    item: dict[str, Any] = {}
    item["self"] = [item]
    return item


def deep(levels: int) -> list[Any]:
    items: list[Any] = []
    for _ in range(levels):
        items = [items]
    return items


class Text(str):
    __slots__ = ()


REFUSED = {
    "a tuple": (1, 2),
    "a set": {1},
    "bytes": b"x",
    "not a number": math.nan,
    "infinity": -math.inf,
    "an object": object(),
    "a subclass of str": Text("x"),
    "a cycle of lists": cycle_of_lists(),
    "a cycle of objects": cycle_of_objects(),
    "10,000 levels": deep(10_000),
    "65 levels": deep(64),
    "a bad element three levels down": [1, [2, [3, {4}]]],
    "a key that is no str": {1: "x"},
    "a NUL": "a\x00b",
    "a NUL in a list": ["a\x00b"],
    "a NUL in a key": {"a\x00": 1},
    "a lone surrogate": "a\ud800",
    "a lone surrogate in a key": {"\udfff": 1},
    "too many digits": 10**2_000,
    "too many bytes": "ä" * 600,
    "too many elements": [None] * 2000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused(name: str) -> None:
    """S7: nothing is coerced, nothing crashes, and the message says what was wrong."""
    with pytest.raises(InvalidInput, match="the note"):
        encode(REFUSED[name], "the note", max_bytes=1000)


def test_objects_are_refused_where_they_are_not_wanted() -> None:
    """S7: key/value memory holds no dict, at any depth."""
    with pytest.raises(InvalidInput, match="dict"):
        encode({}, "value", objects=False)
    with pytest.raises(InvalidInput, match="dict"):
        encode([[{}]], "value", objects=False)


def test_the_deepest_accepted_value_is_accepted() -> None:
    """The limit is a limit and not one less."""
    assert loads(encode(deep(63), "value")) == deep(63)
    assert len(encode("x" * 998, "value", max_bytes=1000)) == 1000


@pytest.mark.parametrize(
    ("value", "empty"), [(1, True), (None, True), (b"x", True), ("", False), ("a\x00", True), ("\ud800", True), ("x" * 4097, True)]
)
def test_text_that_cannot_be_held_is_refused(value: object, empty: bool) -> None:
    """S2: other types, NUL, lone surrogates, and what is too long or may not be empty."""
    with pytest.raises(InvalidInput, match="the label"):
        check_text(value, "the label", empty=empty)


@pytest.mark.parametrize("text", ["", " a", "A", "é" * (MAX_LABEL_BYTES // 2), "\u202e", "\U0001f600", "a\nb"])
def test_every_other_text_is_kept_as_it_is(text: str) -> None:
    """S2: no trimming, no normalising."""
    assert check_text(text, "label") == text


def test_a_subclass_of_text_becomes_plain_text() -> None:
    """What overrides methods of str cannot reach the store."""
    assert type(check_text(Text("x"), "label")) is str


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '[{"b":{"a":1,"a":1}}]', "NaN", "[Infinity]", "-Infinity", "{", "", "[" * 100_000])
def test_foreign_json_is_read_strictly(text: str) -> None:
    """S84: a repeated key, NaN, Infinity and text that is no JSON are refused."""
    with pytest.raises(InvalidInput, match="the file"):
        loads_foreign(text, "the file")


@given(values)
def test_foreign_json_that_is_right_is_read(value: Any) -> None:
    """What we write, the strict reader reads equal."""
    assert exact(loads_foreign(dumps(value), "the file")) == exact(value)


def test_foreign_integers_of_any_size_are_read() -> None:
    """Also with whatever limit the interpreter has."""
    assert loads_foreign("[-" + "9" * 5000 + "]", "the file") == [-(10**5000) + 1]
