"""A filter reads a slice at the second question, and only what changed after that."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from indelible import MemoryStore, where
from indelible.faces.engine import open_backend
from indelible.testing import FakeClock, FlakyBackend
from tests.unit.facts.stores import contents, open_store

RED = where("colour").eq("red")


def watched(clock: FakeClock) -> tuple[MemoryStore, FlakyBackend]:
    """A store with two facts, and its backend that notes when records are read."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("select",))
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
