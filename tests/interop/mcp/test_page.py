"""The page about the server is true: its program prints what stands there, its commands and settings are taken."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from indelible.cli.application import VERBS
from indelible.mcp.clients import CLIENTS
from tests.architecture.source_tree import ROOT
from tests.interop.mcp.test_every_tool import TOOLS
from tests.interop.programs import Program, blocks, programs, run

PAGE = ROOT / "docs" / "mcp.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINES = [line for language, text in blocks(TEXT) if not language for line in text.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("indelible mcp")]


@pytest.mark.parametrize("program", programs(PAGE), ids=lambda program: program.name)
def test_a_program_prints_what_it_says(program: Program, tmp_path: Path) -> None:
    """Run alone in an empty folder."""
    done = run("-W", "error", "-c", program.text, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (program.output, "")
    assert program.output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_taken(command: str) -> None:
    """Every option that the page names is one."""
    words = shlex.split(command)
    verb = VERBS[words[1]]()[words[1]]
    assert isinstance(verb, click.Command)
    verb.make_context(command, words[2:]).close()


def test_the_settings_parse() -> None:
    """As those that are printed."""
    found = [json.loads(text) for language, text in blocks(TEXT) if language == "json"]
    assert [list(document["mcpServers"]) for document in found] == [["indelible"]]


def test_it_names_every_tool_and_client() -> None:
    """And none that there is not."""
    assert re.findall(r"^\| `(memory_\w+)`", TEXT, re.MULTILINE) == TOOLS
    sentence = TEXT[TEXT.index("It knows ") : TEXT.index("Other options of")]
    assert sorted(re.findall(r"`([\w-]+)`", sentence)) == sorted(CLIENTS)
