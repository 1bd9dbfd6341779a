"""An agent with langmem's memory tools on a store that keeps every version. The chat model is scripted: no network.

Needs langchain-indelible, langchain and langmem.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from indelible.testing import HashEmbedder
from langchain_indelible import IndelibleStore

warnings.filterwarnings("ignore", message="Importing Send from langgraph.constants")  # one of langmem's own imports
from langmem import create_manage_memory_tool, create_search_memory_tool  # noqa: E402 - after the line above

NAMESPACE = ("memories", "{user}")  # filled in from the run's configuration, never by the model
CONFIG: Any = {"configurable": {"user": "ada"}}


class ScriptedModel(GenericFakeChatModel):
    """Says what it was told to say, and calls the tools it was told to call."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self


def calling(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": tool, "type": "tool_call"}])


def run(store: IndelibleStore, said: str, *script: AIMessage) -> list[str]:
    """One turn of an agent that follows a script; what its tools answered, without ids."""
    tools = [create_manage_memory_tool(NAMESPACE, store=store), create_search_memory_tool(NAMESPACE, store=store)]
    agent: Any = create_agent(ScriptedModel(messages=iter(script)), tools=tools, store=store)
    messages = agent.invoke({"messages": [{"role": "user", "content": said}]}, config=CONFIG)["messages"]
    return [message.text for message in messages if message.type == "tool"]


# A path keeps it; `embedder` may be left out where indelible[embed] is installed.
with IndelibleStore(":memory:", index={"fields": ["content"]}, embedder=HashEmbedder()) as store:
    # The model decides to remember two things.
    answers = run(store, "I drink tea. And I play chess.", calling("manage_memory", content="Ada drinks green tea"), AIMessage("Noted."))
    run(store, "And I play chess.", calling("manage_memory", content="Ada plays chess"), AIMessage("Noted."))
    tea = answers[0].split()[-1]
    print(answers[0].removesuffix(f" {tea}"), [item.value["content"] for item in store.search(("memories", "ada"))])
    # -> created memory ['Ada drinks green tea', 'Ada plays chess']

    # It looks one up, and changes it: langmem writes over what was there.
    script = calling("search_memory", query="drinks"), calling("manage_memory", action="update", id=tea, content="Ada drinks black coffee")
    found, updated = run(store, "No tea any more, coffee!", *script, AIMessage("Changed."))
    print("green tea" in found, updated.removesuffix(f" {tea}"))
    # -> True updated memory

    # Here nothing is written over.
    for change in store.history(("memories", "ada"), tea):
        print(change.version, change.item and change.item.value["content"])
    # -> 1 Ada drinks green tea
    # -> 3 Ada drinks black coffee
    print([item.value["content"] for item in store.search(("memories", "ada"), query="drinks", as_of=2)])
    # -> ['Ada drinks green tea', 'Ada plays chess']
