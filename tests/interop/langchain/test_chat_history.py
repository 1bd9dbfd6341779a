"""The message history: order, atomicity, and every field of every kind of message."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.runnables.utils import ConfigurableFieldSpec

from indelible import InvalidInput, MemoryStore, UnsupportedOperation
from indelible.testing import FakeClock
from langchain_indelible import IndelibleChatMessageHistory
from tests.interop.langchain.models import open_store, still_store

TOOL_CALL = {"name": "search", "args": {"q": "tea", "n": [1, 2.5, None]}, "id": "call-1", "type": "tool_call"}
MESSAGES: list[BaseMessage] = [
    HumanMessage("hello", id="h1", name="Ada", additional_kwargs={"lc_source": "x", "deep": {"a": [1, 2.0, True, None]}}),
    HumanMessage([{"type": "text", "text": "look"}, {"type": "image", "url": "data:,", "mime_type": "image/png"}, "bare"]),
    HumanMessage("with a field of its own", extra_field={"kept": 1}),
    AIMessage(
        "hi",
        tool_calls=[TOOL_CALL],
        invalid_tool_calls=[{"name": "bad", "args": "{", "id": "2", "error": "not JSON", "type": "invalid_tool_call"}],
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "input_token_details": {"cache_read": 1}},
        response_metadata={"model_name": "m", "logprobs": [-0.5, -1e-300], "big": 2**70},
        id="a1",
    ),
    AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "so"}]),
    AIMessageChunk(
        content="part", tool_call_chunks=[{"name": "s", "args": '{"q": 1}', "id": "3", "index": 0, "type": "tool_call_chunk"}], id="c1"
    ),
    HumanMessageChunk(content="piece"),
    SystemMessage("rules"),
    ToolMessage("result", tool_call_id="call-1", artifact={"rows": [1]}, status="error", name="search"),
    ToolMessage([{"type": "text", "text": "result"}], tool_call_id="call-1"),
    FunctionMessage(content="out", name="f"),
    ChatMessage(content="said", role="narrator"),
    RemoveMessage(id="h1"),
    AIMessage(""),
    HumanMessage("日本語 🦊 \u202e right to left"),
]


@pytest.fixture
def history(store: MemoryStore) -> IndelibleChatMessageHistory:
    return IndelibleChatMessageHistory(store, "s1")


def texts_of(history: IndelibleChatMessageHistory) -> list[str]:
    return [str(message.text) for message in history.messages]


# What comes back


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_whole(history: IndelibleChatMessageHistory, message: BaseMessage) -> None:
    """Of the same class, equal, with every field; calls of tools, usage and lists of blocks included."""
    history.add_message(message)
    (found,) = history.messages
    assert type(found) is type(message)
    assert found == message
    assert found.model_dump() == message.model_dump()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)
CONTENT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
KWARGS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=2)


@given(
    st.lists(
        st.builds(HumanMessage, CONTENT, additional_kwargs=KWARGS)
        | st.builds(AIMessage, CONTENT, response_metadata=KWARGS)
        | st.builds(ToolMessage, CONTENT, tool_call_id=st.just("1"), artifact=JSON),
        max_size=4,
    )
)
def test_any_conversation_comes_back(messages: list[BaseMessage]) -> None:
    """In order, whatever stands in it."""
    with open_store() as store:
        history = IndelibleChatMessageHistory(store, "s")
        history.add_messages(messages)
        assert history.messages == messages


def test_text_taken_from_a_message_is_text(history: IndelibleChatMessageHistory) -> None:
    """``message.text`` is a subclass of ``str``; what is made of it is kept as any text."""
    history.add_user_message(AIMessage("hi").text)
    history.add_ai_message("answer")
    assert texts_of(history) == ["hi", "answer"]


def test_a_message_class_of_somebody_elses(history: IndelibleChatMessageHistory) -> None:
    """Comes back as the class it derives from, every field of its own included."""

    class Audited(HumanMessage):
        auditor: str = "nobody"

    history.add_message(Audited(content="x", auditor="eve"))
    (found,) = history.messages
    assert type(found) is HumanMessage
    assert found.model_dump()["auditor"] == "eve"


@pytest.mark.parametrize("bad", [AIMessage("x", response_metadata={"at": object()}), ToolMessage("x", tool_call_id="1", artifact={1, 2})])
def test_what_json_cannot_hold_is_refused(history: IndelibleChatMessageHistory, store: MemoryStore, bad: BaseMessage) -> None:
    """And nothing of the call is added: no message without its answer."""
    with pytest.raises(InvalidInput):
        history.add_messages([HumanMessage("before"), bad, HumanMessage("after")])
    assert store.version == 0


def test_only_messages_are_added(history: IndelibleChatMessageHistory) -> None:
    """Not text, not dicts; a list of messages cannot be assigned either."""
    for bad in ("text", {"role": "user", "content": "x"}, None):
        with pytest.raises(InvalidInput, match="message"):
            history.add_messages([bad])  # type: ignore[list-item]  # the mistake itself
    with pytest.raises(UnsupportedOperation):
        history.messages = []


def test_nothing_in_stored_data_names_a_class_to_load(history: IndelibleChatMessageHistory) -> None:
    """What looks like LangChain's own serialised objects stays what it is, and an unknown form is an error."""
    bomb = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": {"content": "boom"}}
    history.add_message(HumanMessage("x", additional_kwargs=bomb))
    assert history.messages[0].additional_kwargs == bomb
    for value in ({"schema": 1, "class": "os.system", "fields": {}}, {"schema": 2, "class": "human", "fields": {"content": "x"}}):
        history.collection.put("k", value=value)
        with pytest.raises(InvalidInput, match="form"):
            _ = history.messages


