"""One conversation, held through each of the ways in which a model can call tools. No test of its own.

    python -m tests.interop.one_conversation FACE STORE SESSION TEXT [SESSION TEXT ...]

holds a part of it in this process, and prints what the model answers, a line each. What the model decides does not depend on the way.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indelible import MemoryStore
from indelible.faces.store import ScopedView

AGENT, USER = "helper", "ada"
MOST_STEPS = 6


@dataclass(frozen=True)
class Use:
    """A call that the model decides on."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


def decide(said: str, results: Sequence[str]) -> Use | str:
    """What the model does next: what it keeps, changes, looks up and forgets, or what it says.

    Args:
        said: by the user, in this turn.
        results: of the calls that it has made in this turn.
    """
    if said == "I drink green tea, and I cycle to work.":
        return (Use("remember", {"content": "Ada drinks green tea", "metadata": {"topic": "drinks"}}),
                Use("remember", {"content": "Ada cycles to work"}), "I will remember both.")[len(results)]  # fmt: skip
    if said == "I have gone over to black coffee.":
        if not results:
            return Use("recall", {"query": "what does Ada drink?", "limit": 1})
        change = Use("edit", {"id": _first(results)["id"], "content": "Ada drinks black coffee"})
        return change if len(results) == 1 else "I have changed that."
    if said == "What do I drink?":
        return str(_first(results)["content"]) if results else Use("recall", {"query": "what does Ada drink?", "limit": 1})
    if said == "Forget the bicycle.":
        if not results:
            return Use("search", {"query": "cycles"})
        return Use("forget", {"id": _first(results)["id"]}) if len(results) == 1 else "I have forgotten that."
    return "I do not know."


def _first(results: Sequence[str]) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(results[0])
    return found[0]


# The ways


def by_loop(path: Path, session: str, said: str) -> str:
    """``ask_with_tools``."""
    from indelible.tools import Message, Reply, Toolbox, ToolUse, ask_with_tools

    def model(messages: Sequence[Message], _: object) -> Reply:
        step = decide(said, [message.text for message in messages if message.role == "tool"])
        return Reply(step) if isinstance(step, str) else Reply(uses=(ToolUse(step.tool, step.arguments),))

    with MemoryStore(path) as store:
        return ask_with_tools(said, Toolbox(_whose(store), session=session), model).value


def by_langchain(path: Path, session: str, said: str) -> str:
    """An agent of LangChain."""
    from langchain.agents import create_agent
    from langchain_core.messages import BaseMessage, HumanMessage

    from langchain_indelible import memory_tools
    from tests.interop.langchain.models import ScriptedChatModel, calling

    def model(messages: Sequence[BaseMessage]) -> Any:
        step = decide(said, [str(message.text) for message in messages if message.type == "tool"])
        return step if isinstance(step, str) else calling(step.tool, **step.arguments)

    with MemoryStore(path) as store:
        agent: Any = create_agent(ScriptedChatModel(answers=[model]), tools=memory_tools(_whose(store), source=session))
        return str(agent.invoke({"messages": [HumanMessage(said)]})["messages"][-1].text)


def by_llamaindex(path: Path, session: str, said: str) -> str:
    """A function agent of LlamaIndex."""
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from pydantic import PydanticDeprecationWarning

    from llama_index_indelible import IndelibleToolSpec
    from tests.interop.llamaindex.models import ScriptedChat, calling

    warnings.simplefilter("ignore", PydanticDeprecationWarning)  # LlamaIndex looks at every attribute of an agent, old ones too

    def model(messages: Sequence[ChatMessage]) -> Any:
        step = decide(said, [str(message.content) for message in messages if message.role == MessageRole.TOOL])
        return step if isinstance(step, str) else calling(step.tool, **step.arguments)

    async def talk(store: MemoryStore) -> str:
        tools = IndelibleToolSpec(store=_whose(store), source=session).to_tool_list()
        agent = FunctionAgent(tools=[*tools], llm=ScriptedChat(answers=[model] * MOST_STEPS), streaming=False)
        reply: Any = await agent.run(said)
        return str(reply.response.content)

    with MemoryStore(path) as store:
        return asyncio.run(talk(store))


def by_mcp(path: Path, session: str, said: str) -> str:
    """The official client of MCP, and a server of ours that it starts."""
    from tests.interop.mcp.servers import said as answer
    from tests.interop.mcp.servers import stdio

    async def talk() -> str:
        results: list[str] = []
        async with stdio(path, "--agent-id", AGENT, "--user-id", USER, "--source", session) as client:
            while isinstance(step := decide(said, results), Use):
                text, is_error = await answer(client, f"memory_{step.tool}", **step.arguments)
                assert not is_error, text
                results.append(text)
        return step

    return asyncio.run(talk())


FACES: dict[str, Callable[[Path, str, str], str]] = {
    "loop": by_loop,
    "langchain": by_langchain,
    "llamaindex": by_llamaindex,
    "mcp": by_mcp,
}


def _whose(store: MemoryStore) -> ScopedView:
    return store.scope(agent_id=AGENT, user_id=USER)


if __name__ == "__main__":
    face, file, *turns = sys.argv[1:]
    for name, text in zip(turns[::2], turns[1::2], strict=True):
        print(FACES[face](Path(file), name, text))
