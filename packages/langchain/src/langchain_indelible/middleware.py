"""Middleware that shows an agent's model what is remembered, and may remember what was said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.config import get_config
from langgraph.runtime import Runtime

from indelible import Collection, InvalidInput, Rerank, memory_block
from indelible.base.record import UNSET
from indelible.embed.reranker import Reranker
from indelible.faces.facts_read import FactReads
from indelible.faces.known import DEFAULT_LIMIT, AnyMemory
from indelible.faces.store import ScopedView
from indelible.search.budget import approximate_tokens
from langchain_indelible.blocks import question_of, said_by_user, with_block
from langchain_indelible.scoping import Binding, ScopeFrom, ScopeValue, thread_of

DEFAULT_MAX_TOKENS = 2000


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Recalls what fits the user's last message and puts it at the end of the system message of each call of the model.

    The block is made anew for each call and given to the model alone: it never enters the state, so nothing of it is checkpointed and
    nothing piles up. It stands in a tag that no memory can close, and says that it is data. Put this middleware last in the list, so that
    the block comes after whatever else makes up the prompt.

    Whose facts are shown is settled as for ``memory_tools``.

    Args:
        memory: a store, a view of one, a collection, or a key/value memory, which is shown whole.
        limit: most memories shown.
        max_tokens: most tokens of the block, its frame included.
        count_tokens: counts them; by default an estimate of four characters a token.
        rerank: as for ``ask_with_memory``.
        capture: also remember what user and model said, when the agent is done: with the thread as ``parent`` and ``source``, once even
            if the run is repeated. Needs a store or a bound view.
        agent_id, user_id, org_id, workspace_id: fixed for every run; ``None`` for any.
        scope_from: reads the fields off a run in another way.
        name: of this middleware; two in one agent need two names.

    Raises:
        InvalidInput: ``capture`` with a memory that takes no facts.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        limit: int | None = DEFAULT_LIMIT,
        max_tokens: int | None = DEFAULT_MAX_TOKENS,
        count_tokens: Callable[[str], int] = approximate_tokens,
        rerank: bool | Rerank | Reranker | None = None,
        capture: bool = False,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
        scope_from: ScopeFrom | None = None,
        name: str = "MemoryMiddleware",
    ) -> None:
        super().__init__()
        if capture and not isinstance(memory, ScopedView):
            raise InvalidInput(f"capture needs a store or a view of one to remember in, got {type(memory).__name__}")
        self.tools = []
        self._memory = memory
        self._shown: dict[str, Any] = {"limit": limit, "max_tokens": max_tokens, "count_tokens": count_tokens, "rerank": rerank}
        self._capture = capture
        self._binding = Binding({"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}, scope_from)
        self._name = name

    @property
    def name(self) -> str:
        """Of this middleware."""
        return self._name

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> ModelResponse[Any]:
        """Call the model with the block in its system message."""
        return handler(self._with_memories(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """See ``wrap_model_call``; recall runs on another thread."""
        return await handler(await run_in_executor(None, self._with_memories, request))

    def _with_memories(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        view = self._binding.view(self._memory, _config(), request.runtime.context)
        question = question_of(request.messages)
        # Without a question there is nothing to look for; a key/value memory is shown whole.
        searched = isinstance(view, FactReads | Collection)
        block = memory_block(question, view, **self._shown).tagged if question or not searched else ""
        return request.override(system_message=with_block(request.system_message, block)) if block else request

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Remember this turn, if asked to."""
        if self._capture:
            view = self._binding.view(self._memory, _config(), runtime.context)
            _remember(view, state["messages"], thread_of(_config()))
        return None

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """See ``after_agent``; on another thread."""
        return await run_in_executor(None, partial(self.after_agent, state, runtime)) if self._capture else None


def _config() -> RunnableConfig:
    """The configuration of the run around this call, empty outside one."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def _remember(view: ScopedView, messages: Sequence[BaseMessage], thread: str | None) -> None:
    """Remember the last turn of a conversation, once: a message that was remembered before is not again."""
    turns: list[dict[str, Any]] = []
    for message in _last_turn(messages):
        turn = {"role": "assistant" if isinstance(message, AIMessage) else "user", "content": str(message.text)}
        if message.id is not None:
            turn["idempotency_key"] = f"message {message.id}"
        if thread is not None:
            turn["source"] = thread
        turns.append(turn)
    if turns:
        view.remember_turns(turns, session=thread)


def _last_turn(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What the user said last and all that was answered to it."""
    begin = max((index for index, message in enumerate(messages) if said_by_user(message)), default=len(messages))
    while begin and said_by_user(messages[begin - 1]):
        begin -= 1
    said = (message for message in messages[begin:] if isinstance(message, AIMessage) or said_by_user(message))
    return [message for message in said if message.text.strip()]
