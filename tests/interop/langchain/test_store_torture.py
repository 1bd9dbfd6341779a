"""The store of LangGraph under several processes, loops and cancellations at once."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, IndexConfig, Item, ListNamespacesOp, PutOp, SearchOp

from indelible.errors import VersionConflict
from langchain_indelible import IndelibleStore, ItemChange
from langchain_indelible.testing import RecordingEmbeddings
from tests.conftest import Require
from tests.crash.children import Say, run

NAMESPACE = ("counters",)
WRITERS = 4


@pytest.fixture
def forks(require: Require) -> None:
    require(sys.platform != "win32", "needs fork")


def at_once(path: Path, work: Callable[[IndelibleStore, int, Say], None]) -> list[list[Any]]:
    """Run work in several processes, each with the store opened anew; what each said, read as JSON."""

    def child(writer: int) -> Callable[[Say], None]:
        def write(say: Say) -> None:
            with IndelibleStore(path) as store:
                work(store, writer, say)

        return write

    return [[json.loads(line) for line in said] for said in run(*(child(writer) for writer in range(WRITERS)))]


def read_and_put(rounds: int) -> Callable[[IndelibleStore, int, Say], None]:
    """Batches of a get and a put of something unique, under one key; says what each get saw."""

    def work(store: IndelibleStore, writer: int, say: Say) -> None:
        for number in range(rounds):
            seen, _ = store.batch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "k", {"by": writer, "n": number})])
            say(json.dumps(seen.value if isinstance(seen, Item) else None))

    return work


def count_up(rounds: int) -> Callable[[IndelibleStore, int, Say], None]:
    """A counter raised by compare-and-set, trying again as often as it takes."""

    def work(store: IndelibleStore, writer: int, say: Say) -> None:
        for _ in range(rounds):
            while True:
                item = store.get(NAMESPACE, "k")
                try:
                    total = 1 if item is None else item.value["total"] + 1
                    store.put(NAMESPACE, "k", {"total": total}, expected_version=0 if item is None else item.version)
                except VersionConflict:
                    continue
                break

    return work


def check_reads_and_puts(path: Path, rounds: int) -> None:
    """No error; every put is an event, versions without a gap; each get saw the put just before its own."""
    said = at_once(path, read_and_put(rounds))
    with IndelibleStore(path) as store:
        history = store.history(NAMESPACE, "k")
        report = store.store.verify()
    assert [change.version for change in history] == list(range(1, WRITERS * rounds + 1))
    puts = [_value(change) for change in history]
    before = {(put["by"], put["n"]): earlier for put, earlier in zip(puts, [None, *puts], strict=False)}
    assert len(before) == WRITERS * rounds
    for writer, seen in enumerate(said):
        assert seen == [before[writer, number] for number in range(rounds)]
    assert report.ok


def check_counter(path: Path, rounds: int) -> None:
    """Nothing is lost: the counter ends at the number of puts, and each put is in the history."""
    at_once(path, count_up(rounds))
    with IndelibleStore(path) as store:
        assert [_value(change)["total"] for change in store.history(NAMESPACE, "k")] == list(range(1, WRITERS * rounds + 1))


def _value(change: ItemChange) -> dict[str, Any]:
    assert change.item is not None
    return change.item.value


@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize("check", [check_reads_and_puts, check_counter])
@pytest.mark.parametrize("rounds", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_processes_lose_nothing(tmp_path: Path, rounds: int, check: Callable[[Path, int], None]) -> None:
    """Four processes on one key, 500 rounds each: 2,000 events. Also 40 rounds, for a run that leaves out what is slow."""
    check(tmp_path / "store.db", rounds)


@pytest.mark.usefixtures("forks")
def test_processes_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    """Five rounds of four processes that make the file, and put to it at once."""
    for number in range(5):
        path = tmp_path / f"store{number}.db"
        at_once(path, lambda store, writer, say: store.put(NAMESPACE, f"k{writer}", {"x": 1}))
        with IndelibleStore(path) as store:
            assert len(store.search(NAMESPACE)) == WRITERS


def test_loops_in_several_threads_share_a_store(tmp_path: Path) -> None:
    """Two loops that read and put one key at once: each pair is one step, in either loop."""

    async def use(store: BaseStore, who: str, seen: list[Any]) -> None:
        async def step(number: int) -> None:
            found, _ = await store.abatch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "k", {"by": who, "n": number})])
            seen.append(found.value if isinstance(found, Item) else None)

        for first in range(0, 30, 5):
            await asyncio.gather(*(step(first + number) for number in range(5)))

    with IndelibleStore(tmp_path / "store.db") as store:
        seen: dict[str, list[Any]] = {"one": [], "two": []}
        threads = [threading.Thread(target=lambda who=who: asyncio.run(use(store, who, seen[who]))) for who in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        puts = [_value(change) for change in store.history(NAMESPACE, "k")]
    assert len(puts) == 60
    everything = sorted(map(str, [*seen["one"], *seen["two"]]))
    assert everything == sorted(map(str, [None, *puts[:-1]]))


@pytest.mark.parametrize("query", [None, "text"])
def test_a_search_in_a_batch_sees_the_step_before(tmp_path: Path, query: str | None) -> None:
    """However many threads write: as many items as there were events before the batch's own."""
    with IndelibleStore(tmp_path / "store.db", index={"embed": RecordingEmbeddings(), "fields": ["text"]}) as store:

        def work(writer: int) -> list[bool]:
            held = []
            for number in range(15):
                key = f"{writer}-{number}"
                search = SearchOp(NAMESPACE, limit=1000, query=query)
                _, found, names = store.batch([PutOp(NAMESPACE, key, {"text": f"text {key}"}), search, ListNamespacesOp()])
                item = store.get(NAMESPACE, key)
                assert item is not None
                assert isinstance(found, list)
                held.append(len(found) == item.version - 1 and names == ([NAMESPACE] if item.version > 1 else []))
            return held

        with ThreadPoolExecutor(4) as threads:
            assert all(held for result in threads.map(work, range(4)) for held in result)


