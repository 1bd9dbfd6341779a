"""The query modes of the vector store."""

from __future__ import annotations

import math
from operator import mul

import pytest
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery, VectorStoreQueryMode

from indelible import InvalidInput
from llama_index_indelible import IndelibleVectorStore
from tests.interop.llamaindex.samples import asked, node, query_of, vector_of

TEXTS = {
    "fox": "The quick brown fox jumps over the lazy dog",
    "foxes": "Foxes hunt at night; a fox hears well",
    "whale": "The blue whale is the largest animal",
    "the": "the the the the the",
}


@pytest.fixture
def animals(nodes: IndelibleVectorStore) -> IndelibleVectorStore:
    nodes.add([node(name, text) for name, text in TEXTS.items()])
    return nodes


@pytest.mark.parametrize("mode", ["text_search", "sparse"])
@pytest.mark.parametrize("words", ["fox", "who is the fox?", "who' &..s \\| (the): <-> **fox**?!!!", "fox AND NOT -whaley", '"fox" OR (*'])
def test_words_are_words_and_never_syntax(animals: IndelibleVectorStore, mode: str, words: str) -> None:
    """Any of the words is enough, what has no meaning of its own is left out, and plurals are found."""
    assert sorted(asked(animals, words, mode=mode)) == ["fox", "foxes"]


def test_what_is_searched_for_by_words_must_be_given(animals: IndelibleVectorStore) -> None:
    """A search by words needs words; how many are wanted may be said in two ways."""
    for mode in (VectorStoreQueryMode.TEXT_SEARCH, VectorStoreQueryMode.SPARSE):
        with pytest.raises(ValueError, match="query_str must be specified"):
            animals.query(VectorStoreQuery(query_embedding=[0.5] * 64, mode=mode))
    assert len(asked(animals, "fox", mode="sparse", top_k=1)) == 1
    assert len(asked(animals, "fox", mode="sparse", top_k=1, sparse_top_k=2)) == 2
    assert asked(animals, "?!", mode="text_search") == []


def test_words_and_conditions_together(animals: IndelibleVectorStore) -> None:
    """Filters, ids and documents narrow a search by words too, and its scores stay those of the whole slice."""
    whole = animals.query(query_of("fox whale", mode="text_search"))
    scores = dict(zip(whole.ids or [], whole.similarities or [], strict=True))
    narrow = animals.query(query_of("fox whale", mode="text_search", node_ids=["whale"]))
    assert narrow.ids == ["whale"]
    assert narrow.similarities == [scores["whale"]]
    nothing = MetadataFilters(filters=[MetadataFilter(key="n", value=1)])
    assert asked(animals, "fox", mode="text_search", filters=nothing) == []


def test_hybrid_goes_from_words_to_meaning(animals: IndelibleVectorStore) -> None:
    """alpha=0 is text_search and alpha=1 default, scores included; between them both count; without alpha both alike."""
    by_words, by_meaning = animals.query(query_of("fox", mode="text_search")), animals.query(query_of("fox"))
    for alpha, wanted in ((0.0, by_words), (1.0, by_meaning), (0, by_words), (1, by_meaning)):
        found = animals.query(query_of("fox", mode="hybrid", alpha=alpha))
        assert (found.ids, found.similarities) == (wanted.ids, wanted.similarities)
    assert animals.query(query_of("fox", mode="hybrid")) == animals.query(query_of("fox", mode="hybrid", alpha=0.5))
    assert set(asked(animals, "fox", mode="hybrid")) == set(TEXTS)
    assert len(asked(animals, "fox", mode="hybrid", top_k=1)) == 1
    assert len(asked(animals, "fox", mode="hybrid", top_k=1, hybrid_top_k=3)) == 3
    with pytest.raises(InvalidInput, match="balance"):
        asked(animals, "fox", mode="hybrid", alpha=2.0)


def test_hybrid_weighs_its_sides(nodes: IndelibleVectorStore) -> None:
    """The nearer alpha is to 1 the more the vector decides."""
    nodes.add([node("word", "fox", vector=[0, 1]), node("vector", "whale", vector=[1, 0])])
    query = {"query_str": "fox", "query_embedding": [1.0, 0.0], "similarity_top_k": 2, "mode": VectorStoreQueryMode.HYBRID}
    assert nodes.query(VectorStoreQuery(**query, alpha=0.01)).ids == ["word", "vector"]  # type: ignore[arg-type]
    assert nodes.query(VectorStoreQuery(**query, alpha=0.99)).ids == ["vector", "word"]  # type: ignore[arg-type]


