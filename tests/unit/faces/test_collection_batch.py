"""Batches of a collection: one transaction, reads of the version before it, the last write of a key, all or none."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Collection, Delete, Get, InvalidInput, MemoryStore, Put, Read, UnsupportedOperation, VersionConflict
from indelible.testing import FakeClock, HashEmbedder


@pytest.fixture
def notes(store: MemoryStore) -> Collection:
    found: Collection = store.collection("notes")
    return found


def contents(results: list[Any]) -> list[Any]:
    """Results with records as their texts."""
    return [getattr(result, "content", result) for result in results]


def test_results_stand_in_the_order_of_the_operations(notes: Collection) -> None:
    """A record or None for a get, the record for a put, whether there was something for a delete."""
    notes.put("a", "one")
    notes.put("b", "two")
    results = notes.batch([Get("a"), Put("c", "three"), Delete("b"), Get("missing"), Delete("missing"), Get("c")])
    assert contents(results) == ["one", "three", True, None, False, None]
    assert [record.content for record in notes.list()] == ["one", "three"]


def test_reads_see_the_version_before_the_batch(notes: Collection) -> None:
    """Wherever they stand among the writes, also of the same key."""
    notes.put("a", "before")
    assert contents(notes.batch([Put("a", "after"), Get("a"), Delete("a"), Get("a")])) == [None, "before", True, "before"]
    assert notes.get("a") is None


def test_only_the_last_write_of_a_key_becomes_an_event(notes: Collection) -> None:
    """Of several puts and deletes; a replaced one has no result."""
    results = notes.batch([Put("a", "1"), Put("b", "1"), Put("a", "2"), Delete("a"), Put("a", "3"), Put("b", "2"), Delete("b")])
    assert contents(results) == [None, None, None, None, "3", None, False]
    assert [len(notes.history(key)) for key in "ab"] == [1, 0]


def test_events_come_in_the_order_of_the_writes_that_count(notes: Collection) -> None:
    """A key written again stands where it was written last."""
    first, second, third = notes.batch([Put("a", "1"), Put("b", "2"), Put("a", "3")])
    assert (first, second.version, third.version) == (None, 1, 2)


def test_reads_are_of_the_version_right_before_the_batch(path: Path, notes: Collection) -> None:
    """Also when somebody else writes after they were read: then they are read again, as the log stood before the batch's first event."""
    notes.put("a", "old")
    seen: list[Collection] = []

    def interrupted(view: Collection) -> str:
        if not seen:
            with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock()) as other:
                other.collection("notes").put("a", "from elsewhere")
        seen.append(view)
        found = view.get("a")
        assert found is not None
        return found.content

    results = notes.batch([Get("a"), Read(interrupted), Put("a", "new")])
    assert contents(results) == ["from elsewhere", "from elsewhere", "new"]
    assert results[2].version == 3
    assert len(seen) == 2
    with pytest.raises(UnsupportedOperation, match="past"):
        seen[1].put("a", "lost")


def test_reads_of_a_batch_are_of_one_version(path: Path, notes: Collection) -> None:
    """Also in a batch that only reads: what others write meanwhile is in none of them."""
    notes.put("a", "old")
    seen: list[Collection] = []

    def interrupted(view: Collection) -> list[str]:
        if not seen:
            with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock()) as other:
                other.collection("notes").batch([Put("a", "new"), Put("b", "new")])
        seen.append(view)
        return [record.content for record in view.list()]

    assert contents(notes.batch([Get("a"), Read(interrupted), Get("b")])) == ["old", ["old"], None]
    assert contents(notes.batch([Get("a"), Get("b")])) == ["new", "new"]


def test_a_batch_is_one_transaction(store: MemoryStore, notes: Collection) -> None:
    """At no version between its first and last event is any of it visible."""
    notes.put("a", "before")
    notes.batch([Put("a", "after"), Put("b", "new"), Put("c", "new")])
    assert [(event.version, event.txn) for event in store.iter_events()] == [(1, 1), (2, 4), (3, 4), (4, 4)]
    for version in (1, 2, 3):
        assert [record.content for record in notes.at(version).list()] == ["before"]
    assert [record.content for record in notes.at(4).list()] == ["after", "new", "new"]


def test_operations_may_go_to_namespaces_below(store: MemoryStore, notes: Collection) -> None:
    """The same key in two namespaces is two keys; nothing leads out of the collection, or out of its scope."""
    results = notes.batch([Put("k", "here"), Put("k", "below", namespace=("sub",)), Put("k", "deeper", namespace=("sub", "sub"))])
    assert [record.namespace for record in results] == [("notes",), ("notes", "sub"), ("notes", "sub", "sub")]
    assert contents(notes.batch([Get("k", ("sub",)), Get("k", ("other",)), Get("k")])) == ["below", None, "here"]
    assert contents(notes.batch([Get("k", odd(["sub"])), Put("l", "list", namespace=odd(["sub"]))])) == ["below", "list"]
    assert store.collection("sub").list() == []
    assert store.collection("notes", user_id="ada").batch([Get("k"), Delete("k"), Get("k", ("sub",))]) == [None, False, None]


