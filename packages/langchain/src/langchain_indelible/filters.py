"""Filters as LangChain and LangGraph users write them, as filters of the core.

``{"colour": "red", "price": {"$gte": 3, "$lt": 5}}``: every field must match. What each form means:

* a plain value is equality; ``None`` matches null and missing; ``True`` is not ``1``, while ``1`` equals ``1.0``;
* a list matches a list of the same length, member by member, each by these rules;
* a dict without operators matches an object whose fields match it, others allowed;
* ``$eq`` is exact equality, of lists and dicts too; ``$ne`` is its opposite, so a missing field is not equal to anything but ``None``;
* ``$gt $gte $lt $lte`` compare numbers with numbers and text with text; anything else, missing included, does not match;
* ``$in`` and ``$nin`` take a list of single values;
* a field name with a dot means the field of that very name where there is one, else the path it spells;
* ``{"$and": [...]}``, ``{"$or": [...]}`` and ``{"$not": {...}}`` join filters. Any other operator is an error, never an empty answer.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from indelible.errors import InvalidInput
from indelible.search.filter_tree import And, Compare, Filter, Not, Or, Path, Predicate, scalar_key
from indelible.search.filters import matches

_NONE: Final = Or(())
_ORDER: Final[dict[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "$gt": ("gt", operator.gt),
    "$gte": ("gte", operator.ge),
    "$lt": ("lt", operator.lt),
    "$lte": ("lte", operator.le),
}
OPERATORS: Final = ("$eq", "$ne", *_ORDER, "$in", "$nin")
GROUPS: Final = ("$and", "$or", "$not")
_ELEMENT: Final = "element"


def parse_filter(spec: object) -> Filter | None:
    """A filter of the core from a user's mapping; ``None`` for none.

    Raises:
        InvalidInput: not a mapping, an unknown operator, or a value that no stored field can have.
    """
    if spec is None:
        return None
    if not isinstance(spec, Mapping):
        raise InvalidInput(f"a filter must be a dict of fields and what they must be, got {type(spec).__name__}")
    return And([_field(name, wanted) for name, wanted in spec.items()]) if spec else None


def _field(name: object, wanted: object) -> Filter:
    if not isinstance(name, str):
        raise InvalidInput(f"a filter's fields are named by str, got {type(name).__name__}")
    if name in GROUPS:
        return _group(name, wanted)
    if name.startswith("$") and (name in OPERATORS or not _can_be_a_field(wanted)):
        raise InvalidInput(
            f"unknown filter operator {name!r}: a field's conditions are {', '.join(OPERATORS)}, and {', '.join(GROUPS)} join"
        )
    literal: Path = (name,)
    if "." not in name:
        return _at(literal, wanted)
    there = Compare(literal, "exists")
    return Or([And([there, _at(literal, wanted)]), And([Not([there]), _at(tuple(name.split(".")), wanted)])])


def _can_be_a_field(wanted: object) -> bool:
    """Whether a name with a dollar is meant as a field: what joins filters takes lists or further fields."""
    return not isinstance(wanted, list | tuple) and (not isinstance(wanted, Mapping) or _has_operators(wanted))


def _group(name: str, wanted: object) -> Filter:
    if name == "$not" and isinstance(wanted, Mapping):
        wanted = [wanted]
    if not isinstance(wanted, list | tuple):
        raise InvalidInput(f"{name} needs a list of filters, got {type(wanted).__name__}")
    children = [And(()) if parsed is None else parsed for parsed in map(parse_filter, wanted)]
    return And(children) if name == "$and" else Or(children) if name == "$or" else Not(children)


def _at(path: Path, wanted: object) -> Filter:
    """What a place must be."""
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return And([_operator(path, name, operand) for name, operand in wanted.items()])
        fields = [_at((*path, _name(name)), inner) for name, inner in wanted.items()]
        return And([_test(path, lambda found: isinstance(found, Mapping)), *fields])
    if isinstance(wanted, list | tuple) and not all(map(_is_scalar, wanted)):
        members = [_at((_ELEMENT,), member) for member in wanted]
        return _test(path, lambda found: _members_match(found, members))
    return _equal(path, wanted)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidInput(f"a filter's fields are named by str, got {type(name).__name__}")
    return name


def _operator(path: Path, name: str, operand: Any) -> Filter:
    if name == "$eq":
        return _equal(path, operand)
    if name == "$ne":
        return Not([_equal(path, operand)])
    if name in ("$in", "$nin"):
        return Compare(path, name[1:], operand)
    if name not in _ORDER:
        raise InvalidInput(f"unknown filter operator {name!r}: use one of {', '.join(OPERATORS)}")
    op, compares = _ORDER[name]
    if isinstance(operand, float) and not math.isfinite(operand):
        return _test(path, lambda found: _is_number(found) and compares(found, operand))
    return Compare(path, op, operand) if isinstance(operand, str) or _is_number(operand) else _NONE


def _equal(path: Path, wanted: Any) -> Filter:
    if wanted is None:
        return Or([Compare(path, "eq", None), Compare(path, "exists", False)])
    if isinstance(wanted, float) and not math.isfinite(wanted):
        return _NONE
    if isinstance(wanted, Mapping) or (isinstance(wanted, list | tuple) and not all(map(_is_scalar, wanted))):
        return _test(path, lambda found: _same(found, wanted))
    return Compare(path, "eq", wanted)


def _has_operators(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in wanted)


def _is_scalar(value: object) -> bool:
    return scalar_key(value) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# What the core's conditions cannot say is asked of the found value itself.


def _test(path: Path, holds: Callable[[Any], bool]) -> Filter:
    def ask(fields: Mapping[str, Any]) -> bool:
        found: Any = fields
        for name in path:
            if not isinstance(found, Mapping) or name not in found:
                return False
            found = found[name]
        return holds(found)

    return Predicate(ask)


def _members_match(found: object, members: Sequence[Filter]) -> bool:
    if not isinstance(found, list) or len(found) != len(members):
        return False
    return all(matches(member, {_ELEMENT: item}) for member, item in zip(members, found, strict=True))


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and found.keys() == wanted.keys() and all(_same(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list | tuple):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_same, found, wanted))
    key = scalar_key(found)
    return key is not None and key == scalar_key(wanted)
