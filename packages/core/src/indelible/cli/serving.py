"""The verb that serves models: mcp."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import click

from indelible.base.canonical import check_text
from indelible.base.record import SCOPE_FIELDS, UNSET, ScopeFilter, check_scope_value
from indelible.cli.call import DB_HELP, Call, by_name, flag_of, variable_of
from indelible.errors import InvalidInput, MissingExtra, StoreUnavailable
from indelible.mcp.clients import CLIENTS, settings_for
from indelible.mcp.gate import LOOPBACK, TOKEN_VARIABLE, token_from
from indelible.mcp.options import Options

DEFAULT_PORT = 8765
DEFAULT_WRITES = 1000
"""Of one conversation over standard input and output: a model that writes more has lost its way."""


def _scope_options(function: Any) -> Any:
    for name in reversed(SCOPE_FIELDS):
        whose = name.removesuffix("_id")
        text = f"Bind to this {whose}: no call reaches another.  [default: as the call says, else {variable_of(name)}]"
        function = click.option(flag_of(name), name, metavar="ID", help=text)(function)
    return function


@click.command("mcp")
@_scope_options
@click.option("--read-only", is_flag=True, help="Write nothing. Housekeeping and export are off as well.")
@click.option("--allow-prune", is_flag=True, help="Let memory_prune forget, and not only count.")
@click.option("--allow-purge", is_flag=True, help="Let memory_prune destroy as well.")
@click.option("--rerank", is_flag=True, help="Have a model read the query beside each of the best 20 that recall found. English.")
@click.option("--source", help="Who says so, for whatever is written; withdraw SOURCE takes it back.  [default: a new one each run]")
@click.option(
    "--max-writes", type=click.IntRange(0), metavar="N", help=f"Writes of this run, at most.  [default: {DEFAULT_WRITES}; with --http any]"
)
@click.option(
    "--sdk", is_flag=True, help="Talk by the official SDK: slower to start, and all of the protocol, its latest version included."
)
@click.option("--http", is_flag=True, help=f"Serve HTTP on this machine. Needs a bearer token: {TOKEN_VARIABLE} or --token-file.")
@click.option("--host", type=click.Choice(LOOPBACK), default=LOOPBACK[0], show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="Where to listen; 0 for a free one.")
@click.option("--token-file", metavar="FILE", help="A file that holds the bearer token, for its owner's eyes only.")
@click.option("--print-config", "client", type=click.Choice(list(CLIENTS)), help="Print a client's settings for these options, and end.")
@click.option("--db", metavar="PATH", help=DB_HELP)
@click.pass_context
def mcp(
    context: click.Context,
    /,
    sdk: bool,
    http: bool,
    host: str,
    port: int,
    token_file: str | None,
    client: str | None,
    db: str | None,
    source: str | None,
    max_writes: int | None,
    **given: Any,
) -> None:
    """Serve the memories to models, as an MCP server.

    A client starts this and talks to it on standard input and output; --print-config shows what to tell it. Scope options bind the
    server. What they leave open a call may say, else MEMORY_AGENT_ID and the like do.
    """
    call = Call(context.obj if db is None else db, False)
    scope = ScopeFilter(*(_bound(given.pop(name), name) for name in SCOPE_FIELDS))
    if not http and token_file is not None:
        raise InvalidInput("--token-file goes with --http: standard input and output need no token")
    most = max_writes if max_writes is not None else None if http else DEFAULT_WRITES
    options = Options(scope, max_writes=most, **given)
    if source is not None:
        options = replace(options, source=check_text(source, "source", empty=False))
    if client is not None:
        if http:
            raise InvalidInput("--print-config is for servers that the client starts: leave out --http")
        _print_config(call, client, scope, options, source, max_writes, sdk)
    elif http:
        _serve_http(call, options, token_from(token_file), host, port)
    else:
        _serve_stdio(call, options, sdk)


def _serve_stdio(call: Call, options: Options, sdk: bool) -> None:
    from indelible.mcp.service import Service

    if sdk:
        from indelible.mcp.sdk import serve
    else:
        from indelible.mcp.stdio import serve
    if find_spec("pydantic") is None:  # looked for and not imported: that would make every start wait
        raise MissingExtra('the server needs the package pydantic: pip install "indelible[mcp]", or "indelible[tools]" without HTTP')
    _check_ready(call, options)
    # Plugins are looked for in every installed package, and would be shown what is asked of a memory.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with call.store() as store:
        serve(Service(store, options))


def _serve_http(call: Call, options: Options, token: str, host: str, port: int) -> None:
    from indelible.mcp.http import serve
    from indelible.mcp.service import Service

    _check_ready(call, options)
    with call.store() as store:
        serve(Service(store, options), token, host, port)


def _check_ready(call: Call, options: Options) -> None:
    if options.read_only and not os.path.exists(call.path):
        raise StoreUnavailable(f"there is no store at {call.path}, and a read-only server makes none: give --db, or set MEMORY_DB_PATH")
    if options.rerank:
        from indelible.embed.onnx_reranker import bundled_reranker

        bundled_reranker().check_installed()  # or else each call would fail, and only the model would hear of it


def _print_config(
    call: Call, client: str, scope: ScopeFilter, options: Options, source: str | None, max_writes: int | None, sdk: bool
) -> None:
    arguments = ["--db", os.path.abspath(call.path)]
    for name, value in scope._asdict().items():
        if value is UNSET and name in ("agent_id", "user_id"):
            value = os.environ.get(variable_of(name)) or "default"
        if value is not UNSET:
            arguments += [flag_of(name), str(value)]
    arguments += [f"--{name.replace('_', '-')}" for name in ("read_only", "allow_prune", "allow_purge", "rerank") if getattr(options, name)]
    arguments += ["--source", source] if source is not None else []
    arguments += ["--max-writes", str(max_writes)] if max_writes is not None else []
    arguments += ["--sdk"] if sdk else []
    text, place = settings_for(client, arguments)
    click.echo(f"# {place}", err=True)
    click.echo(text)


def _bound(value: str | None, name: str) -> Any:
    if value == "":
        raise InvalidInput(f"{flag_of(name)} is empty: give an id, or leave it out to leave it open")
    return UNSET if value is None else check_scope_value(value, name)


COMMANDS = by_name(mcp)
