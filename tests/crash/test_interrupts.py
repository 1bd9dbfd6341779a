"""S82, S83: Ctrl-C in the middle of a call, wherever it hits. The call counts or it does not, and the store goes on."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indelible import MemoryStore
from tests.crash.checker import BATCH_SIZE, damage
from tests.crash.children import Say, run
from tests.crash.engine import contents, open_engine
from tests.crash.writers import batch_of

pytestmark = pytest.mark.usefixtures("_can_fork")
INTERRUPTS = 150


def interrupted(work: Callable[[], object], seconds: float) -> bool:
    """Run ``work`` with a Ctrl-C after a while; whether that hit it."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def harass(path: Path, seed: int, say: Say) -> None:
    """Write, read and verify under interrupts, then see that nothing is stuck: in this thread, in another, and in another process."""
    signal.signal(signal.SIGALRM, stop)
    dice = random.Random(seed)
    backend = open_engine(path, timeout_s=5)
    # Every module is loaded before: an interrupt in the middle of an import leaves the interpreter's own import lock held.
    backend.append(batch_of(f"first-{seed}"))
    say(f"first-{seed}")
    contents(backend)
    backend.vacuum()
    hits = 0
    for number in range(INTERRUPTS):
        name = f"batch-{seed}-{number}"
        verbs: list[Callable[[], object]] = [lambda name=name: backend.append(batch_of(name)), lambda: contents(backend), backend.vacuum]  # type: ignore[misc]  # bound by a default
        verb = verbs[0] if number % 3 else dice.choice(verbs)
        hit = interrupted(verb, dice.uniform(0.00005, 0.002))
        hits += hit
        if not hit and verb is verbs[0]:
            say(name)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    with ThreadPoolExecutor(1) as another:
        another.submit(backend.append, batch_of(f"thread-{seed}")).result()
    say(f"thread-{seed}")
    assert hits > INTERRUPTS // 10, f"only {hits} interrupts hit"
    assert backend.verify().ok
    backend.close()


@pytest.mark.parametrize("seed", range(4))
def test_an_interrupt_breaks_nothing(tmp_path: Path, seed: int) -> None:
    """Batches are whole, what returned is there, and locks and connections are free again."""
    path = tmp_path / "store.db"
    [acked] = run(lambda say: harass(path, seed, say))
    with MemoryStore(path, timeout_s=1) as store:
        store.memory().remember("after", "after")
    assert not damage(path, {f"{name}#{number}" for name in acked for number in range(BATCH_SIZE)})


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_interrupts_break_nothing(tmp_path: Path, seed: int) -> None:
    """The same at other moments."""
    test_an_interrupt_breaks_nothing(tmp_path, seed)
