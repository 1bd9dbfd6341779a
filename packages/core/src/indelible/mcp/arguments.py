"""Arguments as clients send them: whose memories a call is about, and the names that older clients use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indelible.base.record import SCOPE_FIELDS, UNSET, ScopeFilter
from indelible.errors import InvalidInput
from indelible.faces.scoping import ScopeValue
from indelible.tools import MemoryTool

ALIASES = {"observer_id": "agent_id", "observed_id": "user_id", "fact": "content", "topic": "query", "top_k": "limit"}
"""Names of older clients. ``topic`` of a memory to be kept is a label of it."""
_WHOSE = {
    "agent_id": "The agent whose memory it is.",
    "user_id": "The user whom it is about.",
    "org_id": "Only this organisation.",
    "workspace_id": "Only this project or workspace.",
}


def scope_schema(bound: ScopeFilter) -> dict[str, Any]:
    """The schema of the scope arguments that the server leaves open."""
    return {
        name: {"type": ["string", "null"], "description": f"{about} Left out: as the server is set up; null: any."}
        for (name, about), value in zip(_WHOSE.items(), bound, strict=True)
        if value is UNSET
    }


def parted(tool: MemoryTool, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, ScopeValue]]:
    """A call's own arguments, under their present names, and its scope.

    Raises:
        InvalidInput: a value is given under two names and they differ, or a scope is no text.
    """
    own: dict[str, Any] = {}
    for name, value in given.items():
        _put(own, _present_name(tool, name), value, name)
    if tool.name == "remember" and "topic" in own:
        _label(own, own.pop("topic"))
    scope: dict[str, ScopeValue] = {}
    for name in SCOPE_FIELDS:
        if name in own:
            value = own.pop(name)
            if value is not None and not isinstance(value, str):
                raise InvalidInput(f"{name} must be text or null, got {type(value).__name__}")
            scope[name] = value
    return own, scope


def _present_name(tool: MemoryTool, name: str) -> str:
    present = ALIASES.get(name, name)
    known = present in SCOPE_FIELDS or any(field.name == present for field in tool.fields)
    return present if known else name


def _put(own: dict[str, Any], name: str, value: Any, given_as: str) -> None:
    if name in own and own[name] != value:
        raise InvalidInput(f"{name} is given twice, also as {given_as}, with different values: give one")
    own[name] = value


def _label(own: dict[str, Any], topic: Any) -> None:
    labels = own.get("metadata")
    if labels is not None and not isinstance(labels, dict):
        return  # refused with the other arguments
    own["metadata"] = {"topic": topic, **(labels or {})}
