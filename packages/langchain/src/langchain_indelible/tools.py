"""The memory tools of the core as tools of LangChain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, create_model

from indelible import InvalidInput, RecordNotFound
from indelible.base.record import UNSET, Unset
from indelible.faces.store import ScopedView
from indelible.tools import EDIT, FORGET, HISTORY, RECALL, REMEMBER, SEARCH, Argument, MemoryTool
from langchain_indelible.scoping import Binding, ScopeFrom, ScopeValue, thread_of

TOOLS = (REMEMBER, RECALL, SEARCH, EDIT, FORGET, HISTORY)
READ_TOOLS = tuple(tool for tool in TOOLS if tool.read_only)


def memory_tools(
    store: ScopedView,
    *,
    read_only: bool = False,
    agent_id: ScopeValue = UNSET,
    user_id: ScopeValue = UNSET,
    org_id: ScopeValue = UNSET,
    workspace_id: ScopeValue = UNSET,
    scope_from: ScopeFrom | None = None,
    source: str | None = None,
    prefix: str = "",
) -> list[BaseTool]:
    """Tools with which a model keeps memories: remember, recall, search, edit, forget, history.

    Whose memories they are is settled per call and cannot be said by the model: what is given here, else fields of the same names in the
    run's context (``create_agent(context_schema=...)``) or its ``configurable``, else what the view is bound to, else the environment's
    ``MEMORY_AGENT_ID`` and so on. Agent and user must come from somewhere.

    Args:
        store: a store or a bound view of one.
        read_only: only recall, search and history.
        agent_id, user_id, org_id, workspace_id: fixed for every call; ``None`` for any.
        scope_from: reads the fields off a run in another way.
        source: noted on what is written; by default the thread of the run, so that ``withdraw(source=...)`` undoes what came of it.
        prefix: before each tool's name, for agents that have a ``search`` already.
    """
    binding = Binding({"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}, scope_from)
    return [_structured(tool, store, binding, source, prefix) for tool in (READ_TOOLS if read_only else TOOLS)]


class MemoryToolkit(BaseToolkit):
    """The tools of ``memory_tools`` as a toolkit; the same arguments as attributes."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: ScopedView
    read_only: bool = False
    agent_id: str | None | Unset = UNSET
    user_id: str | None | Unset = UNSET
    org_id: str | None | Unset = UNSET
    workspace_id: str | None | Unset = UNSET
    scope_from: ScopeFrom | None = None
    source: str | None = None
    prefix: str = ""

    def get_tools(self) -> list[BaseTool]:
        """The tools."""
        return memory_tools(**{name: getattr(self, name) for name in type(self).model_fields})


def _structured(tool: MemoryTool, store: ScopedView, binding: Binding, source: str | None, prefix: str) -> StructuredTool:
    def call(config: RunnableConfig, **arguments: Any) -> str:
        view = binding.view(store, config)  # what is missing here is the program's fault and not for the model to mend
        try:
            result = tool.run(view, arguments, source=source or thread_of(config))
        except (InvalidInput, RecordNotFound) as error:
            raise ToolException(str(error)) from error
        return json.dumps(result, ensure_ascii=False)

    async def acall(config: RunnableConfig, **arguments: Any) -> str:
        return await run_in_executor(config, partial(call, config, **arguments))

    return StructuredTool(
        name=f"{prefix}{tool.name}",
        description=tool.description,
        args_schema=_schema(tool.name, tool.fields),
        func=call,
        coroutine=acall,
        handle_tool_error=True,
        handle_validation_error=_explained,
        metadata={"read_only": tool.read_only, "destructive": tool.destructive},
    )


def _explained(error: Any) -> str:
    """Which arguments were wrong, for the model; a bare "validation error" helps nobody."""
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())


def _schema(name: str, arguments: Sequence[Argument]) -> type[BaseModel]:
    return create_model(f"{name.title()}Arguments", **{argument.name: _field(argument) for argument in arguments})


def _field(argument: Argument) -> Any:
    kind: Any = argument.type
    if argument.default is None:
        kind = kind | None
    default = ... if argument.default is UNSET else argument.default
    return kind, Field(default, description=argument.description, ge=argument.least, le=argument.most)
