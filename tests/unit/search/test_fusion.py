"""Reciprocal rank fusion."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.fusion import reciprocal_rank_fusion

RANKINGS = st.lists(st.lists(st.integers(1, 8), max_size=6, unique=True), max_size=4)
WEIGHTS = st.sampled_from([0.1, 0.5, 1.0, 1 / 3, 7.0])


def test_by_hand() -> None:
    """The formula, on two channels."""
    fused = reciprocal_rank_fusion([[1, 2], [2, 3]], k=10)
    assert [document for document, _ in fused] == [2, 1, 3]
    assert dict(fused) == pytest.approx({2: (1 / 12 + 1 / 11) / (2 / 11), 1: (1 / 11) / (2 / 11), 3: (1 / 12) / (2 / 11)})


@given(RANKINGS, st.integers(0, 100))
def test_what_comes_out(rankings: list[list[int]], k: int) -> None:
    """Every id of any ranking once, with scores above 0 and at most 1, in falling order."""
    fused = reciprocal_rank_fusion(rankings, k=k)
    scores = [score for _, score in fused]
    assert sorted(document for document, _ in fused) == sorted(set().union(*rankings))
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(RANKINGS, st.data(), st.randoms())
def test_the_order_of_channels_does_not_matter(rankings: list[list[int]], data: st.DataObject, order: random.Random) -> None:
    """Bit for bit, weights and ties included."""
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rankings), max_size=len(rankings)))
    pairs = list(zip(rankings, weights, strict=True))
    order.shuffle(pairs)
    shuffled = reciprocal_rank_fusion([ranking for ranking, _ in pairs], weights=[weight for _, weight in pairs])
    assert shuffled == reciprocal_rank_fusion(rankings, weights=weights)


@given(RANKINGS.filter(any), st.lists(WEIGHTS, min_size=5, max_size=5), st.integers(0, 100))
def test_first_everywhere_is_exactly_1(rankings: list[list[int]], weights: list[float], k: int) -> None:
    """The scale is the same for any number of channels."""
    led = [[99, *ranking] for ranking in rankings]
    assert reciprocal_rank_fusion(led, k=k, weights=weights[: len(led)])[0] == (99, 1.0)


@given(st.lists(st.integers(1, 50), unique=True), st.integers(0, 100), st.integers(1, 3))
def test_channels_that_agree_keep_their_order(ranking: list[int], k: int, channels: int) -> None:
    """One ranking, once or repeated, is itself."""
    assert [document for document, _ in reciprocal_rank_fusion([ranking] * channels, k=k)] == ranking


def test_ties() -> None:
    """The better best rank first, then the newest."""
    assert [document for document, _ in reciprocal_rank_fusion([[1, 2], [2, 1]])] == [2, 1]
    crossed = [[5, 6, 7, 8], [8, 6, 7, 5]]
    assert [document for document, _ in reciprocal_rank_fusion(crossed, k=0)] == [8, 5, 6, 7]
    assert [document for document, _ in reciprocal_rank_fusion([[3], [9]])] == [9, 3]
    assert reciprocal_rank_fusion([[1, 9], [3, 9]], k=0) == [(3, 0.5), (1, 0.5), (9, 0.5)]


def test_better_ranks_do_not_hurt() -> None:
    """An id that moves up in one channel never falls in the fused order."""
    worse = [document for document, _ in reciprocal_rank_fusion([[1, 2, 3, 4], [4, 3, 2, 1]])]
    better = [document for document, _ in reciprocal_rank_fusion([[3, 1, 2, 4], [4, 3, 2, 1]])]
    assert better.index(3) < worse.index(3)


def test_repeats_count_once() -> None:
    """An id that comes again keeps its best place and pushes nobody down."""
    assert reciprocal_rank_fusion([[1, 1, 2, 1, 3]]) == reciprocal_rank_fusion([[1, 2, 3]])


def test_weights() -> None:
    """A weight of 0 leaves a channel out, hits included; a large one decides."""
    assert reciprocal_rank_fusion([[1, 2], [3, 2]], weights=[1, 0]) == reciprocal_rank_fusion([[1, 2]])
    assert reciprocal_rank_fusion([[1, 2], [2, 1]], weights=[3, 1])[0][0] == 1
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


@pytest.mark.parametrize(
    "settings", [{"k": -1}, {"k": True}, {"k": 1.0}, {"weights": [1]}, {"weights": [0, 0]}, {"weights": [1, -1]}, {"weights": [1, "x"]},
                 {"weights": [float("nan"), 1]}, {"weights": [float("inf"), 1]}]
)  # fmt: skip
def test_faulty_settings(settings: dict[str, Any]) -> None:
    """Refused by name."""
    with pytest.raises(InvalidInput):
        reciprocal_rank_fusion([[1], [2]], **settings)
