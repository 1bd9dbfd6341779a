"""Listing a collection: total orders, pages, namespaces below, and search."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Collection, EmbedderMismatch, InvalidInput, MemoryStore, Part, where
from indelible.testing import FakeClock, HashEmbedder

LABELS = st.sampled_from(["a", "b", "ab", "a/b", "*", "ä", "日本"])
NAMES = st.lists(st.lists(LABELS, min_size=1, max_size=4).map(tuple), min_size=1, max_size=8, unique=True)
PATTERNS = st.lists(LABELS, max_size=2).map(tuple)
Name = tuple[str, ...]


@pytest.fixture
def notes(store: MemoryStore) -> Collection:
    found: Collection = store.collection("notes")
    return found


def keys(collection: Collection, **options: Any) -> list[str | None]:
    return [record.key for record in collection.list(**options)]


@given(
    st.lists(st.sampled_from("abcdef"), max_size=12),
    st.sampled_from(["created", "updated"]),
    st.booleans(),
    st.integers(1, 4),
    st.booleans(),
)
def test_s47_pages_put_together_are_the_whole(writes: list[str], order: str, descending: bool, size: int, back_in_time: bool) -> None:
    """S47: a total order, the other way round its exact reverse, and pages that neither overlap nor leave out, whatever the clock does."""
    clock = FakeClock()
    created: dict[str, None] = {}
    updated: dict[str, None] = {}
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as store:
        notes = store.collection("notes")
        for key in writes:
            notes.put(key, key)
            created.setdefault(key)
            updated.pop(key, None)
            updated[key] = None
            clock.advance(ms=-5 if back_in_time else 0)
        expected = list(created if order == "created" else updated)
        if descending:
            expected.reverse()
        assert keys(notes, order=order, descending=descending) == expected
        pages = [keys(notes, order=order, descending=descending, limit=size, offset=offset) for offset in range(0, len(expected) + 1, size)]
        assert [key for page in pages for key in page] == expected
        store.rebuild()
        assert keys(notes, order=order, descending=descending) == expected


def test_s46_limits(notes: Collection) -> None:
    """S46: none, huge, or beyond the end: all or nothing, never an error."""
    for key in "abc":
        notes.put(key)
    assert keys(notes, limit=0) == keys(notes, offset=3) == keys(notes, offset=2**70) == []
    assert keys(notes, limit=2**70) == keys(notes, limit=None) == keys(notes, limit=3) == ["a", "b", "c"]
    assert keys(notes, limit=2**70, offset=1) == ["b", "c"]
    assert notes.namespaces(limit=0) == notes.namespaces(offset=1) == []
    assert notes.namespaces(limit=2**70) == [("notes",)]
    assert notes.search("x", limit=0) == []


@pytest.mark.parametrize("value", [-1, True, 1.5, "1", -(10**5000)], ids=["negative", "true", "fraction", "text", "endless"])
@pytest.mark.parametrize("name", ["limit", "offset"])
def test_s46_limits_are_whole_numbers(notes: Collection, name: str, value: Any) -> None:
    """S46: InvalidInput that names the argument, in every listing."""
    for listing in (notes.list, notes.namespaces, lambda **options: notes.search("x", **options)):
        with pytest.raises(InvalidInput, match=f"{name} must be an int"):
            listing(**{name: value})


@pytest.mark.parametrize("order", ["", "key", "CREATED", None, 5])
def test_orders_are_two(notes: Collection, order: Any) -> None:
    """InvalidInput that says which there are."""
    with pytest.raises(InvalidInput, match="order must be one of 'created', 'updated'"):
        notes.list(order=order)


def test_a_listing_may_reach_below(store: MemoryStore, notes: Collection) -> None:
    """Only with ``prefix=True``; never beside or above, however the labels look."""
    for labels in (("notes",), ("notes", "a"), ("notes", "a", "b"), ("notes2",), ("note",), ("notes/a",), ("other", "notes")):
        store.collection(*labels).put("k", "/".join(labels))
    assert [record.content for record in notes.list()] == ["notes"]
    assert [record.content for record in notes.list(prefix=True)] == ["notes", "notes/a", "notes/a/b"]
    assert [record.content for record in notes.below("a").list(prefix=True)] == ["notes/a", "notes/a/b"]
    assert [record.content for record in store.collection().list(prefix=True)][:2] == ["notes", "notes/a"]
    assert len(store.collection().list(prefix=True)) == 7


def test_filters_come_before_pages(notes: Collection) -> None:
    """Conditions on metadata, or on the value; limit and offset count what is left."""
    for number in range(10):
        notes.put(str(number), metadata={"odd": number % 2 == 1}, value={"n": number})
    assert keys(notes, filters={"odd": True}) == ["1", "3", "5", "7", "9"]
    assert keys(notes, filters={"odd": True}, limit=2, offset=1) == ["3", "5"]
    assert keys(notes, filters=where("n").gte(8), filter_on="value") == ["8", "9"]
    assert keys(notes, filters=where("n").gte(8)) == []
    with pytest.raises(InvalidInput, match="filter_on"):
        notes.list(filter_on="content")  # type: ignore[arg-type]  # that is the test


# Namespaces


def fits(labels: Name, pattern: Name) -> bool:
    return len(labels) == len(pattern) and all(wanted in ("*", label) for label, wanted in zip(labels, pattern, strict=True))


@given(NAMES, PATTERNS, PATTERNS, st.one_of(st.none(), st.integers(1, 4)), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3)))
def test_namespaces_are_what_a_plain_search_finds(
    names: list[Name], prefix: Name, suffix: Name, depth: int | None, offset: int, limit: int | None
) -> None:
    """Full names, sorted and each once, by prefix and suffix with ``*`` for any label, cut to a depth, then paged."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        for name in names:
            store.collection(*name).put("k")
            store.collection(*name, user_id="ada").put("k")
        for root in (store.collection(), store.collection("a")):
            start = len(root.namespace)
            below = [name for name in names if name[:start] == root.namespace]
            found = [name for name in below if fits(name[start : start + len(prefix)], prefix)]
            found = [name for name in found if not suffix or fits(name[-len(suffix) :], suffix)]
            expected = sorted({name[:depth] for name in found})
            page = expected[offset:] if limit is None else expected[offset : offset + limit]
            assert root.namespaces(prefix=prefix, suffix=suffix, max_depth=depth, limit=limit, offset=offset) == page


