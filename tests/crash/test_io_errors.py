"""S80, S83: a disk that fails or is full at the k-th write, sync or truncation: an error of ours, nothing lost, and all well afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.checker import damage
from tests.crash.faults import ANY, COUNT, FAIL_FULL, FAIL_IO, SHORT_THEN_FULL, SYNC, WRITE, Host, Job
from tests.crash.scenarios import SCENARIOS

STEP = 37
"""`make test` tries every 37th call, others for each kind of failure; the torture run tries all."""
KINDS = {
    "fails once": (FAIL_IO, ANY, False),
    "fails from then on": (FAIL_IO, ANY, True),
    "full once": (FAIL_FULL, WRITE, False),
    "full from then on": (FAIL_FULL, WRITE, True),
    "full in the middle of a write": (SHORT_THEN_FULL, WRITE, False),
}


def fail_at_every(host: Host, folder: Path, scenario: str, *, step: int) -> tuple[list[str], list[str]]:
    """Fail at every ``step``-th call in each way; what was wrong, and the errors that callers got."""
    wrong: list[str] = []
    errors: list[str] = []
    for offset, (kind, (action, ops, sticky)) in enumerate(KINDS.items()):
        calls = host.run(Job(scenario, str(folder / kind / "store.db"), COUNT, ops=ops)).seen
        for k in range(1 + offset * step // len(KINDS), calls + 1, step):
            path = folder / f"{kind} {k}" / "store.db"
            outcome = host.run(Job(scenario, str(path), action, k, ops, sticky))
            where = f"{scenario}, {kind} at {k}"
            if outcome.failure or outcome.status:
                wrong.append(f"{where}: {outcome.failure or outcome.status}")
            else:
                wrong += [f"{where}: {problem}" for problem in damage(path, outcome.acked)]
            if outcome.error is not None:
                errors.append(outcome.error)
                if "full" in kind and not outcome.error.startswith("StorageFull"):
                    wrong.append(f"{where}: a full disk was reported as {outcome.error}")
    return wrong, errors


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_failing_disk_is_survived(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """S83: every failure is an IndelibleError; what was acknowledged stays; the same object works once the disk does."""
    wrong, _ = fail_at_every(fault_host, memory_folder, scenario, step=STEP)
    assert not wrong


@pytest.mark.torture
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_disk_that_fails_anywhere_is_survived(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """S83: the same at each call there is."""
    wrong, _ = fail_at_every(fault_host, memory_folder, scenario, step=1)
    assert not wrong


def test_failures_do_reach_the_caller(fault_host: Host, memory_folder: Path) -> None:
    """Control: the failures are real; appending on a failing disk raises, and a full one is named."""
    _, errors = fail_at_every(fault_host, memory_folder, "appending", step=11)
    assert {error.split(" ", 1)[0] for error in errors} >= {"StoreUnavailable", "StorageFull"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_acknowledgement_follows_a_sync(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """S80: when a call returns, no byte of the write-ahead log is left that was written and not synced."""
    outcome = fault_host.run(Job(scenario, str(memory_folder / "store.db"), COUNT, ops=SYNC))
    assert not outcome.failure, outcome.failure
    assert outcome.unsynced == 0
    assert outcome.seen > 0


@pytest.mark.parametrize("scenario", ["appending", "appending_batches", "importing"])
def test_a_missing_sync_is_noticed(fault_host: Host, memory_folder: Path, scenario: str) -> None:
    """Control: the same look at a store with ``synchronous=OFF`` finds unsynced acknowledgements."""
    outcome = fault_host.run(Job(scenario, str(memory_folder / "store.db"), COUNT, ops=SYNC, unsafe=True))
    assert outcome.unsynced > 0
