"""The service as a server of the official SDK, which knows all of the protocol and takes longer to start than an answer may."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from indelible._version import __version__
from indelible.errors import IndelibleError, InvalidInput, MissingExtra, RecordNotFound
from indelible.mcp.rpc import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from indelible.mcp.service import Service


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
            f'MCP over HTTP, and --sdk, need the official SDK, which cannot be imported ({error}): pip install "indelible[mcp]"; standard '
            "input and output work without it"
        ) from error


with needs_mcp_extra():
    import anyio
    import mcp_types as types
    from anyio.to_thread import run_sync
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
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


def serve(service: Service) -> None:
    """Serve the client at standard input and output until its end of file. It leaves the service to be closed."""

    async def run() -> None:
        server = sdk_server(service)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