# Order


def test_messages_are_in_order_and_the_list_is_fresh(store: MemoryStore, history: IndelibleChatMessageHistory) -> None:
    """Also when the clock stands still; what the caller does to the list changes nothing."""
    with still_store(FakeClock()) as still:
        ordered = IndelibleChatMessageHistory(still, "s")
        for start in range(0, 30, 3):
            ordered.add_messages([HumanMessage(str(number)) for number in range(start, start + 3)])
        assert texts_of(ordered) == [str(number) for number in range(30)]
        ordered.messages.clear()
        assert len(ordered.messages) == 30
        assert str(ordered).startswith("Human: 0\nHuman: 1")
    history.add_messages([])
    assert store.version == 0


def test_concurrent_batches_do_not_mix(tmp_path: Path) -> None:
    """Each call's messages stand together, in every thread's order."""
    with open_store(tmp_path / "chat.db") as store:

        def work(worker: int) -> None:
            history = IndelibleChatMessageHistory(store, "s")
            for turn in range(5):
                history.add_messages([HumanMessage(f"{worker} {turn} said"), AIMessage(f"{worker} {turn} answered")])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        found = texts_of(IndelibleChatMessageHistory(store, "s"))
    assert len(found) == 40
    assert all(said.replace("said", "answered") == answered for said, answered in zip(found[::2], found[1::2], strict=True))
    assert all(
        [text for text in found if text.startswith(f"{worker} ")]
        == [f"{worker} {turn} {what}" for turn in range(5) for what in ("said", "answered")]
        for worker in range(4)
    )


def test_sessions_and_scopes_are_apart(store: MemoryStore) -> None:
    """A session's name is literal, and the same name in two scopes is two conversations."""
    for session, user in (("s", None), ("s.1", None), ("%", None), ("s", "ada")):
        IndelibleChatMessageHistory(store, session, user_id=user).add_user_message(f"{session} {user}")
    assert texts_of(IndelibleChatMessageHistory(store, "s")) == ["s None"]
    assert texts_of(IndelibleChatMessageHistory(store, "s", user_id="ada")) == ["s ada"]
    assert texts_of(IndelibleChatMessageHistory(store, "%")) == ["% None"]
    IndelibleChatMessageHistory(store, "s", user_id="ada").clear()
    assert texts_of(IndelibleChatMessageHistory(store, "s")) == ["s None"]
    with pytest.raises(InvalidInput, match="empty"):
        IndelibleChatMessageHistory(store, "")


