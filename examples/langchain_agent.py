"""A LangChain agent that keeps its own memories: tools to write them, middleware to read them. Needs langchain-indelible[agents,embed].

The model is a stand-in that decides by a few rules what to remember, revise and answer; a real one decides by reading the tools'
descriptions. Everything else is as in a real program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from indelible import MemoryStore
from langchain_indelible import MemoryMiddleware, memory_tools


class RuleModel(BaseChatModel):
    """Keeps what people say about themselves, corrects it when they change their minds, and answers from what it is shown."""

    @property
    def _llm_type(self) -> str:
        return "rules"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> RuleModel:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._decide(messages))])

    def _decide(self, messages: list[BaseMessage]) -> AIMessage:
        last, said = messages[-1], next(str(m.text) for m in reversed(messages) if isinstance(m, HumanMessage))
        if isinstance(last, ToolMessage) and last.name == "recall":
            known = json.loads(str(last.content))[0]
            return _call("edit", id=known["id"], content=_fact(said))
        if isinstance(last, ToolMessage):
            return AIMessage("I will remember that.")
        if said.startswith("I now"):
            return _call("recall", query=said, limit=1)
        if said.startswith("I "):
            return _call("remember", content=_fact(said))
        shown = "".join(str(m.text) for m in messages if isinstance(m, SystemMessage))
        facts = re.findall(r"^- (.*) \(.*\)$", shown, re.MULTILINE)
        return AIMessage(facts[0] if facts else "I do not know yet.")


def _call(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call {tool}", "type": "tool_call"}])


def _fact(said: str) -> str:
    return re.sub(r"^I (?:now )?(\w+)", lambda verb: f"{verb[1].title()}s", said)


@dataclass
class Context:
    """Whom a run is for. The program says so, never the model."""

    user_id: str


with MemoryStore(":memory:") as store:  # give a path to keep it
    agent = create_agent(
        RuleModel(),
        tools=memory_tools(store, agent_id="helper"),
        middleware=[MemoryMiddleware(store, agent_id="helper", max_tokens=500)],
        context_schema=Context,
        checkpointer=InMemorySaver(),
        system_prompt="Answer from what you know about the user.",
    )

    def say(text: str, *, user: str, thread: str) -> str:
        """One turn of a conversation."""
        config: Any = {"configurable": {"thread_id": thread}}
        state = agent.invoke({"messages": [HumanMessage(text)]}, config, context=Context(user))
        return str(state["messages"][-1].text)

    print(say("I drink tea", user="ada", thread="monday"))
    # -> I will remember that.
    print(say("What do I drink?", user="ada", thread="tuesday"))
    # -> Drinks tea

    # A change of mind is a new version of the same memory.
    print(say("I now drink coffee", user="ada", thread="wednesday"))
    # -> I will remember that.
    print(say("What do I drink?", user="ada", thread="thursday"))
    # -> Drinks coffee
    (memory,) = store.list(user_id="ada")
    for change in store.history(memory.id):
        print(change.op, change.source, change.record.content if change.record else "")
    # -> remember monday Drinks tea
    # -> revise wednesday Drinks coffee

    # Nobody else's agent run sees it, and no conversation holds a copy of what was recalled.
    print(say("What do I drink?", user="bob", thread="friday"))
    # -> I do not know yet.
    thursday: Any = {"configurable": {"thread_id": "thursday"}}
    print([message.type for message in agent.get_state(thursday).values["messages"]])
    # -> ['human', 'ai']

    # What one conversation wrote can be taken back in one call.
    print(store.withdraw("wednesday"), say("What do I drink?", user="ada", thread="saturday"))
    # -> 1 I do not know yet.