def test_namespaces_hold_something_live(store: MemoryStore, clock: FakeClock) -> None:
    """In this scope: one whose records were deleted, expired or purged is not listed."""
    for label in ("live", "deleted", "expired", "purged"):
        store.collection("root", label).put("k", ttl_ms=1000 if label == "expired" else None)
    store.collection("root", "hers", user_id="ada").put("k")
    store.collection("root", "deleted").delete("k")
    store.collection("root", "purged").purge("k")
    clock.advance(ms=1000)
    assert store.collection("root").namespaces() == [("root", "live")]
    assert store.collection("root", user_id="ada").namespaces() == [("root", "hers")]


@pytest.mark.parametrize(
    "options",
    [{"prefix": "ab"}, {"suffix": "ab"}, {"prefix": [""]}, {"suffix": [5]}, {"max_depth": 0}, {"max_depth": True}, {"max_depth": "1"}],
)
def test_patterns_and_depths_are_checked(notes: Collection, options: dict[str, Any]) -> None:
    """A text is no sequence of labels, and no depth is none at all."""
    with pytest.raises(InvalidInput, match=next(iter(options))):
        notes.namespaces(**options)


# Search


def test_without_a_query_a_search_is_a_listing(notes: Collection) -> None:
    """The same records in the same order, without scores, with filters and pages."""
    for number in range(5):
        notes.put(str(number), "text", metadata={"n": number})
    hits = notes.search(filters=where("n").gt(0), limit=2, offset=1)
    assert [(hit.record.key, hit.score, hit.why) for hit in hits] == [("2", None, ()), ("3", None, ())]
    assert [hit.record for hit in notes.search(limit=None)] == notes.list()


def test_a_collection_without_a_model_is_searched_by_words_or_vectors(store: MemoryStore, notes: Collection) -> None:
    """Its vectors come from its callers; a search by meaning alone is refused with what to do."""
    notes.put("a", "green tea", parts=[Part("p", "green tea", (1.0, 0.0))])
    notes.put("b", "black tea", parts=[Part("p", "black tea", (0.0, 1.0))])
    assert [hit.record.key for hit in notes.search("green")] == ["a"]
    hits = notes.search(vector=[0.6, 0.8])
    assert [(hit.record.key, hit.part) for hit in hits] == [("b", "p"), ("a", "p")]
    assert [hit.score for hit in hits] == pytest.approx([0.8, 0.6])
    with pytest.raises(InvalidInput, match="has no model"):
        notes.search("green", mode="semantic")
    with pytest.raises(EmbedderMismatch, match="dimensions"):
        notes.search(vector=[1.0, 0.0, 0.0])


def test_a_search_reaches_below_unless_told_not_to(store: MemoryStore) -> None:
    """By words and by meaning, in this scope only."""
    root = store.collection("root", model="store")
    root.put("k", "tea at the top")
    store.collection("root", "below", model="store").put("k", "tea below")
    store.collection("rooted", model="store").put("k", "tea elsewhere")
    store.collection("root", user_id="ada", model="store").put("k", "tea of Ada")
    for mode in ("keyword", "semantic", "hybrid"):
        assert {hit.content for hit in root.search("tea", mode=mode)} == {"tea at the top", "tea below"}
        assert [hit.content for hit in root.search("tea", mode=mode, prefix=False)] == ["tea at the top"]


def test_a_search_in_the_past_finds_what_was_there(store: MemoryStore) -> None:
    """By words and by meaning, as of a version."""
    root = store.collection("root", model="store")
    root.put("k", "green tea")
    root.put("k", "black coffee")
    root.delete("k")
    for mode in ("keyword", "semantic", "hybrid"):
        found = [[hit.content for hit in root.at(version).search("green tea", mode=mode)] for version in (1, 2, 3)]
        assert found[0] == ["green tea"]
        assert found[1] == ([] if mode == "keyword" else ["black coffee"])
        assert found[2] == root.search("green tea", mode=mode) == []
