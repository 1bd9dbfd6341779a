"""Metadata filters: what a tree means, and the forms it can be given in.

``matches`` is the meaning; whatever a backend does with a filter must agree with it. Every value is compared as it is:

* a missing key (or a place inside something that is no object) matches ``ne``, ``nin``, ``is_empty`` and ``exists=false``, and nothing
  else; it also matches ``not`` of whatever it does not match;
* numbers compare as numbers, exactly, text by code point; a bool is no number; different kinds are unequal and in no order, and that
  is never an error;
* ``eq null`` matches null only, not a missing key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from indelible.errors import InvalidInput
from indelible.search.arguments import shown
from indelible.search.filter_tree import (
    MAX_DEPTH,
    MAX_NODES,
    OPERATORS,
    And,
    Compare,
    Field,
    Filter,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Scalar,
    scalar_key,
    where,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_NODES",
    "OPERATORS",
    "And",
    "Compare",
    "Field",
    "Filter",
    "Not",
    "Operand",
    "Or",
    "Path",
    "Predicate",
    "Scalar",
    "equalities",
    "filter_from_json",
    "filter_to_json",
    "has_predicate",
    "matches",
    "matching",
    "parse_filter",
    "where",
]


class _Missing:
    """The type of what is found where there is nothing."""


_MISSING: Final = _Missing()
Asked = TypeVar("Asked")
Found = object
"""What stands at a place of the metadata, or the sign that nothing does."""
_LISTS: Final = (list, tuple)


def matches(filter: Filter | None, metadata: Mapping[str, Any]) -> bool:
    """Whether a record's metadata satisfies a filter; ``None`` is satisfied by everything.

    Raises:
        InvalidInput: a ``Predicate`` raised; its exception is the cause.
    """
    if filter is None:
        return True
    if isinstance(filter, Compare):
        return holds(filter, find(filter.path, metadata))
    if isinstance(filter, And):
        return all(matches(child, metadata) for child in filter.children)
    if isinstance(filter, Or):
        return any(matches(child, metadata) for child in filter.children)
    if isinstance(filter, Not):
        return not any(matches(child, metadata) for child in filter.children)
    return _ask(filter, metadata)


def matching(filter: Filter | None, records: Iterable[tuple[Asked, Mapping[str, Any]]]) -> list[Asked]:
    """What of some records, each with its metadata, satisfies a filter.

    A function is asked about no record that breaks an equality which every match meets, wherever that stands: backends and indexes
    skip those, and whether a function is asked, and may raise, must not depend on them.

    Raises:
        InvalidInput: a ``Predicate`` raised; its exception is the cause.
    """
    first = [Compare(path, "eq", value) for path, value in equalities(filter)] if filter is not None and has_predicate(filter) else []
    return [asked for asked, metadata in records if all(matches(one, metadata) for one in first) and matches(filter, metadata)]


def has_predicate(filter: Filter) -> bool:
    """Whether a filter has a function in it."""
    return isinstance(filter, Predicate) or (not isinstance(filter, Compare) and any(map(has_predicate, filter.children)))


def holds(condition: Compare, found: Found) -> bool:
    """Whether what ``find`` found satisfies a condition."""
    return _HOLDS[condition.op](condition, found)


def find(path: Path, metadata: Mapping[str, Any]) -> Found:
    """What stands at a place of the metadata; where nothing does, a sign that is no value."""
    found: object = metadata
    for key in path:
        if not isinstance(found, (dict, Mapping)) or key not in found:
            return _MISSING
        found = found[key]
    return found


def _ask(predicate: Predicate, metadata: Mapping[str, Any]) -> bool:
    try:
        return bool(predicate.function(MappingProxyType(_own(metadata))))
    except Exception as error:
        raise InvalidInput(f"the filter function failed with {type(error).__name__}: {error}") from error


def _own(value: Any) -> Any:
    """A copy, all the way down: what a function does to lists and objects inside must change nothing for those who ask next."""
    if isinstance(value, dict | Mapping):
        return {key: _own(item) for key, item in value.items()}
    return [_own(item) for item in value] if isinstance(value, list) else value


def _equal(condition: Compare, found: object) -> bool:
    is_list, keys = condition.keys
    if not is_list:
        return scalar_key(found) == keys[0]
    return isinstance(found, _LISTS) and len(found) == len(keys) and all(map(_has_key, found, keys))


def _has_key(item: object, key: tuple[str, Scalar]) -> bool:
    return scalar_key(item) == key


def _among(condition: Compare, found: object) -> bool:
    return scalar_key(found) in condition.members


def _contains(condition: Compare, found: object) -> bool:
    if isinstance(found, _LISTS):
        return any(_among(condition, item) for item in found)
    return _has_text(condition, found)


def _has_text(condition: Compare, found: object) -> bool:
    return isinstance(found, str) and isinstance(condition.value, str) and condition.value in found


def _has_text_insensitive(condition: Compare, found: object) -> bool:
    return isinstance(found, str) and isinstance(condition.value, str) and condition.value.casefold() in found.casefold()


def _holds_any(condition: Compare, found: object) -> bool:
    return isinstance(found, _LISTS) and any(_among(condition, item) for item in found)


def _holds_all(condition: Compare, found: object) -> bool:
    return isinstance(found, _LISTS) and condition.members <= {scalar_key(item) for item in found}


def _empty(condition: Compare, found: object) -> bool:
    is_empty = found is _MISSING or found is None or found == "" or (isinstance(found, _LISTS) and not found)
    return is_empty is condition.value


def _exists(condition: Compare, found: object) -> bool:
    return (found is not _MISSING) is condition.value


_Test = Callable[[Compare, object], bool]


def _order(before: bool, equal: bool) -> _Test:
    """A test of order: what counts is whether the found value comes before the operand, or is equal to it."""

    def test(condition: Compare, found: object) -> bool:
        key = scalar_key(found)
        _, ((kind, value), *_) = condition.keys
        if key is None or key[0] != kind:
            return False
        left: Any = key[1]
        right: Any = value
        if left == right:
            return equal
        return bool(left < right if before else left > right)

    return test


_HOLDS: Final[dict[str, _Test]] = {
    "eq": _equal,
    "ne": lambda condition, found: not _equal(condition, found),
    "lt": _order(before=True, equal=False),
    "lte": _order(before=True, equal=True),
    "gt": _order(before=False, equal=False),
    "gte": _order(before=False, equal=True),
    "in": _among,
    "nin": lambda condition, found: not _among(condition, found),
    "contains": _contains,
    "any": _holds_any,
    "all": _holds_all,
    "text_match": _has_text,
    "text_match_insensitive": _has_text_insensitive,
    "exists": _exists,
    "is_empty": _empty,
}


def equalities(filter: Filter | None) -> list[tuple[Path, Scalar]]:
    """Conditions ``path == value`` that every matching record satisfies, in the sense of ``eq``.

    A backend may let an index drop whatever breaks one of them before ``matches`` decides. There may be none.
    """
    if isinstance(filter, And):
        return [found for child in filter.children for found in equalities(child)]
    if isinstance(filter, Or) and len(filter.children) == 1:
        return equalities(filter.children[0])
    if isinstance(filter, Compare):
        if filter.op == "eq" and not isinstance(filter.value, tuple):
            return [(filter.path, filter.value)]
        if filter.op == "in" and isinstance(filter.value, tuple) and len(filter.members) == 1:
            return [(filter.path, filter.value[0])]
    return []


def parse_filter(spec: object) -> Filter | None:
    """A filter from any form that callers may give one in.

    ``None`` is no filter, a ``Filter`` itself, a function of the metadata a ``Predicate``. A mapping is in JSON form (see
    ``filter_from_json``) if it has a list under ``path``, ``and``, ``or`` or ``not``; any other is a shorthand: each key a literal
    top-level key, each value a scalar that it must equal. Since the shorthand takes no lists, no mapping is both.

    Raises:
        InvalidInput: another type, or a mapping that is a faulty one of these.
    """
    if spec is None or isinstance(spec, Filter):
        return spec
    if isinstance(spec, Mapping):
        if any(isinstance(spec.get(mark), list | tuple) for mark in ("path", *_GROUPS)):
            return filter_from_json(spec)
        return _from_shorthand(spec)
    if callable(spec):
        return Predicate(spec)
    raise InvalidInput(f"a filter must be built with where(...), or be a mapping or a function, got {type(spec).__name__}")


def _from_shorthand(spec: Mapping[Any, Any]) -> Filter:
    for key, value in spec.items():
        if scalar_key(value) is None:
            raise InvalidInput(
                f"the filter on {shown(key)} has a {type(value).__name__}: the shorthand takes single values; "
                f"use where({shown(key)}) or the form with path, op and value"
            )
    conditions = [Compare((key,), "eq", value) for key, value in spec.items()]
    return conditions[0] if len(conditions) == 1 else And(conditions)


_GROUPS: Final[dict[str, type[And] | type[Or] | type[Not]]] = {"and": And, "or": Or, "not": Not}


def filter_from_json(spec: object) -> Filter:
    """A filter from its JSON form, already parsed.

    ``{"path": ["address", "city"], "op": "eq", "value": "Oslo"}``, and groups ``{"and": [...]}``, ``{"or": [...]}``, ``{"not": [...]}``.
    ``value`` may be left out for ``exists`` and ``is_empty``.

    Raises:
        InvalidInput: anything else, by name.
    """
    return _JsonReader().read(spec, 1)


class _JsonReader:
    """Reads one tree; counts nodes as it goes, since a structure that repeats a part may be far larger than it looks."""

    def __init__(self) -> None:
        self._nodes = 0

    def read(self, spec: object, depth: int) -> Filter:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise InvalidInput(f"the filter is too large: at most {MAX_DEPTH} levels and {MAX_NODES} conditions and groups")
        if not isinstance(spec, Mapping):
            raise InvalidInput(f"a filter must be an object, got {type(spec).__name__}")
        if len(spec) == 1:
            (name, children), *_ = spec.items()
            if isinstance(name, str) and name in _GROUPS:
                if not isinstance(children, list | tuple):
                    raise InvalidInput(f"{name!r} in a filter needs a list of filters, got {type(children).__name__}")
                return _GROUPS[name]([self.read(child, depth + 1) for child in children])
        return self._read_condition(spec)

    def _read_condition(self, spec: Mapping[Any, Any]) -> Compare:
        unknown = [key for key in spec if key not in ("path", "op", "value")]
        if unknown or "path" not in spec or "op" not in spec:
            raise InvalidInput(
                f"a filter has path, op and value, or one of and, or, not; got {', '.join(map(shown, list(spec)[:5])) or 'nothing'}"
            )
        if "value" not in spec and spec["op"] not in ("exists", "is_empty"):
            raise InvalidInput(f"the filter with op {shown(spec['op'])} has no value")
        return Compare(spec["path"], spec["op"], spec.get("value"))


def filter_to_json(filter: Filter) -> dict[str, Any]:
    """The JSON form of a filter; ``filter_from_json`` reads it back equal.

    Raises:
        InvalidInput: it has a ``Predicate``, which only this process knows.
    """
    if isinstance(filter, Compare):
        value = list(filter.value) if isinstance(filter.value, tuple) else filter.value
        return {"path": list(filter.path), "op": filter.op, "value": value}
    if isinstance(filter, Predicate):
        raise InvalidInput("a filter with a function in it cannot be written down: use conditions with path, op and value")
    name = next(name for name, kind in _GROUPS.items() if isinstance(filter, kind))
    return {name: [filter_to_json(child) for child in filter.children]}
