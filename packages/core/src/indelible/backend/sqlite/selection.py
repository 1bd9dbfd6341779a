"""Selections as SQL, put together from fixed pieces; every value is bound."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from indelible.backend.interface import Selection
from indelible.backend.sqlite.transaction import LABEL_END, namespace_text
from indelible.base.canonical import MAX_RECORD_BYTES
from indelible.base.record import ScopeFilter, Unset
from indelible.base.standing import FOREVER
from indelible.errors import InvalidInput

STATE_COLUMNS = (
    "s.record, s.live_from, s.live_to, s.version, s.doc, s.slice, s.key, s.parent, s.visible, s.created, s.updated, s.expires_at"
)
OF_DOCUMENT = "v.id BETWEEN s.doc * 1048576 AND s.doc * 1048576 + 1048575"
"""Which rows of ``vector v`` are of the document of a row of ``state s``."""
OF_MODELS = "v.model IN (SELECT id FROM model WHERE name IN (SELECT value FROM json_each(?)))"
"""Which rows of ``v`` are of models of some names."""
_ORDER = {
    ("created", False): "s.created, s.record",
    ("created", True): "s.created DESC, s.record DESC",
    ("updated", False): "s.updated, s.record",
    ("updated", True): "s.updated DESC, s.record DESC",
}
_JSON_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("true", "false"),
    int: ("integer", "real"),
    float: ("integer", "real"),
    str: ("text",),
}


class Conditions:
    """A WHERE clause and what is bound to it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, part: str, *values: Any) -> None:
        self._parts.append(part)
        self.values.extend(values)

    @property
    def sql(self) -> str:
        return " AND ".join(self._parts) if self._parts else "1"


def slice_conditions(selection: Selection) -> Conditions:
    """Which slices a selection reaches."""
    where = Conditions()
    if selection.namespace is not None:
        text = namespace_text(selection.namespace)
        if not selection.prefix:
            where.add("namespace = ?", text)
        elif text:
            # Everything that begins with the text lies below the same text with its end mark one higher.
            where.add("namespace >= ? AND namespace < ?", text, text[:-1] + chr(ord(LABEL_END) + 1))
    for name, value in zip(ScopeFilter._fields, selection.scope, strict=True):
        if value is None:
            where.add(f"{name} IS NULL")
        elif not isinstance(value, Unset):
            where.add(f"{name} = ?", value)
    return where


def state_conditions(selection: Selection) -> Conditions:
    """Which rows of ``state s`` (with ``payload p`` where ``equals`` is used) a selection takes."""
    where = Conditions()
    slices = slice_conditions(selection)
    if slices.values or slices.sql != "1":
        # Records are looked up by themselves: their slice may hold any number of others.
        column = "s.slice" if selection.records is None else "+s.slice"
        where.add(f"{column} IN (SELECT id FROM slice WHERE {slices.sql})", *slices.values)
    if not selection.hidden:
        where.add("s.visible = 1")
    if selection.every_version:
        pass
    elif selection.version is None:
        where.add(f"s.live_to = {FOREVER}")
    else:
        where.add("s.live_to > ? AND s.live_from <= ?", min(selection.version, FOREVER - 1), min(selection.version, FOREVER - 1))
    if selection.expiry == "live":
        where.add("(s.expires_at IS NULL OR s.expires_at > ?)", selection.now_ms)
    elif selection.expiry == "expired":
        where.add("s.expires_at <= ?", selection.now_ms)
    if selection.records is not None:
        where.add("s.record IN (SELECT raw_id(value) FROM json_each(?))", json.dumps([record.hex() for record in selection.records]))
    if selection.keys is not None:
        where.add("s.key IN (SELECT value FROM json_each(?))", listed(selection.keys, "keys"))
    if selection.parent is not None:
        where.add("s.parent = ?", selection.parent)
    for path, value in selection.equals:
        _add_equality(where, f"json_each(p.body, '$.{selection.equals_on}')", path, value)
    return where


def listed(values: Sequence[str], what: str) -> str:
    """Texts as one JSON list, to be bound.

    Raises:
        InvalidInput: they are too many for one statement.
    """
    text = json.dumps(list(values))
    if len(text) > MAX_RECORD_BYTES:
        raise InvalidInput(f"{len(values)} {what} take {len(text)} bytes as one list, the limit is {MAX_RECORD_BYTES}: give fewer")
    return text


def _add_equality(where: Conditions, fields: str, path: tuple[str, ...], value: Any) -> None:
    """A necessary condition of a value at a path; the caller still checks exactly."""
    if len(path) != 1 or type(value) not in _JSON_TYPES:
        return
    if type(value) is str:
        where.add(f"EXISTS (SELECT 1 FROM {fields} m WHERE m.key = ? AND m.type = 'text' AND m.value = ?)", path[0], value)
    elif type(value) is bool:
        where.add(f"EXISTS (SELECT 1 FROM {fields} m WHERE m.key = ? AND m.type = ?)", path[0], str(value).lower())
    elif abs(value) < 2**53:
        where.add(f"EXISTS (SELECT 1 FROM {fields} m WHERE m.key = ? AND m.type IN ('integer', 'real') AND m.value = ?)", path[0], value)


def ordering(selection: Selection) -> str:
    return f"ORDER BY {_ORDER[selection.order, selection.descending]}"


def paging(selection: Selection) -> tuple[str, tuple[int, int]]:
    limit = -1 if selection.limit is None else min(selection.limit, FOREVER)
    return "LIMIT ? OFFSET ?", (limit, min(selection.offset, FOREVER))
