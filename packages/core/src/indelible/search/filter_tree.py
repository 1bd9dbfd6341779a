"""The nodes of a metadata filter, and the builder ``where``.

A filter that exists is a valid one: paths, operators, operands, depth and size are checked when a node is made, so whoever reads a tree
may recurse over it. Nodes are immutable and compare equal when they ask the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from indelible.base.canonical import MAX_METADATA_BYTES, MAX_METADATA_DEPTH, check_text
from indelible.errors import InvalidInput
from indelible.search.arguments import shown

MAX_DEPTH: Final = 32
"""Levels of a tree; a single comparison has one."""
MAX_NODES: Final = 1000
"""Comparisons, predicates and groups of a tree together."""
OPERATORS: Final = frozenset("eq ne lt lte gt gte in nin contains any all text_match text_match_insensitive exists is_empty".split())

Scalar = str | int | float | bool | None
Operand = Scalar | tuple[Scalar, ...]
Path = tuple[str, ...]
ScalarKey = tuple[str, Scalar]
"""A scalar with its kind before it, so that ``True`` and ``1`` differ while ``1`` and ``1.0`` do not."""


def scalar_key(value: object) -> ScalarKey | None:
    """What a JSON scalar is compared by; ``None`` for anything else. Python compares int and float exactly, whatever their size."""
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", value)
    return ("null", None) if value is None else None


class _Node:
    """What all nodes can do: be joined by ``&``, ``|`` and ``~``."""

    __slots__ = ()

    def __and__(self, other: Filter) -> And:
        return And(_joined(And, self, other)) if isinstance(other, _Node) else NotImplemented

    def __or__(self, other: Filter) -> Or:
        return Or(_joined(Or, self, other)) if isinstance(other, _Node) else NotImplemented

    def __invert__(self) -> Not:
        return Not((_as_filter(self),))

    def __bool__(self) -> bool:
        # `a and b` would silently be b alone: a wider filter than was written.
        raise InvalidInput("a filter is neither true nor false: join filters by &, | and ~, and compare with None by `is`")


def _joined(kind: type[And] | type[Or], *operands: _Node) -> list[Filter]:
    # A chain of the same operator stays one level deep.
    return [child for node in operands for child in (node.children if isinstance(node, kind) else (_as_filter(node),))]


@dataclass(frozen=True, slots=True)
class Compare(_Node):
    """One condition on one place of the metadata.

    Attributes:
        path: keys from the top down. Each is literal: a dot or a quote in it means itself.
        op: one of ``OPERATORS``.
        value: a JSON scalar; for ``in``, ``nin``, ``any`` and ``all`` a tuple of them; for ``eq`` and ``ne`` either; for ``lt``, ``lte``,
            ``gt`` and ``gte`` text or a number; for ``contains`` a scalar; for ``text_match`` and ``text_match_insensitive`` text; for
            ``exists`` and ``is_empty`` a bool, ``True`` if not given.
        keys: the value, or each of its members, with its kind; made from it.

    Raises:
        InvalidInput: an unknown operator, a path that is no tuple of text, an operand the operator does not take, a number that is not
            finite, text with a NUL or a lone surrogate.
    """

    path: Path
    op: str
    value: Operand = field(default=None, compare=False)
    keys: tuple[bool, tuple[ScalarKey, ...]] = field(init=False, repr=False)
    members: frozenset[ScalarKey] = field(init=False, repr=False, compare=False)

    depth: ClassVar[int] = 1
    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _checked_path(self.path))
        value = _checked_operand(self.op, self.value)
        is_list = isinstance(value, tuple)
        keys = tuple(key for key in map(scalar_key, value if isinstance(value, tuple) else (value,)) if key is not None)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "keys", (is_list, keys))
        object.__setattr__(self, "members", frozenset(keys))


@dataclass(frozen=True, slots=True)
class Predicate(_Node):
    """A condition that only Python can tell.

    Attributes:
        function: gets the metadata, read-only, and says whether it matches. What it raises becomes ``InvalidInput``.

    Raises:
        InvalidInput: the function cannot be called.
    """

    function: Callable[[Mapping[str, Any]], bool]

    depth: ClassVar[int] = 1
    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput(f"a predicate must be a function of the metadata, got {type(self.function).__name__}")


@dataclass(frozen=True, slots=True)
class _Group(_Node):
    """A node over others.

    Attributes:
        children: filters.
        depth: levels of the tree that begins here.
        size: nodes in it.

    Raises:
        InvalidInput: a child that is no filter, or a tree that is too deep or too large.
    """

    children: Sequence[Filter]
    depth: int = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.children, _Node | str | Mapping) or not isinstance(self.children, Iterable):
            raise InvalidInput(f"{type(self).__name__} needs a tuple of filters, got {type(self.children).__name__}")
        children = tuple(_as_filter(child) for child in self.children)
        depth = 1 + max((child.depth for child in children), default=0)
        size = 1 + sum(child.size for child in children)
        if depth > MAX_DEPTH:
            raise InvalidInput(f"the filter is {depth} levels deep, the limit is {MAX_DEPTH}: flatten it")
        if size > MAX_NODES:
            raise InvalidInput(f"the filter has {size} conditions and groups, the limit is {MAX_NODES}: use `in` for many values")
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "size", size)


class And(_Group):
    """Every child matches; of no children, everything does."""

    __slots__ = ()


class Or(_Group):
    """At least one child matches; of no children, nothing does."""

    __slots__ = ()


class Not(_Group):
    """No child matches (NOR); of no children, everything does."""

    __slots__ = ()


Filter = Compare | And | Or | Not | Predicate


def _as_filter(value: object) -> Filter:
    if isinstance(value, Filter):
        return value
    raise InvalidInput(f"a filter must be built with where(...), And, Or, Not or Predicate, got {type(value).__name__}")


def _checked_path(path: object) -> Path:
    if not isinstance(path, tuple | list) or not path:
        raise InvalidInput(f"the path of a filter must be a non-empty tuple of keys, got {shown(path)}")
    if len(path) > MAX_METADATA_DEPTH:
        raise InvalidInput(f"the path of a filter has {len(path)} keys; metadata is at most {MAX_METADATA_DEPTH} levels deep")
    return tuple(check_text(key, "a key in the path of a filter", max_bytes=MAX_METADATA_BYTES) for key in path)


def _checked_operand(op: object, value: object) -> Operand:
    if not isinstance(op, str) or op not in OPERATORS:
        raise InvalidInput(f"unknown filter operator {shown(op)}: use one of {', '.join(sorted(OPERATORS))}")
    if op in ("exists", "is_empty"):
        return _of_type(op, True if value is None else value, bool, "True or False")
    if op in ("text_match", "text_match_insensitive"):
        return _of_type(op, value, str, "text")
    if op in ("lt", "lte", "gt", "gte"):
        checked = _checked_scalar(op, value)
        if checked is None or isinstance(checked, bool):
            raise InvalidInput(f"{op} needs text or a number, got {shown(checked)}")
        return checked
    if isinstance(value, list | tuple) and op != "contains":
        return tuple(_checked_scalar(op, item) for item in value)
    if op in ("in", "nin", "any", "all"):
        raise InvalidInput(f"{op} needs a list of values, got {type(value).__name__}: write [value] for a single one")
    return _checked_scalar(op, value)


def _of_type(op: str, value: object, kind: type[bool] | type[str], wanted: str) -> Scalar:
    if not isinstance(value, kind):
        raise InvalidInput(f"{op} needs {wanted}, got {type(value).__name__}")
    return _checked_scalar(op, value)


def _checked_scalar(op: str, value: object) -> Scalar:
    if isinstance(value, str):
        return check_text(value, f"the value of {op}", max_bytes=MAX_METADATA_BYTES)
    if value is None or isinstance(value, bool):
        return value
    # As the number itself: a subclass may compare, hash and show itself in ways of its own.
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        number = float.__float__(value)
        if not math.isfinite(number):
            raise InvalidInput(f"{op} cannot compare with {shown(number)}: metadata holds finite numbers only")
        return number
    raise InvalidInput(f"{op} compares with text, numbers, booleans, null or a list of them, got {type(value).__name__}")


class Field:
    """One place of the metadata, waiting for its condition. Made by ``where``."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def eq(self, value: Scalar | Sequence[Scalar]) -> Compare:
        """Equal: same kind and same value, or a list with the same members in the same order."""
        return self._compare("eq", value)

    def ne(self, value: Scalar | Sequence[Scalar]) -> Compare:
        """Not equal; a missing key is not equal to anything."""
        return self._compare("ne", value)

    def lt(self, value: str | float) -> Compare:
        """Less: a number than a number, exactly, or text than text, by code point."""
        return self._compare("lt", value)

    def lte(self, value: str | float) -> Compare:
        """Less or equal."""
        return self._compare("lte", value)

    def gt(self, value: str | float) -> Compare:
        """Greater."""
        return self._compare("gt", value)

    def gte(self, value: str | float) -> Compare:
        """Greater or equal."""
        return self._compare("gte", value)

    def in_(self, values: Sequence[Scalar]) -> Compare:
        """Equal to one of a list; to none of ``[]``."""
        return self._compare("in", values)

    def nin(self, values: Sequence[Scalar]) -> Compare:
        """Equal to none of a list; a missing key is equal to none."""
        return self._compare("nin", values)

    def contains(self, value: Scalar) -> Compare:
        """A list with this element, or text with this literal piece."""
        return self._compare("contains", value)

    def any(self, values: Sequence[Scalar]) -> Compare:
        """A list that holds at least one of these; none does for ``[]``."""
        return self._compare("any", values)

    def all(self, values: Sequence[Scalar]) -> Compare:
        """A list that holds each of these; every list does for ``[]``."""
        return self._compare("all", values)

    def text_match(self, piece: str) -> Compare:
        """Text with this literal piece, case and all."""
        return self._compare("text_match", piece)

    def text_match_insensitive(self, piece: str) -> Compare:
        """Text with this piece, both case-folded."""
        return self._compare("text_match_insensitive", piece)

    def exists(self, present: bool = True) -> Compare:
        """The key is there, whatever its value; with ``False``, is not."""
        return self._compare("exists", present)

    def is_empty(self, empty: bool = True) -> Compare:
        """Missing, null, ``""`` or ``[]``; with ``False``, none of these."""
        return self._compare("is_empty", empty)

    def _compare(self, op: str, value: Any) -> Compare:
        return Compare(self._path, op, value)


def where(*path: str) -> Field:
    """Begin a condition: ``where("age").gte(3) & ~where("address", "city").eq("Oslo")``.

    Args:
        path: one literal key, or several for a place inside nested objects.

    Raises:
        InvalidInput: no key, or one that is no text.
    """
    return Field(_checked_path(path))
