"""The tools of the server: a model's own, with the arguments that the protocol's users know, and those that look after a store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indelible.base.record import ScopeFilter
from indelible.faces.store import MemoryStore
from indelible.mcp.arguments import scope_schema
from indelible.mcp.housekeeping import housekeeping
from indelible.mcp.options import Options
from indelible.tools import EDIT, FEEDBACK, FORGET, HISTORY, RECALL, REMEMBER, SEARCH, SEARCH_SEMANTIC, Argument, MemoryTool, schema, verbs
from indelible.tools.catalogue import LONGEST_TTL_MS

PREFIX = "memory_"
"""Of every tool's name: it stands among the tools of other servers."""
OFF_IF_READ_ONLY = ("export",)
"""Beside all that writes: a reader needs no copy of everything."""
_FILTERS = next(field for field in SEARCH_SEMANTIC.fields if field.name == "filters")


def tools(store: MemoryStore, options: Options) -> tuple[MemoryTool, ...]:
    """Every tool of the protocol, under its name without the prefix, in the order of the list.

    Args:
        store: what the housekeeping is for.
        options: what is allowed.
    """
    recall = replace(RECALL, fields=SEARCH_SEMANTIC.fields, verb=verbs.search_semantic, description=_RECALL)
    search = replace(SEARCH, fields=(*SEARCH.fields, _FILTERS))
    edit = replace(EDIT, fields=_EDIT_FIELDS)
    return (REMEMBER, recall, search, SEARCH_SEMANTIC, edit, FORGET, HISTORY, FEEDBACK, *housekeeping(store, options))


def is_on(tool: MemoryTool, options: Options) -> bool:
    """Whether a tool may be called."""
    return not options.read_only or (tool.read_only and tool.name not in OFF_IF_READ_ONLY)


def listed(tool: MemoryTool, bound: ScopeFilter) -> dict[str, Any]:
    """A tool as the protocol lists it.

    Args:
        tool: which.
        bound: the scope that the server is bound to; what it leaves open is an argument.
    """
    about = schema(tool)
    return {
        "name": PREFIX + tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {
            "type": "object",
            "properties": {**about["properties"], **scope_schema(bound)},
            "required": about["required"],
        },
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


_RECALL = (
    "Find memories nearest in meaning, with a score from -1 to 1, the best first. "
    "Use it at the start of a task and before answering what may depend on earlier conversations."
)
_EDIT_FIELDS = (
    EDIT.fields[0],
    Argument("content", str, "The new text, whole; leave out to keep it.", None),
    Argument("metadata", dict[str, Any], "New labels, whole; leave out to keep those it has.", None),
    Argument("ttl_ms", int, "Milliseconds from now until it is no longer shown; null for ever.", None, 1, LONGEST_TTL_MS),
)
