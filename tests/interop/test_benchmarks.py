"""The benchmarks run, and write what they print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.measuring import Measurement, percentile
from tests.architecture.source_tree import ROOT
from tests.interop.programs import run


@pytest.mark.slow
def test_a_quick_run_writes_its_numbers(tmp_path: Path) -> None:
    """Each measurement has a value above zero, and a ratio where it has a reference."""
    names = ["durable", "bulk", "with_model", "recall", "upkeep", "purge", "space", "mcp_start"]
    done = run("-m", "benchmarks", *names, "--scale", "0.05", "--out", tmp_path / "out", "--folder", tmp_path, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stderr
    written = json.loads(next((tmp_path / "out").glob("*.json")).read_text(encoding="utf-8"))
    assert list(written["results"]) == names
    for found in written["results"].values():
        assert found
        assert all(item["value"] > 0 and (item["reference"] is None) == (item["ratio"] is None) for item in found)
        assert any(item["ratio"] for item in found)
    table = run("-m", "benchmarks.markdown", next((tmp_path / "out").glob("*.json")), cwd=ROOT).stdout
    assert table.count("\n| ") == sum(map(len, written["results"].values())) + 1
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("out", "home")] == []


def test_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    """A typing error is told with the names that there are."""
    done = run("-m", "benchmarks", "durabel", "--out", tmp_path, cwd=ROOT)
    assert done.returncode == 2
    assert "no benchmark durabel" in done.stderr
    assert "durable" in done.stderr


def test_verdicts_and_ratios() -> None:
    """A bar is met from its good side; a ratio is to the reference; a percentile is a value that was measured."""
    assert Measurement("x", 0.3, "ms", 0.1, "bare", 0.4).meets_bar is True
    assert Measurement("x", 0.5, "ms", 0.1, "bare", 0.4).meets_bar is False
    assert Measurement("x", 10, "events/s", 40, "bare", 20, "more").meets_bar is False
    assert Measurement("x", 10, "events/s", 40, "bare", 20, "more").ratio == 0.25
    assert Measurement("x", 1, "ms").meets_bar is None
    assert [percentile(range(1, 101), p) for p in (50, 95, 100)] == [50, 95, 100]
    assert percentile([7], 95) == 7
