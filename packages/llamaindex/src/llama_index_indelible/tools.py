"""The memory tools of the core as tools of LlamaIndex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from indelible import InvalidInput, MemoryStore, Rerank
from indelible.base.record import UNSET
from indelible.embed.reranker import Reranker
from indelible.faces.scoping import ScopeValue
from indelible.faces.store import ScopedView
from indelible.faces.threads import on_a_thread
from indelible.tools import TOOLS, MemoryTool, Policy, Toolbox, tool_view
from indelible.tools.toolbox import shown
from llama_index_indelible.opening import PathLike, opened


class IndelibleToolSpec(BaseToolSpec):
    """Tools with which a model keeps memories: remember, recall, search, search_semantic, edit, forget, history, feedback, list.

    Whose memories they are is bound here, as ``partial_params`` of the tools, and cannot be said by the model, whatever it passes. A field
    that is not given is what the view is bound to, else ``MEMORY_AGENT_ID`` and so on; agent and user must come from somewhere. What goes
    wrong is raised, with a text that a model can act on: agents hand it on as the tool's answer.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: a store or a bound view of one, in place of a path.
        tools: others, or more, of ``indelible.tools``, or of your own: ``[*TOOLS, *FACT_TOOLS]``, say.
        read_only: only those that change nothing.
        agent_id, user_id, org_id, workspace_id: whose memories; ``None`` for any.
        source: noted on what is written, so that ``withdraw(source=...)`` undoes it: a session, say.
        prefix: before each tool's name, for agents that have a ``search`` already.
        policy: what the model may do; by default any number of writes, and texts that look like secrets or instructions kept aside.
        rerank: as for ``Toolbox``: what recall and search_semantic find is looked at once more.

    Raises:
        InvalidInput: it is not settled whose memories these are, or the view is bound to somebody else's.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: ScopedView | None = None,
        tools: Sequence[MemoryTool] = TOOLS,
        read_only: bool = False,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
        source: str | None = None,
        prefix: str = "",
        policy: Policy | None = None,
        rerank: bool | Rerank | Reranker | None = None,
    ) -> None:
        self.store = opened(path, store) if store is None or isinstance(store, MemoryStore) else store
        scope = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
        self.scope: dict[str, ScopeValue] = {name: value for name, value in scope.items() if value is not UNSET}
        tool_view(self.store, self.scope)  # so that the program hears of it and not the model
        self.source = source
        self.prefix = prefix
        chosen = [tool for tool in tools if tool.read_only] if read_only else tools
        self._toolbox = Toolbox(self.store, tools=chosen, policy=policy or Policy(max_writes=None), rerank=rerank)
        self._named = {tool.name: tool for tool in self._toolbox.tools}
        self.spec_functions = [*self._named]

    def to_tool_list(
        self,
        spec_functions: Sequence[str | tuple[str, str]] | None = None,
        func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """The tools, or those of some names, each able to be called and awaited.

        Raises:
            InvalidInput: a name of none of them.
        """
        described = func_to_metadata_mapping or {}
        names = [name if isinstance(name, str) else name[0] for name in spec_functions or self.spec_functions]
        for name in names:
            if name not in self.spec_functions:
                raise InvalidInput(f"there is no tool {name!r} here: it is one of {', '.join(map(str, self.spec_functions))}")
        return [self._tool(self._named[name], described.get(name)) for name in names]

    def _tool(self, tool: MemoryTool, metadata: ToolMetadata | None) -> FunctionTool:
        names = [argument.name for argument in tool.fields]

        def call(*given: Any, scope: Mapping[str, ScopeValue], **arguments: Any) -> str:
            toolbox = self._toolbox.within(tool_view(self.store, scope), session=self.source)
            return shown(toolbox.run(tool.name, {**dict(zip(names, given, strict=False)), **arguments}))

        async def acall(*given: Any, **arguments: Any) -> str:
            return await on_a_thread(partial(call, *given, **arguments))

        described = metadata or ToolMetadata(name=f"{self.prefix}{tool.name}", description=tool.description, fn_schema=tool.arguments)
        return _Bound(fn=call, async_fn=acall, metadata=described, partial_params={"scope": self.scope})


class _Bound(FunctionTool):
    """A tool whose bound arguments cannot be replaced by those of a call, as LlamaIndex lets them be."""

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        return super().call(*args, **{**kwargs, **self.partial_params})

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        return await super().acall(*args, **{**kwargs, **self.partial_params})
