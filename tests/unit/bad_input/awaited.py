"""An async store as the tables of verbs see it: each coroutine run to its end."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import Any

from indelible import AsyncMemoryStore


class Awaited:
    """The verbs of an async store, called as if they were not.

    Args:
        face: the async store.
        loop: where its coroutines run.
    """

    def __init__(self, face: AsyncMemoryStore, loop: asyncio.AbstractEventLoop) -> None:
        self._face = face
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._face, name)

        @functools.wraps(getattr(self._face._face, name))
        def call(*args: Any, **kwargs: Any) -> Any:
            outcome = verb(*args, **kwargs)
            if inspect.isasyncgen(outcome):
                return self._loop.run_until_complete(_listed(outcome))
            if inspect.isawaitable(outcome):
                outcome = self._loop.run_until_complete(outcome)
            if isinstance(outcome, AsyncMemoryStore):  # a store of its own, which would stay open
                self._loop.run_until_complete(outcome.close())
            return outcome

        return call


async def _listed(events: Any) -> list[Any]:
    return [event async for event in events]
