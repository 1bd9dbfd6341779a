"""LlamaIndex's own users of a vector store, a storage context and a memory, on ours."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import DocumentSummaryIndex, VectorStoreIndex, load_index_from_storage
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine, ChatMode
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatSummaryMemoryBuffer, Memory, VectorMemory, VectorMemoryBlock
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.retrievers import VectorIndexAutoRetriever
from llama_index.core.schema import Document, QueryBundle
from llama_index.core.vector_stores import VectorStoreInfo
from llama_index.core.vector_stores.types import FilterCondition, MetadataFilter, MetadataFilters
from llama_index.core.workflow import Context, JsonSerializer

from indelible import MemoryStore
from llama_index_indelible import IndelibleBufferChatStore, IndelibleRetriever, IndelibleVectorStore, memory, storage_context
from tests.interop.llamaindex.chats import assistant, open_store, own_loop, said, texts, user
from tests.interop.llamaindex.models import ScriptedChat, ScriptedCompletion
from tests.interop.llamaindex.samples import DIM, WordEmbedding, node

MODEL = WordEmbedding()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path / "memory.db") as kept:
        yield kept


@pytest.fixture
def animals(nodes: IndelibleVectorStore) -> IndelibleVectorStore:
    nodes.add([node("fox", "red fox", n=1), node("vixen", "red fox vixen", n=1), node("whale", "blue whale", n=2)])
    return nodes


def words(text: str) -> list[str]:
    return text.split()


# Indexes and retrievers


def retrieved(index: VectorStoreIndex, question: str, **how: Any) -> list[str]:
    return [hit.node_id for hit in index.as_retriever(**{"similarity_top_k": 2, **how}).retrieve(question)]


def test_an_index_over_a_vector_store(animals: IndelibleVectorStore) -> None:
    """Every option that LlamaIndex passes on reaches the store: modes, ``alpha``, filters, documents, what mmr and the past take."""
    index = VectorStoreIndex.from_vector_store(animals, embed_model=MODEL)
    version = animals.client.version
    animals.delete_nodes(["whale"])
    assert retrieved(index, "red fox") == ["fox", "vixen"]
    past = {"as_of": version}
    assert retrieved(index, "red fox", vector_store_query_mode="mmr", vector_store_kwargs={"mmr_threshold": 0.0, **past}) == [
        "fox",
        "whale",
    ]
    assert retrieved(index, "red fox", vector_store_query_mode="mmr", vector_store_kwargs={"mmr_threshold": 1.0, **past}) == [
        "fox",
        "vixen",
    ]
    assert retrieved(index, "whale", vector_store_kwargs=past, similarity_top_k=1) == ["whale"]
    assert retrieved(index, "vixen", vector_store_query_mode="text_search") == ["vixen"]
    assert retrieved(index, "vixen", vector_store_query_mode="hybrid", alpha=0.0) == ["vixen"]
    assert retrieved(index, "fox", filters=MetadataFilters(filters=[MetadataFilter(key="n", value=2)])) == []
    assert retrieved(index, "fox", doc_ids=[]) == []


async def test_an_index_deletes_and_inserts_by_coroutines(file: str) -> None:
    """A document is replaced whole, whichever way it is asked for."""
    context = storage_context(file)
    index = VectorStoreIndex([], storage_context=context, embed_model=MODEL)
    await index.ainsert(Document(id_="a", text="red fox"))
    await index.aupdate_ref_doc(Document(id_="a", text="grey fox"))
    assert [found.get_content() for found in context.vector_store.get_nodes()] == ["grey fox"]
    await index.adelete_ref_doc("a", delete_from_docstore=True)
    assert context.vector_store.get_nodes() == []
    assert await index.arefresh_ref_docs([Document(id_="a", text="grey fox")]) == [True]


def test_an_index_can_be_pickled(file: str) -> None:
    """It comes back on the same file."""
    context = storage_context(file)
    index = VectorStoreIndex.from_documents([Document(id_="a", text="red fox")], storage_context=context, embed_model=MODEL)
    again = pickle.loads(pickle.dumps(index))
    assert [hit.get_content() for hit in again.as_retriever().retrieve("fox")] == ["red fox"]
    again.insert(Document(id_="b", text="blue whale"))
    assert len(index.as_retriever(similarity_top_k=5).retrieve("fox")) == 2


def test_persisting_a_context_by_hand_is_harmless(file: str, tmp_path: Path) -> None:
    """What LlamaIndex reads as JSON stays JSON, and the context opened again at its path has its vector store."""
    context = storage_context(file)
    index = VectorStoreIndex.from_documents([Document(id_="a", text="red fox")], storage_context=context, embed_model=MODEL)
    index.storage_context.persist(str(tmp_path / "persisted"))
    for path in (tmp_path / "persisted").iterdir():
        json.loads(path.read_text(encoding="utf-8"))
    again = load_index_from_storage(storage_context(file), embed_model=MODEL)
    assert [hit.get_content() for hit in again.as_retriever().retrieve("fox")] == ["red fox"]


def test_a_summary_of_each_document(file: str) -> None:
    """``DocumentSummaryIndex`` keeps its summaries as nodes; it is there after a restart, and deleting a document takes its summary."""
    llm = ScriptedCompletion(answer="about animals")
    synthesizer = get_response_synthesizer(response_mode=ResponseMode.SIMPLE_SUMMARIZE, llm=llm)
    docs = [Document(id_=name, text=f"a red {name}") for name in ("fox", "ibis")]
    DocumentSummaryIndex.from_documents(
        docs, storage_context=storage_context(file), embed_model=MODEL, llm=llm, response_synthesizer=synthesizer
    )
    context = storage_context(file)
    index: Any = load_index_from_storage(context, embed_model=MODEL, llm=llm)
    assert index.get_document_summary("fox") == "about animals"
    found = index.as_retriever(retriever_mode="embedding", similarity_top_k=2).retrieve("animals")
    assert {hit.node.ref_doc_id for hit in found} == {"fox", "ibis"}
    index.delete_ref_doc("fox", delete_from_docstore=True)
    assert [summary.ref_doc_id for summary in context.vector_store.get_nodes()] == ["ibis"]


def auto(index: VectorStoreIndex, answer: str, **options: Any) -> list[str]:
    """What a retriever finds whose query and filters a model makes up."""
    info = VectorStoreInfo(content_info="animals", metadata_info=[])
    retriever = VectorIndexAutoRetriever(index, info, llm=ScriptedCompletion(answer=answer), similarity_top_k=5, **options)
    return sorted(hit.node_id for hit in retriever.retrieve(QueryBundle("whatever")))


def test_a_model_may_ask_by_filters_alone(animals: IndelibleVectorStore) -> None:
    """LlamaIndex sends a vector of zeros then: what the filters leave is found, with finite scores."""
    index = VectorStoreIndex.from_vector_store(animals, embed_model=MODEL)
    by_filter = json.dumps({"query": "", "filters": [{"key": "n", "value": 1, "operator": "=="}], "top_k": 5})
    assert auto(index, by_filter, default_empty_query_vector=[0.0] * DIM) == ["fox", "vixen"]


def test_none_of_these_is_said_elsewhere(animals: IndelibleVectorStore) -> None:
    """That retriever makes AND of a NOT before any store sees it; an index's own one, and ours, keep it."""
    index = VectorStoreIndex.from_vector_store(animals, embed_model=MODEL)
    none_of = MetadataFilters(filters=[MetadataFilter(key="n", value=1)], condition=FilterCondition.NOT)
    assert retrieved(index, "red fox", filters=none_of) == ["whale"]
    assert [hit.node_id for hit in IndelibleRetriever(animals, MODEL, filters=none_of).retrieve("red fox")] == ["whale"]


