"""S80, S83: killed exactly before, after or in the middle of the k-th write, sync or truncation of every kind of operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.checker import damage
from tests.crash.faults import ANY, COUNT, KILL_AFTER, KILL_BEFORE, TEAR, WRITE, Host, Job
from tests.crash.scenarios import BACKUP_SUFFIX, RESTORED_SUFFIX, SCENARIOS

STEP = 23
"""`make test` tries every 23rd point, others for each kind of death; the torture run tries all."""


def points(host: Host, folder: Path, scenario: str, ops: int) -> int:
    """How many calls of these kinds the scenario makes when nothing goes wrong."""
    outcome = host.run(Job(scenario, str(folder / "calm" / "store.db"), COUNT, ops=ops))
    assert not outcome.failure, outcome.failure
    assert outcome.status == 0
    return outcome.seen


def kill_at_every(host: Host, folder: Path, scenario: str, *, step: int) -> list[str]:
    """Kill at every ``step``-th point in each of three ways; what was found damaged."""
    found = []
    for offset, (action, ops) in enumerate([(KILL_BEFORE, ANY), (TEAR, WRITE), (KILL_AFTER, ANY)]):
        for k in range(1 + offset * step // 3, points(host, folder / str(action), scenario, ops) + 1, step):
            path = folder / f"{action}-{k}" / "store.db"
            outcome = host.run(Job(scenario, str(path), action, k, ops))
            assert outcome.status == -9, f"{scenario}: nothing was killed at {k}: {outcome}"
            found += [f"{scenario}, action {action} at {k}: {problem}" for problem in damage(path, outcome.acked)]
            for copy in (Path(f"{path}{BACKUP_SUFFIX}"), Path(f"{path}{RESTORED_SUFFIX}")):
                if copy.exists():
                    found += [f"{copy.name}, action {action} at {k}: {problem}" for problem in damage(copy, outcome.acked)]
            export = Path(f"{path}.jsonl")
            if export.exists():
                assert export.read_text().count("\n") > len(outcome.acked), "an export is whole or not there"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_death_at_any_write_loses_nothing(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """S80, S83: what was acknowledged is there, batches are whole, and the file opens, verifies and takes writes."""
    assert not kill_at_every(fault_host, memory_folder, scenario, step=STEP)


@pytest.mark.torture
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_death_at_every_write_loses_nothing(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """S80, S83: the same at each point there is."""
    assert not kill_at_every(fault_host, memory_folder, scenario, step=1)
