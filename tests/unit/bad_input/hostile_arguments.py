"""Values that no parameter wants, or that mean something to somebody: wrong types, wrong sizes, wrong shapes, other people's syntax."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID


class Colour(Enum):
    RED = "red"


class Text(str):
    """Looks like a ``str`` and is another type."""

    __slots__ = ()


class Whole(int):
    """Looks like an ``int`` and is another type."""


class Table(dict[str, Any]):
    """Looks like a ``dict`` and is another type."""


def deep_list(depth: int = 10_000) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def deep_object(depth: int = 10_000) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def circular_list() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def circular_object() -> dict[str, Any]:
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    return value


def long_whole() -> int:
    """More digits than the interpreter writes in one piece."""
    return 10**5000


# Each is made anew for each call, so that one call cannot spoil the next.
HOSTILE: dict[str, Callable[[], object]] = {
    "none": lambda: None,
    "true": lambda: True,
    "false": lambda: False,
    "zero": lambda: 0,
    "one": lambda: 1,
    "minus one": lambda: -1,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**70": lambda: 2**70,
    "-2**70": lambda: -(2**70),
    "5000 digits": long_whole,
    "half": lambda: 0.5,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "complex": lambda: 1j,
    "decimal": lambda: Decimal("1.5"),
    "fraction": lambda: Fraction(1, 3),
    "int subclass": lambda: Whole(1),
    "empty": lambda: "",
    "blank": lambda: " \t\n",
    "letter": lambda: "a",
    "NUL": lambda: "a\x00b",
    "lone surrogate": lambda: "a\ud800b",
    "control characters": lambda: "\x01\x1b[2J\x1f\x7f\u202e\u200b\U000e0041",
    "line breaks": lambda: "a\nb\r\nc\u2028d",
    "2 MiB": lambda: "x" * (2 << 20),
    "2 MiB beyond ASCII": lambda: "ü" * (1 << 20),
    "a quote": lambda: "' OR 1=1; DROP TABLE event; --",
    "full-text syntax": lambda: 'a AND NEAR("b" c) OR words:d* -e ^f (',
    "pattern": lambda: "%_\\*?[a-z]",
    "JSON path": lambda: '$."a".b[0]',
    "a path": lambda: "../../nowhere/\x01",
    "a date": lambda: "2026-13-45",
    "an id": lambda: "00000000-0000-7000-8000-000000000000",
    "str subclass": lambda: Text("a"),
    "bytes": lambda: b"bytes",
    "bytearray": lambda: bytearray(b"bytes"),
    "memoryview": lambda: memoryview(b"bytes"),
    "empty list": list,
    "list of none": lambda: [None],
    "list of text": lambda: ["a", "a"],
    "list of numbers": lambda: [1, 2.5],
    "list of nan": lambda: [math.nan],
    "list of lone surrogate": lambda: ["\ud800"],
    "long list": lambda: ["a"] * 5000,
    "deep list": deep_list,
    "circular list": circular_list,
    "empty dict": dict,
    "dict": lambda: {"a": 1},
    "dict of operators": lambda: {"$where": "1", "a": {"$gt": 1, "$regex": ".*"}, "and": [], "__class__": "x"},
    "dict with number keys": lambda: {1: 2},
    "dict with hostile key": lambda: {"a' OR 1=1 --\x00": "\ud800"},
    "dict of nan": lambda: {"a": math.nan},
    "dict of bytes": lambda: {"a": b"b"},
    "deep dict": deep_object,
    "circular dict": circular_object,
    "dict subclass": lambda: Table(a=1),
    "empty tuple": tuple,
    "tuple": lambda: ("a", "b"),
    "tuple of none": lambda: (None,),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "range": lambda: range(3),
    "generator": lambda: (number for number in range(3)),
    "object": object,
    "class": lambda: str,
    "function": lambda: len,
    "lambda": lambda: lambda *args, **kwargs: args,
    "exception": lambda: ValueError("x"),
    "enum": lambda: Colour.RED,
    "uuid": lambda: UUID(int=7),
    "path": lambda: Path("no", "such", "file"),
    "naive time": lambda: datetime(2026, 1, 1),
    "time": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    "first time": lambda: datetime.min.replace(tzinfo=UTC),
    "last time": lambda: datetime.max.replace(tzinfo=UTC),
    "calendar date": lambda: date(2026, 1, 1),
    "duration": lambda: timedelta(days=1),
    "ellipsis": lambda: ...,
}
