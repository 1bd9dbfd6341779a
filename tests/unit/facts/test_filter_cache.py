"""A filter reads a slice at the second question, and only what changed after that."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore, where
from indelible.backend.interface import Row, Selection
from indelible.faces import listing
from indelible.faces.engine import open_backend
from indelible.search.filters import Filter, Predicate
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder
from tests.unit.facts.random_facts import SCOPES, Life, Step, seen, steps
from tests.unit.facts.stores import contents, open_store
from tests.unit.search.filter_strategies import FILTERS

EVERYTHING: dict[str, Any] = {}
RED = where("colour").eq("red")


def watched(clock: FakeClock) -> tuple[MemoryStore, FlakyBackend]:
    """A store with two facts, and its backend that notes when records are read."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("select", "rows"))
    store = open_store(clock=clock, backend=backend)
    store.remember_many([{"content": "red tea", "metadata": {"colour": "red"}}, {"content": "tea", "metadata": {"n": 1}}], user_id="u")
    return store, backend


def reads(backend: FlakyBackend) -> int:
    done = len(backend.calls)
    backend.calls.clear()
    return done


def test_metadata_is_read_once(clock: FakeClock) -> None:
    """Each recall reads the records of its hits; what the filter leaves is known from the second on."""
    store, backend = watched(clock)
    found = []
    for _ in range(4):
        reads(backend)
        assert contents(store.recall("tea", filters=RED, user_id="u")) == ["red tea"]
        found.append(reads(backend))
    assert found == [2, 2, 1, 1]
    store.remember("red coffee", metadata={"colour": "red"}, user_id="u")
    reads(backend)
    assert len(store.recall("tea", filters=RED, user_id="u")) == 2
    assert reads(backend) == 2, "what is new, and the hits"
    assert contents(store.recall("tea", filters=where("n").gte(1), user_id="u")) == ["tea"]
    assert reads(backend) == 1, "another filter on the same records"


def test_what_is_too_large_is_read_each_time(clock: FakeClock) -> None:
    store, backend = watched(clock)
    store._engine.filter_cache.max_records = 1
    found = []
    for _ in range(4):
        reads(backend)
        assert contents(store.recall("tea", filters=RED, user_id="u")) == ["red tea"]
        found.append(reads(backend))
    assert found == [2, 3, 2, 2], "once to find that it is too large"


def warm(clock: FakeClock) -> MemoryStore:
    """A store whose metadata was read."""
    store, _ = watched(clock)
    for _ in range(2):
        store.recall("tea", filters=RED)
    return store


def test_a_function_may_use_the_store(clock: FakeClock) -> None:
    """It may write to it and ask it again, with whatever filter, and sees what stood when it was asked."""
    store = warm(clock)

    def wanted(metadata: Mapping[str, Any]) -> bool:
        store.remember("more", metadata={"colour": "red"})
        return len(store.recall("tea", filters=RED, limit=99)) > 1

    assert len(store.recall("tea", filters=wanted, limit=99)) == 2
    assert len(store.recall("tea", filters=RED, limit=99)) == 3


def test_a_function_may_wait_for_a_thread(clock: FakeClock) -> None:
    """Other threads go on while it works, also those that it waits for."""
    store = warm(clock)
    found: list[int] = []

    def wanted(metadata: Mapping[str, Any]) -> bool:
        thread = threading.Thread(target=lambda: found.append(len(store.recall("tea", filters=RED))), daemon=True)
        thread.start()
        thread.join(10)
        return not thread.is_alive()

    assert len(store.recall("tea", filters=wanted)) == 2
    assert found == [1, 1]


def test_a_function_changes_nothing_for_others(clock: FakeClock) -> None:
    """What it does to a list or an object inside is done to a copy."""
    store, _ = watched(clock)
    store.remember("green tea", metadata={"tags": ["green"], "in": {"cup": 1}})

    def meddle(metadata: Mapping[str, Any]) -> bool:
        if "tags" in metadata:
            metadata["tags"].append("mine")
            metadata["in"].clear()
        return True

    for _ in range(3):
        assert len(store.recall("tea", filters=meddle)) == 3
        assert store.recall("tea", filters=where("tags").contains("mine")) == []
        assert contents(store.recall("tea", filters=where("in", "cup").eq(1))) == ["green tea"]


