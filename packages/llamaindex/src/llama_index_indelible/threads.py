"""From a coroutine to a worker thread and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def on_a_thread(call: Callable[[], T]) -> T:
    """Run a call whole on a worker thread of whatever event loop this is, which stays free meanwhile.

    A cancelled wait does not cut the call: it goes on to its end, and the cancellation is seen afterwards, so that whoever sees it knows
    that nothing is under way any more.
    """
    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # nobody is left to be told
        raise