def test_hybrid_says_what_it_lacks(animals: IndelibleVectorStore) -> None:
    """Words, or a vector; a vector of zeros leaves the words."""
    with pytest.raises(ValueError, match="query_embedding must be specified"):
        animals.query(query_of("fox", mode="hybrid", embed=False))
    with pytest.raises(ValueError, match="query_str must be specified"):
        animals.query(VectorStoreQuery(query_embedding=vector_of("fox"), mode=VectorStoreQueryMode.HYBRID))
    zeros = VectorStoreQuery(query_embedding=[0.0] * 64, query_str="fox", similarity_top_k=9, mode=VectorStoreQueryMode.HYBRID)
    assert animals.query(zeros).ids == asked(animals, "fox", mode="text_search")


ROOM = {"a": [1.0, 0.0, 0.1], "b": [1.0, 0.0, 0.11], "c": [0.6, 0.8, 0.0], "d": [0.0, 0.0, 1.0], "e": [0.9, 0.1, 0.4]}
QUERY = [1.0, 0.2, 0.1]


def cosine(one: list[float], other: list[float]) -> float:
    product: float = sum(map(mul, one, other))
    return product / math.hypot(*one) / math.hypot(*other)


def chosen(threshold: float, count: int) -> list[str]:
    """Maximal marginal relevance by its definition: each is compared with all that were chosen before it."""
    found: list[str] = []
    while len(found) < count:
        found.append(
            max(
                (name for name in ROOM if name not in found),
                key=lambda name: (
                    threshold * cosine(ROOM[name], QUERY)
                    - (1 - threshold) * max((cosine(ROOM[name], ROOM[other]) for other in found), default=-cosine(ROOM[name], QUERY))
                ),
            )
        )
    return found


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_mmr_chooses_what_is_near_and_different(nodes: IndelibleVectorStore, threshold: float) -> None:
    """By option or by the query's own field; the option wins."""
    nodes.add([node(name, vector=vector) for name, vector in ROOM.items()])
    mmr = VectorStoreQueryMode.MMR
    query = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=4, mode=mmr, mmr_threshold=threshold)
    assert nodes.query(query).ids == chosen(threshold, 4)
    other = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=4, mode=mmr, mmr_threshold=1 - threshold)
    assert nodes.query(other, mmr_threshold=threshold).ids == chosen(threshold, 4)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_mmr_begins_as_the_helper_of_llama_index_does(threshold: float, nodes: IndelibleVectorStore) -> None:
    """That one compares with the last chosen only, so it may go its own way from the third on."""
    nodes.add([node(name, vector=vector) for name, vector in ROOM.items()])
    _, wanted = get_top_k_mmr_embeddings(QUERY, list(ROOM.values()), similarity_top_k=2, embedding_ids=list(ROOM), mmr_threshold=threshold)
    query = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=2, mode=VectorStoreQueryMode.MMR, mmr_threshold=threshold)
    assert nodes.query(query, mmr_prefetch_k=5).ids == wanted


def test_mmr_prefetch(nodes: IndelibleVectorStore) -> None:
    """How many are chosen from is said in one of two ways; both together are an error."""
    nodes.add([node(name, vector=vector) for name, vector in ROOM.items()])
    query = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=2, mode=VectorStoreQueryMode.MMR, mmr_threshold=0.0)
    nearest = nodes.query(VectorStoreQuery(query_embedding=QUERY, similarity_top_k=2)).ids
    assert nodes.query(query, mmr_prefetch_k=2).ids == nearest
    assert nodes.query(query, mmr_prefetch_factor=1.0).ids == nearest
    assert nodes.query(query).ids != nearest
    with pytest.raises(ValueError, match="give one"):
        nodes.query(query, mmr_prefetch_k=2, mmr_prefetch_factor=1.0)
    with pytest.raises(ValueError, match="balance"):
        nodes.query(query, mmr_threshold=1.5)


@pytest.mark.parametrize("mode", ["semantic_hybrid", "svm", "logistic_regression", "linear_regression"])
def test_a_mode_that_is_not_offered_is_an_error(animals: IndelibleVectorStore, mode: str) -> None:
    """Elsewhere it silently runs another one."""
    with pytest.raises(ValueError, match="Invalid query mode"):
        animals.query(query_of("fox", mode=mode))
