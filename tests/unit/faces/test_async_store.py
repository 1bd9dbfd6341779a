"""The async face: every verb as a coroutine, whole transactions whatever is cancelled, any number of event loops."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from indelible import AsyncMemoryStore, InvalidInput, MemoryStore, Put, RecordNotFound, StoreClosed, VersionConflict
from indelible.faces.aio import AsyncFace
from indelible.testing import FakeClock, HashEmbedder, SequentialIds

VIEWS = {"scope", "at", "collection", "memory", "below"}


class Gate(HashEmbedder):
    """An embedder that stops, when told to, until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def embed_documents(self, texts: Any) -> Any:
        if any("slow" in text for text in texts):
            self.entered.set()
            assert self.go_on.wait(60)
        return super().embed_documents(texts)


@pytest.fixture
def gate() -> Gate:
    made = Gate()
    made.go_on.clear()
    return made


async def entered(gate: Gate) -> None:
    """Wait, without holding up the loop, until a call is under way."""
    assert await asyncio.to_thread(gate.entered.wait, 60)


def open_store(path: Path | str = ":memory:", embedder: object = None, **options: Any) -> AsyncMemoryStore:
    return AsyncMemoryStore(path, embedder=embedder or HashEmbedder(), clock=FakeClock(), **options)


def verbs_of(face: object) -> list[str]:
    return [name for name in dir(type(face)) if not name.startswith("_") and callable(inspect.getattr_static(type(face), name, None))]


def test_every_verb_is_awaitable() -> None:
    """Whatever a store, view, collection, cache or memory does, its async twin does as a coroutine; views are twins at once."""

    async def check(face: AsyncFace) -> None:
        verbs = [name for name in verbs_of(face._face) if name not in VIEWS | {"iter_events"}]
        assert len(verbs) >= 3
        for name in verbs:
            coroutine = getattr(face, name)()
            assert inspect.iscoroutine(coroutine), name
            coroutine.close()

    async def check_all() -> None:
        async with open_store() as store:
            faces = [store, store.scope(user_id="ada"), store.at(0), store.collection("a"), store.collection("a").at(0), store.memory("m")]
            for face in [*faces, store.collection("c", cache=True), store.collection("a").below("b"), store.memory("m").at(0)]:
                assert isinstance(face, AsyncFace)
                await check(face)

    asyncio.run(check_all())


async def _work(store: AsyncMemoryStore) -> list[Any]:
    ada = store.scope(user_id="ada")
    tea = await ada.remember("Ada likes green tea", metadata={"a": 1})
    await store.remember_many(["one", "two"], user_id="bob")
    await store.edit(tea.id, "Ada likes black tea", expected_version=tea.version)
    await store.feedback(tea.id, "up")
    await store.forget(tea.id)
    await store.undo(tea.id)
    notes = store.collection("notes", model="store")
    await notes.put("k", "note", expected_version=0)
    await notes.batch([Put("l", "other note"), Put("k", "newer note")])
    await store.memory().remember("color", ["blue"])
    cache = store.collection("cache", cache=True)
    await cache.put("k", b"bytes")
    return [
        await store.list(), await ada.recall("tea"), await store.search("tea"), await store.at(1).list(), await notes.list(),
        await notes.at(7).get("k"), await store.memory().items(), await cache.get("k"), await store.history(tea.id), await store.count(),
        [event.op async for event in store.iter_events()], store.version, (await store.verify()).ok,
    ]  # fmt: skip


class _Now:
    """Makes a sync face answer as an async one would."""

    def __init__(self, face: Any) -> None:
        self._face = face

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._face, name)
        if not callable(found):
            return found
        if name in VIEWS:
            return lambda *args, **kwargs: _Now(found(*args, **kwargs))
        if name == "iter_events":
            return self._events

        async def call(*args: Any, **kwargs: Any) -> Any:
            return found(*args, **kwargs)

        return call

    async def _events(self) -> Any:
        for event in self._face.iter_events():
            yield event


def test_answers_are_those_of_the_store(tmp_path: Path) -> None:
    """The same program on both faces writes the same log and gets the same answers."""

    async def asynchronous() -> list[Any]:
        async with open_store(tmp_path / "async.db", new_id=SequentialIds()) as store:
            return await _work(store)

    with MemoryStore(tmp_path / "sync.db", embedder=HashEmbedder(), clock=FakeClock(), new_id=SequentialIds()) as store:
        now: Any = _Now(store)
        assert asyncio.run(asynchronous()) == asyncio.run(_work(now))


