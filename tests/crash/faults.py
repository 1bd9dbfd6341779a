"""Running scenarios under the fault shim, from a test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, NamedTuple, cast

from tests.crash.checker import BATCH, ONE, acknowledged

WRITE, SYNC, TRUNCATE = 1, 2, 4
ANY = WRITE | SYNC | TRUNCATE
COUNT, KILL_BEFORE, KILL_AFTER, TEAR, FAIL_IO, FAIL_FULL, SHORT_THEN_FULL = range(7)
_SOURCE = Path(__file__).with_name("fault_shim.c")
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Job:
    """What to interrupt, and how.

    Attributes:
        scenario: a name in ``scenarios.SCENARIOS``.
        path: the database, in a folder of its own.
        action: what happens at the ``k``-th call of the kinds in ``ops``; ``sticky``: and at every call after it.
        unsafe: the control: write with ``synchronous=OFF``.
    """

    scenario: str
    path: str
    action: int = COUNT
    k: int = 0
    ops: int = ANY
    sticky: bool = False
    unsafe: bool = False


class Outcome(NamedTuple):
    """How it went.

    Attributes:
        acked: names of the records that were acknowledged.
        error: the library error it ended with, as "Class message".
        seen: how many calls of the asked kinds there were.
        unsynced: the most writes to the write-ahead log that any acknowledgement left unsynced.
        status: exit code, -9 when it was killed.
        failure: the traceback of anything else that went wrong.
    """

    acked: set[str]
    error: str | None
    seen: int
    unsynced: int
    status: int
    failure: str


class Host:
    """The process under the shim; one for all tests of a session."""

    def __init__(self, shim: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.fault_host"],
            cwd=_ROOT,
            env={**os.environ, "LD_PRELOAD": str(shim)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, job: Job) -> Outcome:
        commands, answers = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        commands.write(json.dumps(asdict(job)) + "\n")
        commands.flush()
        answer = json.loads(answers.readline())
        words = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in answer["said"] if line[0] != "\x15"}
        failures = [line[1:].replace("\\n", "\n") for line in answer["said"] if line[0] == "\x15"]
        return Outcome(
            acknowledged(line for line in answer["said"] if line.startswith((ONE, BATCH))),
            words.get("error"),
            int(words.get("seen", 0)),
            int(words.get("unsynced", 0)),
            answer["status"],
            "\n".join(failures),
        )

    def close(self) -> None:
        cast("IO[str]", self._process.stdin).close()
        self._process.wait(timeout=60)
        cast("IO[str]", self._process.stdout).close()


def compile_shim(folder: Path) -> tuple[Path | None, str]:
    """The compiled shim, or why there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux":
        return None, "the fault shim needs Linux"
    if compiler is None:
        return None, "the fault shim needs a C compiler: install gcc"
    target = folder / "fault_shim.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", str(target), str(_SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return (target, "") if done.returncode == 0 else (None, f"the fault shim does not compile: {done.stderr}")
