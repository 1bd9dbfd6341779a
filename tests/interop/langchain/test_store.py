"""What the store has beyond LangGraph's interface, and what the conformance kit leaves open."""

from __future__ import annotations

import asyncio
import doctest
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, Item, ListNamespacesOp, MatchCondition, PutOp, SearchOp

import langchain_indelible.store.store
from indelible import MemoryStore
from indelible.errors import EmbedderMismatch, InvalidInput, StoreClosed, UnsupportedOperation, VersionConflict
from indelible.testing import FakeClock, HashEmbedder
from langchain_indelible import CheckedPut, IndelibleStore
from langchain_indelible.testing import RecordingEmbeddings

NAMESPACE = ("notes", "ada")


@pytest.fixture
def store() -> Iterator[IndelibleStore]:
    with IndelibleStore(":memory:", index={"embed": RecordingEmbeddings(), "fields": ["text"]}) as opened:
        yield opened


def texts(items: Any) -> list[str]:
    return [item.value["text"] for item in items]


# Versions


def test_history_keeps_every_version(store: IndelibleStore) -> None:
    """Each put and delete, with the item as it was put, its version and its time; also once it is deleted."""
    for text in ("one", "two"):
        store.put(NAMESPACE, "k", {"text": text})
    store.delete(NAMESPACE, "k")
    store.put(NAMESPACE, "k", {"text": "three"})
    changes = store.history(NAMESPACE, "k")
    assert [(change.version, change.op, change.item and change.item.value) for change in changes] == [
        (1, "remember", {"text": "one"}),
        (2, "revise", {"text": "two"}),
        (3, "forget", None),
        (4, "remember", {"text": "three"}),
    ]
    assert [change.item.version for change in changes if change.item] == [1, 2, 4]
    assert all(change.at.utcoffset() == timedelta(0) for change in changes)
    assert store.history(NAMESPACE, "unknown") == store.history(("nowhere",), "k") == []
    assert asyncio.run(store.ahistory(NAMESPACE, "k")) == changes


def test_the_past_can_be_read(store: IndelibleStore) -> None:
    """Get and search at a version: without a query, with one, with a filter; never refreshed, never written."""
    store.put(NAMESPACE, "a", {"text": "green tea", "n": 1})
    store.put(NAMESPACE, "b", {"text": "sleeping cat", "n": 2})
    store.put(NAMESPACE, "a", {"text": "black coffee", "n": 3})
    store.delete(NAMESPACE, "b")
    item = store.get(NAMESPACE, "a", as_of=1)
    assert item is not None
    assert (item.value["text"], item.version) == ("green tea", 1)
    assert store.get(NAMESPACE, "b", as_of=1) is None
    assert texts(store.search(NAMESPACE, as_of=2)) == ["green tea", "sleeping cat"]
    assert texts(store.search(NAMESPACE, query="green tea", as_of=2)) == ["green tea", "sleeping cat"]
    assert texts(store.search(NAMESPACE, filter={"n": {"$gt": 1}}, as_of=2)) == ["sleeping cat"]
    assert store.search(NAMESPACE, query="green tea", as_of=2)[0].score == pytest.approx(1, abs=1e-4)
    assert store.store.version == 4


def test_the_past_can_be_awaited(store: IndelibleStore) -> None:
    """Likewise by the coroutines."""
    store.put(NAMESPACE, "k", {"text": "green tea"})
    store.put(NAMESPACE, "k", {"text": "black coffee"})

    async def read() -> tuple[Any, Any]:
        return await store.aget(NAMESPACE, "k", as_of=1), await store.asearch(NAMESPACE, query="tea", as_of=1)

    item, found = asyncio.run(read())
    assert texts([item, *found]) == ["green tea", "green tea"]


def test_the_past_can_be_read_by_time() -> None:
    """A time shows what was there by then; one without a timezone is refused."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock) as store:
        store.put(NAMESPACE, "k", {"text": "one"})
        noon = datetime.fromtimestamp(clock.now_us() / 1e6, UTC)
        clock.advance(ms=60_000)
        store.put(NAMESPACE, "k", {"text": "two"})
        found = [store.get(NAMESPACE, "k", as_of=noon + timedelta(minutes=minutes)) for minutes in (-1, 0, 1)]
        assert [item and item.value["text"] for item in found] == [None, "one", "two"]
        with pytest.raises(InvalidInput):
            store.get(NAMESPACE, "k", as_of=datetime(2026, 1, 1))


def test_a_put_may_expect_a_version(store: IndelibleStore) -> None:
    """0 for "must not exist", else the item's; otherwise nothing is written."""
    store.put(NAMESPACE, "k", {"n": 1}, expected_version=0)
    item = store.get(NAMESPACE, "k")
    assert item is not None
    store.put(NAMESPACE, "k", {"n": 2}, expected_version=item.version)
    for expected in (0, item.version, 99):
        with pytest.raises(VersionConflict) as caught:
            store.put(NAMESPACE, "k", {"n": 3}, expected_version=expected)
        assert (caught.value.expected, caught.value.actual) == (expected, 2)
    with pytest.raises(VersionConflict):
        asyncio.run(store.aput(NAMESPACE, "k", {"n": 3}, expected_version=1))
    assert [item.value for item in store.search(NAMESPACE)] == [{"n": 2}]


