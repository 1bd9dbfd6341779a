"""The same store for asyncio: every verb is a coroutine, and a cancelled call leaves nothing half done."""

from __future__ import annotations

import asyncio

from indelible import AsyncMemoryStore
from indelible.testing import HashEmbedder


async def main() -> None:
    """Remember at the same time, then look."""
    async with AsyncMemoryStore(":memory:", embedder=HashEmbedder()) as store:
        ada = store.scope(user_id="ada")
        await asyncio.gather(*(ada.remember(f"Task {number} is done") for number in range(20)))
        print(await ada.count(), [hit.content for hit in await ada.search("task 7")])
        # -> 20 ['Task 7 is done']

        note = await ada.remember("Ada likes tea")
        await ada.edit(note.id, content="Ada likes coffee")
        print([record.content for record in await store.at(note.version).list(order="created", descending=True, limit=1)])
        # -> ['Ada likes tea']

        # A call that is cancelled runs to its end on its thread: the memory is whole, with it or without it.
        task = asyncio.create_task(ada.remember("Written or not, never half"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        print(task.cancelled(), (await store.verify()).ok)
        # -> True True


asyncio.run(main())
