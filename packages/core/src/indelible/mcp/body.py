"""Bodies of HTTP requests: read before anything is done, within a size and a time."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from indelible.mcp.gate import App, Receive, Scope, Send, refuse


class WholeBody:
    """Lets requests through to an ASGI application once all of their body is there.

    Args:
        app: what is behind it.
        most: bytes of a body.
        seconds: that the whole of it may take to come.
    """

    def __init__(self, app: App, most: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a body, or say why it was not read to its end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                messages = await self._read(scope, receive)
        except TimeoutError:
            await refuse(send, 408, "the body did not come in time")
            return
        except asyncio.CancelledError:  # the server ends, and nothing has been done for this request
            await refuse(send, 503, "the server ends")
            return
        if messages is None:
            await refuse(send, 413, f"the body has more than {self._most} bytes")
            return

        async def replay() -> MutableMapping[str, Any]:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    async def _read(self, scope: Scope, receive: Receive) -> list[MutableMapping[str, Any]] | None:
        """Its messages; ``None`` if it is too large, which its header may say."""
        declared = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
        if any((value.isdigit() and len(value) < 20 and int(value) > self._most) or len(value) >= 20 for value in declared):
            return None
        messages: list[MutableMapping[str, Any]] = []
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
            if size > self._most:
                return None
        return messages
