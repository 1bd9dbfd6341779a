"""Over standard input and output by the official SDK: the same answers, and a session that ends with its input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indelible import MemoryStore
from tests.interop.mcp.servers import HELLO, Wire, stdio

BINDING = ("--agent-id", "bot", "--user-id", "fay")


def answers(path: Path, id: str, *options: str) -> list[Any]:
    """What a server says to one of each kind of request, errors included, and how it ends."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("tools/call", {"name": "memory_search", "arguments": {"query": "figs"}}),
        ("tools/call", {"name": "memory_history", "arguments": {"id": id}}),
        ("tools/call", {"name": "memory_forget", "arguments": {"id": "x"}}),
        ("tools/call", {"name": "memory_forget", "arguments": {}}),
        ("tools/call", {"name": "no_such_tool", "arguments": {}}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": f"memory://records/{id}"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "no_such_prompt"}),
    ]
    with Wire(path, *BINDING, *options) as wire:
        said = [wire.ask("initialize", **HELLO)["result"]["serverInfo"]]
        wire.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        for method, params in asked:
            answer = wire.ask(method, **params)
            said.append(answer.get("result") or answer["error"])
        return [*said, wire.end()]


def test_the_sdk_says_the_same(tmp_path: Path) -> None:
    """Member by member, whichever of the two reads the lines; both end without a word when the input does."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        id = store.remember("Fay likes figs", agent_id="bot", user_id="fay").id
    ours, theirs = answers(path, id), answers(path, id, "--sdk")
    assert theirs == ours
    assert ours[-1] == (0, "")


async def test_the_official_client_writes_through_it(tmp_path: Path) -> None:
    """A conversation of the client and the server of one SDK; what it kept is there afterwards."""
    path = tmp_path / "memory.db"
    async with stdio(path, *BINDING, "--sdk") as client:
        done = await client.call_tool("memory_remember", {"content": "Fay likes plums"})
        assert not done.is_error
    with MemoryStore(path) as store:
        assert [record.content for record in store.list(agent_id="bot", user_id="fay")] == ["Fay likes plums"]
