"""The server over HTTP, by the official SDK. The one module of the library that opens a socket: on the loopback interface, for requests
that bear a token.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from indelible.errors import InvalidInput
from indelible.mcp.body import WholeBody
from indelible.mcp.gate import LOOPBACK, App, Gate
from indelible.mcp.rpc import MOST_BYTES
from indelible.mcp.sdk import needs_mcp_extra, sdk_server
from indelible.mcp.service import Service

PATH = "/mcp"
CLOSING_S = 5
"""Seconds that requests have to end when the server is told to."""
SILENT_S = 30.0
"""Seconds that a connection may take to say what it wants."""
BODY_S = 30.0
"""Seconds that the body of a request may take to come; on one machine the largest takes less than one."""
_TICKS_OF_A_LOOK = 5
"""A tick is a tenth of a second."""


with needs_mcp_extra():
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings


def application(service: Service, token: str) -> App:
    """What answers HTTP requests. Each stands alone: there are no sessions to steal or to fill up.

    Args:
        service: what is served.
        token: that requests must bear.
    """
    app = sdk_server(service).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the gate's comparison is stricter
    )
    return Gate(WholeBody(app, MOST_BYTES, BODY_S), token)


def serve(service: Service, token: str, host: str, port: int) -> None:
    """Answer requests until a signal to stop. It leaves the service to be closed.

    Args:
        service: what is served.
        token: that requests must bear.
        host: of the loopback interface.
        port: where to listen, 0 for a free one; standard error says which.

    Raises:
        InvalidInput: the host is another interface, or the port is taken.
    """
    if host not in LOOPBACK:
        raise InvalidInput(f"host must be one of {', '.join(LOOPBACK)}, got {host[:80]!r}: the server is for this machine alone")
    config = uvicorn.Config(
        application(service, token),
        host=host,
        port=port,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=CLOSING_S,
    )
    try:
        asyncio.run(_Server(config).serve())
    except SystemExit as end:
        raise InvalidInput(f"cannot listen on {host} port {port}, see above: give another --port, or 0 for a free one") from end


class _Server(uvicorn.Server):
    """Says where it listens, drops who keeps a connection open without ever asking, and ends on a signal without sending it to itself once
    more: the store is to be closed first.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._silent: dict[tuple[Any, int], float] = {}

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_OF_A_LOOK == 0:
            self._drop_the_silent(time.monotonic())
        return await super().on_tick(counter)

    def _drop_the_silent(self, now: float) -> None:
        """Every connection between two requests, or before its first, for too long: the beginning of one is no request."""
        silent = {}
        for connection in self.server_state.connections:
            cycle = getattr(connection, "cycle", None)
            if cycle is None or cycle.response_complete:
                place = (connection, id(cycle))
                silent[place] = self._silent.get(place, now)
        self._silent = silent
        for (connection, _), since in silent.items():
            if now - since > SILENT_S:
                connection.transport.close()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                address, port = listening.getsockname()[:2]
                name = f"[{address}]" if ":" in address else address
                print(f"indelible mcp: listening on http://{name}:{port}{PATH}", file=sys.stderr, flush=True)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
