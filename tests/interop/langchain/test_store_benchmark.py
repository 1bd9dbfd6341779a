"""The benchmark of the store runs."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from benchmarks import langgraph_store
from benchmarks.measuring import Plan


def test_a_quick_run_measures_every_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number is above zero and stands beside one of LangGraph's stores, or of the core."""
    monkeypatch.setattr(gc, "collect", lambda: 0)  # which looks at whatever earlier tests left, once per number
    found = langgraph_store.run(Plan(tmp_path, 0.001, None))
    assert all(item.value > 0 and item.reference for item in found)
    added = [item for item in found if item.what.startswith("added to the core's")]
    assert len(added) == 2 * len(langgraph_store.SIZES)
    assert all(item.bar == langgraph_store.OVERHEAD_BAR_MS and item.against == "the same call of the core" for item in added)
    others = {item.against for item in found if item not in added} - {langgraph_store.MEMORY}
    assert others in ({langgraph_store.SQLITE}, {langgraph_store.NO_VECTORS})
