"""Whose memories a running agent reaches: never a model's argument, always the program's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from indelible import InvalidInput
from indelible.base.record import SCOPE_FIELDS, UNSET, Unset
from indelible.faces.facts_read import FactReads
from indelible.faces.known import AnyMemory
from indelible.faces.store import ScopedView
from indelible.tools import REQUIRED_FIELDS, tool_view

ScopeValue = str | None | Unset
ScopeFrom = Callable[[Any, Mapping[str, Any]], Mapping[str, ScopeValue]]
"""From a run's context and its ``configurable`` to scope fields; ``None`` for any."""


@dataclass(frozen=True)
class Binding:
    """How a call finds its scope: what was fixed, else what the run says, else what the view or the environment does.

    Attributes:
        fixed: fields given when the tools or the middleware were made.
        scope_from: reads the others off a run; by default fields of the same names in its context, else in ``configurable``.
    """

    fixed: Mapping[str, ScopeValue] = field(default_factory=dict)
    scope_from: ScopeFrom | None = None

    def scope(self, config: RunnableConfig | None, context: Any = None) -> dict[str, ScopeValue]:
        """The fields that are settled for a run."""
        configurable = (config or {}).get("configurable") or {}
        found = (self.scope_from or _same_names)(_context() if context is None else context, configurable)
        unknown = set(found) - set(SCOPE_FIELDS)
        if unknown:
            raise InvalidInput(f"scope_from gave {sorted(unknown)[0]!r}: a scope has {', '.join(SCOPE_FIELDS)}")
        return {**found, **{name: value for name, value in self.fixed.items() if value is not UNSET}}

    def view(self, memory: AnyMemory, config: RunnableConfig | None, context: Any = None) -> Any:
        """The memory as this run may see it.

        Raises:
            InvalidInput: it is not settled whose facts these are, or the run contradicts the view it was given.
        """
        if isinstance(memory, ScopedView):
            return tool_view(memory, self.scope(config, context))
        if isinstance(memory, FactReads):  # of the past: bound already, or not at all
            for name, bound in zip(SCOPE_FIELDS, memory.bound, strict=True):
                if bound is UNSET and name in REQUIRED_FIELDS and self.fixed.get(name, UNSET) is not None:
                    raise InvalidInput(f"{name} is open: bind the view first, store.scope({name}=...).at(...)")
        return memory


def thread_of(config: RunnableConfig | None) -> str | None:
    """The thread of a run."""
    thread = ((config or {}).get("configurable") or {}).get("thread_id")
    return None if thread is None else str(thread)


def _context() -> Any:
    """The context of the graph run around this call, if there is one."""
    try:
        from langgraph.runtime import get_runtime

        return getattr(get_runtime(), "context", None)
    except (ImportError, RuntimeError, KeyError):  # no langgraph, or no run
        return None


def _same_names(context: Any, configurable: Mapping[str, Any]) -> dict[str, ScopeValue]:
    found: dict[str, ScopeValue] = {}
    for name in SCOPE_FIELDS:
        value = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
        value = configurable.get(name) if value is None else value
        if value is not None:
            found[name] = value
    return found
