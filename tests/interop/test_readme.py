"""The readmes are programs: each runs, and prints exactly what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.interop.programs import Program, blocks, programs, promised, run

READMES = [ROOT / "README.md", ROOT / "packages" / "core" / "README.md"]
PROGRAMS = [program for readme in READMES for program in programs(readme)]
FIRST_PROGRAM_LINES = 12
# An id or a time would be another one in each run: an output that holds one cannot be compared.
CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|0x[0-9a-f]{6}")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_prints_what_it_says(program: Program, tmp_path: Path) -> None:
    """Run alone in an empty folder, it prints the block or the comments beside it, to the last character."""
    # A first program may leave its store open; Python says so only where such warnings are asked for.
    done = run("-W", "error", "-W", "ignore::ResourceWarning", "-c", program.text, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == program.output
    assert program.output
    assert not CHANGING.search(program.output)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_the_first_program_is_short(readme: Path) -> None:
    """What a reader tries first has under twelve lines and shows the five verbs."""
    first = programs(readme)[0].text
    assert len(first.strip().splitlines()) < FIRST_PROGRAM_LINES
    assert all(f".{verb}(" in first for verb in ("remember", "edit", "recall", "history", "at"))


def test_every_command_is_a_verb_of_the_makefile() -> None:
    """`make demo` and `make test` are there, and so is every other `make` that the readme names."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    verbs = set(re.findall(r"\bmake ([a-z]+)", " ".join(re.findall(r"`make [^`]*`|^make .*$", text, re.MULTILINE))))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= verbs <= targets


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_it_says_when_not_to_use_it_and_what_is_tested(readme: Path) -> None:
    """Both readmes name what is tested, and when something else is the better choice."""
    text = readme.read_text(encoding="utf-8")
    assert "When not to use it" in text
    assert "CPython 3.11 on Linux x86_64 with SQLite 3.40.1" in text


def test_a_wrong_output_would_be_seen(tmp_path: Path) -> None:
    """The comparison can fail: blocks are found in order, comments are read, and another output is another output."""
    document = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n```python\nprint('a')\n# -> a\nprint()\n# ->\n```\n"
    (tmp_path / "x.md").write_text(document, encoding="utf-8")
    found = programs(tmp_path / "x.md")
    assert [program.output for program in found] == ["2\n", "a\n\n"]
    assert [run("-c", program.text, cwd=tmp_path).stdout == program.output for program in found] == [False, True]
    assert [language for language, _ in blocks(document)] == ["python", "text", "python"]
    assert promised("    # -> [1, 2]") == "[1, 2]\n"
