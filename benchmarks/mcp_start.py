"""The MCP server from the start of its process to its first answer, over ten thousand memories of one user.

Beside it stands the smallest server that the official SDK makes, with one tool that does nothing, asked in the same way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measuring import Measurement, Plan, each_in_turn, median
from benchmarks.texts import sentences
from indelible import MemoryStore

FACTS = 10_000
ROUNDS = 9
SEARCH_BAR_MS = 500.0
RECALL_BAR_MS = 1500.0
AGENT, USER = "bench", "ada"
BARE = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

async def tools(context, asked):
    return ListToolsResult(tools=[Tool(name='nothing', input_schema={'type': 'object'})])

async def call(context, asked):
    return CallToolResult(content=[TextContent(type='text', text='{}')])

async def main():
    server = Server('bare', on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(main)
"""
OURS = "import sys; from indelible.cli import main; sys.exit(main())"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def run(plan: Plan) -> list[Measurement]:
    """Start servers, shake hands, call one tool. Without the SDK there is nothing to stand beside."""
    path = _filled(plan)
    words = " ".join(sentences(1, seed=3)[0].split()[-2:])
    ours = [sys.executable, "-c", OURS, "mcp", "--db", str(path), "--agent-id", AGENT, "--user-id", USER]
    calls = {
        "search": partial(_first_answer, ours, "memory_search", {"query": words.split()[0]}),
        "recall": partial(_first_answer, ours, "memory_recall", {"query": words}),
    }
    if find_spec("mcp"):
        calls["bare"] = partial(_first_answer, [sys.executable, "-c", BARE], "nothing", {})
    spent = each_in_turn({**calls}, plan.times(ROUNDS), warm_up=1)
    ms = {name: 1000 * median(times) for name, times in spent.items()}
    bare, reference = "a bare server of the SDK, first call of a tool", ms.get("bare")
    return [
        *([Measurement(bare, reference, "ms")] if reference else []),
        Measurement("first memory_search", ms["search"], "ms", reference, bare if reference else "", SEARCH_BAR_MS),
        Measurement("first memory_recall, bundled model", ms["recall"], "ms", reference, bare if reference else "", RECALL_BAR_MS),
    ]


def _filled(plan: Plan) -> Path:
    path = plan.folder / "mcp.db"
    with MemoryStore(path, embedder="static") as store:
        store.remember_many(sentences(plan.times(FACTS, least=50), seed=1), agent_id=AGENT, user_id=USER)
        store.vacuum()
    return path


def _first_answer(command: list[str], tool: str, arguments: dict[str, str], _round: int) -> None:
    # An installed package has its bytecode beside it; a shell that forbids writing it would have every process compile everything.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = [("initialize", HELLO), ("notifications/initialized", None), ("tools/call", {"name": tool, "arguments": arguments})]
        for number, (method, params) in enumerate(asked):
            message = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"id": number, "params": params})
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if params is not None and "result" not in json.loads(process.stdout.readline()):
                raise RuntimeError(f"{tool} was not answered")
        process.kill()
