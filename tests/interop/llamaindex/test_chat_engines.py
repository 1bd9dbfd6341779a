"""LlamaIndex's own users of a memory, on ours: chat engines and the context of a workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from indelible import MemoryStore
from llama_index_indelible import IndelibleBufferChatStore, IndelibleChatStore, memory
from tests.interop.llamaindex.chats import open_store, own_loop, texts, user


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path / "memory.db") as kept:
        yield kept


def words(text: str) -> list[str]:
    return text.split()


@own_loop()
def test_a_chat_engine(store: MemoryStore) -> None:
    """Sync, and streaming, which writes the answer from another thread; a new engine goes on with the session."""
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=2), memory=memory(None, "s", store=store, tokenizer_fn=words))
    engine.chat("hello")
    streamed = engine.stream_chat("and you?")
    said = "".join(streamed.response_gen)
    again = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=2), memory=memory(None, "s", store=store, tokenizer_fn=words))
    history = again.chat_history
    assert [message.role.value for message in history] == ["user", "assistant", "user", "assistant"]
    assert history[3].content == said
    assert texts(IndelibleBufferChatStore(store=store).get_messages("s")) == texts(history)
    again.reset()
    assert engine.chat_history == []


async def test_a_chat_engine_async(store: MemoryStore) -> None:
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=2), memory=memory(None, "s", store=store, tokenizer_fn=words))
    await engine.achat("hello")
    streamed = await engine.astream_chat("and you?")
    said = "".join([token async for token in streamed.async_response_gen()])
    found = await IndelibleChatStore(store=store).get_messages("s")
    assert texts(found)[::2] == ["hello", "and you?"]
    assert found[3].content == said


@own_loop()
def test_a_chat_engine_on_a_buffer(store: MemoryStore) -> None:
    """The older memory, over the same rows."""
    chats = IndelibleBufferChatStore(store=store)
    buffer = ChatMemoryBuffer.from_defaults(chat_store=chats, chat_store_key="s", token_limit=3000, tokenizer_fn=words)
    SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=2), memory=buffer).chat("hello")
    assert texts(memory(None, "s", store=store, tokenizer_fn=words).get_all())[0] == "hello"


async def test_sessions_are_apart(store: MemoryStore) -> None:
    """Of many memories at once on one store, none is told what another was."""
    sessions = {name: memory(None, name, store=store, tokenizer_fn=words) for name in "abcdefgh"}
    await asyncio.gather(*(session.aput(user(f"I am {name}")) for name, session in sessions.items()))
    for name, session in sessions.items():
        assert texts(await session.aget()) == [f"I am {name}"]
    assert await IndelibleChatStore(store=store).get_keys() == list("abcdefgh")