def test_errors_come_at_the_await() -> None:
    """The library's own, as they are."""

    async def check() -> None:
        async with open_store() as store:
            with pytest.raises(InvalidInput, match="content"):
                await store.remember("")
            with pytest.raises(RecordNotFound):
                await store.edit("00000000-0000-7000-8000-000000000000", "x")
            with pytest.raises(VersionConflict):
                await store.collection("a").put("k", expected_version=5)
            with pytest.raises(AttributeError):
                store.no_such_verb  # noqa: B018  # looking it up is the test
            with pytest.raises(AttributeError):
                store.memory().kind  # noqa: B018  # looking it up is the test
            with pytest.raises(InvalidInput, match="after"):
                [event async for event in store.iter_events(-1)]

    asyncio.run(check())


def test_events_come_over_any_number_of_pages() -> None:
    """``iter_events`` is an async iterator."""

    async def check() -> list[int]:
        async with open_store() as store:
            await store.remember_many([f"fact {number}" for number in range(1100)])
            return [event.version async for event in store.iter_events(after=50)]

    assert asyncio.run(check()) == list(range(51, 1101))


def test_many_tasks_at_once(tmp_path: Path) -> None:
    """Calls take turns on the worker; the loop goes on meanwhile; no write is lost."""

    async def check() -> None:
        async with open_store(tmp_path / "store.db") as store:
            records = await asyncio.gather(*(store.remember(f"fact {number}") for number in range(50)))
            assert [record.content for record in records] == [f"fact {number}" for number in range(50)]
            assert sorted(record.version for record in records) == list(range(1, 51))
            assert await store.count() == 50

    asyncio.run(check())


def test_the_loop_is_not_held_up(gate: Gate) -> None:
    """While a call is under way other tasks run."""

    async def check() -> None:
        async with open_store(embedder=gate) as store:
            task = asyncio.create_task(store.remember("slow fact"))
            await entered(gate)
            ran = await asyncio.gather(*(asyncio.sleep(0, number) for number in range(5)))
            assert (ran, task.done()) == ([0, 1, 2, 3, 4], False)
            gate.go_on.set()
            assert (await task).content == "slow fact"

    asyncio.run(check())


@pytest.mark.parametrize("queued", [False, True])
def test_a_cancelled_call_goes_on_to_its_end(gate: Gate, tmp_path: Path, queued: bool) -> None:
    """Cancelled under way or while it waits its turn: the transaction is whole, the cancellation comes after it, and no lock is left."""

    async def check() -> None:
        async with open_store(tmp_path / "store.db", gate) as store:
            tasks = [asyncio.create_task(store.remember_many(["slow one", "slow two"]))]
            await entered(gate)
            if queued:
                tasks.append(asyncio.create_task(store.remember("queued")))
                await asyncio.sleep(0)
            tasks[-1].cancel()
            await asyncio.sleep(0)
            assert not tasks[-1].done()
            gate.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await tasks[-1]
            expected = ["slow one", "slow two", *(["queued"] if queued else [])]
            assert [record.content for record in await store.list()] == expected
            with MemoryStore(tmp_path / "store.db", embedder=HashEmbedder(), timeout_s=1) as other:
                other.remember("from elsewhere")
            assert (await store.remember("afterwards")).version == len(expected) + 2
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(check())


def test_a_timeout_is_a_cancellation(gate: Gate) -> None:
    """``asyncio.timeout`` ends the wait with its own error, once the call has ended."""

    async def check() -> None:
        async with open_store(embedder=gate) as store:
            asyncio.get_running_loop().call_soon(gate.go_on.set)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await store.remember("slow fact")
            assert await store.count() == 1
            assert (await store.verify()).ok

    asyncio.run(check())


def test_cancelling_twice_leaves_at_once(gate: Gate) -> None:
    """Who does not want to wait for the end cancels again; the call ends by itself all the same."""

    async def check() -> None:
        async with open_store(embedder=gate) as store:
            task = asyncio.create_task(store.remember("slow fact"))
            await entered(gate)
            for _ in range(2):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.go_on.set()
            assert [record.content for record in await store.list()] == ["slow fact"]

    asyncio.run(check())


