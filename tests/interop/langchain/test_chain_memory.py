"""The memory of chains: conversation, recalled facts, and the habits of chains."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.chains import ConversationChain
from langchain_classic.chains.llm import LLMChain
from langchain_classic.memory import CombinedMemory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate

from indelible import InvalidInput, MemoryStore
from indelible.errors import ModelError
from indelible.testing import HashEmbedder
from langchain_indelible import IndelibleChatMessageHistory, IndelibleMemory
from tests.interop.langchain.models import TAG, USER, ScriptedChatModel, prompt_of

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")  # of the chains, not of ours


def saved(memory: IndelibleMemory, said: str = "hi", answer: str = "hello") -> IndelibleMemory:
    memory.save_context({"input": said}, {"output": answer})
    return memory


# The conversation


def test_the_conversation_as_text_or_messages(store: MemoryStore) -> None:
    """Exactly the memory's variables, also for no input."""
    memory = saved(IndelibleMemory(store=store, session_id="s"))
    assert memory.memory_variables == ["history"]
    assert memory.load_memory_variables({}) == {"history": "Human: hi\nAI: hello"}
    named = IndelibleMemory(store=store, session_id="s", human_prefix="Ada", ai_prefix="Bot", memory_key="talk")
    assert named.load_memory_variables({"input": "x"}) == {"talk": "Ada: hi\nBot: hello"}
    whole = IndelibleMemory(store=store, session_id="s", return_messages=True)
    assert whole.load_memory_variables({}) == {"history": [HumanMessage("hi"), AIMessage("hello")]}
    assert IndelibleMemory(store=store, session_id="other").load_memory_variables({}) == {"history": ""}


def test_it_survives_the_object_and_shares_the_history(store: MemoryStore) -> None:
    """The messages are those of ``IndelibleChatMessageHistory``, of the same scope."""
    saved(IndelibleMemory(store=store, session_id="s", **USER))
    history = IndelibleChatMessageHistory(store, "s", **USER)
    assert history.messages == [HumanMessage("hi"), AIMessage("hello")]
    history.add_user_message("more")
    assert IndelibleMemory(store=store, session_id="s", **USER).load_memory_variables({})["history"].endswith("Human: more")
    assert IndelibleMemory(store=store, session_id="s").load_memory_variables({}) == {"history": ""}


def test_clear_clears(store: MemoryStore) -> None:
    """Elsewhere it did nothing. What was forgotten is still in the past."""
    memory = saved(IndelibleMemory(store=store, session_id="s", facts_key="facts"))
    then = store.version
    memory.clear()
    assert memory.load_memory_variables({}) == {"history": "", "facts": ""}
    assert [record.content for record in store.at(then).list()] == ["hi", "hello"]
    assert len(memory.chat_memory.at(then).messages) == 2


# What of inputs and outputs is the turn


