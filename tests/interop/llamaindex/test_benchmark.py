"""The benchmark of the vector store, at a size that shows only that it runs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.llamaindex import CHROMA, OURS, OVERHEAD_BAR_MS, run
from benchmarks.measuring import Plan


def test_the_benchmark_of_the_vector_store_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every size has its rows beside the store in memory, ours finds all of the nearest, and a store that is left out is named once."""
    found = run(Plan(tmp_path, 0.001, None))
    assert all(row.value > 0 for row in found)
    for kind in ("nodes an add", "query by vector, ", "and filter, 1 in 100", "and two filters, 1 in 4", "added to the core's search"):
        assert len({row.what for row in found if kind in row.what}) >= 2
    assert {row.value for row in found if OURS in row.what} == {100.0}
    assert {row.bar for row in found if row.bar is not None} == {OVERHEAD_BAR_MS}
    assert capsys.readouterr().err.count(f"without {CHROMA}") == (find_spec("chromadb") is None)