def test_large_metadata_is_left_to_the_backend(clock: FakeClock) -> None:
    """Memory is bounded by bytes, not only by records."""
    store, backend = watched(clock)
    store._engine.filter_cache._max_bytes = 3000
    store.remember("red coffee", metadata={"colour": "red", "long": ["x"] * 1000}, user_id="u")
    found = []
    for _ in range(4):
        reads(backend)
        assert len(store.recall("tea", filters=RED, user_id="u")) == 2
        found.append(reads(backend))
    assert found == [2, 3, 2, 2]


# Listing


def test_a_listing_reads_its_page_alone(clock: FakeClock) -> None:
    store, backend = watched(clock)
    store._engine.filter_cache.least_listed = 0
    found = []
    for _ in range(4):
        reads(backend)
        assert contents(store.list(RED, user_id="u")) == ["red tea"]
        found.append(reads(backend))
    assert found == [1, 2, 1, 1], "a scan; the slice and the page; the page"
    store.remember("red coffee", metadata={"colour": "red"}, user_id="u")
    reads(backend)
    assert contents(store.list(RED, user_id="u", descending=True, limit=1)) == ["red coffee"]
    assert reads(backend) == 2, "what is new, and the page"
    assert store.list(where("colour").eq("blue"), user_id="u") == []
    assert reads(backend) == 0, "no page"
    store.edit(store.list(user_id="u")[0].id, metadata={})
    assert contents(store.list(RED, user_id="u")) == ["red coffee"]
    kept = [entry.kept for entry in store._engine.filter_cache._entries.values()]
    assert [of.places.keys() for of in kept] == [set(of.versions.values()) for of in kept], "nothing is left of what is gone"


def test_a_small_slice_is_scanned_until_it_may_be_large(clock: FakeClock) -> None:
    """Keeping up with what others write would cost more. What the store grew by bounds what a slice can have grown by."""
    store, backend = watched(clock)
    store._engine.filter_cache.least_listed = 20
    found = []
    for number in range(30):
        store.remember("elsewhere", user_id="v")
        reads(backend)
        assert contents(store.list(RED, user_id="u")) == ["red tea"]
        if reads(backend) > 1:
            found.append(number)
    assert found == [18], "it was asked for before, and may have had 20 records by then"
    store.remember_many([{"content": "red", "metadata": {"colour": "red"}}] * 20, user_id="u")
    for calls in (2, 1):
        reads(backend)
        assert len(store.list(RED, user_id="u")) == 21
        assert reads(backend) == calls


