"""Whether memory stays flat over 100,000 mixed operations on a store whose number of records does not grow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Measurement, Plan

OPERATIONS = 100_000
SAMPLES = 100
RECORDS = 4_000
PART_OF_BOUNDS = 32
"""The caches have one of so many parts of their bounds, so that they are full when the warm-up is over; fewer operations, less still."""
WARM_UP = 0.2
FITTED = 0.6
"""The last part of the run, over which growth is taken."""
ROOT = Path(__file__).resolve().parents[1]
AGAINST = "growth of the file"


class Sample(NamedTuple):
    """What was seen after so many operations.

    Attributes:
        operations: since the beginning; 0 is the filled store.
        resident: bytes of the process in memory, by the system.
        cached: bytes that the store's caches count themselves with.
        live: records that are not forgotten.
        events: in the log.
        file: bytes of the file.
    """

    operations: int
    resident: int
    cached: int
    live: int
    events: int
    file: int


def slope(points: Sequence[tuple[float, float]]) -> float:
    """By how much the second number rises for one of the first, by least squares; 0 of fewer than two points."""
    if len(points) < 2:
        return 0.0
    mean_x, mean_y = (sum(numbers) / len(points) for numbers in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def run(plan: Plan) -> list[Measurement]:
    """Do it in a process of its own, whose memory nothing else has used before."""
    operations = plan.times(OPERATIONS, least=500)
    numbers = (operations, operations // SAMPLES, plan.times(RECORDS, least=200), max(1, round(PART_OF_BOUNDS / plan.scale)))
    command = [sys.executable, "-m", "benchmarks.steady_work", str(plan.folder / "steady.db"), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr)
    samples = [Sample(*json.loads(line)) for line in done.stdout.splitlines()]
    if plan.out is not None:
        _write(plan.out, plan.python, samples)
    return report(samples)


def report(samples: Sequence[Sample]) -> list[Measurement]:
    """The figures of a run.

    Args:
        samples: from the filled store to the end.
    """
    last = samples[-1]
    warm = next(sample for sample in samples if sample.operations >= WARM_UP * last.operations)
    fitted = [sample for sample in samples if sample.operations >= (1 - FITTED) * last.operations]
    growth, file = (
        1000 / 1024 * slope([(sample.operations, bytes_) for sample, bytes_ in zip(fitted, column, strict=True)])
        for column in ([sample.resident for sample in fitted], [sample.file for sample in fitted])
    )
    mib, total = 2**20, f"{last.operations:,} operations"
    after = f"after {warm.operations:,}"
    return [
        Measurement(f"resident memory {after}, the warm-up", warm.resident / mib, "MiB"),
        Measurement(f"resident memory after {total}", last.resident / mib, "MiB", warm.resident / mib, after),
        Measurement("resident memory at most", max(sample.resident for sample in samples) / mib, "MiB", warm.resident / mib, after),
        Measurement(AGAINST, file, "KiB per 1,000 operations"),
        Measurement(f"growth of resident memory, the last {FITTED:.0%}", growth, "KiB per 1,000 operations", file, AGAINST),
        Measurement("what the caches hold", last.cached / mib, "MiB", warm.cached / mib if warm.cached else None, after),
        Measurement("records that are not forgotten", last.live, "records", warm.live, after),
        Measurement("events in the log", last.events, "events", warm.events, after),
        Measurement("the file", last.file / mib, "MiB", warm.file / mib, after),
    ]


def _write(out: Path, python: Path, samples: Sequence[Sample]) -> None:
    """Write the samples, and draw them where matplotlib is."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "steady.samples.json"
    file.write_text(json.dumps([sample._asdict() for sample in samples], indent=1) + "\n", encoding="utf-8")
    drawn = subprocess.run([python, "-m", "benchmarks.steady_plot", file, out], cwd=ROOT, capture_output=True, text=True, check=False)
    print(drawn.stdout.strip() if drawn.returncode == 0 else f"no picture: {drawn.stderr.strip().splitlines()[-1]}", file=sys.stderr)
