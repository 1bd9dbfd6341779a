"""What the demo prints, and the claims in it: each is checked as it is made, and a false one ends the program with an error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

# A pipe has no width of its own, and tables of 80 columns would show little of a text.
console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
claims: list[str] = []
"""Every claim made so far; all of them were true, or the program would have ended."""

_COUNT = """
import os, sys
secret = sys.argv[1].encode()
for path in sys.argv[2:]:
    if os.path.exists(path):
        with open(path, "rb") as file:
            print(os.path.basename(path), file.read().count(secret))
"""


def claim(text: str, condition: bool) -> None:
    """Print a sentence if it is true.

    Args:
        text: the sentence.
        condition: whether it is.

    Raises:
        SystemExit: it is not; the exit code is 1.
    """
    if not condition:
        console.print(Text(f"  ✗ {text}", style="bold red"))
        sys.exit(f"the demo made a false claim: {text}")
    claims.append(text)
    console.print(Text(f"  ✓ {text}", style="green"))


def chapter(title: str) -> None:
    """Begin a chapter."""
    console.print()
    console.rule(Text(title, style="bold"), align="left")


def say(text: str) -> None:
    """Print plain text; nothing in it is markup."""
    console.print(Text(f"  {text}"))


def show_prompt(prompt: str) -> None:
    """Print a composed prompt as it is."""
    console.print(Panel(Text(prompt), title="the prompt", title_align="left", border_style="dim"))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: Sequence[int] = ()) -> None:
    """Print a table.

    Args:
        title: stands above it.
        columns: their headings.
        rows: the cells, as text.
        wide: columns that share the room that is left; the others are as narrow as they can be.
    """
    made = Table(title=Text(title), title_justify="left", title_style="italic", header_style="bold", expand=bool(wide))
    for number, column in enumerate(columns):
        made.add_column(column, ratio=1 if number in wide else None, no_wrap=True, overflow="ellipsis")
    for row in rows:
        made.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(made)


def one_line(text: str) -> str:
    """Text with every run of white space as one space, to stand in a cell."""
    return " ".join(text.split())


def occurrences(secret: str, path: Path) -> dict[str, int]:
    """How often a text stands in the bytes of a database file and of its side files.

    Another process reads them: on POSIX systems a program that opens the files of its own open database and closes them again loses
    the locks that it holds on it.
    """
    files = [str(path) + suffix for suffix in ("", "-wal", "-shm")]
    command = [sys.executable, "-I", "-c", _COUNT, secret, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return {name: int(count) for name, count in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}


def in_words(counts: dict[str, int]) -> str:
    """``notes.db 3, notes.db-wal 1``."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())
