"""A second look at what was found, where LangChain's and LangGraph's interfaces have a place for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda

from indelible import InvalidInput, MemoryStore
from indelible.faces.known import AnyMemory
from langchain_indelible import (
    IndelibleMemory,
    IndelibleRetriever,
    IndelibleStore,
    IndelibleVectorStore,
    MemoryMiddleware,
    MemoryToolkit,
    memory_tools,
    with_memory,
)
from tests.interop.langchain.models import USER, ScriptedChatModel, WordEmbeddings, prompt_of, texts
from tests.rerankers import Longest

NEAR, LONG = "red fox", "a red fox runs over the wide field behind the old house"


@pytest.fixture
def facts(store: MemoryStore) -> MemoryStore:
    store.remember(LONG, **USER)
    store.remember(NEAR, **USER)
    return store


@pytest.fixture
def foxes(documents: IndelibleVectorStore) -> IndelibleVectorStore:
    documents.add_documents([Document(page_content=LONG, id="long"), Document(page_content=NEAR, id="near")])
    return documents


def test_the_retriever(facts: MemoryStore, foxes: IndelibleVectorStore) -> None:
    """Over facts and over documents; set up, or for one call."""
    memories: list[Any] = [facts, foxes.collection]
    for memory in memories:
        plain = IndelibleRetriever(memory=memory)
        assert texts(plain.invoke("red fox")) == [NEAR, LONG]
        assert texts(plain.invoke("red fox", rerank=Longest())) == [LONG, NEAR]
        reranking = IndelibleRetriever(memory=memory, rerank=Longest())
        assert texts(reranking.invoke("red fox")) == [LONG, NEAR]
        assert texts(reranking.invoke("red fox", rerank=False)) == [NEAR, LONG]


def test_the_vector_store(foxes: IndelibleVectorStore) -> None:
    """Per search, and so as a retriever's ``search_kwargs``; the score stays the cosine."""
    assert texts(foxes.similarity_search("red fox", rerank=Longest())) == [LONG, NEAR]
    assert texts(foxes.as_retriever(search_kwargs={"rerank": Longest()}).invoke("red fox")) == [LONG, NEAR]
    plain = {document.id: score for document, score in foxes.similarity_search_with_score("red fox")}
    again = foxes.similarity_search_with_score("red fox", rerank=Longest())
    assert [document.id for document, _ in again] == ["long", "near"]
    assert {document.id: score for document, score in again} == plain
    assert len(foxes.max_marginal_relevance_search("red fox", rerank=Longest())) == 2


def test_a_vector_alone_cannot_be_read(foxes: IndelibleVectorStore, embeddings: WordEmbeddings) -> None:
    with pytest.raises(InvalidInput, match="give a query"):
        foxes.similarity_search_by_vector(embeddings.embed_query("red fox"), rerank=Longest())


@pytest.mark.parametrize("embed", [None, WordEmbeddings()], ids=["own", "given"])
def test_the_store_of_langgraph(store: MemoryStore, embed: Any) -> None:
    """What is read is the text of the field that matched; items without a query come as they do."""
    index: Any = {"fields": ["text"]} if embed is None else {"fields": ["text"], "embed": embed, "dims": 64}
    reranker = Longest()
    plain, reranking = (IndelibleStore(store, index=index, rerank=wanted) for wanted in (None, reranker))
    plain.put(("a",), "long", {"text": LONG, "more": "y"})
    plain.put(("a",), "near", {"text": NEAR, "more": "x" * 100})
    plain.put(("a",), "none", {"number": 1})
    assert [item.key for item in plain.search(("a",), query="red fox")] == ["near", "long", "none"]
    assert [item.key for item in reranking.search(("a",), query="red fox")] == ["long", "near", "none"]
    assert reranker.seen == [("red fox", [NEAR, LONG])]
    assert [item.key for item in reranking.search(("a",))] == ["long", "near", "none"]
    scores = {item.key: item.score for item in plain.search(("a",), query="red fox")}
    assert {item.key: item.score for item in reranking.search(("a",), query="red fox")} == scores


def first_of(block: str) -> str:
    """The first entry of a block, wherever in a prompt it stands."""
    return block.split("Known information from memory:\n- ", 1)[1].split(" (")[0]


def by_middleware(memory: AnyMemory, rerank: object) -> str:
    model = ScriptedChatModel()
    agent = create_agent(model, tools=[], middleware=[MemoryMiddleware(memory, rerank=rerank, **USER)])  # type: ignore[arg-type]
    agent.invoke({"messages": [HumanMessage("red fox")]})
    return prompt_of(model.seen[0])


def by_runnable(memory: AnyMemory, rerank: object) -> str:
    return str(with_memory(RunnableLambda(str), memory, rerank=rerank).invoke("red fox"))  # type: ignore[arg-type]


def by_chain_memory(memory: Any, rerank: object) -> str:
    loaded = IndelibleMemory(store=memory, memory_key=None, facts_key="facts", rerank=rerank).load_memory_variables({"input": "red fox"})
    return str(loaded["facts"])


@pytest.mark.parametrize("way", [by_middleware, by_runnable, by_chain_memory])
def test_what_is_shown_to_a_model(facts: MemoryStore, way: Callable[[MemoryStore, object], str]) -> None:
    assert first_of(way(facts, None)) == NEAR
    assert first_of(way(facts, Longest())) == LONG


def test_the_tools(facts: MemoryStore) -> None:
    """Whoever makes them decides; the model is not asked."""
    for tools in (memory_tools(facts, rerank=Longest(), **USER), MemoryToolkit(store=facts, rerank=Longest(), **USER).get_tools()):
        named = {tool.name: tool for tool in tools}
        for name in ("recall", "search_semantic"):
            assert [memory["content"] for memory in json.loads(named[name].invoke({"query": "red fox"}))] == [LONG, NEAR]
            assert "rerank" not in named[name].args
