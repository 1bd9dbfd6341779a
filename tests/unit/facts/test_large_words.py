"""Keyword search in a slice that is too large to keep answers as everywhere else."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore
from indelible.errors import RecordNotFound
from indelible.faces import large_words
from indelible.faces.engine import TextIndexer, open_backend
from indelible.testing import FakeClock, FlakyBackend, ReferenceBackend
from tests.unit.facts.stores import contents, open_store

WORDS = ("run", "running", "tea", "teas", "x", "学习")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), TEXTS, st.sampled_from(["u", "v"])),
        st.tuples(st.just("turn"), TEXTS, st.sampled_from(["u", "v"])),
        st.tuples(st.just("passing"), TEXTS, st.just("u")),
        st.tuples(st.just("edit"), TEXTS, st.integers(0, 20)),
        st.tuples(st.just("label"), st.integers(0, 1), st.integers(0, 20)),
        st.tuples(st.just("forget"), st.none(), st.integers(0, 20)),
        st.tuples(st.just("purge"), st.none(), st.integers(0, 20)),
        st.tuples(st.just("undo"), st.none(), st.integers(0, 20)),
    ),
    max_size=25,
)


def play(store: MemoryStore, clock: FakeClock, acts: list[tuple[str, Any, Any]]) -> None:
    for kind, what, which in acts:
        clock.advance(ms=10)
        ids = [record.id for record in store.list(include_expired=True)]
        if kind == "remember":
            store.remember(what, user_id=which, metadata={"n": len(ids) % 2})
        elif kind == "passing":
            store.remember(what, user_id=which, ttl_ms=15)
        elif kind == "turn":
            store.remember(what, user_id=which, context=store.list(user_id=which)[-1:])
        elif ids:
            record = ids[which % len(ids)]
            with suppress(RecordNotFound):  # expired
                if kind == "edit":
                    store.edit(record, what)
                elif kind == "label":
                    store.edit(record, metadata={"n": what})
                else:
                    getattr(store, kind)(record)


def asked(store: MemoryStore) -> list[object]:
    found: list[object] = []
    for within in ({}, {"user_id": "u"}, {"as_of": max(store.version - 3, 1)}, {"filters": {"n": 1}}, {"include_expired": True}):
        for query in ("tea", "tea run", "running", "学习 tea", "absent"):
            for match in ("all", "any"):
                for limit in (1, 3, 100):
                    hits = store.search(query, match=match, limit=limit, **within)
                    found.append([(hit.record.content, hit.record.version, hit.rank_score) for hit in hits])
            for limit in (1, 4):
                found.extend(
                    [(hit.record.content, hit.record.version, hit.score, hit.rank_score) for hit in hits]
                    for hits in (
                        store.recall(query, mode="hybrid", limit=limit, **within),
                        store.recall(query, mode="hybrid", limit=limit, min_score=0.1, **within),
                        store.recall(query, mode="keyword", limit=limit, recency=True, **within),
                    )
                )
    return found


@given(acts=ACTS)
def test_s41_so_it_is_by_bm25(acts: list[tuple[str, Any, Any]]) -> None:
    """With the statistics of the whole selection."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MEMORY_FTS5_BM25", "1")
        test_s41_a_slice_too_large_to_keep_is_searched_alike.hypothesis.inner_test(acts)  # type: ignore[attr-defined]


@given(acts=ACTS)
def test_s41_a_slice_too_large_to_keep_is_searched_alike(acts: list[tuple[str, Any, Any]]) -> None:
    """The same hits, scores and order, at every time, in every scope, with filters and expiry, after whatever was done to the store."""
    results = []
    for large in (True, False):
        clock = FakeClock()
        backend = open_backend(":memory:", clock) if large else ReferenceBackend(None, TextIndexer(), clock=clock)
        with open_store(clock=clock, backend=backend) as store:
            if large:
                store._engine.word_cache.max_records = 0
            play(store, clock, acts)
            results.append(asked(store))
    assert results[0] == results[1]


def test_texts_are_not_read() -> None:
    """Hits come from counting: no text of the slice is read, however many hold the words."""
    clock = FakeClock()
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("find", "words", "occurrences", "resolve"))
    with open_store(clock=clock, backend=backend) as store:
        store._engine.word_cache.max_records = 3
        store.remember_many([f"tea {number}" for number in range(8)], user_id="u")
        backend.calls.clear()
        for _ in range(3):
            assert contents(store.search("tea", user_id="u", limit=2)) == ["tea 7", "tea 6"]
        assert set(backend.calls) == {"occurrences", "resolve"}


def test_hits_that_lie_far_down_are_found(monkeypatch: Any) -> None:
    """Where most of what holds the words is of others, or gone, more is looked up until there are enough."""
    monkeypatch.setattr(large_words, "_AT_ONCE", 1)
    monkeypatch.setattr(large_words, "_STEPS", (1, 2, 3))
    clock = FakeClock()
    with open_store(clock=clock) as store:
        store._engine.word_cache.max_records = 0
        for number in range(30):
            store.remember(f"tea {number}", user_id="v" if number % 7 else "u")
        for limit in (1, 2, 5, 9):
            wanted = [f"tea {number}" for number in (28, 21, 14, 7, 0)][:limit]
            assert contents(store.search("tea", user_id="u", limit=limit)) == wanted
