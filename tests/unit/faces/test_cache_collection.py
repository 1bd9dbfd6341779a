"""Cache collections: a plain table outside the log, for what other systems can make again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore, UnsupportedOperation
from indelible.faces.cache import CacheCollection
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.faces.strategies import JSON, KEYS, same


@pytest.fixture
def cache(store: MemoryStore) -> CacheCollection:
    found: CacheCollection = store.collection("cache", cache=True)
    return found


@given(st.dictionaries(KEYS, st.one_of(st.binary(max_size=20), JSON), max_size=5))
def test_values_come_back_as_they_were(values: dict[str, Any]) -> None:
    """Bytes and JSON, type for type, under any key; listed sorted by key."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        cache = store.collection("cache", cache=True)
        cache.put_many(values)
        assert all(same(cache.get(key), value) for key, value in values.items())
        assert all(map(same, cache.get_many(list(values)), values.values()))
        assert [key for key, _ in cache.list()] == cache.keys() == sorted(values, key=lambda key: key.encode())


def test_putting_again_replaces(cache: CacheCollection) -> None:
    """The last value counts; deleting twice is fine."""
    cache.put("k", b"one")
    cache.put("k", {"two": 2})
    assert cache.get("k") == {"two": 2}
    cache.delete("k")
    cache.delete("k")
    assert (cache.get("k"), cache.list(), cache.get_many(["k", "never"])) == (None, [], [None, None])


def test_keys_by_prefix(cache: CacheCollection) -> None:
    """The prefix is text, no pattern."""
    cache.put_many(dict.fromkeys(["a%", "a%b", "ab", "b"], 1))
    assert (cache.keys("a%"), cache.keys("a"), cache.keys("_")) == (["a%", "a%b"], ["a%", "a%b", "ab"], [])
    cache.delete_many(["a%", "b", "never"])
    assert cache.keys() == ["a%b", "ab"]


def test_caches_are_kept_apart(store: MemoryStore, cache: CacheCollection) -> None:
    """By namespace, and from everything else in the store."""
    other = store.collection("cache", "below", cache=True)
    cache.put("k", 1)
    other.put("k", 2)
    store.collection("cache").put("k", value=3)
    assert (cache.get("k"), other.get("k"), store.collection("cache").get("k").value) == (1, 2, 3)


def test_a_cache_entry_may_expire(cache: CacheCollection, clock: FakeClock) -> None:
    """At its time; a new put starts a new life."""
    cache.put_many({"a": 1, "b": 2}, ttl_ms=1000)
    cache.put("c", 3)
    clock.advance(ms=999)
    assert cache.keys() == ["a", "b", "c"]
    clock.advance(ms=1)
    assert (cache.keys(), cache.get("a"), cache.list()) == (["c"], None, [("c", 3)])
    cache.put("a", 4)
    assert cache.get("a") == 4


def test_a_cache_is_not_in_the_log(store: MemoryStore, cache: CacheCollection) -> None:
    """No version, no event, no search, nothing to verify; a rebuild leaves it alone."""
    cache.put("k", "findable text")
    assert (store.version, list(store.iter_events()), store.search("findable")) == (0, [], [])
    assert store.collection().namespaces() == []
    store.rebuild()
    assert cache.get("k") == "findable text"
    assert store.verify().ok


@pytest.mark.parametrize("verb", ["history", "undo", "restore", "purge", "at", "search", "batch", "namespaces"])
def test_what_a_cache_does_not_do(cache: CacheCollection, verb: str) -> None:
    """UnsupportedOperation, whatever the arguments, that says what does."""
    for arguments in ((), ("k",), ("k", 1)):
        with pytest.raises(UnsupportedOperation, match="use a collection without cache=True"):
            getattr(cache, verb)(*arguments)


def test_a_cache_has_no_scope(store: MemoryStore) -> None:
    """UnsupportedOperation that says where to put it instead."""
    with pytest.raises(UnsupportedOperation, match="namespace"):
        store.collection("cache", user_id="ada", cache=True)


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, float("nan"), (1,), "a\0", bytearray(b"a"), b"x" * ((16 << 20) + 1)], ids=lambda value: type(value).__name__
)
def test_a_cache_takes_bytes_and_json(cache: CacheCollection, value: Any) -> None:
    """InvalidInput for anything else; of many, none is written."""
    with pytest.raises(InvalidInput):
        cache.put_many({"good": 1, "bad": value})
    assert cache.keys() == []


@pytest.mark.parametrize("key", [5, None, b"a", "a\0", "\ud800"])
def test_cache_keys_are_text(cache: CacheCollection, key: Any) -> None:
    """InvalidInput, in every verb."""
    for verb in (lambda: cache.put(key, 1), lambda: cache.get(key), lambda: cache.delete(key), lambda: cache.get_many(["a", key])):
        with pytest.raises(InvalidInput):
            verb()
