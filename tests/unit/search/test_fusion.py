"""Fusion of words and meaning."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.fusion import CLEAR, CROWD, DEFAULT_BALANCE_MOST, MOST, MUDDLE, clear_balance, fuse, fused_scores

IDS = st.integers(1, 12)
SHARES = st.dictionaries(IDS, st.floats(0, 1), max_size=8)
COSINES = st.dictionaries(IDS, st.floats(-1, 1), max_size=8)
BALANCES = st.floats(0, 1)
NEAREST = st.lists(st.floats(-1, 1), min_size=1, max_size=30).map(lambda cosines: sorted(cosines, reverse=True))


def test_by_hand() -> None:
    """The formula, on a document of both channels and one of each."""
    fused = fuse({1: 0.5, 2: 0.25}, {1: 0.6, 3: 0.8}, balance=0.5)
    assert [document for document, _ in fused] == [1, 3, 2]
    assert [score for _, score in fused] == pytest.approx([0.5 * 0.5 + 0.5 * 0.8, 0.5 * 0.9, 0.5 * 0.25 + 0.5 * 0.5])


@given(SHARES, COSINES, BALANCES)
def test_what_comes_out(shares: dict[int, float], cosines: dict[int, float], balance: float) -> None:
    """Every document of either channel once, with scores from 0 to 1, in falling order."""
    fused = fuse(shares, cosines, balance=balance)
    scores = [score for _, score in fused]
    assert sorted(document for document, _ in fused) == sorted({*shares, *cosines})
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(SHARES, COSINES, BALANCES, st.randoms())
def test_the_order_of_documents_does_not_matter(
    shares: dict[int, float], cosines: dict[int, float], balance: float, order: random.Random
) -> None:
    """Bit for bit, ties included."""
    shuffled = [order.sample(list(channel.items()), len(channel)) for channel in (shares, cosines)]
    assert fuse(dict(shuffled[0]), dict(shuffled[1]), balance=balance) == fuse(shares, cosines, balance=balance)


@given(SHARES, COSINES, BALANCES, st.sets(IDS))
def test_a_score_is_the_documents_own(shares: dict[int, float], cosines: dict[int, float], balance: float, gone: set[int]) -> None:
    """S41: whoever else is ranked, added by another scope or left out by a filter, a document's score and its order to others stay."""
    everything = fuse(shares, cosines, balance=balance)
    some = fuse(
        {document: share for document, share in shares.items() if document not in gone},
        {document: cosine for document, cosine in cosines.items() if document not in gone},
        balance=balance,
    )
    assert some == [hit for hit in everything if hit[0] not in gone]


@given(SHARES, COSINES, BALANCES, IDS, st.floats(0, 1), st.floats(-1, 1))
def test_more_words_or_nearer_meaning_never_hurt(
    shares: dict[int, float], cosines: dict[int, float], balance: float, document: int, share: float, cosine: float
) -> None:
    """A document that rises in one channel neither loses score nor falls behind anybody."""
    shares, cosines = {**shares, document: share}, {**cosines, document: cosine}
    before = fuse(shares, cosines, balance=balance)
    place = [other for other, _ in before].index(document)
    for better in (
        fuse({**shares, document: (1 + share) / 2}, cosines, balance=balance),
        fuse(shares, {**cosines, document: (1 + cosine) / 2}, balance=balance),
    ):
        assert dict(better)[document] >= dict(before)[document]
        assert [other for other, _ in better].index(document) <= place


@given(SHARES, COSINES, BALANCES)
def test_scores_of_all_at_once_are_those_of_each(shares: dict[int, float], cosines: dict[int, float], balance: float) -> None:
    """To the last bit: what may be among the hits is told by them."""
    documents = sorted({*shares, *cosines})
    scores = fused_scores(
        np.array([shares.get(document, 0.0) for document in documents]),
        np.array([cosines.get(document, 0.0) for document in documents]),
        balance=balance,
    )
    assert dict(zip(documents, scores.tolist(), strict=True)) == dict(fuse(shares, cosines, balance=balance))


@given(SHARES, COSINES)
def test_one_channel_alone(shares: dict[int, float], cosines: dict[int, float]) -> None:
    """At either end the other channel only breaks ties."""
    assert [score for _, score in fuse(shares, cosines, balance=0)] == sorted(
        (shares.get(document, 0.0) for document in {*shares, *cosines}), reverse=True
    )
    assert [score for _, score in fuse(shares, cosines, balance=1)] == sorted(
        ((1 + cosines.get(document, 0.0)) / 2 for document in {*shares, *cosines}), reverse=True
    )


def test_ties() -> None:
    """The nearer first, then the newest."""
    assert [document for document, _ in fuse({1: 0.5, 2: 0.5, 3: 0.5}, {1: 0.1, 2: 0.2, 3: 0.1}, balance=0)] == [2, 3, 1]
    assert [document for document, _ in fuse({}, {4: 0.5, 9: 0.5}, balance=0.5)] == [9, 4]
    assert fuse({}, {}, balance=0.5) == []


def test_what_rounding_leaves_outside_counts_as_the_end() -> None:
    assert fuse({1: 1.0000001}, {1: 1.0000001}, balance=0.5) == [(1, 1.0)]
    assert fuse({}, {1: -1.0000001}, balance=1) == [(1, 0.0)]


@given(NEAREST)
def test_the_balance_is_bounded_and_reads_no_further_than_the_crowd(nearest: list[float]) -> None:
    balance = clear_balance(nearest)
    assert 0 <= balance <= DEFAULT_BALANCE_MOST < 1
    assert balance == clear_balance([*nearest[:CROWD], *([-1.0] * 5 if len(nearest) >= CROWD else [])])


@given(NEAREST, st.floats(0, 1))
def test_a_clearer_lead_never_counts_for_less(nearest: list[float], nearer: float) -> None:
    assert clear_balance([min(nearest[0] + nearer, 1.0), *nearest[1:]]) >= clear_balance(nearest)


def test_the_balance_by_hand() -> None:
    """Nothing for a muddle, half for a clear lead (a cosine weighs half of itself plus one), no more than the most."""
    assert clear_balance([]) == clear_balance([0.9]) == clear_balance([0.9, *[0.9 - 0.99 * MUDDLE] * 9]) == 0
    assert clear_balance([0.8, *[0.8 - MUDDLE - CLEAR / 2] * 9]) == pytest.approx(0.5)
    assert clear_balance([1.0, *[0.0] * 9]) == pytest.approx(2 * MOST / (1 + 2 * MOST)) == DEFAULT_BALANCE_MOST
    assert clear_balance([0.9, 0.2]) == clear_balance([0.9, *[0.2] * 9])


@pytest.mark.parametrize("balance", [-0.1, 1.1, True, "x", None, float("nan")])
def test_faulty_balances(balance: Any) -> None:
    with pytest.raises(InvalidInput, match="balance"):
        fuse({1: 1.0}, {1: 1.0}, balance=balance)
