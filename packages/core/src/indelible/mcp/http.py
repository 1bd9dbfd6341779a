"""The server over HTTP, by the official SDK. The one module of the library that opens a socket: on the loopback interface, for requests
that bear a token.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from indelible._version import __version__
from indelible.errors import IndelibleError, InvalidInput, MissingExtra, RecordNotFound
from indelible.mcp.gate import LOOPBACK, App, Gate
from indelible.mcp.rpc import INTERNAL_ERROR, INVALID_PARAMS, MOST_BYTES, RESOURCE_NOT_FOUND
from indelible.mcp.service import Service

PATH = "/mcp"
CLOSING_S = 5
"""Seconds that requests have to end when the server is told to."""


@contextmanager
def needs_mcp_extra() -> Iterator[None]:
    """Around an import of the SDK: when it fails, say what to install.

    Raises:
        MissingExtra: it cannot be imported; why is kept as the cause.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f'MCP over HTTP needs the official SDK, which cannot be imported ({error}): pip install "indelible[mcp]"; standard input and '
            "output work without it"
        ) from error


with needs_mcp_extra():
    import mcp_types as types
    import uvicorn
    from anyio.to_thread import run_sync
    from mcp.server.lowlevel import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.exceptions import MCPError

Model = TypeVar("Model", bound=types.Result)


def sdk_server(service: Service) -> Server[Any]:
    """The service as a server of the SDK. Every call runs in a thread of its own, off the event loop."""

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return await _answer(types.ListToolsResult, lambda: {"tools": service.tools()})

    async def call_tool(_: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        return await _answer(types.CallToolResult, lambda: service.call(asked.name, asked.arguments or {}))

    async def list_resources(_: object, __: object) -> types.ListResourcesResult:
        return await _answer(types.ListResourcesResult, lambda: {"resources": service.resources()})

    async def list_templates(_: object, __: object) -> types.ListResourceTemplatesResult:
        return await _answer(types.ListResourceTemplatesResult, lambda: {"resourceTemplates": service.templates()})

    async def read_resource(_: object, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await _answer(types.ReadResourceResult, lambda: service.read(str(asked.uri)))

    async def list_prompts(_: object, __: object) -> types.ListPromptsResult:
        return await _answer(types.ListPromptsResult, lambda: {"prompts": service.prompts()})

    async def get_prompt(_: object, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await _answer(types.GetPromptResult, lambda: service.prompt(asked.name, asked.arguments or {}))

    server: Server[Any] = Server(
        service.name,
        version=__version__,
        title=service.title,
        instructions=service.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    server.middleware.clear()  # spans for a tracer: what was asked of a memory is nobody's to collect
    return server


async def _answer(model: type[Model], work: Callable[[], Mapping[str, Any]]) -> Model:
    try:
        return model.model_validate(await run_sync(work))
    except RecordNotFound as error:
        raise MCPError(RESOURCE_NOT_FOUND, str(error)) from error
    except InvalidInput as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error
    except IndelibleError as error:
        raise MCPError(INTERNAL_ERROR, str(error)) from error


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
    return Gate(app, token)


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
    """Says where it listens, and ends on a signal without sending it to itself once more: the store is to be closed first."""

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