def test_a_delete_may_expect_a_version(store: IndelibleStore) -> None:
    """Likewise."""
    store.put(NAMESPACE, "k", {"n": 1})
    with pytest.raises(VersionConflict):
        store.delete(NAMESPACE, "k", expected_version=9)
    with pytest.raises(VersionConflict):
        asyncio.run(store.adelete(NAMESPACE, "k", expected_version=9))
    store.delete(NAMESPACE, "k", expected_version=1)
    assert store.get(NAMESPACE, "k") is None


def test_a_batch_with_a_conflict_writes_nothing(store: IndelibleStore) -> None:
    """A checked put stands in a batch as any other, and stops the whole of it."""
    store.put(NAMESPACE, "k", {"n": 1})
    with pytest.raises(VersionConflict):
        store.batch([PutOp(NAMESPACE, "new", {"n": 1}), CheckedPut(NAMESPACE, "k", {"n": 2}, expected_version=0)])
    assert [item.key for item in store.search(NAMESPACE)] == ["k"]
    store.batch([PutOp(NAMESPACE, "new", {"n": 1}), CheckedPut(NAMESPACE, "k", {"n": 2}, expected_version=1)])
    assert [item.value for item in store.search(NAMESPACE)] == [{"n": 2}, {"n": 1}]


def test_of_several_puts_only_the_last_is_an_event(store: IndelibleStore) -> None:
    """And only its text is embedded."""
    store.batch([PutOp(NAMESPACE, "k", {"text": f"text {number}"}) for number in range(5)])
    assert [change.item and change.item.value for change in store.history(NAMESPACE, "k")] == [{"text": "text 4"}]
    embeddings = store.embeddings
    assert isinstance(embeddings, RecordingEmbeddings)
    assert embeddings.documents == ["text 4"]


def test_items_say_their_version(store: IndelibleStore) -> None:
    """Found by get and by search; they stay equal to plain items, and ``dict`` has the usual fields."""
    store.put(NAMESPACE, "other", {"text": "x"})
    store.put(NAMESPACE, "k", {"text": "one"})
    item, found = store.get(NAMESPACE, "k"), store.search(NAMESPACE)
    assert item is not None
    assert (item.version, [one.version for one in found]) == (2, [1, 2])
    plain = Item(value=item.value, key="k", namespace=NAMESPACE, created_at=item.created_at, updated_at=item.updated_at)
    assert (item == plain, set(item.dict())) == (True, {"namespace", "key", "value", "created_at", "updated_at"})


# Whole namespaces


def test_a_namespace_can_be_deleted(store: IndelibleStore) -> None:
    """It and all below it, in one step; siblings whose label only begins alike stay; the history too."""
    for name in (("a",), ("a", "b"), ("ab",)):
        store.put(name, "k", {"text": "/".join(name)})
    assert (store.delete_namespace(("a",)), store.delete_namespace(("a",))) == (2, 0)
    assert store.list_namespaces() == [("ab",)]
    assert len(store.history(("a", "b"), "k")) == 2
    assert texts(store.search(("a",), as_of=3)) == ["a", "a/b"]
    assert asyncio.run(store.adelete_namespace(("ab",))) == 1


@pytest.mark.parametrize("name", [(), ("langgraph",), ("a.b",), "a"], ids=repr)
def test_not_everything_is_a_namespace_to_delete(store: IndelibleStore, name: Any) -> None:
    """Not the whole store by an empty one, and no text."""
    with pytest.raises(InvalidNamespaceError):
        store.delete_namespace(name)


# Time to live


