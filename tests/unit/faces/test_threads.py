"""Waiting for a worker thread: the loop stays free, and a cancellation cuts nothing."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from indelible.faces.threads import on_a_thread

NAMED = contextvars.ContextVar("NAMED", default="nobody")


async def turns(count: int = 20) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_loop_stays_free_and_the_answer_comes_back() -> None:
    """The call waits for something that only the loop does; context variables are seen as they were."""
    NAMED.set("ada")
    free = threading.Event()

    def call() -> tuple[bool, str, bool]:
        return free.wait(60), NAMED.get(), threading.current_thread() is threading.main_thread()

    running = asyncio.ensure_future(on_a_thread(call))
    await turns()
    free.set()
    assert await running == (True, "ada", False)


async def test_an_error_comes_back_as_it_is() -> None:
    """Not wrapped."""
    with pytest.raises(ZeroDivisionError):
        await on_a_thread(lambda: 1 // 0)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_is_seen_when_the_call_has_ended(twice: bool, fails: bool) -> None:
    """Whatever the call comes to; one that is repeated is seen at once, and the call ends by itself."""
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        go_on.wait(60)
        ended.set()
        if fails:
            raise ValueError("nobody hears this")

    running = asyncio.ensure_future(on_a_thread(call))
    await asyncio.to_thread(begun.wait, 60)
    running.cancel()
    await turns()
    assert not running.done()
    if twice:
        running.cancel()
        await turns()
        assert running.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.wait(60)


async def test_a_timeout_is_a_timeout_once_the_call_has_ended() -> None:
    """What cancels by a deadline says so."""
    go_on = threading.Event()
    asyncio.get_running_loop().call_later(0.05, go_on.set)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(on_a_thread(lambda: go_on.wait(60)), 0.01)
    assert go_on.is_set()
