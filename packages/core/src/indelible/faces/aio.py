"""The async face: the same objects, each call whole on a worker thread.

A cancelled ``await`` does not cut a transaction: the call goes on to its end on the worker, and the cancellation is seen afterwards, so
no lock stays taken and no write is half done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from indelible.base.event import Event
from indelible.errors import StoreClosed
from indelible.faces.arguments import check_whole
from indelible.faces.store import MemoryStore
from indelible.faces.threads import to_its_end

_RETURN_VIEWS = frozenset({"scope", "at", "collection", "memory", "below"})


class AsyncFace:
    """Any face with its methods as coroutines.

    Args:
        face: a store, view, collection or memory.
        worker: where its calls run, one after the other.
    """

    def __init__(self, face: Any, worker: ThreadPoolExecutor) -> None:
        self._face = face
        self._worker = worker

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._face, name)
        if not callable(found):
            return found
        if name in _RETURN_VIEWS:
            return lambda *args, **kwargs: AsyncFace(found(*args, **kwargs), self._worker)
        return partial(self._run, found)

    async def _run(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._worker, partial(call, *args, **kwargs))
        except RuntimeError as error:
            raise StoreClosed("this store was closed: open it again") from error
        return await to_its_end(future)

    def __repr__(self) -> str:
        return f"<async {self._face!r}>"


class AsyncMemoryStore(AsyncFace):
    """``MemoryStore`` for asyncio: every verb of the store, its views, collections and memories, as a coroutine.

    It may be used from several event loops. Takes the arguments of ``MemoryStore``, or a store to share.

    Example:
        async with AsyncMemoryStore(":memory:") as store:
            await store.remember("Ada prefers tea", user_id="ada")
            hits = await store.search("tea")
    """

    def __init__(self, path: Any = None, *, store: MemoryStore | None = None, **options: Any) -> None:
        self._owned = store is None
        super().__init__(MemoryStore(path, **options) if store is None else store, ThreadPoolExecutor(1, "indelible"))

    @classmethod
    async def restore_backup(cls, backup: Any, path: Any = None, **options: Any) -> AsyncMemoryStore:
        """Make a new store of a backup and open it, off the event loop; as ``MemoryStore.restore_backup``."""
        restored = await asyncio.to_thread(partial(MemoryStore.restore_backup, backup, path, **options))
        opened = cls(store=restored)
        opened._owned = True
        return opened

    async def iter_events(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event after a version, in order of arrival."""
        check_whole(after, "after")
        backend = self._face._engine.backend
        while events := await self._run(backend.events, after=after, limit=1000):
            for event in events:
                yield event
            after = events[-1].version

    async def close(self) -> None:
        """Finish what is running and close the store, unless it was given. Closing twice is fine."""
        if self._owned:
            with suppress(StoreClosed):  # the worker is gone: it was closed before
                await self._run(self._face.close)
        self._worker.shutdown(wait=True)

    async def __aenter__(self) -> AsyncMemoryStore:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
