"""Calls as processes of their own: what they load, and several on one store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import Require
from tests.unit.cli.command import MAIN, Cli, run

LOADED = """
import sys
from indelible.cli import main
code = main()
sys.stdout.flush()
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""
HEAVY = {"numpy", "onnxruntime", "tokenizers", "rich", "pydantic", "asyncio", "snowballstemmer"}
MODELS = ("onnxruntime", "tokenizers", "indelible_models")


def loaded(cli: Cli, *arguments: str) -> set[str]:
    done = run(arguments, program=LOADED, variables=cli.variables)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.decode().split())


@pytest.mark.parametrize("verb", [["search", "tea"], ["list"], ["history"], ["get"], ["scopes"], ["path"], ["--help"], ["list", "--json"]])
def test_reading_is_light(cli: Cli, verb: list[str]) -> None:
    """S51: words, lists and history load no model, no number cruncher and, off a terminal, no tables."""
    note = cli.remember("green tea")
    modules = loaded(cli, *verb, *([note] if verb[0] in ("history", "get") else []))
    assert "click" in modules
    assert not modules & HEAVY


def test_fast_loads_no_runtime(cli: Cli, require: Require) -> None:
    """--fast never loads the model's runtime for a query; the documents' vectors are the model's own."""
    require(all(find_spec(name) for name in MODELS), "needs the bundled models: pip install 'indelible[embed]'")
    assert run(["remember", "Ada prefers green tea"], variables=cli.variables).returncode == 0
    assert "onnxruntime" not in loaded(cli, "recall", "what does she drink?", "--fast")
    assert "onnxruntime" in loaded(cli, "recall", "what does she drink?")
    vectors = json.loads(run(["health", "--json"], variables=cli.variables).stdout)["vectors"]
    assert [json.loads(model)[2] for model in vectors] == ["bge-256"]


def test_one_process_after_the_other(cli: Cli) -> None:
    """S48, S85: the store of the variable, one process writes and the next one reads."""
    written = json.loads(run(["remember", "from one process", "--json"], variables=cli.variables).stdout)
    found = json.loads(run(["search", "process", "--json"], variables=cli.variables).stdout)
    assert [hit["id"] for hit in found] == [written["id"]]
    assert cli.path.exists()


def test_the_default_store(tmp_path: Path) -> None:
    """S85: without option and variable, the home folder's; private to its owner."""
    variables = {"MEMORY_AGENT_ID": "bot", "MEMORY_USER_ID": "ada", "MEMORY_DB_PATH": ""}
    assert run(["remember", "at home"], variables=variables).returncode == 0
    made = tmp_path / "home" / ".memory" / "default.db"
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700


def test_processes_that_write_at_once(cli: Cli) -> None:
    """S15: every write lands, as a version of its own; none is told that the store is locked."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", MAIN, "import", "-", "--format", "lines"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **cli.variables, "MEMORY_USER_ID": f"user {number}"},
        )
        for number in range(3)
    ]
    for number, writer in enumerate(writers):
        assert writer.stdin is not None
        writer.stdin.write("".join(f"note {number}.{line}\n" for line in range(20)).encode())
        writer.stdin.close()
        writer.stdin = None
    for writer in writers:
        _, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, b"")
    assert [scope["memories"] for scope in cli.json("scopes")] == [20, 20, 20]
    assert cli.json("verify")["events"] == 60
