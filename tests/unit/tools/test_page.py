"""The page about tools is made of programs: each runs, and prints exactly what stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from indelible.tools import FACT_TOOLS, FILES, TOOLS
from tests.architecture.source_tree import ROOT
from tests.interop.programs import Program, programs, run

PAGE = ROOT / "docs" / "tools.md"


@pytest.mark.parametrize("program", programs(PAGE), ids=lambda program: program.name)
def test_a_program_prints_what_it_says(program: Program, tmp_path: Path) -> None:
    """Run alone in an empty folder, to the last character."""
    done = run("-W", "error", "-c", program.text, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == program.output
    assert program.output


def test_every_tool_is_named() -> None:
    """With its arguments, in their order."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(programs(PAGE)) == 6
    for tool in TOOLS:
        arguments = ", ".join(f"`{argument.name}`" for argument in tool.fields)
        assert f"| `{tool.name}` | {arguments} |" in text
    assert all(f"`{tool.name}" in text for tool in (*FACT_TOOLS, FILES))