def test_two_stores_of_one_process_share_a_file(tmp_path: Path) -> None:
    """Each sees what the other wrote, also by meaning."""
    path = tmp_path / "store.db"
    index: IndexConfig = {"embed": RecordingEmbeddings(), "fields": ["text"]}
    with IndelibleStore(path, index=index) as one, IndelibleStore(path, index=index) as two:
        one.put(NAMESPACE, "k", {"text": "green tea"})
        assert [item.key for item in two.search(NAMESPACE, query="green tea")] == ["k"]
        two.put(NAMESPACE, "k", {"text": "sleeping cat"})
        assert (one.search(NAMESPACE, query="green tea")[0].score or 0) < 0.9


class Cancelled:
    """Runs a coroutine and cancels it when the loop has gone round a number of times."""

    def __init__(self, after: int) -> None:
        self._after = after
        self.finished = False

    async def run(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(work)
        for _ in range(self._after):
            if not task.done():
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        self.finished = not task.cancelled()


class SlowEmbeddings(RecordingEmbeddings):
    """Embeddings that give the loop a few turns first, so that there are awaits to cancel at."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        for _ in range(3):
            await asyncio.sleep(0)
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        for _ in range(3):
            await asyncio.sleep(0)
        return self.embed_query(text)


@pytest.mark.parametrize("after", range(12))
def test_a_cancellation_at_any_await_leaves_all_or_nothing(tmp_path: Path, after: int) -> None:
    """When the cancellation is seen, nothing is under way: what is there stays as it is, and the store goes on."""
    with IndelibleStore(tmp_path / "store.db", index={"embed": SlowEmbeddings(), "fields": ["text"]}) as store:
        store.put(NAMESPACE, "old", {"text": "old hat"})
        puts = [PutOp(NAMESPACE, f"k{number}", {"text": f"text {number}"}) for number in range(20)]
        cancelled = Cancelled(after)
        asyncio.run(cancelled.run(store.abatch([*puts, PutOp(NAMESPACE, "old", None), SearchOp(NAMESPACE, query="hat")])))
        there = len(store.search(NAMESPACE, limit=100))
        assert there in (1, 20)
        assert there == 20 or not cancelled.finished
        asyncio.run(store.aput(NAMESPACE, "after", {"text": "new hat"}))
        assert len(store.search(NAMESPACE, query="hat", limit=100)) == there + 1
        assert store.store.verify().ok


def test_reading_does_not_wait_for_an_embedding(tmp_path: Path) -> None:
    """While one thread embeds, others read and write."""
    embedding, done = threading.Event(), threading.Event()

    def embed(texts: Sequence[str]) -> list[list[float]]:
        embedding.set()
        assert done.wait(60)
        return [[1.0, 0.0] for _ in texts]

    with IndelibleStore(tmp_path / "store.db", index={"embed": embed, "fields": ["text"]}) as store:
        store.put(NAMESPACE, "k", {"n": 1}, index=False)
        slow = threading.Thread(target=store.put, args=(NAMESPACE, "slow", {"text": "words"}))
        slow.start()
        assert embedding.wait(60)
        item = store.get(NAMESPACE, "k")
        store.put(NAMESPACE, "k", {"n": 2}, index=False)
        assert item is not None
        assert store.get(NAMESPACE, "slow") is None
        done.set()
        slow.join()
        assert store.get(NAMESPACE, "slow") is not None
