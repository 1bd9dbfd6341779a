"""``python -m benchmarks.speed``: fill, ask, print the tables, write them as JSON, draw them."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.__main__ import BUSY, RESULTS, machine
from benchmarks.speed.engines import INT8, OURS, PEERS, PHYSICAL
from benchmarks.speed.keep import Kept
from benchmarks.speed.measure import Run
from benchmarks.speed.process import ROOT
from benchmarks.speed.table import columns, lines, markdown, notes
from indelible.faces.engine import CACHE_VARIABLE


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="How fast, beside other stores, in one run.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000], help="records (1000 10000 100000)")
    parser.add_argument(
        "--users", type=int, nargs="+", default=[100], help="users among whom they are; each number is a run of its own (100)"
    )
    parser.add_argument("--folder", type=Path, help="measure on the disk of this folder (that of temporary files)")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep filled stores here, and take those that a run before left (none are kept)"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the JSON file and the pictures (benchmarks/results)")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, metavar="NAME", help=f"which: {' '.join(PEERS)} (all)")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter that has benchmarks/requirements-peers.txt")
    parser.add_argument("--only", default="", metavar="REGEX", help="only rows whose name matches")
    parser.add_argument("--rounds", type=int, default=100, help="questions a row (100)")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds for a store's questions of a row, ten questions at least (5)")
    parser.add_argument("--cache-mib", type=int, metavar="N", help="memory in which ours keeps slices that it has read (its default, 1024)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="print a file that a run wrote as Markdown, and run nothing")
    arguments = parser.parse_args()
    if arguments.markdown is not None:
        print("\n\n".join(markdown(run) for run in json.loads(arguments.markdown.read_text(encoding="utf-8"))["runs"]))
        return
    for name in [name for name in os.environ if name.startswith(("MEMORY_", "SENSE_MEMORY_"))]:
        del os.environ[name]  # a user's own settings would change what is measured
    if arguments.cache_mib is not None:
        os.environ[CACHE_VARIABLE] = str(arguments.cache_mib << 20)
    ran_on = machine()
    console = Console(width=None if sys.stdout.isatty() else 220, highlight=False)
    if ran_on["load"] > BUSY:
        console.print(Text(f"other programs keep this machine busy (load {ran_on['load']}): only the ratios mean something", style="bold"))
    ours = Path(sys.executable)
    pythons = {OURS: ours, PHYSICAL: ours, INT8: ours, **{name: arguments.python.absolute() for name in arguments.peers}}
    wanted = re.compile(arguments.only)
    runs = []
    for size in arguments.sizes:
        for users in arguments.users:
            with tempfile.TemporaryDirectory(prefix="indelible-speed-", dir=arguments.folder) as folder:
                run = Run(
                    folder=Path(folder),
                    size=size,
                    users=min(users, size),
                    pythons=pythons,
                    rounds=arguments.rounds,
                    budget=arguments.budget,
                    wanted=lambda what: bool(wanted.search(what)),
                    keep=Kept(arguments.keep.absolute(), size, min(users, size)) if arguments.keep else None,
                    say=lambda doing: print(doing, file=sys.stderr, flush=True),
                )
                run.all()
            runs.append(run.as_json())
            table = Table(title=f"{size:,} records of {run.users:,} users", title_justify="left")
            for head in columns(runs[-1]):
                table.add_column(head, no_wrap=head == columns(runs[-1])[0])
            for cells in lines(runs[-1]):
                table.add_row(*map(Text, cells))
            console.print(table)
            for note in notes(runs[-1]):
                console.print(Text(note))
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"speed-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
    file.write_text(json.dumps({"machine": ran_on, "cache_mib": arguments.cache_mib, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    console.print(Text(f"written to {file}"))
    # Where matplotlib is, which need not be here.
    drawn = subprocess.run(
        [arguments.python.absolute(), "-m", "benchmarks.speed.plots", file.absolute(), arguments.out.absolute()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    console.print(Text(drawn.stdout.strip() if drawn.returncode == 0 else f"no pictures: {drawn.stderr.strip().splitlines()[-1]}"))


if __name__ == "__main__":
    main()
