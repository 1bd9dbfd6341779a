"""Keyword queries: no syntax, exact counting, scores of the slice alone."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.bm25 import UNSEEN, Bm25, CorpusStats
from indelible.search.keyword import (
    MAX_ALTERNATIVES,
    KeywordQuery,
    Match,
    Scoring,
    Term,
    corpus_stats,
    counts,
    find_tokens,
    matches,
    parse_query,
    rank,
    score_tf,
)
from indelible.search.normalise import stem, tokens

WORDS = "run running runs ran café cafe memory memories the of 学 学习 习学机 机器 日本 한국 x1 😍 I'm C++".split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
QUERIES = st.builds(
    lambda text, match, stemmed: parse_query(text, match=match, stemmed=stemmed),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.sampled_from(["all", "any"]),
    st.booleans(),
)
SLICES = st.lists(TEXTS, max_size=6).map(lambda texts: list(enumerate(texts, 1)))
SCORINGS: list[Scoring] = ["tf", "bm25"]

HOSTILE = [
    '"', "'", '""', 'foo"bar', "it's", "*", "foo*", "AND", "OR", "NOT", "NEAR(", "NEAR(a b, 3)", "-", "-foo", "a:b", "words:x", "{a b}: c",
    "C++", "node.js", "user@example.com", "100%", "$100", "#tag", "/path", "foo,bar", "state-of-the-art", "^a", "a^", "((((((", ")", "\\",
    "; DROP TABLE event; --", "%", "_", "a\x00b", "\x00", "\ud800", "\ufeff", "😍", "👩\u200d💻", "\u202eabc", "a" * 5000, "(" * 3000,
    "ÅÄÖ", "İ", "ß", "学", "ชาว", "!?", "...", "\u2019", "NULL", "ˢrun", "1e999", "\n\t x",
]  # fmt: skip


def by_hand(query: KeywordQuery, words: list[str]) -> tuple[int, ...]:
    """Occurrences counted the slow, obvious way."""
    read = [stem(word) for word in words] if query.stemmed else words

    def begins(term: Term, place: int) -> bool:
        return any(tuple(read[place : place + len(phrase)]) == phrase for phrase in term.alternatives)

    return tuple(sum(begins(term, place) for place in range(len(read))) for term in query.terms)


def terms_of(text: str, *, match: Match = "all", stemmed: bool = False) -> list[tuple[tuple[str, ...], ...]]:
    return [term.alternatives for term in parse_query(text, match=match, stemmed=stemmed).terms]


def test_words_are_terms_once_in_order() -> None:
    """S41: distinct whole words, unstemmed, case and accents gone."""
    assert terms_of("Running to the Café, running CAFE") == [(("running",),), (("to",),), (("the",),), (("cafe",),)]


def test_unspaced_runs() -> None:
    """S42: one or two characters are a phrase, a longer run the OR of its overlapping pairs."""
    assert terms_of("学 学习 机器学习吧 ok") == [
        (("学",),),
        (("学", "习"),),
        (("机", "器"), ("器", "学"), ("学", "习"), ("习", "吧")),
        (("ok",),),
    ]
    assert terms_of("哈哈哈哈") == [(("哈", "哈"),)]


def test_the_hybrid_channel() -> None:
    """S41: stems, no stop words, one of them is enough."""
    query = parse_query("What are the memories of a runner running?", stemmed=True)
    assert [term.alternatives for term in query.terms] == [(("memori",),), (("runner",),), (("run",),)]
    assert query.match == "any"
    assert query.stemmed


def test_stop_words_stay_where_there_is_nothing_else() -> None:
    """`The Who` is still a query."""
    assert terms_of("The who", stemmed=True) == [(("the",),), (("who",),)]
    assert terms_of("runs running", stemmed=True) == [(("run",),)]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_an_empty_query_is_refused(text: str) -> None:
    """S45."""
    with pytest.raises(InvalidInput, match="empty"):
        parse_query(text)


@pytest.mark.parametrize("text", [None, 3, b"x", ["a"]])
def test_a_query_is_text(text: str) -> None:
    """A wrong type is named."""
    with pytest.raises(InvalidInput, match="must be a str"):
        parse_query(text)


def test_unknown_settings_are_refused() -> None:
    """`match` and `scoring` have two values each."""
    wrong_values: list[Any] = ["some", 10**5000, []]
    for wrong in wrong_values:
        with pytest.raises(InvalidInput, match="'all' or 'any'"):
            parse_query("a", match=wrong)
        with pytest.raises(InvalidInput, match="'tf' or 'bm25'"):
            rank(parse_query("a"), [], scoring=wrong)


@pytest.mark.parametrize("text", ["!?", "...", "-", "*", "\x00", "\ud800", "((((", "\u200b"])
@pytest.mark.parametrize("match", ["all", "any"])
def test_punctuation_finds_nothing(text: str, match: Match) -> None:
    """S45: no terms, so no hits, also where every term must occur."""
    query = parse_query(text, match=match)
    assert query.terms == ()
    assert rank(query, [(1, text), (2, "a")]) == []
    assert not matches(query, counts(query, ["a"]))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("stemmed", [False, True])
def test_no_text_is_syntax(text: str, stemmed: bool) -> None:
    """S45: every text has a defined result, and a document of just that text is found by it if it holds any token."""
    query = parse_query(text, stemmed=stemmed)
    found = [document for document, _ in rank(query, [(1, text), (2, "zzz unrelated"), (3, "")])]
    assert found == ([1] if tokens(text) else [])
    phrases = [phrase for alternatives in find_tokens(query) for phrase in alternatives]
    assert all(token.isascii() <= token.isalnum() for phrase in phrases for token in phrase)


@given(st.text(min_size=1), st.booleans())
def test_any_text_is_a_query(text: str, stemmed: bool) -> None:
    """S45: whatever is not blank has a result, and its own text holds every term."""
    assume(text.strip())
    query = parse_query(text, stemmed=stemmed)
    assert all(counts(query, tokens(text)))


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{number}" for number in range(12_000)),
        "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(33_000)),
        " ".join(chr(0x4E00 + number) * 3 for number in range(9_000)),
        "x" * 100_000,
        "(" * 100_000,
        "a " * 50_000,
    ],
    ids=["words", "one run", "many runs", "one word", "brackets", "one letter"],
)
def test_100_kb_is_bounded(text: str) -> None:
    """S45: however long the text, an index is asked for a bounded number of phrases, and every word is still demanded by `all`."""
    for query in (parse_query(text), parse_query(text, match="any"), parse_query(text, stemmed=True)):
        assert sum(map(len, find_tokens(query))) <= 2 * MAX_ALTERNATIVES
        assert [document for document, _ in rank(query, [(1, text), (2, "nothing")])] == ([1] if tokens(text) else [])


def test_all_demands_every_word_of_a_long_query() -> None:
    """S41: what the index is not asked for is still required."""
    words = [f"word{number}" for number in range(2 * MAX_ALTERNATIVES)]
    query = parse_query(" ".join(words))
    assert len(find_tokens(query)) == MAX_ALTERNATIVES
    assert [document for document, _ in rank(query, [(1, words), (2, words[:-1])])] == [1]


@given(QUERIES, TEXTS)
def test_counts_are_those_by_hand(query: KeywordQuery, text: str) -> None:
    """Each place where an alternative begins counts once."""
    assert counts(query, tokens(text)) == by_hand(query, tokens(text))


def test_counts_of_terms_that_share_words() -> None:
    """Terms of a caller's own may overlap, in words and in phrases of several lengths."""
    query = KeywordQuery((Term((("a",), ("a", "b"))), Term((("a",),)), Term((("b", "a"), ("c",)))))
    assert counts(query, "a b a c a b".split()) == (3, 3, 2)


