"""Over HTTP: who is let in, where it listens, and that what it says is what the other transport says."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from indelible import MemoryStore
from indelible.errors import InvalidInput, StoreUnavailable
from indelible.mcp.body import WholeBody
from indelible.mcp.gate import Gate, token_from
from indelible.mcp.options import Options
from indelible.mcp.rpc import Endpoint, Message
from indelible.mcp.service import Service
from tests.interop.mcp.conftest import Served
from tests.interop.mcp.servers import COMMAND, HELLO, TOKEN, environment, http_server

GOOD = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})


class Address:
    """A server's, to be asked without a client's good manners."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port, self.path = str(parts.hostname), int(parts.port or 0), parts.path

    def status(self, headers: dict[str, str], **more: str) -> int:
        """How a request is answered."""
        return self.ask(headers, **more)[0]

    def ask(self, headers: dict[str, str], *, method: str = "POST", path: str | None = None, body: str = BODY) -> tuple[int, bytes]:
        """What a request is answered with."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path or self.path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def address(http_served: Served) -> Address:
    return Address(http_served.url)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN.upper()}"}, 401),
        ({"Authorization": "Bearer é" + TOKEN}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "127.0.0.1.evil.example:PORT"}, 421),
        ({"Host": "LOCALHOST:PORT"}, 200),
        ({"Host": "[::1]:PORT"}, 200),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:PORT.evil.example"}, 403),
        ({"Origin": "https://127.0.0.1:PORT"}, 403),
        ({"Origin": "http://127.0.0.1:PORT"}, 200),
        ({"Origin": "http://localhost:PORT"}, 200),
    ],
)
def test_only_who_has_the_token_and_is_no_web_page_gets_in(address: Address, headers: dict[str, str], status: int) -> None:
    """Host and origin are compared whole, before the token; each is needed."""
    given = {name: value.replace("PORT", str(address.port)) for name, value in headers.items()}
    assert address.status({**GOOD, **given}) == status


def test_every_path_and_method_is_behind_the_gate(address: Address) -> None:
    """Nothing is answered without the token, not even that there is nothing."""
    for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT"):
        for path in ("/", "/mcp", "/mcp/", "/docs", "/.well-known/oauth-protected-resource"):
            assert address.status({}, method=method, path=path) == 401
    assert address.status(GOOD, path="/other") == 404


def test_hostile_bodies_leave_it_alive(address: Address) -> None:
    """Each is refused, or taken for a notification, and the next request is served."""
    for body in ("", "{", "null", "[1]", '{"jsonrpc":"2.0","id":1}', "[" * 100_000, '{"jsonrpc":"2.0","id":{},"method":"ping"}', "\x00"):
        assert address.status(GOOD, body=body) in (202, *range(400, 500)), body[:50]
    assert address.status({**GOOD, "Content-Length": "99999999999"}, body="{}") == 413
    assert address.status(GOOD) == 200


async def test_other_kinds_of_connection_are_dropped() -> None:
    """A web socket gets no answer, and is not passed on."""
    passed: list[object] = []

    async def app(*given: object) -> None:
        passed.append(given)

    async def silent(*_: object) -> dict[str, object]:
        return {}

    await Gate(app, TOKEN)({"type": "websocket", "headers": []}, silent, app)
    assert passed == []


SLOW = "import indelible.mcp.http as http\nhttp.SILENT_S = http.BODY_S = 0.5\n"
"""What a server runs first that has little patience."""


def beginning(url: str, text: str) -> socket.socket:
    """A connection that has sent the beginning of something."""
    parts = urlsplit(url)
    connection = socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=60)
    head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": parts.netloc, **GOOD}.items())
    connection.sendall(text.replace("HEAD", head).encode())
    return connection


def test_who_never_asks_is_dropped(tmp_path: Path) -> None:
    """Nothing, half a head, or a head and half a body: the connection ends, and others are served meanwhile."""
    with http_server(tmp_path / "memory.db", program=SLOW) as url:
        for text in ("", "POST /mcp HTTP/1.1\r\nHost: x", "POST /mcp HTTP/1.1\r\nHEAD"):
            with beginning(url, text) as connection:
                assert Address(url).status(GOOD) == 200
                assert connection.recv(1000) == b""
        with beginning(url, "POST /mcp HTTP/1.1\r\nHEADContent-Length: 1000\r\n\r\n{") as connection:
            assert Address(url).status(GOOD) == 200
            assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_request_without_a_name_is_refused(http_served: Served) -> None:
    """As HTTP/1.0 allowed."""
    with beginning(http_served.url, f"POST /mcp HTTP/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 421")


def test_a_body_in_pieces_is_bounded_too(address: Address, http_served: Served) -> None:
    """Without a length its size shows as it comes; in pieces it is the same body."""
    pieces = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"
    with beginning(http_served.url, f"POST /mcp HTTP/1.1\r\nHEADTransfer-Encoding: chunked\r\n\r\n{pieces}") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
    with beginning(http_served.url, "POST /mcp HTTP/1.1\r\nHEADTransfer-Encoding: chunked\r\n\r\n") as connection:
        said = b""
        try:
            while True:
                connection.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        except ConnectionError:
            pass
        with suppress(ConnectionError):
            said = connection.recv(1000)
        assert said[:12] in (b"", b"HTTP/1.1 413")
    assert address.status(GOOD) == 200


async def test_a_body_is_read_before_it_is_passed_on() -> None:
    """As it came, up to its size; one that is larger is not passed on; nor is one that the end of the server cut off."""
    passed: list[bytes] = []
    said: list[Any] = []

    async def app(_scope: object, receive: Any, _send: object) -> None:
        passed.append((await receive())["body"] + (await receive())["body"])

    async def send(message: Any) -> None:
        said.append(message.get("status"))

    async def ask(*bodies: bytes, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        messages = [{"type": "http.request", "body": body, "more_body": more} for more, body in enumerate(reversed(bodies))]

        async def receive() -> Any:
            if not messages:
                raise asyncio.CancelledError
            return messages.pop()

        await WholeBody(app, 4, 60)({"type": "http", "headers": headers or []}, receive, send)

    await ask(b"ab", b"cd")
    assert (passed, said) == ([b"abcd"], [])
    await ask(b"ab", b"cde")
    for length in (b"5", b"9" * 5000):
        await ask(b"ab", headers=[(b"Content-Length", length)])
    assert (len(passed), said[::2]) == (1, [413, 413, 413])


def refused(*options: str, **variables: str) -> str:
    """What a server says that does not start."""
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=60, env=environment(**variables), check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_it_does_not_start_without_a_secret(tmp_path: Path) -> None:
    """No token, a short one, another interface, a token on the command line: nothing listens, and no store is made."""
    path = tmp_path / "memory.db"
    run = ("--db", str(path), "--http", "--port", "0")
    assert "INDELIBLE_MCP_TOKEN" in refused(*run)
    assert "16 or more" in refused(*run, INDELIBLE_MCP_TOKEN="short")
    assert "HTTP header" in refused(*run, INDELIBLE_MCP_TOKEN="a token with spaces in it")
    assert "--host" in refused(*run, "--host", "0.0.0.0", INDELIBLE_MCP_TOKEN=TOKEN)
    assert "--token" in refused(*run, "--token", TOKEN)
    assert "--token-file goes with --http" in refused("--db", str(path), "--token-file", "x")
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_token_file_is_for_its_owner(tmp_path: Path) -> None:
    """It is taken without its last line break, and not at all if others can read it."""
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    assert token_from(str(file)) == TOKEN
    file.chmod(0o640)
    with pytest.raises(InvalidInput, match="chmod 600"):
        token_from(str(file))
    file.chmod(0o600)
    file.write_bytes(b"\xff" * 40)
    with pytest.raises(InvalidInput, match="not text"):
        token_from(str(file))
    with pytest.raises(StoreUnavailable, match="cannot read"):
        token_from(str(tmp_path / "none"))


def test_a_port_that_is_taken_is_said_so(address: Address, tmp_path: Path) -> None:
    """One line of ours after the system's reason."""
    run = ("--db", str(tmp_path / "memory.db"), "--http", "--port", str(address.port))
    assert f"cannot listen on 127.0.0.1 port {address.port}" in refused(*run, INDELIBLE_MCP_TOKEN=TOKEN)


