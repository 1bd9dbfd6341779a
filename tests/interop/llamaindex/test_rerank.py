"""A second look at what was found, where LlamaIndex's interfaces have a place for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core import VectorStoreIndex

from indelible import InvalidInput, MemoryStore, Rerank
from llama_index_indelible import IndelibleMemoryBlock, IndelibleRetriever, IndelibleToolSpec, IndelibleVectorStore
from tests.interop.llamaindex.chats import open_store, user
from tests.interop.llamaindex.samples import WordEmbedding, asked, node, query_of, vector_of
from tests.rerankers import Longest

NEAR, LONG = "red fox", "a red fox runs over the wide field behind the old house"
MODES = ("default", "hybrid", "text_search", "sparse")


@pytest.fixture
def foxes(nodes: IndelibleVectorStore) -> IndelibleVectorStore:
    nodes.add([node("long", LONG), node("near", NEAR)])
    return nodes


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path / "memory.db") as store:
        store.remember(LONG, agent_id="bot", user_id="ada")
        store.remember(NEAR, agent_id="bot", user_id="ada")
        yield store


@pytest.mark.parametrize("mode", MODES)
def test_the_vector_store(foxes: IndelibleVectorStore, mode: str) -> None:
    """In every mode; what it is ranked by is the reranker's score."""
    reranker = Longest()
    assert asked(foxes, "red fox", mode=mode) == ["near", "long"]
    assert asked(foxes, "red fox", mode=mode, options={"rerank": reranker}) == ["long", "near"]
    assert [(query, sorted(texts)) for query, texts in reranker.seen] == [("red fox", [LONG, NEAR])]
    result = foxes.query(query_of("red fox", mode=mode), rerank=reranker)
    assert result.similarities == [len(text) / (1 + len(text)) for text in (LONG, NEAR)]


def test_the_vector_store_with_variety(foxes: IndelibleVectorStore) -> None:
    assert sorted(asked(foxes, "red fox", mode="mmr", options={"rerank": Longest()})) == ["long", "near"]


def test_where_there_is_nothing_to_rank_by(foxes: IndelibleVectorStore) -> None:
    """What the conditions leave comes as it does; a vector without words cannot be read beside a text."""
    assert sorted(asked(foxes, options={"rerank": Longest()})) == ["long", "near"]
    with pytest.raises(InvalidInput, match="give a query"):
        foxes.query(query_of(None, query_embedding=vector_of("red fox")), rerank=Longest())
    with pytest.raises(InvalidInput, match="rerank must be True"):
        foxes.query(query_of("red fox"), rerank="yes")


def test_an_index_hands_it_on(foxes: IndelibleVectorStore) -> None:
    index = VectorStoreIndex.from_vector_store(foxes, embed_model=WordEmbedding())
    found = index.as_retriever(vector_store_kwargs={"rerank": Longest()}).retrieve("red fox")
    assert [hit.node.node_id for hit in found] == ["long", "near"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_retriever(foxes: IndelibleVectorStore, facts: MemoryStore, mode: str) -> None:
    for memory in (foxes, facts):
        plain = IndelibleRetriever(memory, WordEmbedding(), mode=mode)
        reranking = IndelibleRetriever(memory, WordEmbedding(), mode=mode, rerank=Rerank(reranker=Longest()))
        assert [hit.text for hit in plain.retrieve("red fox")] == [NEAR, LONG]
        assert [hit.text for hit in reranking.retrieve("red fox")] == [LONG, NEAR]
        assert [hit.text for hit in await reranking.aretrieve("red fox")] == [LONG, NEAR]


async def test_the_memory_block(facts: MemoryStore) -> None:
    """Copies of it as well."""
    for rerank, expected in ((None, NEAR), (Longest(), LONG)):
        block = IndelibleMemoryBlock(store=facts, session_field=None, rerank=rerank)
        for one in (block, copy.copy(block)):
            shown = await one.aget([user("red fox")])
            assert shown.split("\n- ", 1)[1].split(" (")[0] == expected


def test_the_tools(facts: MemoryStore) -> None:
    """Whoever makes them decides; the model is not asked."""
    spec = IndelibleToolSpec(store=facts, agent_id="bot", user_id="ada", rerank=Longest())
    for tool in spec.to_tool_list(["recall", "search_semantic"]):
        found = json.loads(tool.call(query="red fox").content)
        assert [memory["content"] for memory in found] == [LONG, NEAR]
        assert "rerank" not in tool.metadata.get_parameters_dict()["properties"]
