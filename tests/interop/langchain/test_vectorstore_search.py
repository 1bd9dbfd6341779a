"""The vector store beyond the standard tests: scores, filters, variety, time."""

from __future__ import annotations

from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, UnsupportedOperation, where
from langchain_indelible import IndelibleVectorStore
from tests.interop.langchain.models import WordEmbeddings, texts

# Scores


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_relevance_lies_between_0_and_1_and_orders(store: MemoryStore, scale: float) -> None:
    """Also for vectors that are not of unit length, and for cosines below 0."""
    documents = IndelibleVectorStore(store, WordEmbeddings(4, scale))
    documents.add_texts([f"word{number}" for number in range(40)])
    scored = documents.similarity_search_with_score("word7", k=40)
    relevant = documents.similarity_search_with_relevance_scores("word7", k=40)
    assert min(score for _, score in scored) < 0
    assert scored[0][1] == pytest.approx(1.0)
    assert all(0.0 <= score <= 1.0 for _, score in relevant)
    assert [score for _, score in relevant] == sorted((score for _, score in relevant), reverse=True)
    assert [doc for doc, _ in scored] == [doc for doc, _ in relevant]


async def test_a_retriever_with_a_threshold(documents: IndelibleVectorStore) -> None:
    """Sync and async; elsewhere there was no relevance function at all."""
    documents.add_texts(["red fox", "red whale", "green tea"])
    retriever = documents.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.4})
    assert texts(retriever.invoke("red fox")) == ["red fox", "red whale"]
    assert texts(await retriever.ainvoke("red fox")) == ["red fox", "red whale"]
    assert texts(retriever.invoke("red fox", score_threshold=0.9)) == ["red fox"]


def test_the_limit(documents: IndelibleVectorStore) -> None:
    """None of 0, all of more than there are, and no negative number."""
    documents.add_texts(["a b", "a c"])
    assert documents.similarity_search("a", k=0) == []
    assert len(documents.similarity_search("a", k=1000)) == 2
    for search in (documents.similarity_search, documents.max_marginal_relevance_search):
        with pytest.raises(InvalidInput, match="limit"):
            search("a", k=-1)


# Filters


@pytest.fixture
def animals(documents: IndelibleVectorStore) -> IndelibleVectorStore:
    """One wanted among many that are nearer to the question."""
    documents.add_texts(["grey owl"], [{"legs": 2, "at": {"home": "wood"}, "tags": ["bird"]}], ids=["owl"])
    documents.add_texts([f"red fox {number}" for number in range(30)], [{"legs": 4}] * 30)
    return documents


FILTERS: list[Any] = [
    {"legs": 2},
    {"legs": {"$lt": 4}},
    {"legs": {"$gte": 1, "$lte": 3}},
    {"at": {"home": "wood"}},
    {"at.home": "wood"},
    {"tags": ["bird"]},
    {"$or": [{"legs": 2}, {"legs": 99}]},
    {"$not": {"legs": 4}},
    where("legs").lt(4),
    lambda document: document.metadata["legs"] == 2,
    lambda document: document.id == "owl" and "owl" in document.page_content,
]


@pytest.mark.parametrize("filter", FILTERS)
async def test_a_filter_comes_before_the_limit_everywhere(animals: IndelibleVectorStore, filter: Any) -> None:
    """By query and vector, plain and diverse, sync and async; as a mapping, a tree or a function of the document."""
    vector = animals.embeddings.embed_query("red fox")
    found = [
        animals.similarity_search("red fox", k=3, filter=filter),
        animals.similarity_search_by_vector(vector, k=3, filter=filter),
        animals.max_marginal_relevance_search("red fox", k=3, fetch_k=3, filter=filter),
        animals.max_marginal_relevance_search_by_vector(vector, k=3, fetch_k=3, filter=filter),
        await animals.asimilarity_search("red fox", k=3, filter=filter),
        await animals.amax_marginal_relevance_search("red fox", k=3, filter=filter),
        [doc for doc, _ in animals.similarity_search_with_score("red fox", k=3, filter=filter)],
        [doc for doc, _ in animals.similarity_search_with_score_by_vector(vector, k=3, filter=filter)],
        animals.as_retriever(search_kwargs={"filter": filter, "k": 3}).invoke("red fox"),
    ]
    assert [texts(documents) for documents in found] == [["grey owl"]] * len(found)


