"""Collections: put, get, delete, compare-and-set, and whose records they are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Collection, InvalidInput, MemoryStore, Part, Record, Scope, VersionConflict
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.faces.strategies import JSON, KEYS, TEXTS, same

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def notes(store: MemoryStore) -> Collection:
    found: Collection = store.collection("notes")
    return found


def got(collection: Collection, key: str, **options: Any) -> Record:
    """A record that must be there."""
    found = collection.get(key, **options)
    assert found is not None
    return found


def test_a_record_comes_back_as_it_was_put(notes: Collection) -> None:
    """Every field, in what ``put`` returns, in ``get`` and in ``list``."""
    put = notes.put(
        "k", "text", value={"a": [1, None]}, metadata={"n": 1.0}, parts=[Part("p", "part")], parent="doc", source="user", ttl_ms=1000
    )
    assert (put.key, put.content, put.value, put.metadata, put.parent, put.source) == (
        "k",
        "text",
        {"a": [1, None]},
        {"n": 1.0},
        "doc",
        "user",
    )
    assert (put.parts, put.namespace, put.scope, put.version) == ((Part("p", "part"),), ("notes",), Scope(), 1)
    assert (put.created_at, put.updated_at, put.occurred_at, put.expires_at) == (START, START, START, START + timedelta(seconds=1))
    assert put == got(notes, "k") == notes.list()[0]


@given(KEYS, TEXTS, JSON, st.dictionaries(TEXTS, JSON, max_size=3))
def test_keys_values_and_metadata_round_trip(key: str, content: str, value: object, metadata: dict[str, Any]) -> None:
    """Any key and text, any JSON."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        notes = store.collection("notes")
        notes.put(key, content, value=value, metadata=metadata)
        found = notes.get(key)
        assert (found.key, found.content) == (key, content)
        assert same(found.value, value)
        assert same(found.metadata, metadata)


def test_putting_again_is_a_revision_of_the_whole_state(notes: Collection, clock: FakeClock) -> None:
    """The same id and birth; what is not given again is gone; other keys stay as they are."""
    first = notes.put("k", "one", metadata={"a": 1}, value=1, parent="doc", ttl_ms=10**9)
    notes.put("other", "untouched")
    clock.advance(ms=5)
    second = notes.put("k", "two")
    assert (second.id, second.created_at, second.version) == (first.id, first.created_at, 3)
    assert second.updated_at == START + timedelta(milliseconds=5)
    assert (second.metadata, second.value, second.parent, second.expires_at) == ({}, None, None, None)
    assert [record.content for record in notes.list()] == ["two", "untouched"]


def test_updates_are_strictly_later_also_when_the_clock_stands(notes: Collection) -> None:
    """Two puts within one tick, or with the clock set back, keep their order."""
    stamps = [notes.put("k", str(number)).updated_at for number in range(3)]
    assert stamps == sorted(set(stamps))


def test_delete_hides_a_key_and_says_whether_it_was_there(notes: Collection, clock: FakeClock) -> None:
    """A second delete finds nothing and writes nothing; a key put anew has the same id and a new birth."""
    first = notes.put("k", "one")
    assert [notes.delete("k"), notes.delete("k"), notes.delete("never")] == [True, False, False]
    assert (notes.get("k"), notes.list(), len(notes.history("k"))) == (None, [], 2)
    clock.advance(ms=5)
    again = notes.put("k", "two")
    assert (again.id, again.created_at) == (first.id, START + timedelta(milliseconds=5))


def test_get_many_keeps_the_order_of_the_keys(notes: Collection) -> None:
    """None where there is none, a key asked for twice is answered twice."""
    for key in "ab":
        notes.put(key, key)
    found = notes.get_many(["b", "missing", "a", "b"])
    assert [record and record.content for record in found] == ["b", None, "a", "b"]
    assert notes.get_many([]) == []


# Compare-and-set


def refused(write: Callable[[], object], expected: int, actual: int) -> None:
    with pytest.raises(VersionConflict) as raised:
        write()
    assert (raised.value.expected, raised.value.actual) == (expected, actual)


def test_expected_version_zero_means_must_not_exist(notes: Collection, clock: FakeClock) -> None:
    """For a new key, a deleted one and an expired one; a key that is there is a conflict that names its version."""
    assert notes.put("k", "one", expected_version=0).version == 1
    refused(lambda: notes.put("k", "two", expected_version=0), 0, 1)
    notes.delete("k")
    assert notes.put("k", "three", expected_version=0, ttl_ms=1000).version == 3
    refused(lambda: notes.put("k", "four", expected_version=0), 0, 3)
    clock.advance(ms=1000)
    assert notes.put("k", "five", expected_version=0).version == 4
    assert [record.content for record in notes.list()] == ["five"]


def test_expected_version_must_be_the_current_one(notes: Collection) -> None:
    """The version of the record, not of the store; for put and delete; a conflict writes nothing."""
    notes.put("k", "one")
    notes.put("other", "x")
    assert notes.put("k", "two", expected_version=1).version == 3
    for stale in (1, 2, 4, 2**62):
        refused(lambda stale=stale: notes.put("k", "lost", expected_version=stale), stale, 3)  # type: ignore[misc]  # a bound default
        refused(lambda stale=stale: notes.delete("k", expected_version=stale), stale, 3)  # type: ignore[misc]  # a bound default
    refused(lambda: notes.put("missing", expected_version=3), 3, 0)
    refused(lambda: notes.delete("missing", expected_version=3), 3, 0)
    assert notes.delete("k", expected_version=3) is True
    refused(lambda: notes.put("k", expected_version=3), 3, 0)
    assert [len(notes.history(key)) for key in ("k", "other", "missing")] == [3, 1, 0]


