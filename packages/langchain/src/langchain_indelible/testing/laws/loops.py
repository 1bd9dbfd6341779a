"""Laws of coroutines, event loops and threads. They run loops of their own, so that no plugin is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from langgraph.store.base import BaseStore, GetOp, PutOp

from langchain_indelible.testing.embeddings import RecordingEmbeddings
from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, keys_of


class AsyncLaws(StoreLaws):
    """A store may be used by any thread and any loop, one after the other or at once."""

    def test_each_verb_has_its_twin(self, store: BaseStore) -> None:
        """The coroutines do what the plain verbs do."""

        async def use() -> None:
            await store.aput(("a", "b"), "k", {"x": 1})
            item = await store.aget(("a", "b"), "k")
            assert item == store.get(("a", "b"), "k")
            assert keys_of(await store.asearch(("a",), filter={"x": 1})) == ["k"]
            assert await store.alist_namespaces(prefix=("a",)) == [("a", "b")]
            assert await store.abatch([GetOp(("a", "b"), "k"), PutOp(("a",), "j", {"x": 2})]) == [item, None]
            await store.adelete(("a", "b"), "k")
            assert await store.aget(("a", "b"), "k") is None

        asyncio.run(use())
        assert keys_of(store.search(())) == ["j"]

    def test_many_puts_at_once_all_arrive(self, store: BaseStore) -> None:
        """Of one tick of the loop."""

        async def use() -> None:
            await asyncio.gather(*(store.aput(NAMESPACE, f"k{number}", {"n": number}) for number in range(40)))

        asyncio.run(use())
        assert len(store.search(NAMESPACE, limit=100)) == 40

    def test_a_bad_call_does_not_harm_its_neighbours(self, store: BaseStore) -> None:
        """Calls of one tick fail each for itself."""

        async def use() -> list[object]:
            calls = (
                store.aput(NAMESPACE, "a", {"x": 1}),
                store.asearch(NAMESPACE, filter={"x": {"$bogus": 1}}),
                store.aput(NAMESPACE, "b", {"x": 1}),
            )
            return list(await asyncio.gather(*calls, return_exceptions=True))

        store.put(NAMESPACE, "seed", {"x": 1})
        found = asyncio.run(use())
        assert [isinstance(result, ValueError) for result in found] == [False, True, False]
        assert sorted(keys_of(store.search(NAMESPACE))) == ["a", "b", "seed"]

    def test_several_loops_may_use_it(self, store: BaseStore) -> None:
        """One after the other, and at the same time from several threads."""

        async def use(name: str) -> None:
            await asyncio.gather(*(store.aput(NAMESPACE, f"{name}{number}", {"n": number}) for number in range(10)))

        asyncio.run(use("first"))
        asyncio.run(use("second"))
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda name: asyncio.run(use(name)), ["third", "fourth"]))
        assert len(store.search(NAMESPACE, limit=100)) == 40

    def test_plain_verbs_work_inside_a_loop(self, store: BaseStore) -> None:
        """They block it, and nothing worse."""

        async def use() -> object:
            await store.aput(NAMESPACE, "k", {"x": 1})
            store.put(NAMESPACE, "k", {"x": 2})
            item = store.get(NAMESPACE, "k")
            return item and item.value

        assert asyncio.run(use()) == {"x": 2}

    def test_many_threads_may_write(self, store: BaseStore) -> None:
        """Each put arrives, and each thread reads what it wrote."""

        def write(thread: int) -> bool:
            for number in range(20):
                store.put(("threads", str(thread)), f"k{number}", {"n": number})
            return len(store.search(("threads", str(thread)), limit=100)) == 20

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(write, range(8)))
        assert len(store.search(("threads",), limit=1000)) == 160

    def test_a_coroutine_may_embed(self) -> None:
        """An async embedding function serves the coroutines; the plain verbs say that they cannot wait for it."""
        model = RecordingEmbeddings()

        async def embed(texts: Sequence[str]) -> list[list[float]]:
            return model.embed_documents(list(texts))

        async def use(store: BaseStore) -> None:
            await store.aput(NAMESPACE, "tea", {"text": "green tea"})
            await store.aput(NAMESPACE, "cat", {"text": "sleeping cat"})
            assert keys_of(await store.asearch(NAMESPACE, query="green tea")) == ["tea", "cat"]

        with self.open_store(index={"dims": model.dims, "embed": embed, "fields": ["text"]}) as store:
            asyncio.run(use(store))
            with pytest.raises(ValueError, match=r".+"):
                store.put(NAMESPACE, "k", {"text": "words"})
            with pytest.raises(ValueError, match=r".+"):
                store.search(NAMESPACE, query="words")

    def test_a_cancelled_call_is_whole_or_nothing(self, store: BaseStore) -> None:
        """After the cancellation either all of the batch is there or none, and the store goes on."""

        async def use() -> None:
            task = asyncio.ensure_future(store.abatch([PutOp(NAMESPACE, f"k{number}", {"n": number}) for number in range(50)]))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        asyncio.run(use())
        assert len(store.search(NAMESPACE, limit=100)) in (0, 50)
        store.put(NAMESPACE, "after", {"x": 1})
        assert store.get(NAMESPACE, "after") is not None