def test_the_turn_is_told_from_what_was_loaded(store: MemoryStore) -> None:
    """Loaded variables, ``stop`` and excluded keys are no input; the only output is the answer."""
    memory = IndelibleMemory(store=store, facts_key="facts", exclude_input_keys=["language"])
    memory.save_context({"q": "hi", "history": "h", "facts": "f", "stop": ["\n"], "language": "Norse"}, {"text": "hello"})
    assert memory.chat_memory.messages == [HumanMessage("hi"), AIMessage("hello")]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [({}, {"o": "x"}), ({"a": "x", "b": "y"}, {"o": "x"}), ({"a": "x"}, {}), ({"a": "x"}, {"o": "x", "p": "y"}), ({"a": 7}, {"o": "x"})],
)
def test_a_turn_that_cannot_be_told_is_refused(store: MemoryStore, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    """And nothing is written."""
    with pytest.raises(InvalidInput):
        IndelibleMemory(store=store).save_context(inputs, outputs)
    assert store.version == 0


def test_keys_that_are_named_win(store: MemoryStore) -> None:
    """And with several outputs ``output`` is taken, with a warning."""
    memory = IndelibleMemory(store=store, input_key="b", output_key="p")
    memory.save_context({"a": "x", "b": "hi"}, {"o": "x", "p": "hello"})
    with pytest.warns(UserWarning, match="several output keys"):
        IndelibleMemory(store=store).save_context({"input": "more"}, {"output": "said", "sources": "x"})
    assert [str(message.text) for message in memory.chat_memory.messages] == ["hi", "hello", "more", "said"]


@pytest.mark.parametrize("name", ["input_key", "output_key"])
def test_a_named_key_that_is_not_there_is_refused(store: MemoryStore, name: str) -> None:
    """By an error that says what there is, and not by a ``KeyError``; to load, it is as if nothing were asked."""
    options: dict[str, Any] = {"store": store, "facts_key": "facts", name: "nowhere"}
    memory = IndelibleMemory(**options)
    with pytest.raises(InvalidInput, match="'nowhere', but there is only"):
        memory.save_context({"input": "hi"}, {"output": "hello"})
    assert (store.version, memory.load_memory_variables({})) == (0, {"history": "", "facts": ""})


@pytest.mark.parametrize("key", [None, "history"])
def test_the_variables_must_differ(store: MemoryStore, key: str | None) -> None:
    """And there must be one: a memory that loads nothing is a mistake."""
    with pytest.raises(ValueError, match="must be two names"):
        IndelibleMemory(store=store, memory_key=key, facts_key=key)


def test_messages_may_be_the_turn(store: MemoryStore) -> None:
    """As agents and chat prompts hand them on."""
    IndelibleMemory(store=store).save_context({"input": [HumanMessage("hi"), HumanMessage("there")]}, {"output": AIMessage("hello")})
    assert IndelibleMemory(store=store).load_memory_variables({}) == {"history": "Human: hi\nthere\nAI: hello"}


# Facts


def test_facts_recalled_for_the_input(store: MemoryStore) -> None:
    """As the core shows them; without an input the latest; as messages in a tag; as documents."""
    tea = store.remember("Ada prefers tea", metadata={"n": 1}, **USER)
    store.remember("The cat sleeps", **USER)
    options: dict[str, Any] = {"store": store, "memory_key": None, "facts_key": "facts", "k": 1, **USER}
    memory = IndelibleMemory(**options)
    assert memory.memory_variables == ["facts"]
    shown = memory.load_memory_variables({"input": "what does Ada prefer?"})["facts"]
    assert shown.splitlines() == [
        "Known information from memory:",
        f"- Ada prefers tea ({tea.occurred_at:%Y-%m-%d})",
        "- (1 more not shown)",
    ]
    assert "The cat sleeps" in memory.load_memory_variables({})["facts"]
    (message,) = IndelibleMemory(**options, return_messages=True).load_memory_variables({"input": "Ada prefers"})["facts"]
    assert isinstance(message, SystemMessage)
    assert TAG.search(str(message.text))
    (document,) = IndelibleMemory(**options, return_docs=True).load_memory_variables({"input": "Ada prefers"})["facts"]
    assert document == Document(id=tea.id, page_content="Ada prefers tea", metadata={"n": 1})
    assert IndelibleMemory(**(options | {"user_id": "nobody"}), return_messages=True).load_memory_variables({}) == {"facts": []}
    with pytest.raises(InvalidInput, match="one input key"):
        memory.load_memory_variables({"a": "x", "b": "y"})


def test_turns_become_facts_where_facts_are_loaded(store: MemoryStore) -> None:
    """Each with its role, as part of the session; or as ``capture`` says."""
    memory = saved(IndelibleMemory(store=store, session_id="s", facts_key="facts", **USER), "I like tea", "Noted")
    assert [(record.content, record.metadata, record.parent) for record in store.list(**USER)] == [
        ("I like tea", {"role": "user"}, "s"),
        ("Noted", {"role": "assistant"}, "s"),
    ]
    assert "I like tea" in memory.load_memory_variables({"input": "tea?"})["facts"]
    saved(IndelibleMemory(store=store, session_id="s", **USER))
    saved(IndelibleMemory(store=store, session_id="s", facts_key="facts", capture=False, **USER))
    assert store.count(**USER) == 2
    saved(IndelibleMemory(store=store, session_id="s", capture=True, **USER))
    assert store.count(**USER) == 4


def test_clear_leaves_what_others_said(store: MemoryStore) -> None:
    """Facts from elsewhere, and another user's session of the same name."""
    store.remember("Ada prefers tea", **USER)
    ada = saved(IndelibleMemory(store=store, session_id="s", facts_key="facts", **USER))
    saved(IndelibleMemory(store=store, session_id="s", facts_key="facts", agent_id="helper", user_id="bob"), "mine", "yes")
    nobody = saved(IndelibleMemory(store=store, session_id="s", facts_key="facts"), "whose?", "nobody's")
    ada.clear()
    nobody.clear()
    assert sorted(record.content for record in store.list()) == ["Ada prefers tea", "mine", "yes"]


# In chains


def test_a_conversation_chain(store: MemoryStore) -> None:
    """The model sees each turn once, across two chains and two objects."""
    model = ScriptedChatModel(answers=["hello Ada", "you are Ada"])
    ConversationChain(llm=model, memory=IndelibleMemory(store=store, session_id="s")).invoke({"input": "I am Ada"})
    answer = ConversationChain(llm=model, memory=IndelibleMemory(store=store, session_id="s")).invoke({"input": "who am I?"})
    assert answer["response"] == "you are Ada"
    assert "Human: I am Ada\nAI: hello Ada\nHuman: who am I?" in prompt_of(model.seen[1])
    assert prompt_of(model.seen[1]).count("I am Ada") == 1


async def test_a_chain_with_both_variables(store: MemoryStore) -> None:
    """Facts and conversation, as messages, sync and async; the loaded variables are not taken for the turn."""
    store.remember("Ada prefers tea", **USER)
    model = ScriptedChatModel(answers=["tea", "tea"])
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("facts"), MessagesPlaceholder("history"), ("human", "{question}")])
    memory = IndelibleMemory(store=store, facts_key="facts", capture=False, return_messages=True, **USER)
    chain = LLMChain(llm=model, prompt=prompt, memory=memory)
    assert chain.invoke({"question": "what does Ada prefer?"})["text"] == "tea"
    await chain.ainvoke({"question": "and what does Ada prefer now?"})
    assert [message.type for message in model.seen[1]] == ["system", "human", "ai", "human"]
    assert "Ada prefers tea" in str(model.seen[1][0].text)
    assert len(memory.chat_memory.messages) == 4