@pytest.mark.parametrize("filter", [{"legs": {"$near": 2}}, {"$nand": []}, 7, "legs = 2"])
def test_a_faulty_filter_is_an_error(animals: IndelibleVectorStore, filter: Any) -> None:
    """Never an empty answer, and never everything."""
    with pytest.raises(InvalidInput):
        animals.similarity_search("red fox", filter=filter)


def test_a_filter_function_that_fails_says_so(animals: IndelibleVectorStore) -> None:
    """Its exception is the cause."""
    with pytest.raises(InvalidInput, match="KeyError") as caught:
        animals.similarity_search("red fox", filter=lambda document: document.metadata["wings"])
    assert isinstance(caught.value.__cause__, KeyError)


# Variety


def test_variety_is_chosen_from_the_nearest(documents: IndelibleVectorStore) -> None:
    """``lambda_mult`` of 1 is the plain order; with less, a repetition gives way to another of the ``fetch_k`` nearest, not to more."""
    documents.add_texts(["red fox run", "red fox runs", "red bird", "green whale song"], ids=["1", "2", "3", "4"])
    nearest = texts(documents.similarity_search("red fox run", k=4))
    assert texts(documents.max_marginal_relevance_search("red fox run", k=4, lambda_mult=1.0)) == nearest
    assert nearest[:2] == ["red fox run", "red fox runs"]
    assert texts(documents.max_marginal_relevance_search("red fox run", k=2, fetch_k=3, lambda_mult=0.3)) == ["red fox run", "red bird"]
    assert texts(documents.max_marginal_relevance_search("red fox run", k=2, fetch_k=2, lambda_mult=0.0)) == nearest[:2]
    assert len(documents.max_marginal_relevance_search("red fox run", k=4, fetch_k=2)) == 4


async def test_three_kinds_of_retriever(animals: IndelibleVectorStore) -> None:
    """What is given to ``invoke`` wins over ``search_kwargs``."""
    for kind, more in (("similarity", {}), ("mmr", {"fetch_k": 10}), ("similarity_score_threshold", {"score_threshold": 0.1})):
        retriever = animals.as_retriever(search_type=kind, search_kwargs={"k": 2, **more})
        assert len(retriever.invoke("red fox")) == 2
        assert len(await retriever.ainvoke("red fox", k=1)) == 1


# Time


def test_the_past_of_documents(documents: IndelibleVectorStore, store: MemoryStore) -> None:
    """A search at a version, by argument or by view, answers what it would have then; a view cannot be written to."""
    documents.add_texts(["red fox"], ids=["1"])
    then = store.version
    documents.add_texts(["red whale"], ids=["2"])
    documents.delete(["1"])
    assert texts(documents.similarity_search("red")) == ["red whale"]
    assert texts(documents.similarity_search("red", as_of=then)) == ["red fox"]
    assert texts(documents.at(then).as_retriever().invoke("red")) == ["red fox"]
    assert texts(documents.at(then).get_by_ids(["1", "2"])) == ["red fox"]
    with pytest.raises(UnsupportedOperation):
        documents.at(then).add_texts(["late"])


def test_other_modes(documents: IndelibleVectorStore) -> None:
    """By words, and by both."""
    documents.add_texts(["the error code is E1234", "red fox"])
    assert texts(documents.similarity_search("e1234", mode="keyword")) == ["the error code is E1234"]
    assert texts(documents.similarity_search("code E1234", mode="hybrid"))[0] == "the error code is E1234"
