"""``python -m benchmarks.quality --data FOLDER``: ask every set of a folder in every way, print the tables, write them as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.quality import machine
from benchmarks.quality.embedding import Remembering
from benchmarks.quality.report import as_json, markdown, show
from benchmarks.quality.sets import MEMORYBANK, discover
from benchmarks.quality.ways import merged, run_all
from indelible.embed.onnx_embedder import OnnxEmbedder
from indelible.embed.static_embedder import StaticEmbedder

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description="How good recall is, in every way and beside others.")
    parser.add_argument("--data", type=Path, default=os.environ.get("INDELIBLE_DATA"), help="folder of sets (INDELIBLE_DATA)")
    parser.add_argument("--only", default="", help="only sets whose name has this in it")
    parser.add_argument("--ways", default="", help="only ways whose name matches this regular expression")
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="interpreter that has benchmarks/requirements-peers.txt")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the JSON file (benchmarks/results)")
    parser.add_argument("--vectors", type=Path, help="file that keeps vectors from one run to the next")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="print a file that a run wrote as Markdown, and run nothing")
    arguments = parser.parse_args()
    if arguments.markdown is not None:
        for written in json.loads(arguments.markdown.read_text(encoding="utf-8"))["sets"]:
            print(markdown(written) + "\n")
        return
    if arguments.data is None or not arguments.data.is_dir():
        parser.error("name a folder of sets with --data or INDELIBLE_DATA")
    for name in [name for name in os.environ if name.startswith(("MEMORY_", "SENSE_MEMORY_"))]:
        del os.environ[name]  # a user's own settings would change what is measured
    console = Console(width=None if sys.stdout.isatty() else 240, highlight=False)
    full = Remembering(OnnxEmbedder(), arguments.vectors)
    static = Remembering(StaticEmbedder())
    sets = [asked for asked in discover(arguments.data) if arguments.only in asked.name]
    if not sets:
        parser.error(f"{arguments.data} has no set that is known{f' with {arguments.only!r} in its name' if arguments.only else ''}")
    found = []
    for asked in sets:
        found.append(run_all(asked, full, static, arguments.peers, lambda doing: print(doing, file=sys.stderr), arguments.ways))
        full.save()
        show(console, found[-1])
    languages = [results for results in found if results.asked.name.startswith(MEMORYBANK)]
    if len(languages) > 1:
        found.append(merged(f"{MEMORYBANK}, both languages", languages))
        show(console, found[-1])
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"quality-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
    file.write_text(json.dumps({"machine": machine(), "sets": [as_json(results) for results in found]}, indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {file}", markup=False)


if __name__ == "__main__":
    main()
