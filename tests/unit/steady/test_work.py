"""The benchmark of memory over mixed operations: its arithmetic, and that it does what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measuring import Plan
from benchmarks.steady import Sample, report, run, slope
from benchmarks.steady_work import WEIGHTS, Work, cached, caches, resident, tighten
from indelible import MemoryStore
from indelible.testing import HashEmbedder


@given(st.floats(-100, 100), st.floats(-100, 100), st.integers(2, 50))
def test_the_slope_of_a_line_is_its_own(rise: float, start: float, number: int) -> None:
    assert slope([(x, start + rise * x) for x in range(number)]) == pytest.approx(rise, abs=1e-6)


def test_a_slope_needs_two_places() -> None:
    assert slope([]) == slope([(1, 1)]) == slope([(1, 1), (1, 5)]) == 0


def test_growth_is_of_the_last_part_alone() -> None:
    """What grew before does not count; what grows then is given in KiB for a thousand operations."""
    samples = [
        Sample(number * 1000, (1 << 20) + 1024 * (min(number, 4) * 100 + max(number - 4, 0)), 0, 10, number, 2048 * number)
        for number in range(11)
    ]
    found = {item.what: item for item in report(samples)}
    growth = next(item for what, item in found.items() if what.startswith("growth of resident"))
    assert growth.value == pytest.approx(1)
    assert growth.ratio == pytest.approx(0.5)
    assert found["resident memory after 2,000, the warm-up"].value == pytest.approx(1 + 200 / 1024)
    assert found["events in the log"].value == 10


def test_the_number_of_records_stays_while_the_log_grows(tmp_path: Path) -> None:
    """All operations are done, memory that caches count stays within their bounds, and what is live is what the store lists."""
    with MemoryStore(tmp_path / "work.db", embedder=HashEmbedder()) as store:
        tighten(store, 5000)
        work = Work(store, 60)
        work.fill()
        events = store.version
        for _ in range(400):
            work.step()
            assert 44 <= work.live <= 64  # a few are remembered at once
        assert work.done.keys() == WEIGHTS.keys()
        assert len(caches(store)) >= 4
        assert store.count() == work.live
        assert store.version > events + 150
        bounds = sum(cache._max_bytes for cache in caches(store))
        assert 0 < cached(store) < bounds + 50_000
        assert resident() > 1 << 20
        assert store.verify().ok


@pytest.mark.slow
def test_a_quick_run_writes_samples(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = run(Plan(tmp_path, 0.001, None, out))
    assert [item.value > 0 for item in found if "growth" not in item.what] == [True] * (len(found) - 2)
    samples = json.loads((out / "steady.samples.json").read_text(encoding="utf-8"))
    assert len(samples) == 101
    assert samples[-1]["operations"] == 500
    assert samples[-1]["events"] > samples[0]["events"]
