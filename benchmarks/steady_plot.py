"""Resident memory against operations: ``python -m benchmarks.steady_plot FILE OUT``. Needs matplotlib, and nothing of Indelible."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

PICTURE = "steady.png"
LINES = {
    "resident": ("resident memory", "black", 3.2, "-"),
    "file": ("the file", "tab:blue", 1.3, "--"),
    "cached": ("in caches", "tab:green", 1.3, ":"),
}


def draw(samples: list[dict[str, int]], folder: Path) -> Path:
    """Draw what grew and what did not, all in MiB.

    Raises:
        ImportError: matplotlib is not installed.
    """
    importlib.import_module("matplotlib").use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(8, 4.8))
    operations = [sample["operations"] for sample in samples]
    for name, (label, color, width, line) in LINES.items():
        numbers = [sample[name] / 2**20 for sample in samples]
        axes.plot(operations, numbers, label=label, color=color, linewidth=width, linestyle=line)
    axes.axvspan(0, operations[-1] / 5, color="black", alpha=0.06, linewidth=0, label="warm-up")
    axes.set(xlabel="operations", ylabel="MiB", title="memory over mixed operations", ylim=(0, None), xlim=(0, operations[-1]))
    axes.xaxis.set_major_formatter(importlib.import_module("matplotlib.ticker").StrMethodFormatter("{x:,.0f}"))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    file = folder / PICTURE
    figure.savefig(file, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
    return file


def main() -> None:
    """Draw a file of samples."""
    print(f"drawn: {draw(json.loads(Path(sys.argv[1]).read_text(encoding='utf-8')), Path(sys.argv[2]))}")


if __name__ == "__main__":
    main()
