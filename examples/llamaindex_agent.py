"""A LlamaIndex agent with a memory: a conversation that another process goes on with, and facts that outlive all conversations.

The model is a stand-in that decides by a few rules what to remember, revise and answer; a real one decides by reading the tools'
descriptions. Everything else is as in a real program. Needs ``pip install 'llama-index-indelible[embed]'``.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection
from pydantic import PydanticDeprecationWarning

from indelible import MemoryStore
from llama_index_indelible import IndelibleMemoryBlock, IndelibleToolSpec, memory

warnings.simplefilter("ignore", PydanticDeprecationWarning)  # LlamaIndex looks at every attribute of an agent, old ones too


class RuleModel(MockLLM, FunctionCallingLLM):
    """Keeps what people say about themselves, corrects it when they change their minds, and answers from what it is shown."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="rules", is_function_calling_model=True)

    async def achat_with_tools(self, *arguments: Any, **kwargs: Any) -> ChatResponse:
        reply = decide(kwargs["chat_history"])
        more = {"tool_calls": [reply.model_dump()]} if isinstance(reply, ToolSelection) else {}
        return ChatResponse(message=ChatMessage(role="assistant", content="" if more else reply, additional_kwargs=more))

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [ToolSelection(**call) for call in response.message.additional_kwargs.get("tool_calls", [])]

    def _prepare_chat_with_tools(self, *arguments: Any, **kwargs: Any) -> dict[str, Any]:
        return {}


def decide(messages: Sequence[ChatMessage]) -> str | ToolSelection:
    """What a model would do next."""
    last = messages[-1]
    questions = [str(message.content) for message in messages if message.role == MessageRole.USER]
    said = questions[-1]
    if last.role == MessageRole.TOOL and last.additional_kwargs["tool_call_id"] == "recall":
        return call("edit", id=json.loads(str(last.content))[0]["id"], content=fact(said))
    if last.role == MessageRole.TOOL:
        return "I will remember that."
    if said.startswith("I now"):
        return call("recall", query=said, limit=1)
    if said.startswith("I "):
        return call("remember", content=fact(said))
    if said.startswith("What did I say first"):
        return questions[0]
    shown = "".join(str(message.content) for message in messages if message.role == MessageRole.SYSTEM)
    facts = re.findall(r"^- (.*) \(.*\)$", shown, re.MULTILINE)
    return facts[0] if facts else "I do not know yet."


def call(tool: str, **arguments: Any) -> ToolSelection:
    return ToolSelection(tool_id=tool, tool_name=tool, tool_kwargs=arguments)


def fact(said: str) -> str:
    return re.sub(r"^I (?:now )?(\w+)", lambda verb: f"{verb[1].title()}s", said)


async def say(store: MemoryStore, text: str, *, user: str, session: str) -> str:
    """One turn of a conversation. Whose it is, the program says, never the model."""
    facts = IndelibleMemoryBlock(store=store, agent_id="helper", user_id=user, session_field=None)
    spec = IndelibleToolSpec(store=store, agent_id="helper", user_id=user, source=session)
    agent = FunctionAgent(
        tools=[*spec.to_tool_list()], llm=RuleModel(max_tokens=None), system_prompt="Answer from what you know.", streaming=False
    )
    reply: Any = await agent.run(text, memory=memory(None, session, store=store, user_id=user, memory_blocks=[facts]))
    return str(reply.response.content)


async def converse(path: Path) -> None:
    with MemoryStore(path) as store:
        print(await say(store, "I drink tea", user="ada", session="monday"))
        # -> I will remember that.
        print(await say(store, "What do I drink?", user="ada", session="tuesday"))
        # -> Drinks tea

        # A change of mind is a new version of the same memory.
        print(await say(store, "I now drink coffee", user="ada", session="wednesday"))
        # -> I will remember that.
        print(await say(store, "What do I drink?", user="ada", session="thursday"))
        # -> Drinks coffee
        (known,) = store.list(user_id="ada")
        for change in store.history(known.id):
            print(change.op, change.source, change.record.content if change.record else "")
        # -> remember monday Drinks tea
        # -> revise wednesday Drinks coffee

        # Nobody else is shown it.
        print(await say(store, "What do I drink?", user="bob", session="friday"))
        # -> I do not know yet.


async def go_on(path: Path) -> None:
    """In another process: the session is found by its id."""
    with MemoryStore(path) as store:
        print(await say(store, "What did I say first?", user="ada", session="monday"))
        # -> I drink tea
        kept = await memory(None, "monday", store=store, user_id="ada").aget_all()
        print([message.role.value for message in kept])
        # -> ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant']

        # What one conversation wrote can be taken back in one call.
        print(store.withdraw("wednesday"), await say(store, "What do I drink?", user="ada", session="saturday"))
        # -> 1 I do not know yet.


if len(sys.argv) > 1:
    asyncio.run(go_on(Path(sys.argv[1])))
else:
    with tempfile.TemporaryDirectory() as folder:  # give a path of yours to keep it
        file = Path(folder) / "memory.db"
        asyncio.run(converse(file))
        print(subprocess.run([sys.executable, __file__, file], check=True, capture_output=True, text=True).stdout, end="")