@given(st.lists(st.sampled_from(["red", "green", "blue"]), min_size=1), SLICES, st.lists(st.sampled_from(["red", "green", "blue"])))
def test_all_and_any(wanted: list[str], documents: list[tuple[int, str]], extra: list[str]) -> None:
    """S41: `all` is every word, `any` is one."""
    documents = [*documents, (100, " ".join(extra))]
    words = {document: set(tokens(text)) for document, text in documents}
    hits = {document for document, _ in rank(parse_query(" ".join(wanted)), documents)}
    assert hits == {document for document in words if set(wanted) <= words[document]}
    hits = {document for document, _ in rank(parse_query(" ".join(wanted), match="any"), documents)}
    assert hits == {document for document in words if set(wanted) & words[document]}


@given(QUERIES, SLICES)
def test_both_scorings_have_the_same_hits(query: KeywordQuery, documents: list[tuple[int, str]]) -> None:
    """S41: tf and bm25 differ in order and score only, every score is above zero, and the hits are what `matches` says."""
    tf, bm25 = (dict(rank(query, documents, scoring=scoring)) for scoring in SCORINGS)
    assert tf.keys() == bm25.keys() == {document for document, text in documents if matches(query, by_hand(query, tokens(text)))}
    assert all(score > 0 for score in [*tf.values(), *bm25.values()])
    assert tf == {document: score_tf(by_hand(query, tokens(text))) for document, text in documents if document in tf}


