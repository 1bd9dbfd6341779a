"""Memory as tools for a model: each described once, for whatever framework or server runs them.

A tool never takes a scope as an argument: whose memories it reaches is settled by whoever runs it, with ``tool_view``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from indelible.base.record import SCOPE_FIELDS, UNSET, Record
from indelible.errors import InvalidInput, RecordNotFound
from indelible.faces.scoping import ScopeValue
from indelible.faces.store import ScopedView

REQUIRED_FIELDS = ("agent_id", "user_id")
MOST_RESULTS = 50


@dataclass(frozen=True, slots=True)
class Argument:
    """What a model may say to a tool.

    Attributes:
        name: of the argument.
        type: ``str``, ``int`` or ``dict``.
        description: for the model.
        default: ``UNSET`` if it must be given.
        least, most: of an ``int``.
    """

    name: str
    type: type
    description: str
    default: Any = UNSET
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A verb that a model may call.

    Attributes:
        name: of the tool.
        description: for the model.
        arguments: what it takes.
        read_only: it changes nothing.
        destructive: it takes something out of sight. Nothing a tool does destroys: the history keeps it.
        verb: takes a view, the source to note on what is written, and the arguments; returns JSON.
    """

    name: str
    description: str
    arguments: tuple[Argument, ...]
    read_only: bool
    destructive: bool
    verb: Callable[..., Any]

    def run(self, view: ScopedView, arguments: Mapping[str, Any], *, source: str | None = None) -> Any:
        """Call it.

        Args:
            view: whose memories it reaches, from ``tool_view``.
            arguments: as the model gave them.
            source: noted on what is written.

        Raises:
            InvalidInput: an argument that it does not take, or that is refused.
            RecordNotFound: no such memory within reach; the message says what to do.
        """
        known = {argument.name for argument in self.arguments}
        for name in arguments:
            if name not in known:
                raise InvalidInput(f"{self.name} has no argument {name!r}: it takes {', '.join(sorted(known))}")
        for argument in self.arguments:
            if argument.default is UNSET and argument.name not in arguments:
                raise InvalidInput(f"{self.name} needs {argument.name}: {argument.description}")
        return self.verb(view, source, **arguments)


def tool_view(store: ScopedView, scope: Mapping[str, ScopeValue]) -> ScopedView:
    """Narrow a store to whom a call of a tool is for.

    A field that is neither given nor bound by the store is filled from ``MEMORY_AGENT_ID``, ``MEMORY_USER_ID``, ``MEMORY_ORG_ID`` or
    ``MEMORY_WORKSPACE_ID``. Agent and user must come from somewhere.

    Args:
        store: a store or a view of one, whose bounds cannot be left.
        scope: fields as given; ``None`` for "any", ``UNSET`` or absent for "not given".

    Raises:
        InvalidInput: agent or user is missing, or a field contradicts the view.
    """
    values: list[ScopeValue] = []
    for name, bound in zip(SCOPE_FIELDS, store.bound, strict=True):
        value = scope.get(name, UNSET)
        if value is UNSET and bound is UNSET:
            value = os.environ.get(f"MEMORY_{name.upper()}") or UNSET
            if value is UNSET and name in REQUIRED_FIELDS:
                raise InvalidInput(f"{name} is missing: a tool must know whose memories it reaches; give it, or None for any")
        values.append(UNSET if value is None else value)
    return store.scope(*values)


def _shown(record: Record) -> dict[str, Any]:
    about = {"id": record.id, "content": record.content, "date": f"{record.occurred_at:%Y-%m-%d}"}
    return about | ({"source": record.source} if record.source else {})


def _written(record: Record) -> dict[str, Any]:
    return {"id": record.id, "version": record.version}


def _not_found(id: str) -> RecordNotFound:
    return RecordNotFound(f"no memory with id {str(id)[:80]!r} in this scope: recall or search first, and use an id from there")


def _remember(view: ScopedView, source: str | None, content: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return _written(view.remember(content, metadata=metadata, source=source))


def _recall(view: ScopedView, source: str | None, query: str, limit: int = 5) -> list[dict[str, Any]]:
    return [_shown(hit.record) for hit in view.recall(query, mode="hybrid", limit=limit)]


def _search(view: ScopedView, source: str | None, query: str, limit: int = 10) -> list[dict[str, Any]]:
    return [_shown(hit.record) for hit in view.search(query, limit=limit)]


def _edit(view: ScopedView, source: str | None, id: str, content: str) -> dict[str, Any]:
    try:
        return _written(view.edit(id, content, source=source))
    except RecordNotFound:
        raise _not_found(id) from None


def _forget(view: ScopedView, source: str | None, id: str) -> dict[str, Any]:
    if not view.forget(id):
        raise _not_found(id)
    return {"forgotten": id}


def _history(view: ScopedView, source: str | None, id: str) -> list[str]:
    changes = view.history(id)
    if not changes:
        raise _not_found(id)
    return [str(change) for change in changes]


_ID = Argument("id", str, "The memory's id, as remember, recall and search give it.")
_WORDS = Argument("query", str, "What to look for.")

REMEMBER = MemoryTool(
    "remember",
    "Keep a fact for later conversations: one self-contained sentence each. Do not keep what is already known; change that with edit.",
    (
        Argument("content", str, "The fact, understandable without this conversation."),
        Argument("metadata", dict, "Labels to filter by, such as a topic.", None),
    ),
    read_only=False,
    destructive=False,
    verb=_remember,
)
RECALL = MemoryTool(
    "recall",
    "Find memories by meaning and by words, the best first. Use it before answering what may depend on earlier conversations.",
    (_WORDS, Argument("limit", int, "How many at most.", 5, 1, MOST_RESULTS)),
    read_only=True,
    destructive=False,
    verb=_recall,
)
SEARCH = MemoryTool(
    "search",
    "Find memories that hold all of these words, the best first. Use it for names, codes and exact terms.",
    (_WORDS, Argument("limit", int, "How many at most.", 10, 1, MOST_RESULTS)),
    read_only=True,
    destructive=False,
    verb=_search,
)
EDIT = MemoryTool(
    "edit",
    "Replace the text of a memory that is no longer right. What it said before stays in its history.",
    (_ID, Argument("content", str, "The new text, whole.")),
    read_only=False,
    destructive=False,
    verb=_edit,
)
FORGET = MemoryTool(
    "forget",
    "Take a memory out of use because it is wrong or unwanted.",
    (_ID,),
    read_only=False,
    destructive=True,
    verb=_forget,
)
HISTORY = MemoryTool(
    "history",
    "See everything a memory has said and when it changed, the oldest first.",
    (_ID,),
    read_only=True,
    destructive=False,
    verb=_history,
)
TOOLS = (REMEMBER, RECALL, SEARCH, EDIT, FORGET, HISTORY)
READ_TOOLS = tuple(tool for tool in TOOLS if tool.read_only)
