"""The comparisons by words find what they say."""

from __future__ import annotations

from benchmarks.quality.words import bm25_unsegmented, grep, reciprocal_ranks, word_channel

TEXTS = ["The cat sat.", "A dog ran after the cats", "우크라이나는 동유럽의 국가이다", "nothing here"]


def test_grep_finds_parts_of_words() -> None:
    """The more words of the question the better, the later text first; none is no hit."""
    assert grep(TEXTS)("cat dog") == [1, 0]
    assert grep(TEXTS)("CAT") == [1, 0]
    assert grep(TEXTS)("zebra") == []


def test_words_cut_at_spaces_are_whole() -> None:
    assert bm25_unsegmented(TEXTS)("cat") == [0]
    assert bm25_unsegmented(TEXTS)("우크라이나") == []
    assert bm25_unsegmented([])("cat") == []


def test_the_word_channel_knows_stems_and_scripts_without_spaces() -> None:
    assert word_channel(TEXTS)("cat") == [0, 1]
    assert word_channel(TEXTS)("우크라이나") == [2]


def test_reciprocal_ranks() -> None:
    """What both rank well comes first; a small k listens to first places."""
    assert reciprocal_ranks([["a", "b", "c"], ["d", "b", "c"]], 60)[0] == "b"
    assert reciprocal_ranks([["a", "b"], ["c", "d", "b"]], 0)[0] == "a"
    assert reciprocal_ranks([[], []], 10) == []
