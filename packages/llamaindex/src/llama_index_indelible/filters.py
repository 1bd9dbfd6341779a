"""LlamaIndex's metadata filters as filters of the core.

What each operator means is what LlamaIndex's own reference says, extended to nested filters. Where stores disagree:

* a missing key, or null, matches ``!=``, ``nin``, ``is_empty`` and ``NOT``; ``== None`` matches nothing (ask ``is_empty``);
* numbers compare as numbers, text by code point, and different kinds never match in any order; a filter cannot hold a bool, so 1 and 0
  equal true and false too;
* ``text_match`` is a literal, case-sensitive piece of text; ``contains`` a member of a list or a piece of text;
* ``any []`` matches nothing, ``all []`` every list, ``in []`` nothing, ``nin []`` everything; ``in`` with a single value is an error;
* ``NOT`` is "none of these"; no condition is ``AND``; an empty group says nothing;
* keys are literal: a dot, quote or dollar in one is itself. ``doc_id``, ``document_id`` and ``ref_doc_id`` are the source document where
  the metadata has no such key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from indelible import Filter, InvalidInput, Record
from indelible.search.filter_tree import And, Compare, Not, Or
from indelible.search.filters import matches

SOURCE_KEYS: Final = ("doc_id", "document_id", "ref_doc_id")
TYPE_KEY: Final = "_node_type"
_BEYOND_METADATA: Final = frozenset({*SOURCE_KEYS, TYPE_KEY})
_EVERYTHING: Final = And(())
_NOTHING: Final = Or(())
_OPS: Final = {
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
    FilterOperator.TEXT_MATCH: "text_match",
    FilterOperator.TEXT_MATCH_INSENSITIVE: "text_match_insensitive",
}
_GROUPS: Final[dict[FilterCondition | None, type[And] | type[Or] | type[Not]]] = {
    None: And,
    FilterCondition.AND: And,
    FilterCondition.OR: Or,
    FilterCondition.NOT: Not,
}


@dataclass(frozen=True)
class Conditions:
    """What a search of the core is narrowed by.

    Attributes:
        filters: conditions on metadata.
        accept: conditions on the whole record, where metadata are not enough.
    """

    filters: Filter | None = None
    accept: Callable[[Record], bool] | None = None

    @property
    def empty(self) -> bool:
        """Whether they leave everything in."""
        return self.filters is None and self.accept is None


def conditions(filters: MetadataFilters | None) -> Conditions:
    """The conditions that a filter of LlamaIndex stands for.

    Raises:
        InvalidInput: an operand that its operator cannot have. A filter is never quietly wider than it was meant.
    """
    tree = None if filters is None else _group(filters)
    if tree is None or not _mentions(filters, _BEYOND_METADATA):
        return Conditions(tree)
    return Conditions(accept=lambda record: matches(tree, _seen(record)))


def _seen(record: Record) -> dict[str, Any]:
    node = record.value if isinstance(record.value, dict) else {}
    known = dict.fromkeys(SOURCE_KEYS, record.parent) if record.parent is not None else {}
    return {TYPE_KEY: node.get("class_name", "TextNode"), **known, **record.metadata}


def _mentions(filters: object, keys: frozenset[str]) -> bool:
    if isinstance(filters, MetadataFilters):
        return any(_mentions(child, keys) for child in filters.filters)
    return isinstance(filters, MetadataFilter) and filters.key in keys


def _group(filters: MetadataFilters) -> Filter | None:
    """A group, ``None`` if it says nothing."""
    if filters.condition not in _GROUPS:
        raise InvalidInput(f"unknown filter condition {filters.condition!r}")
    children = [_group(child) if isinstance(child, MetadataFilters) else _condition(child) for child in filters.filters]
    telling = [child for child in children if child is not None]
    return _GROUPS[filters.condition](telling) if telling else None


def _condition(condition: MetadataFilter) -> Filter:
    path, operator = (condition.key,), condition.operator
    value: Any = condition.value
    if operator in _OPS:
        return Compare(path, _OPS[operator], value)
    if operator is FilterOperator.IS_EMPTY:
        return Compare(path, "is_empty")
    if operator is FilterOperator.EQ:
        return _equal(path, value)
    if operator is FilterOperator.NE:
        return Not([_equal(path, value)])
    if operator is FilterOperator.CONTAINS:
        return Or([Compare(path, "contains", item) for item in _twins(value)])
    return _among(path, operator, _listed(operator, value))


def _among(path: tuple[str, ...], operator: FilterOperator, values: list[Any]) -> Filter:
    members = tuple(twin for value in values for twin in _twins(value))
    if operator is FilterOperator.IN:
        return Compare(path, "in", members)
    if operator is FilterOperator.NIN:
        return Compare(path, "nin", members)
    if operator is FilterOperator.ANY:
        return Compare(path, "any", members)
    if operator is FilterOperator.ALL:
        return And([Compare(path, "all", ()), *(Compare(path, "any", _twins(value)) for value in values)])
    raise InvalidInput(f"unknown filter operator {operator!r}")


def _equal(path: tuple[str, ...], value: Any) -> Filter:
    if value is None:
        return _NOTHING
    if isinstance(value, list):
        return Compare(path, "eq", tuple(value))
    return Compare(path, "in", _twins(value))


def _listed(operator: FilterOperator, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{operator.value} needs a list of values, got {type(value).__name__}: write [value] for a single one")
    return value


def _twins(value: Any) -> tuple[Any, ...]:
    """What equals a value: itself, and the bool that a filter cannot hold."""
    return (value, bool(value)) if not isinstance(value, str) and value in (0, 1) else (value,)
