"""The pages about agents are programs: each runs as it stands, and prints what stands there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.conftest import Require
from tests.interop.programs import programs, run

PAGES = {"langchain": ROOT / "docs" / "langchain.md", "llama_index": ROOT / "docs" / "llamaindex.md"}


@pytest.mark.parametrize("package", PAGES)
def test_a_page_prints_what_it_says(package: str, tmp_path: Path, require: Require) -> None:
    """Run alone in an empty folder, to the last character."""
    require(find_spec(package) is not None, f"needs the package {package}")
    (program,) = programs(PAGES[package])
    done = run("-c", program.text, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (program.output, "")
    assert program.output
