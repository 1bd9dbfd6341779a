"""The form in which an index stores words, tried on a real full-text engine: it must find every hit, and cut nothing its own way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indelible.search.keyword import STEM_MARK, KeywordQuery, find_tokens, index_tokens, marked_stem, parse_query, rank
from indelible.search.normalise import stem, tokens

WORDS = (
    "run running runs memory memories organisation university universal happy happily é 学习 机器学 日 한국 ไทย हिन्दी 😍 🫠 ß x1".split()
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
same_index = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE entry USING fts5(words, stems, tokenize='ascii')")
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(entry, 'instance')")
    yield connection
    connection.close()


def fill(index: sqlite3.Connection, documents: list[tuple[int, str]]) -> None:
    index.execute("DELETE FROM entry")
    rows = [(document, index_tokens(text), " ".join(map(marked_stem, tokens(text)))) for document, text in documents]
    index.executemany("INSERT INTO entry(rowid, words, stems) VALUES (?, ?, ?)", rows)


def ask(index: sqlite3.Connection, query: KeywordQuery) -> set[int]:
    terms = [" OR ".join('"' + " ".join(phrase) + '"' for phrase in alternatives) for alternatives in find_tokens(query)]
    if not terms:
        return set()
    expression = (" AND " if query.match == "all" else " OR ").join(f"({term})" for term in terms)
    return {row[0] for row in index.execute("SELECT rowid FROM entry WHERE entry MATCH ?", (expression,))}


@same_index
@given(text=st.text())
def test_the_engine_sees_our_tokens(index: sqlite3.Connection, text: str) -> None:
    """S42: the ascii tokenizer cuts what we stored into exactly our tokens, at our positions."""
    fill(index, [(1, text)])
    seen = index.execute("SELECT offset, term FROM seen WHERE col = 'words'").fetchall()
    assert sorted(seen) == list(enumerate(tokens(text)))


@same_index
@given(
    documents=st.lists(TEXTS, max_size=5).map(lambda texts: list(enumerate(texts, 1))),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    any_word=st.booleans(),
    stemmed=st.booleans(),
)
def test_the_engine_finds_exactly_the_hits(
    index: sqlite3.Connection, documents: list[tuple[int, str]], words: list[str], any_word: bool, stemmed: bool
) -> None:
    """S41, S42: for queries short enough to be asked whole, candidates are the hits, stems included."""
    fill(index, documents)
    query = parse_query(" ".join(words), match="any" if any_word else "all", stemmed=stemmed)
    assert ask(index, query) == {document for document, _ in rank(query, documents)}


@given(st.text())
def test_the_mark_is_never_text(text: str) -> None:
    """No text can hold a marked stem, not even one that spells the mark."""
    assert not any(STEM_MARK in token for token in tokens(text + STEM_MARK + text))
    assert not any(STEM_MARK in token for token in index_tokens(text).split())


def test_stems() -> None:
    """Only words that differ from their stem are listed under it."""
    assert [marked_stem(word) for word in ("running", "runs", "memories", "run", "学习")] == ["ˢrun", "ˢrun", "ˢmemori", "", ""]


def test_a_stem_that_is_another_word_is_not_taken_for_it() -> None:
    """A document word counts by its own stem: one that merely spells a query's stem, but has another itself, is not asked for."""
    unsettled = [word for word in ("organisations", "agreed", "generically", "accesses", "hopefulness") if stem(stem(word)) != stem(word)]
    settled = [word for word in ("running", "cats", "hoping") if stem(stem(word)) == stem(word)]
    assert unsettled
    assert settled
    for word in unsettled:
        assert find_tokens(parse_query(word, stemmed=True)) == (((STEM_MARK + stem(word),),),)
    for word in settled:
        assert find_tokens(parse_query(word, stemmed=True)) == (((stem(word),), (STEM_MARK + stem(word),)),)


@given(text=st.one_of(TEXTS, st.text(), st.text(alphabet="ing sedx", max_size=60), st.just("word" * 20)))
def test_marks_are_those_of_stems(text: str) -> None:
    """Also of words that have been met."""
    for word in tokens(text) * 2:
        assert marked_stem(word) == (STEM_MARK + stem(word) if stem(word) != word else "")
        assert marked_stem(word)[1:2] in ("", word[0]), "an index looks for spellings among the words with this letter"
