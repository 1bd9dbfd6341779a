"""A memory ahead of any runnable, and LangChain's models in the core's own functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from indelible import (
    InvalidInput,
    MemoryStore,
    ModelError,
    PersistentMemory,
    ask,
    ask_with_memory,
    compose_prompt,
    delegation,
    memory_block,
)
from langchain_indelible import with_memory
from tests.interop.langchain.models import TAG, USER, ScriptedChatModel, prompt_of

FACT = "Ada prefers tea"


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(answers=["tea"])


# The core's functions


def test_ask_with_memory_takes_a_chat_model(store: MemoryStore, model: ScriptedChatModel) -> None:
    """The model gets exactly the composed prompt, and nothing is written."""
    store.remember(FACT, **USER)
    before = store.version
    answer = ask_with_memory("what does Ada prefer?", store, model)
    assert answer.value == "tea"
    assert prompt_of(model.seen[0]) == answer.prompt == compose_prompt("what does Ada prefer?", store)
    assert [record.content for record in answer.used if not isinstance(record, str)] == [FACT]
    assert store.version == before


@pytest.mark.parametrize(
    "runnable",
    [
        RunnableLambda(lambda prompt: f"said {len(str(prompt))}"),
        ScriptedChatModel(answers=["said"]) | StrOutputParser(),
        ScriptedChatModel(answers=[AIMessage(content=[{"type": "text", "text": "said"}])]),
    ],
    ids=["lambda", "chain", "blocks"],
)
def test_ask_takes_any_runnable(runnable: Runnable[Any, Any]) -> None:
    """A function, a chain, a model that answers in blocks; delegated as well."""
    assert ask("x", runnable).value.startswith("said")
    with delegation(runnable):
        assert ask("x").value.startswith("said")


def test_a_model_that_fails(store: MemoryStore) -> None:
    """Is named, and its error is the cause."""

    def fail(prompt: object) -> str:
        raise TimeoutError("no answer")

    with pytest.raises(ModelError, match="TimeoutError: no answer") as caught:
        ask_with_memory("x", store, RunnableLambda(fail))
    assert isinstance(caught.value.__cause__, TimeoutError)


# with_memory


async def test_text_becomes_the_prompt_of_ask_with_memory(store: MemoryStore, model: ScriptedChatModel) -> None:
    """Invoked, streamed, in batches, sync and async."""
    store.remember(FACT, **USER)
    known = with_memory(model, store)
    assert known.invoke("what does Ada prefer?").text == "tea"
    await known.ainvoke("what does Ada prefer?")
    known.batch(["what does Ada prefer?"])
    assert [chunk.text for chunk in known.stream("what does Ada prefer?")] == ["tea"]
    expected = compose_prompt("what does Ada prefer?", store)
    assert [prompt_of(seen) for seen in model.seen] == [expected] * 4


@pytest.mark.parametrize(
    "messages",
    [
        [HumanMessage("what does Ada prefer?")],
        [("human", "what does Ada prefer?")],
        [{"role": "user", "content": "what does Ada prefer?"}],
        [SystemMessage("Be kind."), HumanMessage("hello"), AIMessage("hi"), HumanMessage("what does Ada prefer?")],
        ChatPromptTemplate.from_messages([("system", "Be kind."), ("human", "{q}")]).invoke({"q": "what does Ada prefer?"}),
        HumanMessage("what does Ada prefer?"),
    ],
    ids=["human", "pair", "dict", "conversation", "prompt", "message"],
)
def test_messages_get_a_block_in_their_system_message(store: MemoryStore, model: ScriptedChatModel, messages: Any) -> None:
    """After what stood there, in a tag that no memory can close; the given messages stay as they are."""
    store.remember(FACT, **USER)
    before = repr(messages)
    with_memory(model, store).invoke(messages)
    assert repr(messages) == before
    (seen,) = model.seen
    assert [message.type for message in seen].count("system") == 1
    assert seen[0].type == "system"
    found = TAG.search(str(seen[0].text))
    assert found is not None
    assert FACT in found.group(2)
    assert ("Be kind." in str(seen[0].text)) == ("kind" in before)
    assert seen[-1].text == "what does Ada prefer?"


def test_one_entry_of_a_dict(store: MemoryStore, model: ScriptedChatModel) -> None:
    """For a chain that begins with a prompt."""
    store.remember(FACT, **USER)
    chain = ChatPromptTemplate.from_template("In {language}: {question}") | model | StrOutputParser()
    assert with_memory(chain, store, input_key="question").invoke({"language": "Norse", "question": "Ada?"}) == "tea"
    assert prompt_of(model.seen[0]) == f"In Norse: {compose_prompt('Ada?', store)}"


@pytest.mark.parametrize(
    ("value", "key"), [({"question": "x"}, None), ("x", "question"), ({"other": "x"}, "question"), (7, None), (None, None)]
)
def test_other_inputs_are_refused(store: MemoryStore, model: ScriptedChatModel, value: Any, key: str | None) -> None:
    """The model is not called without its memory."""
    with pytest.raises(InvalidInput):
        with_memory(model, store, input_key=key).invoke(value)
    assert model.seen == []


def test_messages_without_a_question_pass(store: MemoryStore, model: ScriptedChatModel) -> None:
    """There is nothing to recall for."""
    store.remember(FACT, **USER)
    with_memory(model, store).invoke([SystemMessage("Be kind.")])
    assert model.seen == [[SystemMessage("Be kind.")]]


def test_other_memories_and_the_past(store: MemoryStore, model: ScriptedChatModel, tmp_path: Path) -> None:
    """A key/value memory whole, a view of the past as it was."""
    known = store.remember(FACT, **USER)
    then = store.version
    store.edit(known.id, "Ada prefers milk")
    with PersistentMemory("m", path=tmp_path / "m.db") as memory:
        memory.remember("drink", "juice")
        with_memory(model, memory).invoke("x")
    with_memory(model, store.scope(**USER).at(then)).invoke("Ada?")
    assert prompt_of(model.seen[0]) == "Known information from memory:\n- drink: juice\n\nx"
    assert FACT in prompt_of(model.seen[1])


def test_limits_hold(store: MemoryStore, model: ScriptedChatModel) -> None:
    """As for ``ask_with_memory``."""
    store.remember_many([f"Ada prefers {drink}" for drink in ("tea", "milk", "wine")], **USER)
    with_memory(model, store, limit=1).invoke("Ada?")
    assert prompt_of(model.seen[0]).count("- Ada") == 1
    assert "(2 more not shown)" in prompt_of(model.seen[0])


# The block of the core


def test_a_block_of_the_latest(store: MemoryStore) -> None:
    """Without a question, what was written last comes first; of nothing there is no text."""
    assert memory_block(None, store).text == memory_block("tea", store).tagged == ""
    store.remember_many([FACT, "Ada has a cat"], **USER)
    assert [line.split(" (")[0] for line in memory_block(None, store, limit=1).lines] == ["- Ada has a cat"]
    assert memory_block("  ", store).used == memory_block(None, store).used
    with pytest.raises(InvalidInput, match="query"):
        memory_block(7, store)  # type: ignore[arg-type]  # the mistake itself
    with pytest.raises(InvalidInput, match="memory must be"):
        memory_block("x", {"a": 1})  # type: ignore[arg-type]  # the mistake itself


def test_a_collection_without_a_model_is_searched_by_its_words(store: MemoryStore) -> None:
    """Any of them: a question is seldom made of the words of its answer."""
    store.collection("notes").put("1", "smoking is not allowed in the house")
    store.collection("notes").put("2", "the cat sleeps")
    assert [line for line in memory_block("may I smoke in this house?", store.collection("notes")).lines if "smoking" in line]
    assert "smoking" in compose_prompt("may I smoke in this house?", store.collection("notes"))
