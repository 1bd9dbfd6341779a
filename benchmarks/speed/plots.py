"""Latency against size, a picture per row: ``python -m benchmarks.speed.plots FILE OUT``. Needs matplotlib, and nothing of Indelible."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Style(NamedTuple):
    """How a store is drawn, in every picture alike."""

    color: str
    marker: str
    line: str
    width: float


# Told apart by colour-blind eyes and in print: every one has a marker of its own, references are dashed, ours is thick.
STYLES = {
    "indelible": Style("black", "o", "-", 3.2),
    "numpy": Style("tab:gray", "x", "--", 1.2),
    "int8": Style("tab:brown", "+", "--", 1.2),
    "chroma": Style("tab:orange", "s", "-", 1.3),
    "lancedb": Style("tab:green", "^", "-", 1.3),
    "sqlite-vec": Style("tab:blue", "D", "-", 1.3),
    "langgraph": Style("tab:purple", "v", "-", 1.3),
}
OURS = "indelible"
USERS_ALPHA = (1.0, 0.6, 0.35, 0.2)
"""How strong a store's lines are when there are several, one for each number of users, from the least users on."""
Points = list[tuple[int, float, float]]


class Line(NamedTuple):
    """What a line of a picture is about.

    Attributes:
        name: of the store.
        users: among whom the records are.
        aside: whether the store does not do what the row asks for.
    """

    name: str
    users: int
    aside: bool = False


def series(runs: list[dict[str, Any]]) -> dict[str, dict[Line, Points]]:
    """By row and line: size, p50 and p95, by ascending size."""
    found: dict[str, dict[Line, Points]] = {}
    for run in sorted(runs, key=lambda run: run["size"]):
        for what, row in run["rows"].items():
            for name, cell in row.items():
                if "p50" in cell:
                    line = Line(name, run["users"], "aside" in cell)
                    found.setdefault(what, {}).setdefault(line, []).append((run["size"], cell["p50"], cell["p95"]))
    return found


def label(line: Line, *, several: bool) -> str:
    """Of a line: in brackets what does not count, with the users where there are several numbers of them."""
    name = f"{line.name}, {line.users:,} users" if several else line.name
    return f"({name})" if line.aside else name


def file_name(what: str) -> str:
    """Of a row's picture: the same in every run."""
    return f"speed-{re.sub('[^a-z0-9]+', '-', what.lower()).strip('-')}.png"


def draw(runs: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Draw every row that has a figure.

    Raises:
        ImportError: matplotlib is not installed.
    """
    importlib.import_module("matplotlib").use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    ticks: Any = importlib.import_module("matplotlib.ticker")
    written = []
    for what, lines in series(runs).items():
        figure, axes = pyplot.subplots(figsize=(8, 4.8))
        unit = next((cell["unit"] for run in runs for cell in run["rows"].get(what, {}).values() if "unit" in cell), "ms")
        _lines(axes, lines)
        shaded = (
            ", ours shaded to p95" if any(high > middle for line in lines if line.name == OURS for _, middle, high in lines[line]) else ""
        )
        axes.set(xscale="log", yscale="log", xlabel="records", ylabel=f"{unit}: p50{shaded}", title=what)
        sizes = sorted({size for points in lines.values() for size, _, _ in points})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.xaxis.set_minor_formatter(ticks.NullFormatter())
        axes.yaxis.set_major_formatter(ticks.FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(ticks.LogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.4)))
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.grid(visible=True, which="minor", alpha=0.1)
        written.append(folder / file_name(what))
        figure.savefig(written[-1], dpi=120, bbox_inches="tight")
        pyplot.close(figure)
    return written


def _lines(axes: Any, lines: dict[Line, Points]) -> None:
    """All lines, and beside them their names in the order in which the lines end."""
    numbers = sorted({line.users for line in lines})
    for line, points in sorted(lines.items(), key=lambda item: -item[1][-1][1]):
        sizes, middle, high = zip(*points, strict=True)
        style = STYLES.get(line.name, Style("tab:red", "*", "-", 1.3))
        alpha = USERS_ALPHA[min(numbers.index(line.users), len(USERS_ALPHA) - 1)]
        ours = line.name == OURS
        axes.plot(
            sizes,
            middle,
            label=label(line, several=len(numbers) > 1),
            color=style.color,
            marker=style.marker,
            markersize=8 if ours else 6,
            linestyle=":" if line.aside else style.line,
            linewidth=style.width,
            alpha=alpha,
            zorder=4 if ours else 3,
        )
        if ours:
            # Of one store alone: seven shades over one another are mud.
            axes.fill_between(sizes, middle, high, color=style.color, alpha=0.12 * alpha, linewidth=0)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def main() -> None:
    """Draw a file of results."""
    runs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["runs"]
    print(f"{len(draw(runs, Path(sys.argv[2])))} pictures in {sys.argv[2]}")


if __name__ == "__main__":
    main()
