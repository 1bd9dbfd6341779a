"""S80, S83: what was acknowledged survives SIGKILL at any moment, what was not is there whole or not at all.

Three writers on one file are killed after 30 to 200 ms, the file is examined, and the next three go on with it. The same examination is
then given writers that break one rule each, and must notice: a checker that finds nothing wrong there would find nothing anywhere.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from indelible.testing import HashEmbedder
from tests.crash import writers
from tests.crash.checker import acknowledged, damage
from tests.crash.children import hear, kill_after, start
from tests.crash.writers import Writer, working

pytestmark = pytest.mark.usefixtures("_can_fork")
CYCLES = 20
"""Kills per file."""
WRITERS = 3


def kill_cycles(path: Path, seed: int, writer: Writer, cycles: int = CYCLES) -> tuple[int, list[str]]:
    """Kill writers over and over; how many acknowledgements there were, and what was found damaged."""
    HashEmbedder().embed_documents(["numpy is loaded here, once, and not in each child"])
    dice = random.Random(seed)
    acked: set[str] = set()
    for cycle in range(cycles):
        children = [start(work) for work in working(writer, path, [f"{cycle}.{number}" for number in range(WRITERS)])]
        if cycle % 2:
            # Every other time the moment counts from when all are at work: on a busy machine some would die only while they open the file.
            for child in children:
                hear(child, 1)
        acked |= acknowledged(kill_after(children, dice.uniform(0.03, 0.2)))
        found = damage(path, acked)
        if found:
            return len(acked), [f"seed {seed}, kill {cycle}: {problem}" for problem in found]
    return len(acked), []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_nothing_acknowledged_is_lost(tmp_path: Path, seed: int) -> None:
    """S80, S83: 200 kills in ten files: every acknowledged record there once, batches whole, versions gapless, views equal to the log."""
    count, found = kill_cycles(tmp_path / "store.db", seed, writers.of_every_kind)
    assert not found
    assert count > CYCLES


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(100, 160))
def test_nothing_acknowledged_is_lost_in_many_kills(tmp_path: Path, seed: int) -> None:
    """S80, S83: 1,200 more kills, with other moments."""
    count, found = kill_cycles(tmp_path / "store.db", seed, writers.of_every_kind)
    assert not found
    assert count > CYCLES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "noticed"),
    [
        (writers.acknowledging_before_commit, "acknowledged but lost"),
        (writers.projecting_in_a_second_transaction, "not in the state view"),
        (writers.splitting_batches, "in part or in pieces"),
    ],
)
def test_the_checker_notices(tmp_path: Path, wrong: Writer, noticed: str) -> None:
    """Control: the same kills and the same examination find what each of the wrong writers does."""
    _, found = kill_cycles(tmp_path / "store.db", 1, wrong, cycles=40)
    assert any(noticed in problem for problem in found)
