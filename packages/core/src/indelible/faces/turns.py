"""Conversations: from turns as callers have them to arguments of ``remember``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from indelible.errors import InvalidInput


def turn_item(turn: object, session: str | None, date: datetime | None) -> dict[str, Any] | None:
    """The arguments of ``remember`` for a turn; ``None`` for one that says nothing.

    Args:
        turn: a ``(role, text)`` pair, or a mapping with ``role`` and ``content`` (or ``text``) and any argument of ``remember``.
        session, date: the parent, and when it happened, where the turn does not say.

    Raises:
        InvalidInput: it is neither, or its metadata is no dict.
    """
    role, item = _role_and_arguments(turn)
    if isinstance(item["content"], str) and not item["content"].strip():
        return None
    item.setdefault("parent", session)
    item.setdefault("occurred_at", date)
    if role is not None:
        metadata = {} if item.get("metadata") is None else item["metadata"]
        if not isinstance(metadata, dict):
            raise InvalidInput(f"metadata must be a dict with str keys, got {type(metadata).__name__}")
        item["metadata"] = {**metadata, "role": role}
        item.setdefault("source", role)
    return item


def _role_and_arguments(turn: object) -> tuple[Any, dict[str, Any]]:
    if isinstance(turn, Mapping):
        item = dict(turn)
        role = item.pop("role", None)
        item["content"] = item.pop("content", item.pop("text", None))
        return role, item
    if isinstance(turn, Sequence) and not isinstance(turn, str | bytes) and len(turn) == 2:
        return turn[0], {"content": turn[1]}
    raise InvalidInput(f"expected a (role, text) pair or a dict with role and content, got {type(turn).__name__}")