def test_a_query_engine_over_facts(store: MemoryStore) -> None:
    """The retriever over a memory serves wherever LlamaIndex takes one."""
    store.remember("The fox is red")
    llm = ScriptedCompletion(answer="red")
    engine = RetrieverQueryEngine.from_args(IndelibleRetriever(store), llm=llm)
    assert str(engine.query("Which colour is the fox?")) == "red"
    assert "The fox is red" in llm.prompts[0]


# Memories of LlamaIndex on the vector store


async def test_llama_index_s_own_block(nodes: IndelibleVectorStore) -> None:
    """It needs a store of text, and three lists of one length: else it shows nothing and says nothing."""
    block = VectorMemoryBlock(vector_store=nodes, embed_model=MODEL, similarity_top_k=1)
    await block.aput([user("Ada drinks tea")], session_id="s")
    assert "Ada drinks tea" in await block.aget([user("tea")], session_id="s")


@own_loop()
def test_the_old_vector_memory(nodes: IndelibleVectorStore) -> None:
    """Deprecated and in use: found by meaning, and empty and usable after a reset."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old = VectorMemory.from_defaults(vector_store=nodes, embed_model=MODEL, retriever_kwargs={"similarity_top_k": 1})
    old.put(user("Ada drinks tea"))
    old.put(assistant("noted"))
    old.put(user("Bob has a dog"))
    assert "Ada drinks tea" in texts(old.get("tea"))
    old.reset()
    assert old.get("tea") == []
    assert nodes.get_nodes() == []
    old.put(user("Ada drinks milk"))
    assert texts(old.get("milk")) == ["Ada drinks milk"]


# Chat engines and workflows on our memory


def engines(animals: IndelibleVectorStore, session: Memory) -> dict[str, BaseChatEngine]:
    index, llm = VectorStoreIndex.from_vector_store(animals, embed_model=MODEL), MockLLM(max_tokens=3)
    retriever = index.as_retriever(similarity_top_k=1)
    return {
        "context": ContextChatEngine.from_defaults(retriever, llm=llm, memory=session),
        "condense and context": CondensePlusContextChatEngine.from_defaults(retriever, llm=llm, memory=session),
        "condense": CondenseQuestionChatEngine.from_defaults(index.as_query_engine(llm=llm), llm=llm, memory=session),
        "by its name": index.as_chat_engine(ChatMode.CONTEXT, llm=llm, memory=session),
    }


@pytest.mark.parametrize("name", ["context", "condense and context", "condense", "by its name"])
async def test_every_chat_engine(store: MemoryStore, animals: IndelibleVectorStore, name: str) -> None:
    """Two turns, the second streamed; another engine goes on with the session, and resets it."""
    session = memory(None, "s", store=store, tokenizer_fn=words)
    engine = engines(animals, session)[name]
    await engine.achat("red fox?")
    streamed = await engine.astream_chat("and whales?")
    told = "".join([token async for token in streamed.async_response_gen()])
    again = memory(None, "s", store=store, tokenizer_fn=words)
    kept = await again.aget_all()
    assert [message.role.value for message in kept] == ["user", "assistant", "user", "assistant"]
    assert texts(kept)[0::2] == ["red fox?", "and whales?"]
    assert (kept[3].content or "").strip() == told.strip()
    await again.areset()
    assert await session.aget_all() == []


def test_a_buffer_that_summarises(file: str) -> None:
    """It puts a summary in the place of the oldest messages; what it replaced can be read as it was, and another buffer goes on."""
    chats = IndelibleBufferChatStore(file)

    def buffer() -> ChatSummaryMemoryBuffer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return ChatSummaryMemoryBuffer.from_defaults(
                chat_store=chats, llm=ScriptedChat(answers=["in short"] * 9), token_limit=8, tokenizer_fn=words
            )

    for number in range(4):
        buffer().put(user(f"question {number} is this"))
        buffer().put(assistant(f"answer {number} is that"))
    before = chats.client.version
    shown = buffer().get()
    assert (shown[0].role.value, shown[0].content) == ("system", "in short")
    assert texts(shown)[1:] == ["question 3 is this", "answer 3 is that"]
    assert texts(buffer().get_all()) == texts(shown)
    assert len(chats.get_messages("chat_history", as_of=before)) == 8


async def test_a_turn_is_kept_whole(store: MemoryStore) -> None:
    """What is left when the oldest are let go of begins with a user: no tool's answer stands without the call it answers."""
    session = memory(None, "s", store=store, token_limit=300, chat_history_token_ratio=0.1, token_flush_size=5, tokenizer_fn=words)
    for number in range(8):
        call = {"tool_calls": [{"tool_id": f"c{number}", "tool_name": "search", "tool_kwargs": {}}]}
        turn = [user(f"question {number} is this"), assistant("", **call), said("tool", f"rows {number}", tool_call_id=f"c{number}")]
        await session.aput_messages([*turn, assistant(f"answer {number}")])
        active = await session.sql_store.get_messages("s")
        assert not active or active[0].role.value == "user"
    assert len(await session.aget_all()) == 32


@pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")  # LlamaIndex looks at all attributes of an agent, old ones too
async def test_a_workflow_goes_on_after_its_context_was_written_down(store: MemoryStore) -> None:
    """LlamaIndex leaves the memory out of it; it is attached again by the session's id, and its messages are there."""

    def agent(*answers: Any) -> FunctionAgent:
        return FunctionAgent(tools=[], llm=ScriptedChat(answers=list(answers)), streaming=False)

    first = agent("hello Ada")
    context = Context(first)
    await first.run("I am Ada", ctx=context, memory=memory(None, "s", store=store))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that the memory is left out
        written = json.dumps(context.to_dict(serializer=JsonSerializer()))
    assert "Ada" not in json.dumps(json.loads(written)["state"].get("memory", ""))
    second = agent(lambda messages: " / ".join(texts(messages)))
    restored = Context.from_dict(second, json.loads(written), serializer=JsonSerializer())
    response: Any = await second.run("who am I?", ctx=restored, memory=memory(None, "s", store=store))
    assert str(response.response.content) == "I am Ada / hello Ada / who am I?"


async def test_a_memory_is_attached_again_by_its_session(store: MemoryStore) -> None:
    """Its own dump leaves the messages out and cannot be read back; what is needed is the name of the session."""
    session = memory(None, "s", store=store, tokenizer_fn=words)
    await session.aput(user("a"))
    again = Memory.from_defaults(session_id=session.session_id, chat_store=session.sql_store, tokenizer_fn=words)
    assert texts(await again.aget_all()) == ["a"]
