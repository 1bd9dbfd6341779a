"""S41: a score depends on nothing but the live versions of the asked slice at the asked version."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore, Record, where
from indelible.faces.facts_read import FactReads
from indelible.testing import FakeClock
from tests.unit.facts.random_facts import QUERIES, SCOPES, TEXTS, Life, Step, steps
from tests.unit.facts.stores import open_store


def scored(reads: FactReads) -> list[list[tuple[str, float | None, float]]]:
    """Texts with their scores, in order, by every way of searching."""
    found = []
    for query in QUERIES:
        answers = (
            reads.search(query, limit=100),
            reads.search(query, match="any", limit=100),
            reads.recall(query, limit=100),
            reads.recall(query, mode="hybrid", limit=100),
        )
        found += [[(hit.content, hit.score, hit.rank_score) for hit in hits] for hits in answers]
    return found


def copy_of(records: list[Record], clock: FakeClock) -> MemoryStore:
    """A store that holds these records and nothing else, in the order in which they got their states."""
    copy = open_store(clock=clock)
    for record in sorted(records, key=lambda record: record.version):
        copy.remember(record.content, metadata=record.metadata, **{k: v for k, v in record.scope._asdict().items() if v is not None})
    return copy


@given(steps("purge"), st.sampled_from(SCOPES), st.booleans())
def test_s41_other_scopes_and_other_versions_never_change_a_score(script: list[Step], scope: dict[str, Any], bm25: bool) -> None:
    """The slice alone in a store of its own, without its past, has the very same hits and scores; so has it in every past version."""
    with pytest.MonkeyPatch.context() as patch, Life() as life:
        life.take(*script)
        view = life.store.scope(**scope)
        if bm25:
            patch.setenv("MEMORY_FTS5_BM25", "1")
        for reads in (view, view.at(life.store.version // 2)):
            with copy_of(reads.list(), life.clock) as copy:
                assert scored(reads) == scored(copy)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(SCOPES)), min_size=1, max_size=8))
def test_s41_both_ways_of_scoring_find_the_same(facts: list[tuple[str, dict[str, Any]]]) -> None:
    """bm25 only orders them otherwise."""
    with open_store() as store, pytest.MonkeyPatch.context() as patch:
        for text, scope in facts:
            store.remember(text, **scope)
        for query in QUERIES:
            by_count = store.search(query, match="any", limit=100)
            patch.setenv("MEMORY_FTS5_BM25", "1")
            by_bm25 = store.search(query, match="any", limit=100)
            patch.delenv("MEMORY_FTS5_BM25")
            assert {hit.id for hit in by_bm25} == {hit.id for hit in by_count}
            assert all(hit.rank_score > 0 for hit in by_bm25)
            assert all(hit.rank_score >= 1 and hit.rank_score == int(hit.rank_score) for hit in by_count)


def test_s41_term_frequency_counts_every_occurrence_of_every_word(store: MemoryStore) -> None:
    store.remember_many(["tea milk", "tea tea milk", "tea milk milk milk", "tea"])
    assert [(hit.content, hit.rank_score) for hit in store.search("milk tea")] == [
        ("tea milk milk milk", 4.0),
        ("tea tea milk", 3.0),
        ("tea milk", 2.0),
    ]


@pytest.mark.parametrize("value", ["0", "", "no", "off"])
def test_s41_the_variable_turned_off_is_off(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    store.remember("tea tea")
    monkeypatch.setenv("MEMORY_FTS5_BM25", value)
    assert store.search("tea")[0].rank_score == 2.0


def test_s41_filters_narrow_the_hits_and_not_the_statistics(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record's bm25 is that of its slice, whichever others a filter leaves out."""
    monkeypatch.setenv("MEMORY_FTS5_BM25", "1")
    for number in range(6):
        store.remember("tea and " + "more " * number, metadata={"number": number})
    everything: dict[str, Any] = {hit.id: hit.rank_score for hit in store.search("tea")}
    some = store.search("tea", filters=lambda metadata: metadata["number"] > 3)
    assert len(some) == 2
    assert all(everything[hit.id] == hit.rank_score for hit in some)


def test_s41_a_fused_score_is_the_records_own(store: MemoryStore) -> None:
    """Filters, bounds and pages leave the scores of hybrid recall as they are: all that is read off others is read off the whole slice."""
    for number in range(30):
        store.remember(f"tea {'and milk ' * (number % 4)}on day {number}", metadata={"number": number})
    everything = store.recall("milk tea on day 7", mode="hybrid", limit=100)
    scores = {hit.id: hit.rank_score for hit in everything}
    assert len(set(scores.values())) > 4
    near = sorted((hit.score or 0.0 for hit in everything), reverse=True)[6]
    for some in (
        store.recall("milk tea on day 7", mode="hybrid", limit=100, filters=where("number").gt(20)),
        store.recall("milk tea on day 7", mode="hybrid", limit=100, filters={"number": 3}),
        store.recall("milk tea on day 7", mode="hybrid", limit=100, min_score=near),
        store.recall("milk tea on day 7", mode="hybrid", limit=3, offset=4),
    ):
        assert 0 < len(some) < 30
        assert [hit.rank_score for hit in some] == [scores[hit.id] for hit in some]
