"""Programs of the documentation: finding them, running them, and what they say they print. No test of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"^\s*# ->(?: (.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A program and the output it promises.

    Attributes:
        name: where it stands.
        text: the program.
        output: what it prints, to the last character.
    """

    name: str
    text: str
    output: str


def promised(text: str) -> str:
    """What the ``# ->`` comments of a program say it prints, a line each."""
    return "".join(f"{line}\n" for line in _COMMENT.findall(text))


def blocks(document: str) -> list[tuple[str, str]]:
    """Language and text of each fenced block of a document, in order."""
    return _BLOCK.findall(document)


def programs(path: Path) -> list[Program]:
    """The Python programs of a document, each with its output: the ``text`` block that comes next, or its comments."""
    found = blocks(path.read_text(encoding="utf-8"))
    result = []
    for number, (language, text) in enumerate(found):
        if language == "python":
            follows = found[number + 1] if number + 1 < len(found) else ("", "")
            result.append(Program(f"{path.parent.name}/{path.name}:{number}", text, follows[1] if follows[0] == "text" else promised(text)))
    return result


def run(*command: str | int | Path, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments, in a folder, its output as UTF-8 text."""
    words = [sys.executable, "-X", "utf8", *map(str, command)]
    return subprocess.run(words, cwd=cwd, capture_output=True, encoding="utf-8", timeout=timeout, check=False)
