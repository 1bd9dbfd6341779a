"""Latency against size, a picture per row: ``python -m benchmarks.speed.plots FILE OUT``. Needs matplotlib, and nothing of Indelible."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any


def series(runs: list[dict[str, Any]]) -> dict[str, dict[str, list[tuple[int, float, float]]]]:
    """By row and store: size, p50 and p95, by ascending size; several numbers of users make several stores of a name."""
    users = {run["users"] for run in runs}
    found: dict[str, dict[str, list[tuple[int, float, float]]]] = {}
    for run in sorted(runs, key=lambda run: run["size"]):
        for what, row in run["rows"].items():
            for name, cell in row.items():
                if "p50" in cell:
                    label = name if len(users) == 1 else f"{name}, {run['users']} users"
                    found.setdefault(what, {}).setdefault(label, []).append((run["size"], cell["p50"], cell["p95"]))
    return found


def file_name(what: str) -> str:
    """Of a row's picture."""
    return f"{re.sub('[^a-z0-9]+', '-', what.lower()).strip('-')}.png"


def draw(runs: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Draw every row that has a figure.

    Raises:
        ImportError: matplotlib is not installed.
    """
    importlib.import_module("matplotlib").use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    written = []
    for what, lines in series(runs).items():
        figure, axes = pyplot.subplots(figsize=(7, 4.5))
        unit = next((cell["unit"] for run in runs for cell in run["rows"].get(what, {}).values() if "unit" in cell), "ms")
        for name, points in lines.items():
            sizes, middle, high = zip(*points, strict=True)
            axes.plot(sizes, middle, marker="o", label=name, linewidth=2.5 if name.startswith("indelible") else 1.2)
            axes.fill_between(sizes, middle, high, alpha=0.12)
        axes.set(xscale="log", yscale="log", xlabel="records", ylabel=f"{unit}: p50, shaded to p95", title=what)
        axes.legend(fontsize="small")
        axes.grid(visible=True, which="both", alpha=0.2)
        written.append(folder / file_name(what))
        figure.savefig(written[-1], dpi=110, bbox_inches="tight")
        pyplot.close(figure)
    return written


def main() -> None:
    """Draw a file of results."""
    runs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["runs"]
    print(f"{len(draw(runs, Path(sys.argv[2])))} pictures")


if __name__ == "__main__":
    main()