def test_both_transports_say_the_same(address: Address, http_served: Served) -> None:
    """The SDK's server and the line-based one answer each request alike, member by member."""
    with MemoryStore(http_served.path) as store:
        kept = store.remember("Fay likes figs", agent_id="bot", user_id="fay")
        endpoint = Endpoint(Service(store, Options(store.scope(agent_id="bot").bound)))
        asked: list[tuple[str, dict[str, object]]] = [
            ("ping", {}),
            ("tools/list", {}),
            ("tools/call", {"name": "memory_search", "arguments": {"query": "figs", "user_id": "fay"}}),
            ("tools/call", {"name": "memory_history", "arguments": {"id": kept.id, "user_id": "fay"}}),
            ("tools/call", {"name": "memory_forget", "arguments": {"id": "x", "user_id": "fay"}}),
            ("tools/call", {"name": "memory_forget", "arguments": {}}),
            ("tools/call", {"name": "no_such_tool"}),
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("resources/read", {"uri": f"memory://records/{kept.id}"}),
            ("prompts/list", {}),
            ("prompts/get", {"name": "no_such_prompt"}),
            ("initialize", {**HELLO}),
        ]
        for method, params in asked:
            _, theirs = address.ask(GOOD, body=json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            ours = endpoint.answer(Message(method, params, 1))
            assert ours is not None
            assert capable(json.loads(theirs)) == capable(ours), method


def capable(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what only says that nothing will be announced."""
    result = answer.get("result", {})
    if "capabilities" in result:
        result["capabilities"] = sorted(result["capabilities"])
    return answer
