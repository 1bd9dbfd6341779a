"""A payload's fields as text: those that say where a record belongs, and what a revision makes of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from indelible.base.canonical import dumps, loads
from indelible.base.draft import Fields
from indelible.base.record import Namespace, Scope


def slot_fields(namespace: Namespace, scope: Scope, key: str | None) -> dict[str, str]:
    """The payload fields that say where a record belongs; absent ones have no value."""
    fields = dict(_slice_fields(namespace, scope))
    if key is not None:
        fields["key"] = dumps(key)
    return fields


@lru_cache(maxsize=1024)
def _slice_fields(namespace: Namespace, scope: Scope) -> dict[str, str]:
    fields = {name: dumps(value) for name, value in zip(Scope._fields, scope, strict=True) if value is not None}
    if namespace:
        fields["namespace"] = dumps(list(namespace))
    return fields


def merge_fields(body: str, changes: Fields) -> dict[str, str]:
    """A payload with some fields replaced; a field changed to ``null`` goes, and so does what named the write and not the state."""
    old: dict[str, Any] = loads(body)
    fields = {name: dumps(value) for name, value in old.items() if name != "idempotency_key"}
    fields.update(changes)
    return {name: text for name, text in fields.items() if text != "null"}
