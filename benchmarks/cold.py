"""The first answer of a fresh process, from the start of Python to its end, on a store of twenty thousand facts."""

from __future__ import annotations

from benchmarks.filled import filled
from benchmarks.measuring import Measurement, Plan, median, processes_in_turn
from benchmarks.texts import sentences

ROUNDS = 15
SEARCH_BAR_MS = 150.0
RECALL_BAR_MS = 600.0


def run(plan: Plan) -> list[Measurement]:
    """Start processes that open the store and ask once."""
    path = str(filled(plan))
    words = " ".join(sentences(1, seed=3)[0].split()[-2:])
    scope = "agent_id='bench', user_id='user 3'"
    command = ["--db", path, "search", words, "--agent-id", "bench", "--user-id", "user 3"]
    spent = processes_in_turn(
        {
            "open": f"import sqlite3\nsqlite3.connect({path!r}).execute('SELECT count(*) FROM meta').fetchone()",
            "imports": "import numpy, onnxruntime, tokenizers",
            "search": f"from indelible import MemoryStore\nassert MemoryStore({path!r}).search({words!r}, match='any', {scope})",
            "recall": f"from indelible import MemoryStore\nassert MemoryStore({path!r}).recall({words!r}, {scope})",
            "command": f"import sys\nfrom indelible.cli import main\nsys.exit(main({command!r}))",
            "hybrid": f"from indelible import MemoryStore\nassert MemoryStore({path!r}).recall({words!r}, mode='hybrid', {scope})",
        },
        plan.times(ROUNDS),
    )
    ms = {name: 1000 * median(times) for name, times in spent.items()}
    opening, importing = "Python that opens the file with sqlite3", "Python that imports numpy, onnxruntime and tokenizers"
    return [
        Measurement(opening, ms["open"], "ms"),
        Measurement(importing, ms["imports"], "ms"),
        Measurement("first keyword search", ms["search"], "ms", ms["open"], opening, SEARCH_BAR_MS),
        Measurement("the command `indelible search`", ms["command"], "ms", ms["open"], opening, SEARCH_BAR_MS),
        Measurement("first recall, bundled model", ms["recall"], "ms", ms["imports"], importing, RECALL_BAR_MS),
        Measurement("first hybrid recall, bundled model", ms["hybrid"], "ms", ms["imports"], importing, RECALL_BAR_MS),
    ]
