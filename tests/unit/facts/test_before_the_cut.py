"""S44: scope, expiry, filters and the version asked about are applied before the best k are taken."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore
from indelible.search.filters import Filter, matches
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.random_facts import QUERIES, SCOPES, WORDS, Life, Step, steps
from tests.unit.facts.stores import contents, open_store
from tests.unit.search.filter_strategies import FILTERS

STRANGERS = 10_000


@pytest.fixture(scope="module")
def crowd() -> Iterator[MemoryStore]:
    """One memory of mine, far from the query, among ten thousand of a stranger that are the query itself."""
    with open_store(embedder=HashEmbedder(16)) as store:
        store.remember("something about tea", user_id="me", metadata={"rare": True})
        store.remember_many(["nearest of all"] * STRANGERS, user_id="stranger")
        store.remember("something late about milk", user_id="stranger", workspace_id="corner")
        yield store


@pytest.mark.parametrize("limit", [1, 5])
def test_s44_a_slice_of_one_is_found_among_ten_thousand_nearer_strangers(crowd: MemoryStore, limit: int) -> None:
    assert contents(crowd.recall("nearest of all", limit=limit, user_id="me")) == ["something about tea"]
    assert contents(crowd.scope(user_id="me").recall("nearest of all", limit=limit)) == ["something about tea"]
    assert contents(crowd.recall("nearest of all", limit=limit, workspace_id="corner")) == ["something late about milk"]


def test_s44_a_filter_is_applied_before_the_cut(crowd: MemoryStore) -> None:
    assert contents(crowd.recall("nearest of all", limit=1, filters={"rare": True})) == ["something about tea"]
    assert contents(crowd.recall("nearest of all", limit=1, mode="hybrid", filters={"rare": True})) == ["something about tea"]


def test_s44_a_version_is_applied_before_the_cut(crowd: MemoryStore) -> None:
    assert contents(crowd.recall("nearest of all", limit=1, as_of=1)) == ["something about tea"]


def test_s44_keyword_search_finds_the_one_as_well(crowd: MemoryStore) -> None:
    crowd.remember("nearest of all", user_id="me", metadata={"rare": True})
    assert len(crowd.search("nearest", limit=5, user_id="me")) == 1
    assert len(crowd.search("nearest", limit=5, filters={"rare": True})) == 1


def test_s44_five_nearest_expired_do_not_shrink_the_answer(store: MemoryStore, clock: FakeClock) -> None:
    store.remember_many(["the very tea"] * 5, ttl_ms=1000)
    store.remember_many([f"tea number {number}" for number in range(5)])
    clock.advance(ms=1000)
    for mode in ("semantic", "hybrid", "keyword"):
        hits = store.recall("tea", limit=5, mode=mode)
        assert sorted(contents(hits)) == [f"tea number {number}" for number in range(5)]


@given(steps("purge"), st.sampled_from([{}, *SCOPES]), FILTERS, st.integers(1, 3), st.integers(0, 2))
def test_s44_the_cut_comes_last(script: list[Step], scope: dict[str, Any], tree: Filter, limit: int, offset: int) -> None:
    """The best k of a filtered slice are the first k of the whole ranking with everything else taken out."""
    with Life() as life:
        life.take(*script)
        wanted = {record.id for record in life.store.list(**scope) if matches(tree, record.metadata)}
        for mode in ("semantic", "keyword"):
            everything = [hit for hit in life.store.recall("tea cafe", mode=mode, limit=1000, include_expired=True) if hit.id in wanted]
            found = life.store.recall("tea cafe", mode=mode, limit=limit, offset=offset, filters=tree, **scope)
            assert [(hit.id, hit.score, hit.rank_score) for hit in found] == [
                (hit.id, hit.score, hit.rank_score) for hit in everything[offset : offset + limit]
            ]


@pytest.mark.parametrize("mode", ["semantic", "hybrid", "keyword"])
def test_s44_a_function_of_the_record_is_applied_before_the_cut(store: MemoryStore, mode: str) -> None:
    """For conditions beyond metadata; it sees the whole record, and its failure is our error."""
    store.remember_many([{"content": "the very tea", "source": f"source {number}"} for number in range(20)])
    found = store.recall("tea", limit=1, mode=mode, accept=lambda record: record.source == "source 3")
    assert [hit.record.source for hit in found] == ["source 3"]
    with pytest.raises(InvalidInput, match="ZeroDivisionError"):
        store.recall("tea", mode=mode, accept=lambda record: bool(1 / 0))
    with pytest.raises(InvalidInput, match="accept"):
        store.recall("tea", mode=mode, accept="source 3")  # type: ignore[arg-type]  # that is the test


@given(st.integers(0, 10_000), st.sampled_from(QUERIES), st.integers(1, 4), st.integers(0, 3))
def test_s44_pages_of_hybrid_recall_join(seed: int, query: str, limit: int, offset: int) -> None:
    """However few are asked for, and however many hold the words: what a page shows is what the whole ranking has there."""
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch, open_store() as store:
        patch.setattr("indelible.faces.request.POOL", 1)
        store.remember_many([" ".join(random.choices(WORDS, k=random.randint(1, 6))) for _ in range(40)])
        everything = [(hit.id, hit.rank_score) for hit in store.recall(query, mode="hybrid", limit=1000)]
        page = [(hit.id, hit.rank_score) for hit in store.recall(query, mode="hybrid", limit=limit, offset=offset)]
        assert page == everything[offset : offset + limit]