def test_an_empty_batch_and_one_of_reads_write_nothing(store: MemoryStore, notes: Collection) -> None:
    """Any iterable is taken."""
    notes.put("a", "one")
    assert notes.batch([]) == []
    assert contents(notes.batch(Get(key) for key in "ab")) == ["one", None]
    assert notes.batch([Delete("b")]) == [False]
    assert store.version == 1


def odd(value: Any) -> Any:
    """A value that the annotations would not let through."""
    return value


@pytest.mark.parametrize(
    "bad",
    [
        "not an operation", None, ("a", 1), Get(odd(5)), Delete(odd(None)), Put("a\0"), Put("a", odd(5)), Put("a", value=object()),
        Put("a", metadata=odd([])), Put("a", ttl_ms=0), Put("a", expected_version=-1), Put("a", namespace=("",)), Get("a", odd("text")),
        Delete("a", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("replaced", [False, True])
def test_one_bad_operation_and_nothing_is_written(store: MemoryStore, notes: Collection, bad: Any, replaced: bool) -> None:
    """InvalidInput, also from an operation that a later one for its key replaces."""
    with pytest.raises(InvalidInput):
        notes.batch([Put("first", "x"), bad, Put("last", "x"), *([Put("a", "good")] if replaced else [])])
    assert (store.version, notes.list()) == (0, [])


def test_one_conflict_and_nothing_is_written(store: MemoryStore, notes: Collection) -> None:
    """Compare-and-set holds for the whole batch."""
    notes.put("a", "one")
    with pytest.raises(VersionConflict) as raised:
        notes.batch([Put("b", "two"), Put("a", "lost", expected_version=7), Delete("c")])
    assert (raised.value.expected, raised.value.actual) == (7, 1)
    assert (store.version, contents(notes.list())) == (1, ["one"])
    assert contents(notes.batch([Put("b", "two", expected_version=0), Put("a", "won", expected_version=1)])) == ["two", "won"]


KEYS = st.sampled_from(["a", "b", "c"])
OPERATIONS = st.one_of(
    st.builds(Get, KEYS), st.builds(Put, KEYS, st.sampled_from(["x", "y", "z"])), st.builds(Delete, KEYS), st.just(Put("a", "w"))
)


@given(st.lists(st.lists(OPERATIONS, max_size=6), max_size=5))
def test_batches_do_what_a_dict_would(batches: list[list[Get | Put | Delete]]) -> None:
    """A model of a few lines: reads from the dict before, the last write of each key into the dict after."""
    model: dict[str, str] = {}
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        notes = store.collection("notes")
        for batch in batches:
            before = dict(model)
            last = {operation.key: index for index, operation in enumerate(batch) if not isinstance(operation, Get)}
            expected: list[Any] = []
            for index, operation in enumerate(batch):
                if isinstance(operation, Get):
                    expected.append(before.get(operation.key))
                elif last[operation.key] != index:
                    expected.append(None)
                elif isinstance(operation, Put):
                    model[operation.key] = operation.content
                    expected.append(operation.content)
                else:
                    expected.append(model.pop(operation.key, None) is not None)
            events = store.version
            assert contents(notes.batch(batch)) == expected
            assert {record.key: record.content for record in notes.list()} == model
            written = sum(not isinstance(batch[index], Delete) or expected[index] for index in last.values())
            assert store.version - events == written


def test_no_reader_ever_sees_half_a_batch(path: Path) -> None:
    """Two writers move both keys together, readers on stores of their own read both in one batch: always a pair."""
    stores = [MemoryStore(path, embedder=HashEmbedder()) for _ in range(4)]
    stop = threading.Event()

    def write(number: int) -> None:
        notes = stores[number].collection("notes")
        for count in range(30):
            both = f"{number} {count}"
            seen = notes.batch([Put("a", both), Get("a"), Put("b", both), Get("b")])
            assert [seen[1] and seen[1].content] == [seen[3] and seen[3].content]

    def read(number: int) -> int:
        notes = stores[number].collection("notes")
        pairs = 0
        while not stop.is_set() or not pairs:
            one, other = notes.batch([Get("a"), Get("b")])
            listed = {record.content for record in notes.list()}
            assert (one and one.content) == (other and other.content)
            assert len(listed) <= 1
            pairs += 1
        return pairs

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, number) for number in (2, 3)]
        writers = [pool.submit(write, number) for number in (0, 1)]
        try:
            for writer in writers:
                writer.result()
        finally:
            stop.set()
        assert all(reader.result() > 0 for reader in readers)
    assert stores[0].version == 120
    for store in stores:
        assert store.verify().ok
        store.close()


def test_a_batch_in_the_past_only_reads(notes: Collection) -> None:
    """Reads are of that version; one write among them is refused."""
    notes.put("a", "one")
    notes.put("a", "two")
    assert contents(notes.at(1).batch([Get("a"), Get("b")])) == ["one", None]
    with pytest.raises(UnsupportedOperation, match="past"):
        notes.at(1).batch([Get("a"), Put("a", "three")])
    assert contents(notes.list()) == ["two"]
