"""Items: what LangGraph sees of a record, and what of a value can be kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from langgraph.store.base import Item, PutOp, SearchItem

from indelible import Change, Hit, Record
from indelible.errors import InvalidInput

TTL_FIELD: Final = "ttl_ms"
"""The field of a record's metadata that keeps its time to live, for reads that refresh it."""
_MAX_DEPTH: Final = 64


class IndelibleItem(Item):
    """An item, and the version that wrote it.

    Attributes:
        version: its position in the store's log; what ``as_of`` and ``expected_version`` take.
    """

    __slots__ = ("version",)

    def __init__(
        self, *, value: dict[str, Any], key: str, namespace: tuple[str, ...], created_at: datetime, updated_at: datetime, version: int
    ) -> None:
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.version = version


class IndelibleSearchItem(SearchItem):
    """An item that a search found, and the version that wrote it.

    Attributes:
        version: its position in the store's log; what ``as_of`` and ``expected_version`` take.
    """

    __slots__ = ("version",)

    def __init__(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: dict[str, Any],
        created_at: datetime,
        updated_at: datetime,
        score: float | None,
        version: int,
    ) -> None:
        super().__init__(namespace, key, value, created_at, updated_at, score)
        self.version = version


class ItemChange(NamedTuple):
    """One line of an item's history.

    Attributes:
        version: the event's position in the store's log.
        op: what happened: ``remember`` (put where there was nothing), ``revise`` (put over something), ``restore``, ``forget`` (deleted),
            ``touch`` (expiry moved by a read), ``purge``.
        at: when.
        item: what was put; ``None`` for a deletion, a touch, or after a purge.
        expires_at: when that stops being shown, ``None`` for never.
    """

    version: int
    op: str
    at: datetime
    item: IndelibleItem | None
    expires_at: datetime | None


class CheckedPut(PutOp):
    """A put (or, with the value ``None``, a delete) for ``batch`` that holds only if the item is at a version.

    Attributes:
        expected_version: that version, 0 for "must not exist"; otherwise the whole batch fails with ``VersionConflict``.
    """

    expected_version: int

    def __new__(
        cls,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any] | None,
        index: Literal[False] | list[str] | None = None,
        ttl: float | None = None,
        *,
        expected_version: int,
    ) -> CheckedPut:
        made = super().__new__(cls, namespace, key, value, index, ttl)
        made.expected_version = expected_version
        return made


def item_of(record: Record, depth: int) -> IndelibleItem:
    """The item of a record.

    Args:
        record: as the core returned it.
        depth: how many labels of its namespace belong to the store itself.
    """
    return IndelibleItem(
        namespace=record.namespace[depth:],
        key=record.key or record.id,
        value=value_of(record),
        created_at=record.created_at,
        updated_at=record.updated_at,
        version=record.version,
    )


def search_item_of(hit: Hit, depth: int) -> IndelibleSearchItem:
    """The item of a hit."""
    record = hit.record
    where, key = record.namespace[depth:], record.key or record.id
    return IndelibleSearchItem(where, key, value_of(record), record.created_at, record.updated_at, hit.score, record.version)


def change_of(change: Change, depth: int) -> ItemChange:
    """A line of history."""
    item = None if change.record is None else item_of(change.record, depth)
    return ItemChange(change.version, str(change.op), change.at, item, change.expires_at)


def value_of(record: Record) -> dict[str, Any]:
    """A record's value; what was written without one, by other means than this store, shows its text."""
    if isinstance(record.value, dict):
        return record.value
    return {"content": record.content} if record.value is None else {"value": record.value}


def json_value(value: object) -> dict[str, Any]:
    """A mapping as plain JSON: mappings of other types as dicts, tuples as lists, subclasses of plain types as those.

    Raises:
        InvalidInput: something in it is no JSON, which another store might drop or change without a word.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"an item's value must be a dict, got {type(value).__name__}")
    plain: dict[str, Any] = _plain(value, 1)
    return plain


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"an item's value is nested deeper than {_MAX_DEPTH} levels, or contains itself")
    if isinstance(value, Mapping):
        return {_name(name): _plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    # Not str(value) and the like: an enum's is its name.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__pos__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"an item's value holds {value!r}: only finite numbers can be stored")
        return float.__pos__(value)
    raise InvalidInput(f"an item's value holds a {kind.__name__}, which is no JSON: store its text or fields")


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidInput(f"an item's value has a key of type {type(name).__name__}: keys must be str")
    return str.__str__(name)
