"""The retriever over facts and collections."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnablePassthrough

from indelible import InvalidInput, MemoryStore
from langchain_indelible import IndelibleRetriever, IndelibleVectorStore
from tests.interop.langchain.models import USER, texts


@pytest.fixture
def facts(store: MemoryStore) -> MemoryStore:
    store.remember("Ada prefers tea", metadata={"topic": "drink", "n": 1}, source="chat", **USER)
    store.remember("Ada has a cat named E1234", metadata={"topic": "pet"}, **USER)
    store.remember("Bob prefers milk", agent_id="helper", user_id="bob")
    return store


async def test_facts_as_documents(facts: MemoryStore) -> None:
    """With their ids and exactly their metadata; invoked, in batches, sync and async."""
    retriever = IndelibleRetriever(memory=facts, k=1, user_id="ada")
    (record, *_) = facts.list(user_id="ada")
    expected = [Document(id=record.id, page_content="Ada prefers tea", metadata={"topic": "drink", "n": 1})]
    assert retriever.invoke("what does Ada prefer?") == expected
    assert await retriever.ainvoke("what does Ada prefer?") == expected
    assert retriever.batch(["what does Ada prefer?"] * 2) == [expected] * 2
    assert await retriever.abatch(["what does Ada prefer?"]) == [expected]


def test_scopes(facts: MemoryStore) -> None:
    """By arguments or by a bound view; a collection has one of its own."""
    assert texts(IndelibleRetriever(memory=facts, user_id="bob").invoke("prefers")) == ["Bob prefers milk"]
    assert texts(IndelibleRetriever(memory=facts.scope(user_id="bob")).invoke("prefers")) == ["Bob prefers milk"]
    assert len(IndelibleRetriever(memory=facts).invoke("prefers")) == 3
    assert IndelibleRetriever(memory=facts, org_id="none").invoke("prefers") == []
    with pytest.raises(InvalidInput, match="bound"):
        IndelibleRetriever(memory=facts.scope(user_id="bob"), user_id="ada").invoke("prefers")
    with pytest.raises(InvalidInput, match="scope of its own"):
        IndelibleRetriever(memory=facts.collection("x"), user_id="ada").invoke("prefers")


def test_hybrid_by_default(facts: MemoryStore) -> None:
    """An exact code is found by its word; other modes are asked for."""
    facts.remember_many([f"Ada has thing number {number}" for number in range(30)], **USER)
    assert texts(IndelibleRetriever(memory=facts, k=1).invoke("E1234?")) == ["Ada has a cat named E1234"]
    assert texts(IndelibleRetriever(memory=facts, mode="keyword").invoke("cat e1234")) == ["Ada has a cat named E1234"]
    assert IndelibleRetriever(memory=facts, mode="keyword").invoke("cat e1234 missing") == []
    assert len(IndelibleRetriever(memory=facts).invoke("E1234", k=2, mode="semantic")) == 2


def test_what_invoke_says_wins(facts: MemoryStore) -> None:
    """``k``, ``mode``, ``filter`` and ``as_of``; ``k=0`` is none and a negative one refused."""
    retriever = IndelibleRetriever(memory=facts, k=3, filter={"topic": "pet"}, user_id="ada")
    assert texts(retriever.invoke("Ada")) == ["Ada has a cat named E1234"]
    assert texts(retriever.invoke("Ada", filter=lambda document: "tea" in document.page_content)) == ["Ada prefers tea"]
    assert retriever.invoke("Ada", k=0) == []
    assert texts(retriever.invoke("Ada", as_of=1, filter={})) == ["Ada prefers tea"]
    with pytest.raises(InvalidInput, match="limit"):
        retriever.invoke("Ada", k=-1)
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        IndelibleRetriever(memory=facts, k=-1)


async def test_what_ainvoke_says_wins_too(facts: MemoryStore) -> None:
    """The inherited coroutine takes no options at all."""
    retriever = IndelibleRetriever(memory=facts, k=3, filter={"topic": "pet"}, user_id="ada")
    assert await retriever.ainvoke("Ada", k=0) == []
    assert texts(await retriever.ainvoke("Ada", as_of=1, filter={})) == ["Ada prefers tea"]
    assert texts((await retriever.abatch(["Ada"], k=1))[0]) == ["Ada has a cat named E1234"]
    with pytest.raises(InvalidInput, match="limit"):
        await retriever.ainvoke("Ada", k=-1)


def test_the_past(facts: MemoryStore) -> None:
    """By ``as_of`` or by a view: what was edited and forgotten since is there as it was."""
    then = facts.version
    for record in facts.list(user_id="ada"):
        facts.forget(record.id)
    now = IndelibleRetriever(memory=facts, user_id="ada")
    assert now.invoke("tea") == []
    assert texts(now.invoke("tea", k=1, as_of=then)) == ["Ada prefers tea"]
    assert texts(IndelibleRetriever(memory=facts, user_id="ada", as_of=then, k=1).invoke("tea")) == ["Ada prefers tea"]
    assert texts(IndelibleRetriever(memory=facts.at(then), k=1, user_id="ada").invoke("tea")) == ["Ada prefers tea"]


def test_collections(store: MemoryStore) -> None:
    """Documents of a vector store by their own ids; without a model, by words."""
    documents = IndelibleVectorStore(store)
    documents.add_texts(["red fox", "blue whale"], ids=["1", "2"])
    assert IndelibleRetriever(memory=documents.collection, k=1).invoke("fox") == [Document(id="1", page_content="red fox")]
    notes = store.collection("notes")
    notes.put("1", "smoking is not allowed in the house")
    for mode in (None, "hybrid"):
        assert texts(IndelibleRetriever(memory=notes, mode=mode).invoke("may I smoke in this house?")) == [
            "smoking is not allowed in the house"
        ]


def test_provenance_where_asked_for(facts: MemoryStore) -> None:
    """Which version of what, from whom, and why it was found."""
    (document, *_) = IndelibleRetriever(memory=facts, provenance=True, user_id="ada").invoke("tea", k=1)
    about = document.metadata["indelible"]
    record = facts.get(about["id"])
    assert record is not None
    assert (about["version"], about["source"], about["why"]) == (record.version, "chat", ["keyword", "semantic"])
    assert 0 < about["score"] <= 1
    assert document.metadata["n"] == 1
    assert record.metadata == {"topic": "drink", "n": 1}


@pytest.mark.parametrize("bad", [{"a": 1}, None, "a path"])
def test_only_memories_are_searched(bad: Any) -> None:
    """Named when it is made, not when it is used."""
    with pytest.raises(ValueError, match="memory"):
        IndelibleRetriever(memory=bad)


def test_in_a_chain(facts: MemoryStore) -> None:
    """As any retriever."""
    chain = {
        "context": IndelibleRetriever(memory=facts, k=1, user_id="ada"),
        "question": RunnablePassthrough(),
    } | RunnablePassthrough.assign(known=lambda value: texts(value["context"]))
    assert chain.invoke("what does Ada prefer?")["known"] == ["Ada prefers tea"]