def test_two_combined(store: MemoryStore) -> None:
    """Two memories with variables of their own in one chain."""
    store.remember("Ada prefers tea", **USER)
    combined = CombinedMemory(
        memories=[
            IndelibleMemory(store=store, session_id="s", input_key="input"),
            IndelibleMemory(store=store, memory_key=None, facts_key="facts", capture=False, input_key="input", **USER),
        ]
    )
    model = ScriptedChatModel(answers=["tea"])
    prompt = PromptTemplate.from_template("{facts}\n{history}\n{input}")
    LLMChain(llm=model, prompt=prompt, memory=combined).invoke({"input": "what does Ada prefer?"})
    assert prompt_of(model.seen[0]).startswith("Known information from memory:\n- Ada prefers tea")
    assert len(IndelibleChatMessageHistory(store, "s").messages) == 2


def test_each_of_two_memories_keeps_its_own(store: MemoryStore) -> None:
    """One for the conversation and one for facts: a turn is kept once by each, and each clears what it keeps."""
    talk = IndelibleMemory(store=store, session_id="s", **USER)
    facts = IndelibleMemory(store=store, session_id="s", memory_key=None, facts_key="facts", **USER)
    CombinedMemory(memories=[talk, facts]).save_context({"input": "I like tea"}, {"output": "Noted"})
    assert (len(talk.chat_memory.messages), store.count(**USER)) == (2, 2)
    facts.clear()
    assert (len(talk.chat_memory.messages), store.count(**USER)) == (2, 0)


async def test_two_memories_can_be_awaited(store: MemoryStore) -> None:
    """The class that combines them has no coroutines of its own, so theirs run on threads."""
    combined = CombinedMemory(
        memories=[
            IndelibleMemory(store=store, session_id="s", input_key="input", **USER),
            IndelibleMemory(store=store, session_id="s", memory_key=None, facts_key="facts", input_key="input", **USER),
        ]
    )
    await combined.asave_context({"input": "I like tea"}, {"output": "Noted"})
    loaded = await combined.aload_memory_variables({"input": "tea?"})
    assert loaded["history"] == "Human: I like tea\nAI: Noted"
    assert "I like tea" in loaded["facts"]
    await combined.aclear()
    assert await combined.aload_memory_variables({"input": "tea?"}) == {"history": "", "facts": ""}


def test_a_turn_is_not_kept_by_half(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that cannot embed the facts leaves the conversation as it was."""
    memory = IndelibleMemory(store=store, facts_key="facts", **USER)

    def fail(self: object, texts: object) -> None:
        raise ModelError("no model today")

    monkeypatch.setattr(HashEmbedder, "embed_documents", fail)
    with pytest.raises(ModelError):
        saved(memory)
    assert (store.version, memory.chat_memory.messages) == (0, [])


async def test_async_twins(store: MemoryStore) -> None:
    """Load, save and clear."""
    memory = IndelibleMemory(store=store)
    await memory.asave_context({"input": "hi"}, {"output": "hello"})
    assert await memory.aload_memory_variables({}) == {"history": "Human: hi\nAI: hello"}
    await memory.aclear()
    assert await memory.aload_memory_variables({}) == {"history": ""}
