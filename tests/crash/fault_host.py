"""A process under the fault shim: runs one scenario after the other, each in a forked child, as told on its standard input.

Started as ``python -m tests.crash.fault_host`` with the shim preloaded. A job is a line of JSON with the fields of ``faults.Job``; the
answer is a line with what the child said and how it ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

from indelible.backend.sqlite.pragmas import PRAGMAS
from indelible.errors import IndelibleError
from tests.crash.checker import ONE
from tests.crash.children import Child, Say, listen, start
from tests.crash.engine import open_engine, put
from tests.crash.scenarios import SCENARIOS

DATABASE, WAL = 0, 1


def perform(job: dict[str, Any], say: Say) -> None:
    """Carry out a scenario with the fault armed; if it survives, see that the store works again once the fault is over."""
    shim = ctypes.CDLL(None)
    path: str = job["path"]
    unsynced: list[int] = []

    def acknowledge(line: str) -> None:
        unsynced.append(shim.fault_unsynced(WAL))
        say(line)

    if job["unsafe"]:
        PRAGMAS["synchronous"] = 0
    steps = SCENARIOS[job["scenario"]](path, acknowledge)
    backend = next(steps)
    unsynced.clear()
    shim.fault_arm(os.path.dirname(path).encode(), job["ops"], ctypes.c_long(job["k"]), job["action"], job["sticky"])
    try:
        next(steps, None)
    except IndelibleError as error:
        say(f"error {type(error).__name__} {error}"[:1000])
    finally:
        shim.fault_disarm()
    say(f"seen {shim.fault_seen()}")
    say(f"unsynced {max(unsynced, default=0)}")
    again = backend or open_engine(path)
    again.append([put("afterwards", "afterwards")])
    say(f"{ONE} afterwards")
    report = again.verify()
    assert report.ok, report.problems
    again.close()


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        child: Child = start(lambda say, job=job: perform(job, say))  # type: ignore[misc]  # a default binds the loop's name
        listen([child])
        child.status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        print(json.dumps({"said": child.said, "status": child.status}), flush=True)


if __name__ == "__main__":
    main()
