"""Small programs in files of their own, as a user would run them. No test of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DECLARE = "from indelible import PersistentMemory\nprint(PersistentMemory('ledger').path)\n"
"""Declares a memory without a path and says where it came to lie."""


def write(path: Path, text: str) -> Path:
    """Make a program, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: str | Path, cwd: Path, stdin: str = "", variables: dict[str, str] | None = None) -> str:
    """What the interpreter prints when it is run with these arguments in a folder."""
    done = start(arguments, cwd=cwd, stdin=stdin, variables=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def start(
    arguments: Sequence[str | Path], *, cwd: Path, stdin: str = "", variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the interpreter to its end. Its variables are ours and those given; a path to import from goes before ours."""
    given = dict(variables or {})
    if "PYTHONPATH" in given and "PYTHONPATH" in os.environ:
        given["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
