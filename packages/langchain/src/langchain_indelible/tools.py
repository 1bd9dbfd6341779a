"""The memory tools of the core as tools of LangChain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, ToolException
from pydantic import ConfigDict

from indelible import IndelibleError, Rerank, StoreClosed
from indelible.base.record import UNSET, Unset
from indelible.embed.reranker import Reranker
from indelible.faces.store import ScopedView
from indelible.tools import TOOLS, MemoryTool, Policy, Toolbox
from indelible.tools.toolbox import shown
from langchain_indelible.scoping import Binding, ScopeFrom, ScopeValue, thread_of


def memory_tools(
    store: ScopedView,
    *,
    tools: Sequence[MemoryTool] = TOOLS,
    read_only: bool = False,
    agent_id: ScopeValue = UNSET,
    user_id: ScopeValue = UNSET,
    org_id: ScopeValue = UNSET,
    workspace_id: ScopeValue = UNSET,
    scope_from: ScopeFrom | None = None,
    source: str | None = None,
    prefix: str = "",
    policy: Policy | None = None,
    rerank: bool | Rerank | Reranker | None = None,
) -> list[BaseTool]:
    """Tools with which a model keeps memories: remember, recall, search, search_semantic, edit, forget, history, feedback, list.

    What goes wrong with a call is its answer, in words that a model can act on.

    Whose memories they are is settled per call and cannot be said by the model: what is given here, else fields of the same names in the
    run's context (``create_agent(context_schema=...)``) or its ``configurable``, else what the view is bound to, else the environment's
    ``MEMORY_AGENT_ID`` and so on. Agent and user must come from somewhere.

    Args:
        store: a store or a bound view of one.
        tools: others, or more, of ``indelible.tools``, or of your own: ``[*TOOLS, *FACT_TOOLS]``, say.
        read_only: only those that change nothing.
        agent_id, user_id, org_id, workspace_id: fixed for every call; ``None`` for any.
        scope_from: reads the fields off a run in another way.
        source: noted on what is written; by default the thread of the run, so that ``withdraw(source=...)`` undoes what came of it.
        prefix: before each tool's name, for agents that have a ``search`` already.
        policy: what the model may do; by default any number of writes, and texts that look like secrets or instructions kept aside.
        rerank: as for ``Toolbox``: what recall and search_semantic find is looked at once more.
    """
    binding = Binding({"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}, scope_from)
    chosen = [tool for tool in tools if tool.read_only] if read_only else tools
    toolbox = Toolbox(store, tools=chosen, policy=policy or Policy(max_writes=None), rerank=rerank)
    return [_structured(tool, toolbox, binding, source, prefix) for tool in toolbox.tools]


class MemoryToolkit(BaseToolkit):
    """The tools of ``memory_tools`` as a toolkit; the same arguments as attributes."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: ScopedView
    tools: Sequence[MemoryTool] = TOOLS
    read_only: bool = False
    agent_id: str | None | Unset = UNSET
    user_id: str | None | Unset = UNSET
    org_id: str | None | Unset = UNSET
    workspace_id: str | None | Unset = UNSET
    scope_from: ScopeFrom | None = None
    source: str | None = None
    prefix: str = ""
    policy: Policy | None = None
    rerank: Any = None

    def get_tools(self) -> list[BaseTool]:
        """The tools."""
        return memory_tools(**{name: getattr(self, name) for name in type(self).model_fields})


def _structured(tool: MemoryTool, toolbox: Toolbox, binding: Binding, source: str | None, prefix: str) -> StructuredTool:
    def call(config: RunnableConfig, **arguments: Any) -> str:
        view = binding.view(toolbox.view, config)  # what is missing here is the program's fault and not for the model to mend
        try:
            return shown(toolbox.within(view, session=source or thread_of(config)).run(tool.name, arguments))
        except StoreClosed:  # by the program, which has to hear of it
            raise
        except IndelibleError as error:
            raise ToolException(str(error)) from error

    async def acall(config: RunnableConfig, **arguments: Any) -> str:
        return await run_in_executor(config, partial(call, config, **arguments))

    return StructuredTool(
        name=f"{prefix}{tool.name}",
        description=tool.description,
        args_schema=tool.arguments,
        func=call,
        coroutine=acall,
        handle_tool_error=True,
        handle_validation_error=_explained,
        metadata={"read_only": tool.read_only, "destructive": tool.destructive},
    )


def _explained(error: Any) -> str:
    """Which arguments were wrong, for the model; a bare "validation error" helps nobody."""
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
