"""From a coroutine to a worker thread and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def on_a_thread(call: Callable[[], T]) -> T:
    """Run a call whole on a worker thread of whatever event loop this is, which stays free meanwhile.

    Context variables are seen there as they are here. A cancelled wait does not cut the call, see ``to_its_end``.
    """
    return await to_its_end(asyncio.ensure_future(asyncio.to_thread(call)))


async def to_its_end(running: asyncio.Future[T]) -> T:
    """Wait for something that is under way and must not be cut.

    A cancellation is seen once it has ended: whoever sees it knows that nothing is under way any more, so that no lock is taken and no
    write half done. Who does not want to wait for that cancels again, and leaves at once; the call ends by itself all the same.
    """
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        running.add_done_callback(_heard)
        await asyncio.wait([running])
        raise


def _heard(ended: asyncio.Future[Any]) -> None:
    """Take its error, which nobody is left to be told, so that it is no warning either."""
    if not ended.cancelled():
        ended.exception()
