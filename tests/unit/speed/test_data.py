"""What the speed benchmark stores and asks is what it says, and the same in every process."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snowballstemmer import stemmer

from benchmarks.speed.data import COMMON_SHARE, FILTERS, PIECE, VOCABULARY, Corpus, rank_of, share_of

CORPUS = Corpus(2 * PIECE + 7, 10)


def test_a_corpus_has_its_size_and_takes_turns() -> None:
    """Every user has the same number, give or take one; numbers are gapless; what is fresh comes after."""
    pieces = list(CORPUS.pieces())
    assert list(chain.from_iterable(rows.numbers for rows in pieces)) == list(range(CORPUS.size))
    assert [len(rows.texts) for rows in pieces] == [PIECE, PIECE, 7]
    assert pieces[0].users[:11] == [*(f"user {number}" for number in range(10)), "user 0"]
    assert CORPUS.fresh(0).numbers[0] >= CORPUS.size


def test_the_same_twice_and_another_by_another_seed() -> None:
    one, again, other = (Corpus(10, 2, seed).piece(3) for seed in (1, 1, 2))
    assert one.texts == again.texts
    assert np.array_equal(one.vectors, again.vectors)
    assert one.texts != other.texts
    assert Corpus(10, 2).question(5).numbers == Corpus(99, 2).question(5).numbers != Corpus(10, 2).question(6).numbers


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_questions_are_of_unit_length_and_have_three_words(number: int) -> None:
    for asked in (CORPUS.question(number), CORPUS.far_question(number)):
        assert np.linalg.norm(asked.vector) == pytest.approx(1, abs=1e-5)
        assert asked.numbers == asked.vector.tolist()
        assert len(set(asked.words.split())) == 3
        assert asked.words.split()[0] == VOCABULARY[rank_of(COMMON_SHARE)]


def test_the_commonest_word_is_in_three_texts_of_ten() -> None:
    """By arithmetic, and when counted."""
    word = VOCABULARY[rank_of(COMMON_SHARE)]
    texts = list(chain.from_iterable(CORPUS.piece(number).texts for number in range(5)))
    counted = sum(word in text.split() for text in texts) / len(texts)
    assert share_of(rank_of(COMMON_SHARE)) == pytest.approx(COMMON_SHARE, abs=0.04)
    assert counted == pytest.approx(share_of(rank_of(COMMON_SHARE)), abs=0.03)
    assert 90 < sum(map(len, texts)) / len(texts) < 110


def test_no_stemmer_changes_a_word() -> None:
    english = stemmer("english")
    assert english.stemWords(VOCABULARY) == VOCABULARY
    assert len(set(VOCABULARY)) == len(VOCABULARY)


def test_filters_are_as_selective_as_they_say() -> None:
    marks = list(chain.from_iterable(CORPUS.piece(number).metadata for number in range(5)))
    for field, share in FILTERS.items():
        assert sum(mark[field] for mark in marks) / len(marks) == pytest.approx(share, abs=0.25 * share)


def test_what_is_marked_far_is_far() -> None:
    """Of the marked, none is nearer to what the centre is than any of the others."""
    rows = CORPUS.piece(0)
    near = rows.vectors @ CORPUS.far_question(0).vector
    marked = np.array([mark["far_1"] for mark in rows.metadata], bool)
    assert near[marked].max() < np.median(near)
    assert 0 < marked.sum() < 50


def test_a_part_has_every_field() -> None:
    rows = CORPUS.piece(1).part(3, 5)
    assert list(rows.numbers) == [PIECE + 3, PIECE + 4]
    assert len(rows.texts) == len(rows.users) == len(rows.metadata) == len(rows.vectors) == 2
