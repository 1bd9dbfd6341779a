"""Calling the command line, in this process and as a process of its own. No test of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from click.testing import CliRunner, Result

from indelible.cli.application import application

MAIN = "import sys; from indelible.cli import main; sys.exit(main())"
"""What the installed script does."""


class Cli:
    """Calls on one store, for one agent and user.

    Args:
        path: the store's file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.variables = {"MEMORY_DB_PATH": str(path), "MEMORY_AGENT_ID": "bot", "MEMORY_USER_ID": "ada"}

    def call(self, *arguments: str, stdin: str | bytes | None = None, **variables: str | None) -> Result:
        """One call in this process, however it ends; a variable that is ``None`` is not set."""
        return CliRunner().invoke(application, arguments, input=stdin, env={**self.variables, **variables})

    def good(self, *arguments: str, stdin: str | bytes | None = None, **variables: str | None) -> str:
        """The result of a call that must succeed and have nothing to complain about."""
        done = self.call(*arguments, stdin=stdin, **variables)
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        return done.stdout

    def json(self, verb: str, *arguments: str, stdin: str | bytes | None = None, **variables: str | None) -> Any:
        """The one document of a call that must succeed."""
        return json.loads(self.good(verb, "--json", *arguments, stdin=stdin, **variables))

    def bad(self, code: int, *arguments: str, stdin: str | bytes | None = None, **variables: str | None) -> str:
        """The one line that a call must fail with; it has no result."""
        done = self.call(*arguments, stdin=stdin, **variables)
        assert (done.exit_code, done.stdout) == (code, ""), done.output
        line = done.stderr.removesuffix("\n")
        assert line.startswith("indelible: ")
        assert line.isprintable()
        return line

    def remember(self, content: str, *arguments: str) -> str:
        """The id of a new memory."""
        return str(self.json("remember", content, *arguments)["id"])

    def contents(self, verb: str, *arguments: str, **variables: str | None) -> list[str]:
        """The contents that a call lists."""
        return [item["content"] for item in self.json(verb, *arguments, **variables)]


def run(
    arguments: Sequence[str], *, program: str = MAIN, variables: dict[str, str] | None = None, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """One call in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **(variables or {})},
        timeout=120,
        check=False,
    )
