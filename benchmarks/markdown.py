"""A file of results as the table of the readme: ``python -m benchmarks.markdown FILE``."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.measuring import COLUMNS, Measurement, cells


def markdown(written: dict[str, Any]) -> str:
    """What a run wrote, as Markdown.

    Args:
        written: the file, read.
    """
    machine = written["machine"]
    lines = [
        f"{machine['date']}: release {machine['release']}, CPython {machine['python']}, SQLite {machine['sqlite']}, {machine['system']}, "
        f"{machine['cores']} cores; load when it began {machine['load']}, scale {written['scale']:g}.",
        "",
        f"| benchmark | {' | '.join(COLUMNS)} |",
        f"|{'---|' * (len(COLUMNS) + 1)}",
    ]
    names = [field.name for field in fields(Measurement)]
    for benchmark, found in written["results"].items():
        for number, item in enumerate(found):
            row = cells(Measurement(**{name: item[name] for name in names}))
            lines.append(f"| {benchmark if number == 0 else ''} | {' | '.join(row)} |")
    return "\n".join(lines)


def main() -> None:
    """Read a file, print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.markdown", description="Print a file of results as a Markdown table.")
    parser.add_argument("file", type=Path, help="a JSON file that a run wrote")
    print(markdown(json.loads(parser.parse_args().file.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
