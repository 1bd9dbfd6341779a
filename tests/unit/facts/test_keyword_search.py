"""S41, S42, S45: words as people type them, in any script; nothing in a query is syntax."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore
from indelible.testing import FakeClock
from tests.unit.facts.stores import contents, open_store


def found(store: MemoryStore, query: str, **options: Any) -> set[str]:
    return set(contents(store.search(query, limit=100, **options)))


def test_s41_whole_words_unstemmed(store: MemoryStore) -> None:
    store.remember_many(["running late", "run now", "prune the rose"])
    assert found(store, "run") == {"run now"}
    assert found(store, "running") == {"running late"}
    assert found(store, "runn") == found(store, "ru") == set()


def test_s41_case_and_accents_do_not_matter(store: MemoryStore) -> None:
    texts = {"Café ouvert", "CAFE closed", "cafe\u0301 too"}
    store.remember_many(sorted(texts))
    for query in ("cafe", "CAFÉ", "Cafe\u0301", "ｃａｆｅ"):
        assert found(store, query) == texts
    store.remember("Straße in İstanbul")
    for query in ("STRASSE", "strasse", "istanbul", "İSTANBUL"):
        assert found(store, query) == {"Straße in İstanbul"}


def test_s41_every_word_must_occur_or_any(store: MemoryStore) -> None:
    store.remember_many(["green tea", "black tea", "green apple"])
    assert found(store, "green tea") == found(store, "tea GREEN") == {"green tea"}
    assert found(store, "green tea", match="any") == {"green tea", "black tea", "green apple"}
    assert found(store, "green nowhere") == set()
    assert found(store, "green nowhere", match="any") == {"green tea", "green apple"}


def test_s41_words_may_stand_anywhere_and_in_any_order(store: MemoryStore) -> None:
    store.remember("alpha " + "filler " * 3000 + "omega")
    assert len(store.search("omega alpha")) == 1


@pytest.mark.parametrize("bad", ["some", None, 1, "ALL"])
def test_s41_another_match_is_refused(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="match"):
        store.search("tea", match=bad)


def test_s41_the_index_follows_every_write(store: MemoryStore) -> None:
    """Old words no longer hit after an edit, none after a forget, the old ones again after an undo."""
    record = store.remember("zebra")
    store.edit(record.id, content="okapi")
    assert (found(store, "zebra"), found(store, "okapi")) == (set(), {"okapi"})
    store.forget(record.id)
    assert found(store, "zebra okapi", match="any") == set()
    store.undo(record.id)
    assert found(store, "okapi") == {"okapi"}
    store.restore(record.id, 1)
    assert (found(store, "zebra"), found(store, "okapi")) == ({"zebra"}, set())


@pytest.mark.parametrize(
    ("text", "queries", "misses"),
    [
        ("我昨天在京都喝了绿茶", ["绿茶", "京都", "喝", "京都喝", "在京都喝了"], ["茶绿", "红茶"]),
        ("日本語のテキストを検索する", ["日本語", "テキスト", "検索", "ｷｽﾄ"], ["語本日"]),
        ("한국어 문서를 검색한다", ["한국어", "문서", "검색"], ["서문"]),
        ("ภาษาไทยไม่เว้นวรรค", ["ภาษา", "ไทย", "วรรค"], ["ยทไ"]),
        ("ພາສາລາວ", ["ລາວ"], ["ວລ"]),
        ("ភាសាខ្មែរ", ["ខ្មែរ"], []),
        ("မြန်မာဘာသာ", ["မြန်မာ"], []),
    ],
)
def test_s42_scripts_without_spaces_are_found_by_their_characters(
    store: MemoryStore, text: str, queries: list[str], misses: list[str]
) -> None:
    store.remember_many([text, "something else"])
    for query in queries:
        assert found(store, query) == {text}, query
    for query in misses:
        assert found(store, query) == set(), query


def test_s42_a_run_of_two_is_a_phrase_and_a_longer_one_its_pairs(store: MemoryStore) -> None:
    store.remember_many(["绿色的茶", "喝绿茶", "茶"])
    assert found(store, "茶") == {"绿色的茶", "喝绿茶", "茶"}
    assert found(store, "绿茶") == {"喝绿茶"}
    assert found(store, "绿茶好") == {"喝绿茶"}


def test_s42_mixed_scripts(store: MemoryStore) -> None:
    store.remember("iPhone15を買った in Tōkyō")
    for query in ("iphone15", "買った", "tokyo 買", "IPHONE15を"):
        assert found(store, query) == {"iPhone15を買った in Tōkyō"}


HOSTILE = [
    '"', '""', '"unclosed', "'", "*", "tea*", "AND", "tea AND", "OR", "NOT tea", "NEAR(", "NEAR(tea milk, 2)", "-", "-tea", "--", "a:b",
    "content:tea", "words : tea", "^tea", "tea^2", "(", ")", "(tea", "{words}", "C++", "user@example.com",
    "100%", "%", "_", "\\", "/*", ";--",
    "' OR 1=1 --", "tea; DROP TABLE event", "\ud83c\udf75".encode("utf-16",
    "surrogatepass").decode("utf-16"), "🍵 tea", "\u200b", "\u202etea",
    "\x00", "tea\x00milk", "\x1b[31m", "\r\n", "\ufeff", "\ud800", "...", "!?", "\U000e0001", "a" * 5000, "١٢٣", "null", "+tea +milk",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=ascii)
@pytest.mark.parametrize("match", ["all", "any"])
def test_s45_no_query_is_syntax(store: MemoryStore, query: str, match: str) -> None:
    """Whatever is asked: hits that hold the words, or none, or our own refusal of an empty query; never an error of the engine."""
    store.remember_many(["tea and milk", "C++ at user@example.com, 100% sure", "🍵"])
    if not query.strip():
        with pytest.raises(InvalidInput, match="empty"):
            store.search(query, match=match)
        return
    hits = store.search(query, match=match)
    assert all(hit.rank_score >= 1 for hit in hits)
    assert len(hits) <= 3


@pytest.mark.parametrize("query", HOSTILE, ids=ascii)
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_s45_no_query_breaks_recall(store: MemoryStore, query: str, mode: str) -> None:
    """Nor here; text that is no Unicode cannot be embedded, which is our error."""
    store.remember_many(["tea and milk", "C++ at user@example.com, 100% sure"])
    if query.strip() and query != "\ud800":
        assert len(store.recall(query, mode=mode)) == 2
        return
    with pytest.raises(InvalidInput):
        store.recall(query, mode=mode)


@pytest.mark.parametrize(
    ("query", "hit"),
    [
        ("C++", "C++ and Rust"),
        ("c", "C++ and Rust"),
        ("user@example.com", "mail user@example.com now"),
        ("100%", "100% sure"),
        ("🍵", "🍵 time"),
        ("state-of-the-art", "a state-of-the-art thing"),
        ("O'Brien", "Mr O'Brien"),
        ("AND", "this AND that"),
        ("near", "NEAR(the river)"),
    ],
)
def test_s45_signs_around_words_do_not_get_in_the_way(store: MemoryStore, query: str, hit: str) -> None:
    texts = ["C++ and Rust", "mail user@example.com now", "100% sure", "🍵 time", "a state-of-the-art thing", "Mr O'Brien", "this AND that"]
    store.remember_many([*texts, "NEAR(the river)"])
    assert hit in found(store, query)


@pytest.mark.parametrize("query", ["...", "!?", "-", '"', "()"])
def test_s45_punctuation_alone_finds_nothing(store: MemoryStore, query: str) -> None:
    store.remember('... !? - " ()')
    assert store.search(query) == []


@pytest.mark.parametrize(
    "query", ["tea " * 25_000, "tea" * 33_000, "茶" * 33_000,
    " ".join(f"word{number}" for number in range(11_000)), '"' * 100_000, "茶 tea " * 15_000],
    ids=["repeated", "one word", "one run", "many words", "quotes", "mixed"],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_s45_a_hundred_kilobytes_are_a_query_like_any_other(store: MemoryStore, query: str, mode: str) -> None:
    store.remember_many(["tea", "茶茶", "word1 word2"])
    assert len(store.recall(query, mode=mode)) <= 3


def test_s45_a_long_query_of_all_words_still_needs_every_one(store: MemoryStore) -> None:
    """However many words an engine can take at once."""
    words = [f"word{number}" for number in range(300)]
    whole = " ".join(words)
    store.remember_many([whole, " ".join(words[:-1])])
    assert contents(store.search(" ".join(reversed(words)))) == [whole]


@pytest.mark.parametrize("bad", ["", " ", "\n\t", None, 5, b"tea", ["tea"]])
@pytest.mark.parametrize("verb", ["search", "recall", "search_semantic"])
def test_s45_an_empty_query_is_refused(store: MemoryStore, bad: Any, verb: str) -> None:
    store.remember("tea")
    with pytest.raises(InvalidInput):
        getattr(store, verb)(bad)


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_s45_any_text_can_be_stored_and_asked(content: str, query: str) -> None:
    """With any text as memory and any as query: an answer, or a refusal of ours."""
    with open_store(clock=FakeClock()) as store:
        try:
            store.remember(content)
        except InvalidInput:
            return
        for ask in (query, content):
            for mode in ("keyword", "hybrid", "semantic"):
                with suppress(InvalidInput):  # an empty query, or no Unicode
                    assert set(contents(store.recall(ask, mode=mode))) <= {content}
        if store.search(content, match="any"):
            assert contents(store.search(content)) == [content]
