"""The server over standard input and output: one JSON message a line, as clients start it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from queue import Empty, Full, Queue
from types import FrameType
from typing import BinaryIO

from indelible.mcp.rpc import INVALID_REQUEST, MOST_BYTES, Endpoint, Message, Reply, failure, line_of, read
from indelible.mcp.service import Service

WAITING = 256
"""Requests that wait their turn, at most; then nothing more is read until one is done."""
STUCK_S = 2.0
"""Seconds that a client has to read an answer once the process is told to stop."""
_AT_ONCE = ("initialize", "ping")


class _Conversation:
    """One client: this thread reads, a second one does the work, in order, so that a request sees what the ones before it wrote."""

    def __init__(self, service: Service, output: FileIO) -> None:
        self._endpoint = Endpoint(service)
        self._output = output
        self._writing = threading.Lock()
        self._queue: Queue[Message | None] = Queue(WAITING)
        self._waiting: set[str | int] = set()
        self._cancelled: set[str | int] = set()
        self._stopped = False
        self._sending: bytes | None = None
        # A daemon, since the end of the process does not wait for those: a client that reads nothing could put it off for ever.
        self._worker = threading.Thread(target=self._work, name="indelible-mcp", daemon=True)

    def run(self, lines: Iterator[bytes | None]) -> None:
        """Answer every line, until there are no more or the process is told to stop."""
        self._worker.start()
        try:
            for line in lines:
                self._take(line)
        except BaseException:
            self._stop()
            raise
        finally:
            self._finish()

    def _stop(self) -> None:
        """Told to stop: what is being done is finished, what waits is not begun."""
        self._stopped = True

    def _finish(self) -> None:
        with _on_signals(self._stop):  # one that comes now does not interrupt the end, but there may be more to leave out
            self._put_end()
            while self._worker.is_alive():
                sending = self._sending
                self._worker.join(STUCK_S)
                if self._stopped and sending is not None and self._sending is sending:
                    return  # nobody reads it, and its work is done

    def _put_end(self) -> None:
        while True:
            try:
                return self._queue.put(None, timeout=STUCK_S)
            except Full:
                with suppress(Empty):
                    while self._stopped:
                        self._queue.get_nowait()

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
            self._sending = data
            try:
                left = memoryview(data)
                while left:
                    left = left[self._output.write(left) or 0 :]
            except (OSError, ValueError):
                # Nobody listens any more. The end of the input follows, or a signal; until then there is nothing to say.
                self._stopped = True
            finally:
                self._sending = None


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
def _own_output() -> Iterator[FileIO]:
    """Standard output for messages alone: whatever else a library prints there goes to standard error.

    Without a buffer, whose lock would be held as long as a client does not read.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    with FileIO(kept, "wb") as output:
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
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Signals to stop are only noted."""
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
