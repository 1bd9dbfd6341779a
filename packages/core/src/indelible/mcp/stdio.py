"""The server over standard input and output: one JSON message a line, as clients start it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from types import FrameType
from typing import BinaryIO

from indelible.mcp.rpc import INVALID_REQUEST, MOST_BYTES, Endpoint, Message, Reply, failure, line_of, read
from indelible.mcp.service import Service

WAITING = 256
"""Requests that wait their turn, at most; then nothing more is read until one is done."""
_AT_ONCE = ("initialize", "ping")


class _Conversation:
    """One client: this thread reads, a second one does the work, in order, so that a request sees what the ones before it wrote."""

    def __init__(self, service: Service, output: BinaryIO) -> None:
        self._endpoint = Endpoint(service)
        self._output = output
        self._writing = threading.Lock()
        self._queue: Queue[Message | None] = Queue(WAITING)
        self._waiting: set[str | int] = set()
        self._cancelled: set[str | int] = set()
        self._stopped = False
        self._worker = threading.Thread(target=self._work, name="indelible-mcp")

    def run(self, lines: Iterator[bytes | None]) -> None:
        """Answer every line, until there are no more or the process is told to stop."""
        self._worker.start()
        try:
            for line in lines:
                self._take(line)
        except BaseException:
            self._stopped = True  # told to stop: what is being done is finished, what waits is not begun
            raise
        finally:
            self._finish()

    def _finish(self) -> None:
        with _no_more_signals():
            self._queue.put(None)
            self._worker.join()

    def _take(self, line: bytes | None) -> None:
        if line is None:
            self._send(failure(None, INVALID_REQUEST, f"a message of more than {MOST_BYTES} bytes was left out"))
            return
        message = read(line)
        if isinstance(message, Message):
            self._take_message(message)
        else:
            self._send(message)

    def _take_message(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            asked = message.params.get("requestId")
            if (isinstance(asked, str) or type(asked) is int) and asked in self._waiting:
                self._cancelled.add(asked)
        elif message.method in _AT_ONCE:
            self._send(self._endpoint.answer(message))
        elif message.id is not None:
            self._waiting.add(message.id)
            self._queue.put(message)

    def _work(self) -> None:
        while (message := self._queue.get()) is not None:
            if message.id is None or self._stopped:
                continue
            self._waiting.discard(message.id)
            if message.id in self._cancelled:
                self._cancelled.discard(message.id)
                continue
            self._send(self._endpoint.answer(message))

    def _send(self, reply: Reply | None) -> None:
        if reply is None:
            return
        data = line_of(reply)
        with self._writing:
            try:
                self._output.write(data)
                self._output.flush()
            except (OSError, ValueError):
                # Nobody listens any more. The end of the input follows, or a signal; until then there is nothing to say.
                self._stopped = True


def serve(service: Service) -> None:
    """Serve the client at standard input and output, until its end of file or a signal to stop. Both leave the service to be closed."""
    with _own_output() as output, _stop_on_signals():
        if sys.stdin.isatty():
            print(
                "indelible mcp: waiting for an MCP client on standard input; --print-config CLIENT shows how to set one up", file=sys.stderr
            )
        _Conversation(service, output).run(_lines(sys.stdin.buffer))


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines of the input, ``None`` for one that is too long."""
    while line := source.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES and not line.endswith(b"\n"):
            while (rest := source.readline(1 << 16)) and not rest.endswith(b"\n"):
                pass
            yield None
        else:
            yield line


@contextmanager
def _own_output() -> Iterator[BinaryIO]:
    """Standard output for messages alone: whatever else a library prints there goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(kept, "wb") as output:
        try:
            yield output
        finally:
            os.dup2(kept, 1)


@contextmanager
def _stop_on_signals() -> Iterator[None]:
    """SIGTERM ends this thread as ``sys.exit`` does, so that everything on the way is closed."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        sys.exit(0)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _no_more_signals() -> Iterator[None]:
    """A second signal does not interrupt the end that the first began."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