def test_a_deleted_namespace_takes_the_expired_too() -> None:
    """They are hidden, and would be there again for who reads what has expired."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock) as store:
        store.put(NAMESPACE, "k", {"n": 1}, ttl=1)
        clock.advance(ms=60_000)
        assert store.delete_namespace(NAMESPACE) == 1
        assert [change.op for change in store.history(NAMESPACE, "k")] == ["remember", "forget"]


@pytest.mark.parametrize("awaited", [False, True])
def test_reading_the_past_refreshes_nothing(awaited: bool) -> None:
    """Of an item that a read would refresh now, whatever the read asks for."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock, index={"embed": RecordingEmbeddings(), "fields": ["text"]}) as store:
        store.put(NAMESPACE, "k", {"text": "tea"}, ttl=2)
        version = store.store.version
        clock.advance(ms=60_000)
        for refresh in (None, True):
            if awaited:
                item = asyncio.run(store.aget(NAMESPACE, "k", as_of=version, refresh_ttl=refresh))
                found = asyncio.run(store.asearch(NAMESPACE, query="tea", as_of=version, refresh_ttl=refresh))
            else:
                item = store.get(NAMESPACE, "k", as_of=version, refresh_ttl=refresh)
                found = store.search(NAMESPACE, query="tea", as_of=version, refresh_ttl=refresh)
            assert item is not None
            assert [hit.key for hit in found] == ["k"]
        assert store.store.version == version
        store.get(NAMESPACE, "k")
        assert store.store.version == version + 1


def test_a_sweep_writes_down_what_expired() -> None:
    """A deletion in each history; what lives is left alone, and a second sweep finds nothing."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock) as store:
        store.put(("a",), "old", {"x": 1}, ttl=1)
        store.put(("a", "b"), "older", {"x": 1}, ttl=1)
        store.put(("a",), "new", {"x": 1})
        clock.advance(ms=60_000)
        assert (store.sweep_ttl(), store.sweep_ttl()) == (2, 0)
        assert [change.op for change in store.history(("a",), "old")] == ["remember", "forget"]
        assert [item.key for item in store.search(())] == ["new"]


def test_the_sweeper_stops_when_asked() -> None:
    """By ``stop_ttl_sweeper``, by cancelling what ``start_ttl_sweeper`` returned, by starting another, and by closing the store."""
    with IndelibleStore(":memory:", ttl={"sweep_interval_minutes": 60}) as store:
        done = store.start_ttl_sweeper()
        assert (done.done(), store.stop_ttl_sweeper(60), store.stop_ttl_sweeper()) == (False, True, True)
        assert done.result(60) is None
        cancelled = store.start_ttl_sweeper(60)
        assert cancelled.cancel()
        first, second = store.start_ttl_sweeper(60), store.start_ttl_sweeper(60)
        assert first.done()
        with pytest.raises(InvalidInput):
            store.start_ttl_sweeper(-1)
    assert second.result(60) is None


def test_the_sweeper_sweeps() -> None:
    """From time to time, as often as asked."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock) as store:
        store.put(NAMESPACE, "k", {"x": 1}, ttl=1)
        clock.advance(ms=60_000)
        store.start_ttl_sweeper(1e-5)
        while len(store.history(NAMESPACE, "k")) < 2:
            pass
        assert store.stop_ttl_sweeper(60)


def test_the_sweeper_says_what_stopped_it() -> None:
    """Its error is that of the future."""
    store = IndelibleStore(":memory:")
    store.store.close()
    done = store.start_ttl_sweeper(1e-5)
    with pytest.raises(StoreClosed):
        done.result(60)
    store.close()


def test_reads_write_few_refreshes() -> None:
    """At most one event per tenth of the time to live, whatever number of reads."""
    clock = FakeClock()
    with IndelibleStore(":memory:", clock=clock) as store:
        store.put(NAMESPACE, "k", {"x": 1}, ttl=10)
        for _ in range(60):
            clock.advance(ms=10_000)
            assert store.get(NAMESPACE, "k") is not None
        assert [change.op for change in store.history(NAMESPACE, "k")] == ["remember", *["touch"] * 10]


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), True, "5"], ids=repr)
def test_a_bad_time_to_live_is_refused(store: IndelibleStore, ttl: Any) -> None:
    """In a put, in an operation, and in the configuration; nothing is written."""
    with pytest.raises(InvalidInput):
        store.put(NAMESPACE, "k", {"x": 1}, ttl=ttl)
    with pytest.raises(InvalidInput):
        store.batch([PutOp(NAMESPACE, "k", {"x": 1}, ttl=ttl)])
    with pytest.raises(InvalidInput):
        IndelibleStore(store.store, ttl={"default_ttl": ttl})
    assert store.store.version == 0


# Opening and closing


def test_the_example_of_the_class_runs() -> None:
    """As it is printed."""
    failed, tried = doctest.testmod(langchain_indelible.store.store)
    assert (failed, tried > 0) == (0, True)


def test_it_opens_as_other_stores_do(tmp_path: Path) -> None:
    """``from_conn_string`` in ``with`` and ``async with``, with a ``setup`` that may be called."""
    path = str(tmp_path / "store.db")
    with IndelibleStore.from_conn_string(path) as store:
        store.setup()
        store.put(NAMESPACE, "k", {"x": 1})

    async def read() -> Any:
        async with IndelibleStore.from_conn_string(path, ttl={"default_ttl": 5}) as again:
            return await again.aget(NAMESPACE, "k")

    assert asyncio.run(read()).value == {"x": 1}


