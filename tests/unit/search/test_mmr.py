"""Maximal marginal relevance, and near duplicates."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.mmr import drop_near_duplicates, mmr

VECTOR = st.lists(st.integers(-3, 3), min_size=3, max_size=3)
VECTORS = st.lists(VECTOR, max_size=8)
LIMIT = st.integers(0, 10)
TEXTS = st.lists(st.lists(st.sampled_from("a b c d e f g h i j k l".split()), max_size=12), max_size=6).map(
    lambda texts: list(enumerate(texts, 10))
)


def unit(vector: list[int]) -> Any:
    row = np.array(vector, dtype=np.float64)
    return row / max(float(np.linalg.norm(row)), 1e-300)


def cosine(one: list[int], other: list[int]) -> float:
    return float((unit(one) * unit(other)).sum())


@given(VECTOR, VECTORS, LIMIT, st.floats(0, 1))
def test_a_prefix_of_a_permutation(query: list[int], vectors: list[list[int]], limit: int, balance: float) -> None:
    """Distinct positions, as many as asked for, and a lower limit cuts the same choice."""
    chosen = mmr(query, vectors, limit=limit, balance=balance)
    assert len(chosen) == len(set(chosen)) == min(limit, len(vectors))
    assert set(chosen) <= set(range(len(vectors)))
    assert chosen == mmr(query, vectors, limit=99, balance=balance)[:limit]


@given(VECTOR, VECTORS)
def test_relevance_alone_is_plain_order(query: list[int], vectors: list[list[int]]) -> None:
    """With balance 1: falling cosine, equal rows in their order."""
    chosen = mmr(query, vectors, limit=99, balance=1.0)
    cosines = [cosine(query, vectors[position]) for position in chosen]
    assert all(first >= second - 1e-12 for first, second in pairwise(cosines))
    repeated = [position for position in chosen if vectors[position] == vectors[chosen[0]]]
    assert repeated == sorted(repeated)


@given(VECTOR, VECTORS.filter(bool), st.floats(0, 1))
def test_each_choice_is_the_best_left(query: list[int], vectors: list[list[int]], balance: float) -> None:
    """Greedy by its definition, checked from outside."""
    chosen = mmr(query, vectors, limit=99, balance=balance)
    assert cosine(query, vectors[chosen[0]]) >= max(cosine(query, vector) for vector in vectors) - 1e-12

    def gain(position: int, before: list[int]) -> float:
        nearest = max(cosine(vectors[position], vectors[other]) for other in before)
        return balance * cosine(query, vectors[position]) - (1 - balance) * nearest

    for place in range(1, len(chosen)):
        left = set(range(len(vectors))) - set(chosen[:place])
        assert gain(chosen[place], chosen[:place]) >= max(gain(position, chosen[:place]) for position in left) - 1e-12


@given(VECTOR, VECTORS, st.sampled_from([1e-200, 0.5, 1e200]))
def test_length_does_not_matter(query: list[int], vectors: list[list[int]], factor: float) -> None:
    """Only directions count, however long the vectors are."""
    scaled = [[factor * value for value in vector] for vector in vectors]
    # A power of two scales without rounding, so that ties stay ties; the others are compared with themselves.
    wanted = mmr(query, vectors if factor == 0.5 else scaled, limit=99)
    assert mmr([2.0 * value for value in query], [[2.0 * value for value in vector] for vector in scaled], limit=99) == wanted


def test_equal_rows_tie_wherever_they_stand() -> None:
    """S47: the same vector has the same cosine in every row, to the last bit, so equal rows keep their order."""
    row = np.sin(np.arange(259.0))
    query = np.cos(np.arange(259.0))
    for count in range(1, 40):
        assert mmr(query, [row] * count, limit=count, balance=1.0) == list(range(count))


def test_diversity() -> None:
    """The twin of the best waits until something else was shown."""
    vectors = [[1.0, 0.1], [1.0, 0.11], [0.6, -0.8]]
    assert mmr([1.0, 0.0], vectors, limit=3, balance=1.0) == [0, 1, 2]
    assert mmr([1.0, 0.0], vectors, limit=3, balance=0.5) == [0, 2, 1]
    assert mmr([0.0, 0.0], [[0, 0], [1, 0]], limit=2) == [0, 1]


@pytest.mark.parametrize(
    ("query", "vectors", "settings"),
    [
        ([1, 0], [[1, 0]], {"limit": -1}),
        ([1, 0], [[1, 0]], {"limit": True}),
        ([1, 0], [[1, 0]], {"limit": 1, "balance": 1.1}),
        ([1, 0], [[1, 0]], {"limit": 1, "balance": float("nan")}),
        ([1, 0, 0], [[1, 0]], {"limit": 1}),
        ([[1, 0]], [[1, 0]], {"limit": 1}),
        (1.0, [1, 0], {"limit": 1}),
        ([1, 0], [[1, 0], [1]], {"limit": 1}),
        ([1, 0], [[float("nan"), 0]], {"limit": 1}),
        ([float("inf"), 0], [[1, 0]], {"limit": 1}),
        ([1, 0], [["x", 0]], {"limit": 1}),
        ([1, 0], [[10**400, 0]], {"limit": 1}),
    ],
)
def test_faulty_input(query: Any, vectors: Any, settings: dict[str, Any]) -> None:
    """Refused by name, before anything is computed."""
    with pytest.raises(InvalidInput):
        mmr(query, vectors, **settings)


def test_relevance_of_another_kind() -> None:
    """It takes the place of the cosine to the query, and variety is judged as before."""
    rows = [[1.0, 0.0], [1.0, 0.01], [0.0, 1.0]]
    assert mmr([1, 0], rows, limit=3, balance=1.0, relevance=[0.1, 0.2, 0.3]) == [2, 1, 0]
    assert mmr([1, 0], rows, limit=3, balance=0.5, relevance=[1.0, 0.9, 0.2]) == [0, 2, 1]
    for wrong in ([0.1, 0.2], [[0.1, 0.2, 0.3]], [0.1, 0.2, float("nan")]):
        with pytest.raises(InvalidInput):
            mmr([1, 0], rows, limit=3, relevance=wrong)  # type: ignore[arg-type]  # wrong ones are the point


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_near_duplicates(items: list[tuple[int, list[str]]], threshold: float) -> None:
    """A subsequence; what is kept is unlike all kept before it, what is dropped is like one of them."""

    def alike(one: list[str], other: list[str]) -> bool:
        both = set(one) | set(other)
        return bool(both) and len(set(one) & set(other)) >= threshold * len(both)

    kept = drop_near_duplicates(items, threshold)
    texts = dict(items)
    assert kept == [document for document, _ in items if document in kept]
    for document, words in items:
        earlier = [other for other in kept if other < document]
        assert (document not in kept) == any(alike(words, texts[other]) for other in earlier)


def test_near_duplicates_by_hand() -> None:
    """Nine shared words of ten are a repeat at 0.9, and texts without words repeat nothing."""
    words = list("abcdefghij")
    assert drop_near_duplicates([(1, words), (2, words[:9]), (3, words[:8]), (4, []), (5, []), (6, words[::-1])]) == [1, 3, 4, 5]
    for wrong in (0, 1.5, "x", True):
        with pytest.raises(InvalidInput, match="threshold"):
            drop_near_duplicates([], wrong)  # type: ignore[arg-type]  # wrong values are the point
