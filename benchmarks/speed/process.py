"""A worker as seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Unable(Exception):
    """A store cannot be measured in this; says why."""


class Process:
    """A store in a process of its own.

    Args:
        python: its interpreter.
        name: of the store.
        folder: the store's.
        size, users: of the corpus.

    Raises:
        Unable: it is not installed, or its process does not start.
    """

    def __init__(self, python: Path, name: str, folder: Path, size: int, users: int) -> None:
        command = [str(python), "-m", "benchmarks.speed.worker", name, str(folder), str(size), str(users)]
        # Where a shell forbids writing bytecode, every process would compile what is imported on first use, within what is timed.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Its errors go into a file: a pipe that nobody reads would fill and stop it.
        self._errors = folder.with_name(f"{folder.name}.err")
        with self._errors.open("a") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                bufsize=1,
                env=environment,
            )
        try:
            self.version: str = self._answer()["version"]
        except Unable:
            self.end()
            raise

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    def __call__(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Ask it to do something, and wait.

        Raises:
            Unable: it cannot, or its process ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Unable("its process ended") from None
        return self._answer()

    def end(self) -> None:
        """Let it end."""
        try:
            self._process.communicate(timeout=60)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.end()
            written = self._errors.read_text(errors="replace").strip().splitlines()
            raise Unable(f"its process ended: {written[-1][:200] if written else 'without a word'}")
        answer: dict[str, Any] = json.loads(line)
        if "reason" in answer:
            raise Unable(answer["reason"])
        return answer