def test_a_cancelled_call_that_fails_is_quiet(gate: Gate) -> None:
    """Its error has nobody left to hear it, and is no warning either."""

    async def check() -> None:
        async with open_store(embedder=gate) as store:
            notes = store.collection("notes", model="store")
            task = asyncio.create_task(notes.put("k", "slow note", expected_version=5))
            await entered(gate)
            task.cancel()
            await asyncio.sleep(0)
            gate.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await notes.get("k") is None
            assert (await notes.put("k", "note", expected_version=0)).content == "note"

    asyncio.run(check())


def test_one_store_in_several_loops(tmp_path: Path) -> None:
    """One loop after the other, and two at the same time in threads of their own."""
    store = open_store(tmp_path / "store.db")

    async def write(number: int) -> int:
        await asyncio.gather(*(store.remember(f"fact {number} {count}") for count in range(10)))
        found: int = await store.count()
        return found

    assert [asyncio.run(write(number)) for number in range(2)] == [10, 20]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: asyncio.run(write(number)), range(2, 4)))
    assert asyncio.run(write(4)) == 50
    asyncio.run(store.close())


def test_close_ends_what_is_its_own(tmp_path: Path) -> None:
    """It closes the store that it opened, twice if need be; every verb says so afterwards, also those of its views."""

    async def check() -> None:
        async with open_store(tmp_path / "store.db") as store:
            notes = store.collection("notes")
            await store.remember("fact")
            await store.close()
        await store.close()
        late: list[Callable[[], Awaitable[object]]] = [store.list, lambda: store.remember("x"), lambda: notes.get("k"), store.verify]
        for verb in late:
            with pytest.raises(StoreClosed, match="closed"):
                await verb()
        with pytest.raises(StoreClosed):
            [event async for event in store.iter_events()]

    asyncio.run(check())
    with MemoryStore(tmp_path / "store.db", embedder=HashEmbedder()) as again:
        assert [record.content for record in again.list()] == ["fact"]


def test_close_leaves_a_given_store_open() -> None:
    """A store to share belongs to whoever gave it; the async face alone ends."""

    async def use(face: AsyncMemoryStore) -> None:
        async with face:
            await face.remember("from the async face")
        with pytest.raises(StoreClosed):
            await face.list()

    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=FakeClock()) as store:
        asyncio.run(use(AsyncMemoryStore(store=store)))
        store.remember("from the store")
        assert store.count() == 2


def test_close_waits_for_what_is_under_way(gate: Gate, tmp_path: Path) -> None:
    """A write that was begun before is finished, durable, and its caller is told."""

    async def check() -> None:
        store = open_store(tmp_path / "store.db", gate)
        task: asyncio.Task[Any] = asyncio.create_task(_as_coroutine(store.remember("slow fact")))
        await entered(gate)
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        assert not closing.done()
        gate.go_on.set()
        await closing
        assert (await task).content == "slow fact"

    asyncio.run(check())
    with MemoryStore(tmp_path / "store.db", embedder=HashEmbedder()) as again:
        assert again.count() == 1


async def _as_coroutine(awaitable: Coroutine[Any, Any, Any]) -> Any:
    return await awaitable


def test_an_error_in_the_block_closes_too(tmp_path: Path) -> None:
    """``async with`` lets the error through and leaves no worker behind."""

    async def check() -> None:
        async with open_store(tmp_path / "store.db") as store:
            await store.remember("fact")
            raise KeyError("mine")

    before = threading.active_count()
    with pytest.raises(KeyError, match="mine"):
        asyncio.run(check())
    assert threading.active_count() == before


def test_a_backup_is_restored_off_the_loop(tmp_path: Path) -> None:
    """The class makes an async store of a backup, and closes what it opened."""

    async def check() -> None:
        async with AsyncMemoryStore(tmp_path / "a.db", embedder=HashEmbedder()) as store:
            await store.remember("the kettle is green")
            await store.backup(tmp_path / "b.db")
        async with await AsyncMemoryStore.restore_backup(tmp_path / "b.db", tmp_path / "c.db", embedder=HashEmbedder()) as restored:
            assert [hit.content for hit in await restored.search("kettle")] == ["the kettle is green"]
        with pytest.raises(StoreClosed):
            await restored.search("kettle")

    asyncio.run(check())
