"""The metadata of one slice in memory, turned inside out: for each place that filters ask about, which records hold which value.

It answers what ``filters.matches`` says of every record, asking it once for each distinct value instead of once for each record.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from indelible.base.canonical import dumps
from indelible.search.filter_tree import And, Compare, Filter, Or, Path, Predicate, scalar_key
from indelible.search.filters import Found, find, has_predicate, holds, matching

_ORDERS = {"lt", "lte", "gt", "gte"}
MAX_COLUMNS = 100
MAX_CELLS = 1_000_000
"""Columns times records; which places filters ask about is up to whoever asks, and there is no end to them."""
_CELL_BYTES = 100
_COLUMN_BYTES = 1000
_RECORD_BYTES = 500


@dataclass(slots=True)
class _Ordered:
    """The values of one kind at a place, in order, and the records that hold them, end to end.

    Attributes:
        values: distinct, ascending.
        starts: where each value's records begin among ``documents``.
        documents: of all values.
    """

    values: list[Any] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)

    def range(self, op: str, operand: Any) -> list[int]:
        """The records whose value comes before an operand, or after it, or is equal to it as well."""
        at = (bisect_left if op in ("lt", "gte") else bisect_right)(self.values, operand)
        edge = self.starts[at] if at < len(self.starts) else len(self.documents)
        return self.documents[:edge] if op in ("lt", "lte") else self.documents[edge:]


class _Column:
    """One place in the metadata of all records.

    Attributes:
        holders: for each distinct value, by what it is compared by, the value and the records that hold it.
        texts: characters of the keys of ``holders`` that were made for them.
    """

    def __init__(self) -> None:
        self.holders: dict[object, tuple[Found, set[int]]] = {}
        self.texts = 0
        self._ordered: dict[str, _Ordered] = {}

    def add(self, document: int, found: Found) -> None:
        self._ordered.clear()
        key = _key(found)
        held = self.holders.get(key)
        if held is None:
            self.holders[key] = found, {document}
            self.texts += _text_size(key)
        else:
            held[1].add(document)

    def remove(self, document: int, found: Found) -> None:
        self._ordered.clear()
        key = _key(found)
        held = self.holders[key][1]
        held.discard(document)
        if not held:
            del self.holders[key]
            self.texts -= _text_size(key)

    def match(self, condition: Compare) -> set[int]:
        """The records whose value here satisfies a condition on it."""
        is_list, keys = condition.keys
        if condition.op == "in" or (condition.op == "eq" and not is_list):
            return _union(self.holders[key][1] for key in keys if key in self.holders)
        if condition.op in _ORDERS:
            return set(self._in_order(keys[0][0]).range(condition.op, condition.value))
        return _union(documents for found, documents in self.holders.values() if holds(condition, found))

    def _in_order(self, kind: str) -> _Ordered:
        ordered = self._ordered.get(kind)
        if ordered is None:
            ordered = self._ordered[kind] = _Ordered()
            ordered.values = sorted(key[1] for key in self.holders if isinstance(key, tuple) and key[0] == kind)
            for value in ordered.values:
                ordered.starts.append(len(ordered.documents))
                ordered.documents.extend(self.holders[kind, value][1])
        return ordered


def _key(found: Found) -> object:
    """What a value is compared by; for what no scalar is compared with, its text."""
    key = scalar_key(found)
    if key is not None:
        return key
    return ("json", dumps(found)) if isinstance(found, list | tuple | dict | Mapping) else found


def _text_size(key: object) -> int:
    return len(key[1]) if isinstance(key, tuple) and key[0] == "json" else 0


def _union(sets: Iterable[set[int]]) -> set[int]:
    return set().union(*sets)


class FilterIndex:
    """Records by number, with their metadata."""

    def __init__(self) -> None:
        self._metadata: dict[int, Mapping[str, Any]] = {}
        # The one that was used last comes last.
        self._columns: dict[Path, _Column] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._metadata)

    def add(self, document: int, metadata: Mapping[str, Any]) -> None:
        """Add a record that is not there yet."""
        self._metadata[document] = metadata
        self._weight += _RECORD_BYTES + _weight(metadata)
        for path, column in self._columns.items():
            column.add(document, find(path, metadata))

    def remove(self, document: int) -> None:
        """Take a record out, if it is there."""
        metadata = self._metadata.pop(document, None)
        if metadata is None:
            return
        self._weight -= _RECORD_BYTES + _weight(metadata)
        for path, column in self._columns.items():
            column.remove(document, find(path, metadata))

    def match(self, filter: Filter) -> set[int]:
        """The records whose metadata satisfies a filter.

        Raises:
            InvalidInput: a ``Predicate`` raised.
        """
        return scan(filter, self.records()) if has_predicate(filter) else self._match(filter)

    def records(self) -> list[tuple[int, Mapping[str, Any]]]:
        """All of them, with their metadata; what is added and removed later changes nothing about these."""
        return list(self._metadata.items())

    @property
    def nbytes(self) -> int:
        """How much memory all this takes, about."""
        columns = sum(_COLUMN_BYTES + sum(map(len, path)) + column.texts for path, column in self._columns.items())
        return self._weight + columns + _CELL_BYTES * len(self._columns) * len(self._metadata)

    def _match(self, filter: Filter) -> set[int]:
        if isinstance(filter, Compare):
            return self._column(filter.path).match(filter)
        if isinstance(filter, Predicate):
            return set()  # never: they were seen to before
        found = [self._match(child) for child in filter.children]
        if isinstance(filter, And):
            return set.intersection(*sorted(found, key=len)) if found else set(self._metadata)
        either = set().union(*found)
        return either if isinstance(filter, Or) else self._metadata.keys() - either

    def _column(self, path: Path) -> _Column:
        column = self._columns.pop(path, None)
        if column is None:
            most = min(MAX_COLUMNS, MAX_CELLS // max(len(self._metadata), 1))
            while self._columns and len(self._columns) >= most:
                del self._columns[next(iter(self._columns))]
            column = _Column()
            for document, metadata in self._metadata.items():
                column.add(document, find(path, metadata))
        self._columns[path] = column
        return column


def scan(filter: Filter, records: Iterable[tuple[int, Mapping[str, Any]]]) -> set[int]:
    """The records that a filter matches, asked one by one: a function may be slow or raise, and is asked of no other.

    Raises:
        InvalidInput: a ``Predicate`` raised.
    """
    return set(matching(filter, records))


def _weight(value: object) -> int:
    """About how many bytes of memory a JSON value takes."""
    if isinstance(value, str):
        return 60 + len(value)
    if isinstance(value, dict | Mapping):
        return 240 + sum(100 + len(key) + _weight(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return 60 + sum(8 + _weight(item) for item in value)
    return 32
