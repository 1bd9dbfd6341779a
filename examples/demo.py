"""What Indelible does, in one run: ``make demo``, or ``python examples/demo.py [--data FOLDER] [--seed N]``.

Every claim that is printed is checked; a false one ends the program with exit code 1. FOLDER has ``corpus.jsonl``, ``queries.jsonl`` and
``qrels.tsv`` as in ``examples/data/longmemeval_sample``; the seed decides which questions are drawn.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import sqlite3
import tempfile
import time
from pathlib import Path

import demo_changes
import demo_conversation
import demo_keyvalue
import demo_questions
from data.make_sample import Conversations
from demo_claims import chapter, claims, console, say, table

from indelible import MemoryStore, __version__
from indelible.testing import FakeClock

SAMPLE = Path(__file__).resolve().parent / "data" / "longmemeval_sample"


def main() -> None:
    """Run both parts in a folder that is removed at the end."""
    parser = argparse.ArgumentParser(description="What Indelible does, in one run; every claim that is printed is checked.")
    parser.add_argument("--data", type=Path, default=SAMPLE, help="a folder with corpus.jsonl, queries.jsonl and qrels.tsv")
    parser.add_argument("--seed", type=int, default=0, help="draws the questions that are shown (0)")
    arguments = parser.parse_args()
    began = time.perf_counter()
    for name in [name for name in os.environ if name.startswith(("MEMORY_", "SENSE_MEMORY_"))]:
        del os.environ[name]  # your own settings would change what is shown
    say(f"Indelible {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    source = demo_conversation.take(arguments.data, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="indelible-demo-") as name:
        folder = Path(name)
        demo_keyvalue.run(folder)
        measured = conversation(folder, source, arguments.seed, bundled=arguments.data.resolve() == SAMPLE)
    chapter("Measured in this run")
    table(f"data {arguments.data.name}, seed {arguments.seed}", ["what", "value"], [[what, value] for what, value in measured.items()])
    console.print(f"\n  {len(claims)} claims, all true. {time.perf_counter() - began:.1f} seconds.")


def conversation(folder: Path, source: Conversations, seed: int, *, bundled: bool) -> dict[str, str]:
    """Part two; gives what it measured."""
    first = min(map(demo_conversation.date_of, source.turns.values()))
    clock = FakeClock(int(first.timestamp() * 1_000_000))
    with MemoryStore(folder / "conversations.db", clock=clock) as store:
        session = demo_conversation.Session(store, clock, source, random.Random(seed))
        demo_conversation.read_in(session)
        demo_questions.ask(session)
        demo_questions.measure(session, bundled=bundled)
        demo_conversation.look_back(session)
        demo_conversation.prompt(session)
        demo_changes.changed_fact(session)
        demo_changes.expiry(session)
        demo_changes.withdrawn_source(session)
        demo_changes.purge(session, folder)
    return session.measured


if __name__ == "__main__":
    main()
