"""Who may talk to the server over HTTP: whoever has the token, from this machine, and no web page."""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from indelible.errors import InvalidInput, StoreUnavailable

TOKEN_VARIABLE = "INDELIBLE_MCP_TOKEN"
SHORTEST_TOKEN = 16
LOOPBACK = ("127.0.0.1", "localhost", "::1")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def token_from(file: str | None) -> str:
    """The bearer token: from a file, or from ``INDELIBLE_MCP_TOKEN``. It is never an argument, which other users can see.

    Raises:
        InvalidInput: there is none, it is too short to be secret, others can read it, or no header can carry it.
        StoreUnavailable: the file cannot be read.
    """
    token = os.environ.get(TOKEN_VARIABLE, "") if file is None else _read(file)
    where = TOKEN_VARIABLE if file is None else file
    if not token:
        raise InvalidInput(f"HTTP needs a bearer token: set {TOKEN_VARIABLE} or give --token-file; `openssl rand -hex 32` makes one")
    if len(token) < SHORTEST_TOKEN:
        raise InvalidInput(f"the token of {where} has {len(token)} characters: a secret has {SHORTEST_TOKEN} or more")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput(f"the token of {where} has characters that an HTTP header cannot carry: use letters and digits")
    return token


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as source:
            mode = os.fstat(source.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidInput(f"{file} can be read by others: chmod 600 it")
            return source.read(10_000).strip()
    except OSError as error:
        raise StoreUnavailable(f"cannot read {file}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not text: put the token there, and nothing else") from None


class Gate:
    """Lets requests through to an ASGI application.

    A page in a browser can reach a server on this machine by a name of its own that it has pointed here. Its requests carry that name as
    host, and its own address as origin: both are compared, whole, with what this server is called.

    Args:
        app: what is behind it.
        token: that requests must bear.
    """

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._bearer = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        refused = self._refusal(scope) if scope["type"] == "http" else None
        if refused is None and scope["type"] in ("http", "lifespan"):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refuse(send, *(refused or (400, "not HTTP")))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        names = own_names(scope["server"][1])
        hosts, origins, tokens = (_values(scope, name) for name in (b"host", b"origin", b"authorization"))
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in names:
            return 421, "this server answers to its own name only"
        if any(origin.decode("latin-1").lower() not in {f"http://{name}" for name in names} for origin in origins):
            return 403, "requests of web pages are not answered"
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._bearer):
            return 401, "a bearer token is needed"
        return None


async def refuse(send: Send, status: int, text: str) -> None:
    """Answer a request that is not let through; its connection ends."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def own_names(port: int) -> set[str]:
    """What a client on this machine calls a server at a port."""
    return {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"}


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]
