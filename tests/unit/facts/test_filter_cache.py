"""A filter reads a slice at the second question, and only what changed after that."""

from __future__ import annotations

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
