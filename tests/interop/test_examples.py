"""Every example runs and prints what its comments say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.interop.programs import promised, run

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith("demo"))
WANTED = {"quickstart", "keyvalue", "time_travel", "scopes_and_expiry", "async_store", "bring_your_own_embedder"}
WANTED |= {"langgraph_store_time_travel", "langmem_tools"}
WANTED |= {"langchain_agent", "langchain_chain_memory", "langchain_rag", "langchain_reindex"}
WANTED |= {"llamaindex_query_engine", "llamaindex_ingestion", "llamaindex_agent"}


def test_the_examples_are_there() -> None:
    """None is lost by a rename."""
    assert {path.stem for path in EXAMPLES} >= WANTED


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(example: Path, tmp_path: Path) -> None:
    """Run from another folder, it prints its ``# ->`` comments and leaves nothing behind."""
    done = run("-W", "error", example, cwd=tmp_path)
    assert done.stderr == ""
    expected = promised(example.read_text(encoding="utf-8"))
    assert expected
    assert done.stdout == expected
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []
    assert not list(example.parent.glob(".sense_memory*"))
