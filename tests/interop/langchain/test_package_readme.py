"""The package's readme is a program, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.interop.programs import Program, programs, run

README = ROOT / "packages" / "langchain" / "README.md"


@pytest.mark.parametrize("program", programs(README), ids=lambda program: program.name)
def test_a_program_prints_what_it_says(program: Program, tmp_path: Path) -> None:
    """Run alone in an empty folder, to the last character."""
    done = run("-W", "error", "-c", program.text, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == program.output
    assert program.output
