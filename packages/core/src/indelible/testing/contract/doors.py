"""Back doors: what a closed store left, read without a line of its own code."""

from __future__ import annotations

import json
import subprocess
import sys

from indelible.testing.reference_log import Medium

# Runs in another process: closing a handle on the file would drop the locks that SQLite holds in this one.
_LOOK = """
import json, os, sqlite3, sys
path, secrets = sys.argv[1], json.loads(sys.argv[2])
connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
events = connection.execute("SELECT count(*) FROM event").fetchone()[0]
connection.close()
files = [path + suffix for suffix in ("", "-wal", "-shm", ".lock") if os.path.exists(path + suffix)]
data = b"".join(open(file, "rb").read() for file in files)
print(json.dumps([events, [secret.encode() in data for secret in secrets]]))
"""


def run_python(program: str, *arguments: str) -> str:
    """Run a program in a fresh interpreter and return what it printed.

    Raises:
        AssertionError: it failed; what it said is the message.
    """
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class FileDoor:
    """A closed SQLite file, read in a child process by plain ``sqlite3`` and byte by byte."""

    def __init__(self, path: str) -> None:
        self._path = path

    def events(self) -> int:
        return int(self._look()[0])

    def holds(self, secret: str) -> bool:
        return bool(self._look(secret)[1][0])

    def _look(self, *secrets: str) -> tuple[int, list[bool]]:
        events, found = json.loads(run_python(_LOOK, self._path, json.dumps(secrets)))
        return events, found


class MediumDoor:
    """What a reference backend wrote on."""

    def __init__(self, medium: Medium) -> None:
        self._medium = medium

    def events(self) -> int:
        return len(self._medium.log)

    def holds(self, secret: str) -> bool:
        return secret in repr((self._medium.log, self._medium.vectors, self._medium.settings, self._medium.cache))