def test_a_closed_store_says_so() -> None:
    """Closing twice is fine; a store that was given open stays open."""
    with MemoryStore(":memory:") as memory:
        given_open = IndelibleStore(memory)
        given_open.put(NAMESPACE, "k", {"x": 1})
        given_open.close()
        assert memory.version == 1
    store = IndelibleStore(":memory:")
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.get(NAMESPACE, "k")


def test_a_file_may_hold_more_than_the_store(tmp_path: Path) -> None:
    """Facts and other collections of the same file are not its items; another root namespace is another store."""
    with MemoryStore(tmp_path / "store.db", embedder=HashEmbedder()) as memory:
        memory.remember("a fact")
        memory.collection("other").put("k", value={"x": 1})
        one, two = IndelibleStore(memory), IndelibleStore(memory, namespace=("agents", "two"))
        one.put(NAMESPACE, "k", {"x": 1})
        assert ([item.key for item in one.search(())], two.search(()), one.list_namespaces()) == (["k"], [], [NAMESPACE])
        with pytest.raises(InvalidInput):
            IndelibleStore(memory, timeout_s=1)


def test_without_embed_the_core_s_model_serves() -> None:
    """Texts and queries are embedded by the model that the memory was opened with."""
    with IndelibleStore(":memory:", index={"fields": ["text"]}, embedder=HashEmbedder()) as store:
        store.put(NAMESPACE, "tea", {"text": "green tea", "secret": "sleeping cat"})
        store.put(NAMESPACE, "none", {"text": "sleeping cat"}, index=False)
        store.put(NAMESPACE, "cat", {"text": "sleeping cat"})
        found = asyncio.run(store.asearch(NAMESPACE, query="sleeping cat"))
        assert [(item.key, item.score is not None) for item in found] == [("cat", True), ("tea", True), ("none", False)]
        assert (found[1].score or 0) < 0.5
        assert store.embeddings is None


def test_another_model_is_refused(tmp_path: Path) -> None:
    """Vectors of two models are never mixed, whichever namespace they are in."""
    path = tmp_path / "store.db"
    with IndelibleStore(path, index={"embed": RecordingEmbeddings(), "fields": ["text"]}) as store:
        store.put(NAMESPACE, "k", {"text": "tea"})
    with IndelibleStore(path, index={"embed": RecordingEmbeddings(32), "fields": ["text"]}) as store:
        with pytest.raises(EmbedderMismatch):
            store.put(("other",), "k", {"text": "tea"})
        with pytest.raises(EmbedderMismatch):
            store.search((), query="tea")
        assert texts(store.search(())) == ["tea"]


@pytest.mark.parametrize("config", [{"fields": "text"}, {"fields": [1]}, {"dims": 0, "embed": len}, {"dims": "5", "embed": len}], ids=str)
def test_a_faulty_index_is_refused(config: Any) -> None:
    """When the store is made."""
    with pytest.raises(InvalidInput):
        IndelibleStore(":memory:", index=config)


def test_the_past_cannot_be_written(store: IndelibleStore) -> None:
    """Operations on the store as it was only read."""
    store.put(NAMESPACE, "k", {"text": "one"})
    with pytest.raises(UnsupportedOperation):
        store._prepared([PutOp(NAMESPACE, "k", {"text": "two"})], as_of=1).embed().run()


@pytest.mark.parametrize(
    "op",
    [
        ListNamespacesOp(limit=-1),
        ListNamespacesOp(offset=-1),
        ListNamespacesOp(max_depth=0),
        ListNamespacesOp((MatchCondition("middle", ("a",)),)),  # type: ignore[arg-type]  # that is the point
        SearchOp((), limit=-1),
        SearchOp((), offset=-1),
        SearchOp((), filter=[("a", 1)]),  # type: ignore[arg-type]  # likewise
        SearchOp((), filter={1: 1}),  # type: ignore[dict-item]  # likewise
        PutOp(("a",), "k", ["no dict"]),  # type: ignore[arg-type]  # likewise
        PutOp(("a",), "k", {"x": 1}, index="text"),  # type: ignore[arg-type]  # likewise
        GetOp(("a",), "a\x00b"),
        GetOp(["a"], "k"),  # type: ignore[arg-type]  # likewise
    ],
    ids=repr,
)
def test_a_faulty_operation_is_refused(store: IndelibleStore, op: Any) -> None:
    """With an error that is a ``ValueError``; nothing of the batch is written."""
    with pytest.raises(ValueError, match=r".+"):
        store.batch([PutOp(NAMESPACE, "k", {"x": 1}), op])
    assert store.store.version == 0
