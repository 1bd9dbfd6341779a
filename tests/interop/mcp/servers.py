"""Servers as processes of their own, and clients to talk to them. No test of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any, Self

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

TOKEN = "a-secret-of-more-than-sixteen-characters"
COMMAND = [sys.executable, "-P", "-c", "import sys; from indelible.cli import main; sys.exit(main())", "mcp"]
"""What the installed script does."""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def environment(**variables: str) -> dict[str, str]:
    """That of this process without a user's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "SENSE_MEMORY_", "INDELIBLE_MCP_"))}
    return {**kept, **variables}


class Wire:
    """A server on standard input and output, spoken to line by line.

    Args:
        path: the store's file.
        *options: of the server.
        program: what its process runs first.
        **variables: for its environment.
    """

    def __init__(self, path: Path, *options: str, program: str = "", **variables: str) -> None:
        python, *safely, main, verb = COMMAND
        self.process = subprocess.Popen(
            [python, *safely, program + main, verb, "--db", str(path), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**variables),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input: IO[bytes] = self.process.stdin
        self._output: IO[bytes] = self.process.stdout
        self._last = 0

    def send(self, data: bytes) -> None:
        """Bytes, as they are."""
        self._input.write(data)
        self._input.flush()

    def receive(self) -> dict[str, Any]:
        """The next line that the server says."""
        line = self._output.readline()
        assert line.endswith(b"\n"), self.process.stderr.read() if self.process.stderr else line
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def post(self, method: str, **params: Any) -> int:
        """Send a request without waiting for its answer; returns its id."""
        self._last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode() + b"\n")
        return self._last

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        asked = self.post(method, **params)
        answer = self.receive()
        assert answer["id"] == asked
        return answer

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """What a tool says, and whether that is an error."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return str(result["content"][0]["text"]), bool(result["isError"])

    def good(self, tool: str, **arguments: Any) -> Any:
        """The JSON of a call that must succeed."""
        text, is_error = self.call(tool, **arguments)
        assert not is_error, text
        return json.loads(text)

    def first_byte(self) -> bytes:
        """That of the next line, whose rest is left unread."""
        return self._output.read(1)

    def close_input(self) -> None:
        """The end of the input alone."""
        self._input.close()

    def end(self, number: int | None = None) -> tuple[int, str]:
        """The end of the input, or a signal: exit code and standard error."""
        if number is not None:
            self.process.send_signal(number)
            code = self.process.wait(60)
        self._input.close()
        code = self.process.wait(60)
        assert self.process.stderr is not None
        with self.process.stderr, self._output:
            return code, self.process.stderr.read().decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)
        for stream in (self._input, self._output, self.process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


@contextmanager
def http_server(path: Path, *options: str, program: str = "", **variables: str) -> Iterator[str]:
    """A server on a free port of the loopback interface, whose process runs a program first; gives its address."""
    python, *safely, main, verb = COMMAND
    process = subprocess.Popen(
        [python, *safely, program + main, verb, "--db", str(path), "--http", "--port", "0", *options],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**{"INDELIBLE_MCP_TOKEN": TOKEN, **variables}),
    )
    assert process.stderr is not None
    with process.stderr:
        try:
            line = process.stderr.readline()
            assert "listening on http://" in line, line + process.stderr.read()
            yield line.split()[-1]
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
            process.wait(60)


@asynccontextmanager
async def stdio(path: Path, *options: str, **variables: str) -> AsyncIterator[Client]:
    """The official client, talking to a server that it has started."""
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--db", str(path), *options], env=environment(**variables))
    async with Client(stdio_client(server)) as client:
        yield client


@asynccontextmanager
async def http(url: str, token: str = TOKEN) -> AsyncIterator[Client]:
    """The official client, talking to a server over HTTP."""
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as sender,
        Client(streamable_http_client(url, http_client=sender)) as client,
    ):
        yield client


async def said(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """What a tool says, and whether that is an error."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    return content.text, result.is_error


async def good(client: Client, tool: str, **arguments: Any) -> Any:
    """The JSON of a call that must succeed."""
    text, is_error = await said(client, tool, **arguments)
    assert not is_error, text
    return json.loads(text)


async def bad(client: Client, tool: str, **arguments: Any) -> str:
    """What a call says that must fail."""
    text, is_error = await said(client, tool, **arguments)
    assert is_error, text
    return text
