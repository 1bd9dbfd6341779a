"""Forked processes that report over a pipe, so that they can be killed at any moment and what they had said still counts."""

from __future__ import annotations

import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Say = Callable[[str], None]
Work = Callable[[Say], object]
_FAILED = "\x15"
_LONGEST_LIFE_S = 1800
"""A child that hangs ends by itself, should the test that waits for it be ended first."""


class ChildFailed(AssertionError):
    """A child ended with an exception of its own; the message is its traceback."""


@dataclass
class Child:
    """A running child.

    Attributes:
        pid: its process id.
        pipe: where it reports.
        said: the lines it has reported so far.
        ended: it will say no more.
        status: exit code, negative for a signal; ``None`` before ``wait``.
    """

    pid: int
    pipe: int
    said: list[str] = field(default_factory=list)
    ended: bool = False
    status: int | None = None
    _rest: bytes = b""

    def _take(self, data: bytes) -> None:
        if not data:
            self.ended = True
            os.close(self.pipe)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.said += [line.decode() for line in lines]

    def wait(self) -> list[str]:
        """Let it end by itself; what it said.

        Raises:
            ChildFailed: it ended with an exception.
        """
        listen([self])
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        failures = [line[1:] for line in self.said if line.startswith(_FAILED)]
        if failures:
            raise ChildFailed("\n" + "\n".join(failures).replace("\\n", "\n"))
        return self.said


def start(work: Work) -> Child:
    """Run ``work`` in a forked child; it gets a function to report lines of less than 4 KiB, each of which arrives whole or not at all."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Child(pid, reading)
    status = 1
    try:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_LONGEST_LIFE_S)
        work(lambda line: _write(writing, line))
        status = 0
    except BaseException:
        trace = traceback.format_exc()[-3000:].replace("\n", "\\n")
        _write(writing, _FAILED + trace)
    finally:
        os._exit(status)


def _write(pipe: int, line: str) -> None:
    os.write(pipe, line.encode(errors="backslashreplace") + b"\n")


def listen(children: Sequence[Child], until: float | None = None) -> None:
    """Take in what children say, until all have ended or until a moment of ``time.monotonic``."""
    speaking = {child.pipe: child for child in children if not child.ended}
    while speaking:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            return
        for pipe in select.select(list(speaking), [], [], left)[0]:
            child = speaking[pipe]
            child._take(os.read(pipe, 1 << 16))
            if child.ended:
                del speaking[pipe]


def hear(child: Child, lines: int) -> list[str]:
    """Wait until a child has said so many lines, or has ended."""
    while len(child.said) < lines and not child.ended:
        child._take(os.read(child.pipe, 1 << 16))
    return child.said


def run(*works: Work) -> list[list[str]]:
    """Run several at once to their ends; what each said."""
    children = [start(work) for work in works]
    listen(children)
    return [child.wait() for child in children]


def kill_after(children: Sequence[Child], seconds: float) -> list[str]:
    """Let children run for a while, kill them all, and return every line that any of them had said."""
    listen(children, time.monotonic() + seconds)
    for child in children:
        os.kill(child.pid, signal.SIGKILL)
    return [line for child in children for line in child.wait()]
