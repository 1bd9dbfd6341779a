"""What the tools load, and what they say where it is missing."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.test_light_import import HEAVY, loaded_by
from tests.interop.programs import run


def test_importing_the_tools_is_light() -> None:
    """Neither pydantic nor anything else that takes its time; a schema, or a toolbox, loads pydantic."""
    assert not loaded_by("import indelible.tools") & (HEAVY | {"anthropic", "mcp"})
    assert "pydantic" in loaded_by("from indelible.tools import TOOLS, schemas\nschemas(TOOLS)")


def test_without_pydantic_it_says_what_to_install(tmp_path: Path) -> None:
    """When a toolbox is made, where the program hears of it, and not at the import or at a call."""
    program = "import sys\nsys.modules['pydantic'] = None\nfrom indelible import MemoryStore\nfrom indelible.tools import Toolbox\n"
    assert run("-c", f"{program}print('fine')", cwd=tmp_path).stdout == "fine\n"
    done = run("-c", f"{program}Toolbox(MemoryStore(':memory:').scope('a', 'b'))", cwd=tmp_path)
    assert "MissingExtra" in done.stderr
    assert 'pip install "indelible[tools]"' in done.stderr
