"""What a benchmark measures, and the tools for it."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number.

    Attributes:
        what: what was measured.
        value: the number.
        unit: of the value.
        reference: the physical reference of the same run, in the same unit; ``None`` where there is none.
        against: what the reference is.
        bar: what the number should not be worse than; ``None`` for none.
        better: whether less or more is better.
    """

    what: str
    value: float
    unit: str
    reference: float | None = None
    against: str = ""
    bar: float | None = None
    better: Literal["less", "more"] = "less"

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of the reference."""
        return self.value / self.reference if self.reference else None

    @property
    def meets_bar(self) -> bool | None:
        """Whether it is as good as the bar, if there is one."""
        if self.bar is None:
            return None
        return self.value <= self.bar if self.better == "less" else self.value >= self.bar

    def as_json(self) -> dict[str, Any]:
        """All of it, ratio and verdict included."""
        return {**asdict(self), "ratio": self.ratio, "meets_bar": self.meets_bar}


COLUMNS = ("what", "value", "unit", "ratio", "to", "bar")


def cells(item: Measurement) -> tuple[str, ...]:
    """A measurement as a row of a table, a text for each of ``COLUMNS``."""
    value = f"{item.value:,.3g}" if item.value < 1000 else f"{item.value:,.0f}"
    ratio = "" if item.ratio is None else f"{item.ratio:.2g}x" if item.ratio < 10 else f"{item.ratio:.0f}x"
    bar = "" if item.bar is None else f"{'met' if item.meets_bar else 'missed'} ({item.bar:,g})"
    return item.what, value, item.unit, ratio, item.against, bar


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run goes.

    Attributes:
        folder: an empty folder on the disk to be measured.
        scale: 1 for the sizes of the published table; less for a quick look.
        data: folder of evaluation data, if there is one.
        out: folder for what a benchmark writes beside its numbers, ``None`` for nowhere.
        python: an interpreter that may have matplotlib, for pictures.
    """

    folder: Path
    scale: float
    data: Path | None
    out: Path | None = None
    python: Path = Path(sys.executable)

    def times(self, number: int, *, least: int = 3) -> int:
        """A number of repetitions or records, scaled."""
        return max(least, round(number * self.scale))


class Skipped(Exception):
    """A benchmark cannot run here; says why."""


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection in the middle of a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def each_in_turn(calls: dict[str, Callable[[int], object]], rounds: int, *, warm_up: int = 0) -> dict[str, list[float]]:
    """Time several calls one after the other in every round, so that whatever disturbs the machine disturbs all alike.

    Args:
        calls: by name, each gets the number of the round.
        rounds: how many rounds count.
        warm_up: how many go before them and do not.

    Returns:
        Seconds per round, by name.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    with quiet():
        for number in range(warm_up + rounds):
            for name, call in calls.items():
                began = time.perf_counter()
                call(number)
                took = time.perf_counter() - began
                if number >= warm_up:
                    spent[name].append(took)
    return spent


def median(numbers: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(numbers)


def percentile(numbers: Sequence[float], percent: int) -> float:
    """The value that so many of a hundred do not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * percent // 100) - 1))]


def processes_in_turn(programs: dict[str, str], rounds: int) -> dict[str, list[float]]:
    """Wall time of fresh Python processes, from their start to their end, in turn; the first round warms the file cache.

    Args:
        programs: Python texts by name.
        rounds: how often each.

    Raises:
        RuntimeError: a program failed.
    """
    return each_in_turn({name: partial(_python, text) for name, text in programs.items()}, rounds, warm_up=1)


def _python(text: str, _round: int) -> None:
    # An installed package has its bytecode beside it; a shell that forbids writing it would have every process compile everything.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=600, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