async def test_async_twins(history: IndelibleChatMessageHistory) -> None:
    """Add, read and clear."""
    await history.aadd_messages([HumanMessage("a"), AIMessage("b")])
    assert await history.aget_messages() == [HumanMessage("a"), AIMessage("b")]
    await history.aclear()
    assert await history.aget_messages() == []


# Time


def test_clear_forgets_and_the_past_remembers(store: MemoryStore, history: IndelibleChatMessageHistory) -> None:
    """A view of the past shows the conversation as it was, and cannot be added to."""
    history.add_messages([HumanMessage("a"), AIMessage("b")])
    then = store.version
    history.clear()
    history.add_user_message("c")
    assert texts_of(history) == ["c"]
    past = history.at(then)
    assert texts_of(past) == ["a", "b"]
    with pytest.raises(UnsupportedOperation):
        past.add_user_message("late")


def test_messages_expire_where_asked_to() -> None:
    """And the others do not."""
    clock = FakeClock()
    with still_store(clock) as store:
        IndelibleChatMessageHistory(store, "s", ttl_ms=1000).add_user_message("short")
        IndelibleChatMessageHistory(store, "s").add_user_message("long")
        clock.advance(ms=1000)
        assert texts_of(IndelibleChatMessageHistory(store, "s")) == ["long"]


# In RunnableWithMessageHistory


def chat(store: MemoryStore, runnable: Runnable[Any, Any], *, pinned: bool = True, **options: Any) -> RunnableWithMessageHistory:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the class is deprecated, and still what many programs use
        return RunnableWithMessageHistory(
            runnable, lambda session_id: IndelibleChatMessageHistory(store, session_id, pinned=pinned), **options
        )


def session(name: str = "s") -> RunnableConfig:
    return {"configurable": {"session_id": name}}


def reply(messages: Any) -> AIMessage:
    return AIMessage(f"re: {messages[-1].text} ({len(messages)})")


async def test_turns_of_a_session_build_on_each_other(store: MemoryStore) -> None:
    """Sync and async; the model sees all that was said before, once."""
    talk = chat(store, RunnableLambda(reply))
    assert talk.invoke([HumanMessage("a")], session()).text == "re: a (1)"
    assert (await talk.ainvoke([HumanMessage("b")], session())).text == "re: b (3)"
    assert talk.invoke([HumanMessage("c")], session("other")).text == "re: c (1)"
    assert texts_of(IndelibleChatMessageHistory(store, "s")) == ["a", "re: a (1)", "b", "re: b (3)"]


def test_a_prompt_with_a_place_for_history(store: MemoryStore) -> None:
    """With ``history_messages_key`` only the new turn is added."""
    prompt = ChatPromptTemplate.from_messages([("system", "x"), MessagesPlaceholder("past"), ("human", "{question}")])
    talk = chat(
        store, prompt | RunnableLambda(lambda value: reply(value.to_messages())), input_messages_key="question", history_messages_key="past"
    )
    assert talk.invoke({"question": "a"}, session()).text == "re: a (2)"
    assert talk.invoke({"question": "b"}, session()).text == "re: b (4)"
    assert texts_of(IndelibleChatMessageHistory(store, "s")) == ["a", "re: a (2)", "b", "re: b (4)"]