def test_a_long_page_is_scanned(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_PAGE", 1)
    store, backend = watched(clock)
    store._engine.filter_cache.least_listed = 0
    store.remember("red coffee", metadata={"colour": "red"}, user_id="u")
    asked: list[Selection] = []
    select = backend.inner.select

    def noted(selection: Selection) -> list[Row]:
        asked.append(selection)
        return select(selection)

    monkeypatch.setattr(backend.inner, "select", noted)
    for _ in range(3):
        assert contents(store.list(RED, user_id="u")) == ["red tea", "red coffee"]
    assert [selection.equals != () for selection in asked] == [True, False, True, True], "scans, and the slice once"
    assert contents(store.list(RED, user_id="u", limit=1)) == ["red tea"]
    assert asked[-1].records is not None


RIVALS: dict[str, Callable[[MemoryStore], object]] = {
    "a change": lambda store: store.edit(store.list()[0].id, metadata={"colour": "blue"}),
    "a forget": lambda store: store.forget(store.list()[0].id),
    "a purge": lambda store: store.purge(store.list()[0].id),
    "a rebuild": lambda store: store.rebuild(),
}


@pytest.mark.parametrize("rival", RIVALS.values(), ids=list(RIVALS))
def test_a_page_is_of_one_moment(clock: FakeClock, rival: Callable[[MemoryStore], object]) -> None:
    """Whoever writes between the matching and the reading."""
    store, backend = watched(clock)
    store._engine.filter_cache.least_listed = 0
    store.remember("red coffee", metadata={"colour": "red"}, user_id="u")
    for _ in range(2):
        store.list(RED, limit=1)
    other = MemoryStore(":memory:", backend=backend.inner, clock=clock, embedder=HashEmbedder())
    select, waiting = backend.inner.select, [rival]

    def late(selection: Selection) -> list[Row]:
        if selection.records is not None and waiting:
            waiting.pop()(other)
        return select(selection)

    backend.inner.select = late  # type: ignore[method-assign]  # a rival that comes at the worst moment
    page = store.list(RED, limit=1)
    assert waiting == []
    assert seen(page) == seen(other.list(RED, limit=1))
    assert len(page) == 1


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_recall_asks_a_function_the_same_each_time(clock: FakeClock, mode: str) -> None:
    """About what may be shown and meets the other conditions, however well the slice is known: it may raise where it is asked of more."""
    store, _ = watched(clock)
    store.remember("tea that is gone", metadata={"n": "text"}, user_id="u", ttl_ms=1)
    store.remember("tea of others", metadata={"n": "text", "kind": "other"}, user_id="u")
    clock.advance(ms=1)
    asked: list[int] = []

    def one(metadata: Mapping[str, Any]) -> bool:
        asked.append(metadata["n"] + 0)
        return True

    for _ in range(4):
        found = store.recall("tea", mode=mode, filters=Predicate(one) & where("n").eq(1), user_id="u")
        assert contents(found) == ["tea"]
    assert asked == 4 * [1]
    for _ in range(3):
        with pytest.raises(InvalidInput, match="TypeError"):
            store.recall("tea", mode=mode, filters=Predicate(one) & where("n").eq("text"), user_id="u", include_expired=True)


def test_a_listing_asks_a_function_once(clock: FakeClock) -> None:
    """About each record that may be shown, and not about what has expired."""
    store, _ = watched(clock)
    store._engine.filter_cache.least_listed = 0
    store.remember("gone", metadata={"n": "text"}, user_id="u", ttl_ms=1)
    clock.advance(ms=1)
    asked: list[int] = []

    def one(metadata: Mapping[str, Any]) -> bool:
        asked.append(metadata.get("n", 0) + 1)
        return asked[-1] == 2

    for _ in range(3):
        assert contents(store.list(Predicate(one), user_id="u")) == ["tea"]
    assert asked == 3 * [1, 2]


def test_a_page_is_cut_last(clock: FakeClock) -> None:
    """After expiry, to the millisecond, in the order that was asked for, and among what has the key or parent that was."""
    store, _ = watched(clock)
    store._engine.filter_cache.least_listed = 0
    store.remember("brief", metadata={"colour": "red"}, user_id="a", ttl_ms=1)
    store.remember("old", metadata={"colour": "red"}, user_id="a", parent="p", key="k")
    store.remember("new", metadata={"colour": "red"}, user_id="a")
    store.edit(store.list(user_id="a", key="k")[0].id, content="edited")
    clock.advance(ms=1)
    questions: dict[str, dict[str, Any]] = {
        "edited": {"order": "created"},
        "new": {"order": "updated"},
        "brief": {"include_expired": True},
        "edited of p": {"parent": "p", "descending": True},
        "edited k": {"key": "k", "descending": True},
    }
    for _ in range(3):
        found = {said: contents(store.list(RED, user_id="a", limit=1, **question)) for said, question in questions.items()}
        assert found == {said: [said.split()[0]] for said in questions}


PAGES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["created", "updated"]),
        "descending": st.booleans(),
        "limit": st.none() | st.integers(0, 4),
        "offset": st.integers(0, 3),
        "include_expired": st.booleans(),
    }
)


@given(steps("purge", most=10), FILTERS, PAGES)
def test_listed_from_the_cache_is_listed_by_a_scan(script: list[Step], filters: Filter, how: dict[str, Any]) -> None:
    """After any writes, in every slice, order and page, now and in the past."""
    with Life() as life:
        cached = life.store
        cached._engine.filter_cache.least_listed = 0
        scanned = MemoryStore(":memory:", backend=cached._engine.backend, clock=life.clock, embedder=HashEmbedder())
        scanned._engine.filter_cache.max_records = -1
        for step in script:
            life.take(step)
            moments = (None, max(cached.version // 2, 1), cached.version + 1)
            for as_of, scope in itertools.product(moments, (SCOPES[0], SCOPES[3], EVERYTHING)):
                assert seen(cached.list(filters, as_of=as_of, **how, **scope)) == seen(scanned.list(filters, as_of=as_of, **how, **scope))
        assert cached._engine.filter_cache._entries or len(script) == 1, "it was asked more than once"