@given(QUERIES, SLICES, st.sampled_from(SCORINGS))
def test_scores_come_from_the_slice_alone(query: KeywordQuery, documents: list[tuple[int, str]], scoring: Scoring) -> None:
    """S41: ranking only what an index found, with the counts of the whole slice, equals ranking the whole slice."""
    whole = rank(query, documents, scoring=scoring)
    hits = {document for document, _ in whole}
    found = [(document, text) for document, text in documents if document in hits]
    assert rank(query, found, scoring=scoring, corpus=corpus_stats(query, documents)) == whole


@given(QUERIES, SLICES, st.sampled_from(SCORINGS), st.randoms())
def test_order_is_fixed(query: KeywordQuery, documents: list[tuple[int, str]], scoring: Scoring, order: random.Random) -> None:
    """S47: best score first, then the newest, whatever order the documents come in."""
    ranked = rank(query, documents, scoring=scoring)
    assert ranked == sorted(ranked, key=lambda hit: (-hit[1], -hit[0]))
    shuffled = list(documents)
    order.shuffle(shuffled)
    assert rank(query, shuffled, scoring=scoring) == ranked


@given(QUERIES, SLICES, st.sampled_from(SCORINGS))
def test_text_and_tokens_rank_alike(query: KeywordQuery, documents: list[tuple[int, str]], scoring: Scoring) -> None:
    """A document may be given raw, as the index stores it, or already cut."""
    cut = [(document, tokens(text)) for document, text in documents]
    stored = [(document, " ".join(words)) for document, words in cut]
    assert rank(query, documents, scoring=scoring) == rank(query, cut, scoring=scoring) == rank(query, stored, scoring=scoring)


def test_ties_are_newest_first() -> None:
    """S47."""
    assert rank(parse_query("a"), [(1, "a b"), (3, "a c"), (2, "a a")]) == [(2, 2.0), (3, 1.0), (1, 1.0)]


def test_bm25_by_hand() -> None:
    """The formula, on three documents."""
    documents = [(1, "cat dog"), (2, "cat cat bird fish"), (3, "bird")]
    query = parse_query("cat bird", match="any")
    assert corpus_stats(query, documents) == CorpusStats(3, 7 / 3, (2, 2))
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def part(count: int, length: int) -> float:
        return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / (7 / 3)))

    wanted = {1: part(1, 2), 2: part(2, 4) + part(1, 4), 3: part(1, 1)}
    assert dict(rank(query, documents, scoring="bm25")) == pytest.approx(wanted)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_idf_is_positive(n: int, frequency: int) -> None:
    """A word of every document still counts, and numbers that cannot be true do no harm."""
    assert Bm25(n, 1.0, (frequency,)).score((1,), 1) > 0


def test_rare_words_and_short_documents_weigh_more() -> None:
    """What bm25 is for."""
    score = Bm25(100, 10.0, (1, 50)).score
    assert score((1, 0), 10) > score((0, 1), 10)
    assert score((1, 0), 5) > score((1, 0), 20)
    assert score((2, 0), 10) > score((1, 0), 10)
    assert Bm25(1, 0.0, (1,)).score((1,), 0) > 0


def test_a_corpus_of_another_query_is_refused() -> None:
    """Document frequencies belong to the terms they were counted for."""
    with pytest.raises(InvalidInput, match="2 terms, the query has 1"):
        rank(parse_query("a"), [(1, "a")], scoring="bm25", corpus=CorpusStats(1, 1.0, (1, 1)))


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5000)), min_size=1, max_size=5), st.integers(0, 500))
def test_a_score_is_a_share_of_what_is_asked_for(n: int, terms: list[tuple[int, int]], length: int) -> None:
    """From 0 to 1, above 0 exactly for hits, and only with every term beyond number near 1."""
    frequencies = tuple(min(frequency, n) for frequency, _ in terms)
    found = tuple(count if frequency else 0 for frequency, (_, count) in zip(frequencies, terms, strict=True))
    bm25 = Bm25(n, 10.0, frequencies)
    share = bm25.share(bm25.score(found, length))
    assert 0 <= share <= 1
    assert (share > 0) == any(found)
    if any(frequencies):
        everything = tuple(10**9 if frequency else 0 for frequency in frequencies)
        assert bm25.share(bm25.score(everything, 10)) >= share


def test_a_word_that_nobody_holds_counts_for_half() -> None:
    """What cannot be answered makes the shares small, and does not make them nothing."""
    known, half = Bm25(10, 5.0, (2,)), Bm25(10, 5.0, (2, 0))
    score = known.score((1,), 5)
    assert half.score((1, 0), 5) == score
    assert half.whole == pytest.approx(known.whole + UNSEEN * (half.k1 + 1) * half.idf[1])
    assert 0 < half.share(score) < known.share(score) < 1
    assert Bm25(0, 0.0, ()).share(0.0) == 0.0
