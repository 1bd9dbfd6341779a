"""The benchmark of the store runs."""

from __future__ import annotations

from pathlib import Path

from benchmarks import langgraph_store
from benchmarks.measuring import Plan


def test_a_quick_run_measures_every_size(tmp_path: Path) -> None:
    """Each number is above zero and stands beside one of LangGraph's stores, or of the core."""
    found = langgraph_store.run(Plan(tmp_path, 0.001, None))
    assert all(item.value > 0 and item.reference for item in found)
    whats = [item.what for item in found]
    assert [what.split(",")[0] for what in whats if what.startswith("added")] == ["added to the core's search"] * len(langgraph_store.SIZES)
    others = {item.against for item in found} - {langgraph_store.MEMORY, "the core's search"}
    assert others in ({langgraph_store.SQLITE}, {langgraph_store.NO_VECTORS})