def test_a_session_may_be_named_by_several_keys(store: MemoryStore) -> None:
    """Given by name to whoever makes the history: a user's conversation is that user's."""
    options: dict[str, Any] = {"annotation": str, "name": "", "description": "", "default": "", "is_shared": True}
    fields = [ConfigurableFieldSpec(id=name, **options) for name in ("user_id", "talk")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        talk = RunnableWithMessageHistory(
            RunnableLambda(reply),
            lambda *, user_id, talk: IndelibleChatMessageHistory(store, talk, user_id=user_id, pinned=True),
            history_factory_config=fields,
        )
    for user in ("ada", "bob", "ada"):
        talk.invoke([HumanMessage(f"I am {user}")], {"configurable": {"user_id": user, "talk": "s"}})
    assert texts_of(IndelibleChatMessageHistory(store, "s", user_id="bob")) == ["I am bob", "re: I am bob (1)"]
    assert len(IndelibleChatMessageHistory(store, "s", user_id="ada").messages) == 4


@pytest.mark.parametrize("pinned", [True, False])
def test_two_turns_at_once(store: MemoryStore, pinned: bool) -> None:
    """Unpinned, the second to end loses what its user said, as with every history that does not know who reads. Pinned, nothing is lost."""
    begun, ended = threading.Event(), threading.Event()

    def slow(messages: Any) -> AIMessage:
        if messages[-1].text == "A":
            begun.set()
            assert ended.wait(30)
        return AIMessage(f"re: {messages[-1].text}")

    talk = chat(store, RunnableLambda(slow), pinned=pinned)
    first = threading.Thread(target=lambda: talk.invoke([HumanMessage("A")], session()))
    first.start()
    assert begun.wait(30)
    talk.invoke([HumanMessage("B")], session())
    ended.set()
    first.join(30)
    found = texts_of(IndelibleChatMessageHistory(store, "s"))
    assert found == (["B", "re: B", "A", "re: A"] if pinned else ["B", "re: B", "re: A"])


def test_pinned_sees_its_own_and_nothing_of_others(store: MemoryStore) -> None:
    """From its first read on; ``clear`` unpins."""
    pinned, other = IndelibleChatMessageHistory(store, "s", pinned=True), IndelibleChatMessageHistory(store, "s")
    other.add_user_message("before")
    assert texts_of(pinned) == ["before"]
    other.add_user_message("meanwhile")
    pinned.add_user_message("own")
    assert texts_of(pinned) == ["before", "own"]
    assert texts_of(other) == ["before", "meanwhile", "own"]
    pinned.clear()
    assert texts_of(other) == texts_of(pinned) == []


@pytest.mark.filterwarnings("ignore")
def test_a_turn_that_cannot_be_kept_leaves_no_half(store: MemoryStore) -> None:
    """The caller's class only logs the error; then neither question nor answer is there."""
    talk = chat(store, RunnableLambda(lambda messages: AIMessage("x", response_metadata={"number": float("nan")})))
    talk.invoke([HumanMessage("a")], session())
    assert store.version == 0


# Parity with the core


def test_what_the_history_writes_the_core_reads(store: MemoryStore, history: IndelibleChatMessageHistory) -> None:
    """Found by its words, in order, by kind."""
    history.add_messages([HumanMessage("I like tea"), AIMessage("Noted")])
    collection = store.collection("chat", "s1")
    assert [(record.content, record.metadata) for record in collection.list()] == [
        ("I like tea", {"type": "human"}),
        ("Noted", {"type": "ai"}),
    ]
    assert [hit.content for hit in collection.search("tea", mode="keyword")] == ["I like tea"]


def test_what_the_core_writes_the_history_reads(store: MemoryStore, history: IndelibleChatMessageHistory) -> None:
    """Plain content becomes a message of the role it says; what the core forgets is gone and comes back."""
    collection = store.collection("chat", "s1")
    for key, role in (("1", "user"), ("2", "assistant"), ("3", "system"), ("4", "narrator")):
        collection.put(key, f"by {role}", metadata={"role": role})
    collection.put("5", "by nobody")
    expected = [
        HumanMessage("by user"),
        AIMessage("by assistant"),
        SystemMessage("by system"),
        ChatMessage(content="by narrator", role="narrator"),
    ]
    assert history.messages == [*expected, HumanMessage("by nobody")]
    collection.delete("2")
    assert len(history.messages) == 4
    collection.undo("2")
    assert AIMessage("by assistant") in history.messages


def test_clear_takes_the_expired_too() -> None:
    """They are hidden, and would be there again for who reads what has expired."""
    clock = FakeClock()
    with still_store(clock) as store:
        history = IndelibleChatMessageHistory(store, "s", ttl_ms=1000)
        history.add_messages([HumanMessage("hello")])
        (said,) = history.collection.list()
        clock.advance(ms=1000)
        assert history.messages == []
        history.clear()
        assert [change.op for change in history.collection.history(said.key or "")] == ["remember", "forget"]
