"""Run benchmarks, print their tables, write them as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks import (
    bulk,
    cold,
    durable,
    imports,
    langgraph_store,
    llamaindex,
    mcp_start,
    purge,
    quality,
    recall,
    space,
    steady,
    upkeep,
    with_model,
)
from benchmarks.measuring import COLUMNS, Measurement, Plan, cells
from indelible import __version__

BENCHMARKS: dict[str, Callable[[Plan], list[Measurement]]] = {
    "durable": durable.run,
    "bulk": bulk.run,
    "with_model": with_model.run,
    "imports": imports.run,
    "cold": cold.run,
    "recall": recall.run,
    "upkeep": upkeep.run,
    "purge": purge.run,
    "space": space.run,
    "steady": steady.run,
    "quality": quality.run,
    "langgraph_store": langgraph_store.run,
    "llamaindex": llamaindex.run,
    "mcp_start": mcp_start.run,
}
BUSY = 0.7
"""Runnable processes in the last minute, from which on the machine does not count as quiet."""
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Each number stands beside a physical reference of the same run."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"which: {' '.join(BENCHMARKS)} (all)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the JSON file (benchmarks/results)")
    parser.add_argument("--folder", type=Path, help="measure on the disk of this folder (that of temporary files)")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="interpreter that has matplotlib, for pictures (this one)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="less than 1 for a quick look with smaller sizes (1)")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: there are {', '.join(BENCHMARKS)}")
    for name in [name for name in os.environ if name.startswith(("MEMORY_", "SENSE_MEMORY_"))]:
        del os.environ[name]  # a user's own settings would change what is measured
    ran_on = machine()
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    data = os.environ.get("INDELIBLE_DATA")
    if ran_on["load"] > BUSY:
        console.print(Text(f"other programs keep this machine busy (load {ran_on['load']}): only the ratios mean something", style="bold"))
    results: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="indelible-bench-", dir=arguments.folder) as folder:
        plan = Plan(Path(folder), arguments.scale, Path(data) if data else None, arguments.out.absolute(), arguments.python.absolute())
        for name in arguments.names or BENCHMARKS:
            found = BENCHMARKS[name](plan)
            show(console, name, found)
            results[name] = [measurement.as_json() for measurement in found]
    written = {"machine": ran_on, "scale": arguments.scale, "results": results}
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
    file.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    console.print(Text(f"written to {file}"))


def show(console: Console, name: str, found: list[Measurement]) -> None:
    """Print one benchmark's table."""
    table = Table(title=name, title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in ("value", "ratio") else "left")
    for item in found:
        table.add_row(*map(Text, cells(item)))
    console.print(table)


def machine() -> dict[str, Any]:
    """What it ran on."""
    return {
        "release": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


if __name__ == "__main__":
    main()