def test_counting_with_compare_and_set_loses_nothing(path: Path) -> None:
    """Eight threads, four stores on one file: each conflict is read again and retried, the sum is right."""
    stores = [MemoryStore(path, embedder=HashEmbedder()) for _ in range(4)]

    def count(number: int) -> None:
        counters = stores[number % 4].collection("counters")
        for _ in range(5):
            while True:
                found = counters.get("k")
                try:
                    counters.put("k", value=found.value + 1 if found else 1, expected_version=found.version if found else 0)
                    break
                except VersionConflict:
                    continue

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert {store.collection("counters").get("k").value for store in stores} == {40}
    assert stores[0].version == 40
    for store in stores:
        store.close()


@pytest.mark.parametrize("version", [-1, True, 1.0, "1", [1]])
def test_expected_version_is_a_whole_number(notes: Collection, version: Any) -> None:
    """InvalidInput that names it."""
    for write in (lambda: notes.put("k", expected_version=version), lambda: notes.delete("k", expected_version=version)):
        with pytest.raises(InvalidInput, match="expected_version must be an int"):
            write()


# Whose


def test_scopes_are_matched_exactly(store: MemoryStore) -> None:
    """All combinations of two values and "not set" in four fields: each is a place of its own for the same key."""
    scopes: list[dict[str, Any]] = [dict(zip(Scope._fields, values, strict=True)) for values in product((None, "a", "A%"), repeat=4)]
    for number, scope in enumerate(scopes):
        store.collection("notes", **scope).put("k", value=number)
    for number, scope in enumerate(scopes):
        notes = store.collection("notes", **scope)
        assert [record.value for record in notes.list(prefix=True)] == [number]
        assert (notes.get("k").value, notes.get("k").scope, notes.scope) == (number, Scope(**scope), Scope(**scope))
    assert store.collection("notes", agent_id="a", user_id="a", org_id="a", workspace_id="a").delete("k")
    assert store.collection("notes").get("k").value == 0


@pytest.mark.parametrize("value", ["", 5, b"a", "a\0", "\ud800", ["a"]])
def test_scope_values_are_text(store: MemoryStore, value: Any) -> None:
    """InvalidInput that names the field."""
    with pytest.raises(InvalidInput, match="org_id"):
        store.collection("notes", org_id=value)


def test_namespaces_are_kept_apart(store: MemoryStore) -> None:
    """By their labels, not by how they might be written in one piece; facts are in none of them."""
    namespaces = [(), ("a",), ("b",), ("a", "b"), ("a/b",), ("ab",), ("a.b",), ("A",), ("a%",), ("a ",), ("a", "b", "c")]
    for namespace in namespaces:
        if namespace:
            store.collection(*namespace).put("k", "/".join(namespace))
    for namespace in namespaces:
        assert [record.namespace for record in store.collection(*namespace).list()] == ([namespace] if namespace else [])
        assert store.collection(*namespace).namespace == namespace
    assert store.list() == []


@pytest.mark.parametrize("labels", [("",), (5,), ("a", None), ("a\0",), ("a\n",), ("\x1f",), ("\ud800",), tuple("a" * 33)])
def test_labels_of_a_namespace_are_text(store: MemoryStore, labels: tuple[Any, ...]) -> None:
    """Non-empty, without control characters, at most 32."""
    with pytest.raises(InvalidInput, match="namespace"):
        store.collection(*labels)


# What is refused

REFUSED: dict[str, dict[str, Any]] = {
    "content that is no text": {"content": 5},
    "content with a NUL": {"content": "a\0"},
    "content with a lone surrogate": {"content": "\ud800"},
    "endless content": {"content": "x" * ((1 << 20) + 1)},
    "metadata that is no object": {"metadata": [1]},
    "metadata with a number as key": {"metadata": {1: 2}},
    "metadata with an object": {"metadata": {"a": object()}},
    "endless metadata": {"metadata": {"a": "x" * (64 << 10)}},
    "a value with NaN": {"value": float("nan")},
    "a value with a tuple": {"value": [(1,)]},
    "a value with bytes": {"value": b"a"},
    "parts that are no parts": {"parts": ["p"]},
    "parts with one name": {"parts": [Part("p", "a"), Part("p", "b")]},
    "a part with a vector of zeros": {"parts": [Part("p", "a", (0.0, 0.0))]},
    "a part with an endless number": {"parts": [Part("p", "a", (float("inf"),))]},
    "a parent that is no text": {"parent": 5},
    "an empty source": {"source": ""},
    "two expiries": {"ttl_ms": 1000, "expires_at": START},
    "an expiry without a zone": {"expires_at": datetime(2030, 1, 1)},
    "an expiry that is no time": {"expires_at": "2030-01-01"},
    "an expiry before all time": {"expires_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_not_written(notes: Collection, what: str) -> None:
    """InvalidInput; nothing of the put is there, also no version of what was there before."""
    notes.put("k", "before")
    with pytest.raises(InvalidInput):
        notes.put("k", **REFUSED[what])
    assert (got(notes, "k").content, len(notes.history("k"))) == ("before", 1)


def test_vectors_come_only_when_asked_for(store: MemoryStore) -> None:
    """Those that the caller gave, as they were given, by the name of their part."""
    own = store.collection("own")
    own.put("k", "text", parts=[Part("a", "", (3.0, 4.0)), Part("b", "", (-1.0, 0.0))])
    assert (own.get("k").vectors, own.list()[0].vectors) == (None, None)
    assert own.get("k", with_vectors=True).vectors == {"a": (3.0, 4.0), "b": (-1.0, 0.0)}
    assert own.get("missing", with_vectors=True) is None
