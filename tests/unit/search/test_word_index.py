"""A word index says what counting every document would say, whatever was added and removed before."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.search import word_index
from indelible.search.keyword import KeywordQuery, Scoring, corpus_stats, counts, parse_query, rank, rank_counted
from indelible.search.normalise import stem, tokens
from indelible.search.word_index import Scored, WordIndex
from tests.unit.search.test_keyword import QUERIES, SCORINGS, TEXTS

Steps = list[tuple[int, str | None, int | None]]
STEPS = st.lists(
    st.tuples(st.integers(1, 6), st.one_of(st.none(), TEXTS.filter(lambda text: bool(tokens(text)))), st.sampled_from([None, 5, 10])),
    max_size=20,
)
"""A document gets a text and an expiry, or (``None``) is taken out."""


def filled(steps: Steps) -> tuple[WordIndex, dict[int, tuple[list[str], int | None]]]:
    """An index after some steps, and what is in it."""
    index = WordIndex()
    kept: dict[int, tuple[list[str], int | None]] = {}
    for document, text, expires in steps:
        index.remove(document)
        kept.pop(document, None)
        if text is not None:
            words = list(tokens(text))
            index.add(document, " ".join(words), expires)
            kept[document] = words, expires
    return index, kept


def scores(found: Scored) -> dict[int, float]:
    return dict(zip(found.documents[found.at].tolist(), found.scores.tolist(), strict=True))


@given(STEPS, QUERIES, st.sampled_from([None, 4, 5, 9, 10]), st.sampled_from(SCORINGS))
def test_it_ranks_as_a_scan_does(steps: Steps, query: KeywordQuery, now_ms: int | None, scoring: str) -> None:
    """S41: the same hits, scores and order, expired documents neither found nor counted."""
    index, kept = filled(steps)
    live = [(document, words) for document, (words, expires) in kept.items() if now_ms is None or expires is None or expires > now_ms]
    counted = index.count(query, now_ms)
    stats = index.stats(query, counted, now_ms)
    assert rank_counted(query, counted, scoring=scoring, corpus=stats) == rank(query, live, scoring=scoring)  # type: ignore[arg-type]  # one of the two
    plain = corpus_stats(query, live)
    assert (stats.n, stats.document_frequencies) == (plain.n, plain.document_frequencies)
    assert stats.average_length == pytest.approx(plain.average_length)


@given(STEPS, QUERIES, st.sampled_from([None, 4, 5, 9, 10]), st.sampled_from(SCORINGS))
def test_scores_of_all_at_once_are_those_of_each(steps: Steps, query: KeywordQuery, now_ms: int | None, scoring: Scoring) -> None:
    """S41: the same hits with the same scores to the last bit, as often as one asks."""
    index, kept = filled(steps)
    live = [(document, words) for document, (words, expires) in kept.items() if now_ms is None or expires is None or expires > now_ms]
    for _ in range(2):
        found = index.score(query, scoring, now_ms)
        assert scores(found) == dict(rank(query, live, scoring=scoring))
        if scoring == "bm25":
            bm25 = found.bm25
            assert bm25 is not None
            assert bm25.shares(found.scores).tolist() == [bm25.share(score) for score in found.scores.tolist()]


@given(STEPS, STEPS, QUERIES)
def test_what_was_asked_before_is_forgotten_when_it_changes(before: Steps, after: Steps, query: KeywordQuery) -> None:
    """Columns and tables that are kept for the next question are those of an index that was never asked."""
    index, _ = filled(before)
    index.score(query, "bm25", None)
    for document, text, expires in after:
        index.remove(document)
        words = tokens(text or "")
        if words:
            index.add(document, " ".join(words), expires)
        index.score(query, "bm25", 5)
    fresh = WordIndex()
    for number, about in index.documents.items():
        fresh.add(number, about.words, about.expires)
    for now_ms in (None, 5):
        one, other = index.score(query, "bm25", now_ms), fresh.score(query, "bm25", now_ms)
        assert scores(one) == scores(other)
        assert one.bm25 == other.bm25


@given(STEPS, QUERIES)
def test_asking_in_between_changes_nothing(steps: Steps, query: KeywordQuery) -> None:
    """What was found out for an earlier question is kept along with what comes and goes."""
    index = WordIndex()
    for document, text, expires in steps:
        index.remove(document)
        words = list(tokens(text or ""))
        if words:
            index.add(document, " ".join(words), expires)
        fresh = WordIndex()
        for number, about in index.documents.items():
            fresh.add(number, about.words, about.expires)
        assert sorted(index.count(query, None)) == sorted(fresh.count(query, None))


@given(STEPS, QUERIES)
def test_it_counts_as_counting_does(steps: Steps, query: KeywordQuery) -> None:
    """Every document that holds anything of the query comes, once, and no other."""
    index, kept = filled(steps)
    counted = index.count(query, None)
    by_hand = {document: (counts(query, words), len(words)) for document, (words, _) in kept.items() if any(counts(query, words))}
    assert {document: (found, length) for document, found, length in counted} == by_hand
    assert len(counted) == len(by_hand)


@given(STEPS)
def test_what_is_taken_out_leaves_nothing(steps: Steps) -> None:
    """S74: not a word of it stays in memory."""
    index, kept = filled(steps)
    index.count(parse_query("tea", stemmed=True), None)
    index.score(parse_query("tea", stemmed=True), "bm25", None)
    for document in kept:
        index.remove(document)
    assert (index._by_stem, index._columns, index._places, index._asked) == ({}, {}, {}, {})
    assert len(index._numbers) == len(index._lengths) == len(index._expires) == 0
    assert (index.documents, index.size, index.nbytes, index._postings, index._expiring) == ({}, 0, 0, {}, 0)


@given(STEPS)
def test_what_it_takes_is_counted_alike_however_it_came_about(steps: Steps) -> None:
    index, kept = filled(steps)
    anew = WordIndex()
    for document, (words, expires) in kept.items():
        anew.add(document, " ".join(words), expires)
    assert index.nbytes == anew.nbytes


@pytest.mark.parametrize("stemmed", [False, True])
@pytest.mark.parametrize("kind", ["distinct", "repeated", "mixed", "unspaced", "short"])
def test_what_it_takes_is_about_what_it_says(kind: str, stemmed: bool) -> None:
    """Within a factor of two, whether words are said again or each once: a bound of memory is of use only if it is one."""
    random = Random(1)
    texts = {
        "distinct": lambda: " ".join(f"w{random.randrange(10**9)}" for _ in range(20)),
        "repeated": lambda: " ".join(random.choice(["tea", "kettle", "blue"]) for _ in range(200)),
        "mixed": lambda: " ".join(f"word{min(int(random.paretovariate(0.7)), 20_000)}" for _ in range(30)),
        "unspaced": lambda: " ".join(chr(0x4E00 + random.randrange(3000)) for _ in range(60)),
        "short": lambda: f"tea {random.randrange(9)}",
    }
    query = parse_query("tea", stemmed=True)
    stem("warm")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        index = WordIndex()
        for document in range(1000):
            index.add(1000 + document, texts[kind]())
        if stemmed:
            index.score(query, "bm25", None)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert taken / 2 <= index.nbytes <= 2 * taken


def test_terms_that_were_asked_for_are_known_again_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """S74: until the index changes, and no more of them than a few; words that nobody holds take no room."""
    monkeypatch.setattr(word_index, "MAX_ASKED", 2)
    index = WordIndex()
    index.add(1, "tea kettle blue")
    plain = index.nbytes
    index.score(parse_query("absent"), "tf", None)
    assert index.nbytes == plain
    for word in ("tea", "kettle", "blue", "tea"):
        index.score(parse_query(word), "bm25", None)
        assert 1 <= len(index._asked) <= 2
        assert index.nbytes > plain
    index.add(2, "tea")
    assert not index._asked


def test_taking_out_what_is_not_there_is_fine() -> None:
    index = WordIndex()
    index.remove(1)
    assert index.documents == {}
