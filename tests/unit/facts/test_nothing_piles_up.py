"""A store that does the same again and again holds no more than before: its file grows, its process does not."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.faces.slice_cache import SliceCache
from indelible.testing import HashEmbedder

ROUNDS = 12
TEXTS = ["tea is green", "milk is white", "coffee is black"]


def play(store: MemoryStore) -> None:
    """Every verb, over a handful of users, with as much removed as is remembered."""
    for user in ("u", "v", "w"):
        note = store.remember(TEXTS[0], user_id=user, metadata={"topic": 1})
        others = store.remember_many(TEXTS, user_id=user)
        store.edit(note.id, "tea is good", metadata={"topic": 2})
        store.feedback(note.id, "up")
        for _ in range(2):
            assert store.recall("tea", user_id=user)
            assert store.recall("tea", user_id=user, mode="hybrid")
            assert store.search("tea", user_id=user)
            assert store.list(filters={"topic": 2}, user_id=user)
        assert store.recall("tea", user_id=user, as_of=2) or user != "u"
        assert len(store.history(note.id)) >= 2
        store.purge(note.id)
        for other in others:
            assert store.forget(other.id)
    assert store.count() == 1


def ours() -> Counter[str]:
    """How many objects of our classes are alive."""
    gc.collect()
    names = (f"{type(held).__module__}.{type(held).__qualname__}" for held in gc.get_objects())
    return Counter(name for name in names if name.startswith("indelible."))


def kept(store: MemoryStore) -> list[int]:
    """How many entries the caches of a store have."""
    engine = store._engine
    caches = [held for held in vars(engine).values() if isinstance(held, SliceCache)]
    assert len(caches) >= 4
    noted = (engine.word_cache._asked, engine.filter_cache._asked, engine.filter_cache._sizes, engine._positions)
    return [len(cache._entries) for cache in caches] + [len(found) for found in noted]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "store.db", embedder=HashEmbedder()) as made:
        made.remember("tea was here first", user_id="u")
        made.remember("and this is gone", user_id="u")
        made.forget(made.search("gone")[0].id)
        yield made


def grown(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


def test_no_object_of_ours_outlives_its_round(store: MemoryStore) -> None:
    """The same objects after many rounds as after few, and the same entries in every cache; the log has grown meanwhile."""
    for _ in range(3):
        play(store)
    before, entries, events = ours(), kept(store), store.version
    for _ in range(ROUNDS):
        play(store)
    assert grown(before, ours()) == {}
    assert kept(store) == entries
    assert store.version >= events + ROUNDS * 30


def test_no_memory_of_python_outlives_its_round(store: MemoryStore) -> None:
    """By tracemalloc: the least after any of the later rounds is no more than after the earlier ones, but for 100 bytes an event.

    The least, because arrays with room to grow make it go up and down. A record that stayed would take more than a thousand bytes.
    """
    for _ in range(4):
        play(store)
    levels = []
    tracemalloc.start()
    try:
        for _ in range(2 * ROUNDS):
            play(store)
            gc.collect()
            levels.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    events = store.version * ROUNDS // (2 * ROUNDS + 4)
    assert min(levels[ROUNDS:]) - min(levels[:ROUNDS]) < 100 * events


@pytest.mark.parametrize("leak", [lambda held, store: held.extend(store.list()), lambda held, store: held.append(store.scope(user_id="u"))])
def test_a_leak_would_be_seen(store: MemoryStore, leak: Callable[[list[object], MemoryStore], None]) -> None:
    play(store)
    held: list[object] = []
    before = ours()
    leak(held, store)
    assert grown(before, ours())


def test_past_views_of_ever_other_versions_stay_within_the_bound(store: MemoryStore) -> None:
    """Each version asked for is an entry of its own: the oldest go, and what is held is what the entries add up to."""
    cache = store._engine.vector_cache
    cache._max_bytes = 60_000
    for number in range(40):
        store.remember(f"tea number {number}", user_id="u")
        store.recall("tea", user_id="u", as_of=store.version - 1)
        assert cache._held <= 60_000 or len(cache._entries) == 1
        assert cache._held == sum(entry.nbytes for entry in cache._entries.values())
    assert 1 < len(cache._entries) < 40
