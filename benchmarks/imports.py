"""What an import costs beyond bare Python."""

from __future__ import annotations

from benchmarks.measuring import Measurement, Plan, median, processes_in_turn

ROUNDS = 40
BAR_MS = 60.0
PROGRAMS = {
    "bare": "pass",
    "import indelible": "import indelible",
    "from indelible import PersistentMemory": "from indelible import PersistentMemory",
    "from indelible import MemoryStore": "from indelible import MemoryStore",
}


def run(plan: Plan) -> list[Measurement]:
    """Start processes that import and end, in turn with processes that only end."""
    spent = processes_in_turn(PROGRAMS, plan.times(ROUNDS))
    bare = 1000 * median(spent.pop("bare"))
    found = [Measurement("python -c pass", bare, "ms")]
    for name, times in spent.items():
        found.append(Measurement(f"{name}, beyond bare Python", 1000 * median(times) - bare, "ms", bare, "python -c pass", BAR_MS))
    return found
