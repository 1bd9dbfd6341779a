"""The official client goes through every tool, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client, MCPError

from indelible import MemoryStore
from tests.interop.mcp.conftest import Served
from tests.interop.mcp.servers import bad, good

TOOLS = [
    "memory_remember", "memory_recall", "memory_search", "memory_search_semantic", "memory_edit", "memory_forget", "memory_history",
    "memory_feedback", "memory_forget_expired", "memory_prune", "memory_vacuum", "memory_health", "memory_export",
]  # fmt: skip
UNLABELLED = {"path": ["topic"], "op": "exists", "value": False}
UNKNOWN = "01a22daf-c96b-7a5a-92fd-a19b88b8d49d"


async def test_a_life_of_a_memory(served: Served) -> None:
    """Kept, found in three ways, changed, voted on, exported, forgotten; the history tells it all, and so does the store itself."""
    ada: dict[str, Any] = {"user_id": "ada", "workspace_id": "kitchen"}
    async with served.connect() as client:
        kept = await good(client, "memory_remember", content="Ada drinks green tea", metadata={"topic": "drinks"}, **ada)
        other = await good(client, "memory_remember", content="Ada cycles to work", ttl_ms=3_600_000, user_id="ada")
        found = await good(client, "memory_recall", query="favourite beverage", limit=1, filters={"topic": "drinks"}, **ada)
        assert [(hit["id"], hit["content"], hit["metadata"]) for hit in found] == [
            (kept["id"], "Ada drinks green tea", {"topic": "drinks"})
        ]
        assert -1 <= found[0]["score"] <= 1
        assert [hit["id"] for hit in await good(client, "memory_search", query="TEA", user_id="ada")] == [kept["id"]]
        assert await good(client, "memory_search", query="tea", filters={"topic": "sport"}, user_id="ada") == []
        near = await good(client, "memory_search_semantic", query="sport", filters=UNLABELLED, limit=5, user_id="ada")
        assert [hit["id"] for hit in near] == [other["id"]]
        edited = await good(client, "memory_edit", id=kept["id"], content="Ada drinks black coffee", user_id="ada")
        assert edited["id"] == kept["id"]
        assert edited["version"] > kept["version"]
        assert await good(client, "memory_search", query="tea", user_id="ada") == []
        assert await good(client, "memory_feedback", id=kept["id"], vote="up", note="right", user_id="ada")
        page = await good(client, "memory_export", user_id="ada", limit=1)
        assert [row["content"] for row in page["rows"]] == ["Ada drinks black coffee"]
        rest = await good(client, "memory_export", user_id="ada", offset=page["next_offset"])
        assert ([row["content"] for row in rest["rows"]], rest["next_offset"]) == (["Ada cycles to work"], None)
        assert (rest["rows"][0]["user_id"], rest["rows"][0]["expires_at"] is None) == ("ada", False)
        health = await good(client, "memory_health", user_id="ada")
        assert (health["ok"], health["memories"], health["expired"]) == (True, 2, 0)
        assert await good(client, "memory_forget", id=kept["id"], user_id="ada") == {"forgotten": kept["id"]}
        history = await good(client, "memory_history", id=kept["id"], user_id="ada")
        assert [line.split()[2] for line in history] == ["created", "revised", "voted", "forgotten"]
        assert await good(client, "memory_forget_expired", user_id="ada") == {"forgotten": 0}
        assert not (await good(client, "memory_vacuum"))["busy"]
    with MemoryStore(served.path) as store:
        ours = store.scope(agent_id="bot", user_id="ada")
        assert [record.content for record in ours.list()] == ["Ada cycles to work"]
        texts = [change.record.content for change in ours.history(kept["id"]) if change.record]
        assert texts == ["Ada drinks green tea", "Ada drinks black coffee"]


async def test_calls_at_once(served: Served) -> None:
    """Two conversations and many calls without waiting: each has its answer, and every write is there once."""
    async with served.connect() as one, served.connect() as other:
        texts = [f"number {number}" for number in range(20)]
        talking = [one, other]
        calls = [good(talking[place % 2], "memory_remember", content=text, user_id="many") for place, text in enumerate(texts)]
        made = await asyncio.gather(*calls)
        assert len({answer["id"] for answer in made}) == len({answer["version"] for answer in made}) == 20
        rows = (await good(one, "memory_export", user_id="many"))["rows"]
        assert sorted(row["content"] for row in rows) == sorted(texts)


async def test_an_edit_may_leave_the_text(served: Served) -> None:
    """Labels and expiry alone; null makes it last for ever."""
    async with served.connect() as client:
        kept = await good(client, "memory_remember", content="The code is 7", ttl_ms=60_000, user_id="eve")
        await good(client, "memory_edit", id=kept["id"], metadata={"kind": "code"}, user_id="eve")
        await good(client, "memory_edit", id=kept["id"], ttl_ms=None, user_id="eve")
        (row,) = (await good(client, "memory_export", user_id="eve"))["rows"]
        assert (row["content"], row["metadata"]["kind"], row["expires_at"]) == ("The code is 7", "code", None)
        assert "changes nothing" in await bad(client, "memory_edit", id=kept["id"], user_id="eve")


async def test_the_names_of_older_clients(served: Served) -> None:
    """observer_id, observed_id, fact, topic and top_k mean what agent_id, user_id, content, query or a label, and limit mean."""
    async with served.connect() as client:
        old = {"observer_id": "bot", "observed_id": "old"}
        await good(client, "memory_remember", fact="Old clients write facts", topic="clients", **old)
        for tool in ("memory_recall", "memory_search", "memory_search_semantic"):
            hits = await good(client, tool, topic="clients write", top_k=3, **old)
            assert [(hit["content"], hit["metadata"]) for hit in hits] == [("Old clients write facts", {"topic": "clients"})]
        assert [hit["content"] for hit in await good(client, "memory_search", query="facts", user_id="old")] == ["Old clients write facts"]
        text = await bad(client, "memory_search", query="facts", top_k=3, limit=4, user_id="old")
        assert "limit is given twice" in text
        assert "no argument 'topic'" in await bad(client, "memory_forget", id=UNKNOWN, topic="x", user_id="old")


@pytest.mark.parametrize("tool", ["memory_edit", "memory_forget", "memory_history", "memory_feedback"])
async def test_unknown_and_foreign_ids_get_one_answer(http_served: Served, tool: str) -> None:
    """S62: another scope's id looks not found, and nothing is changed."""
    more = {"memory_edit": {"content": "stolen"}, "memory_feedback": {"vote": "down"}}.get(tool, {})
    async with http_served.connect() as client:
        theirs = await good(client, "memory_remember", content=f"Bob's secret of {tool}", user_id="bob")
        answers = {
            id: await bad(client, tool, id=id, user_id="mallory", **more) for id in (theirs["id"], UNKNOWN, "", "%", "../" * 20, "'; --")
        }
        assert {answer.replace(repr(id[:80]), "ID") for id, answer in answers.items()} == {
            "no memory with id ID in this scope: recall or search first, and use an id from there"
        }
        assert len(await good(client, "memory_history", id=theirs["id"], user_id="bob")) == 1


async def test_no_tool_reaches_another_scope(served: Served) -> None:
    """S60, S62: what Bob knows shows in no answer that Mallory gets; the server's agent cannot be changed."""
    async with served.connect() as client:
        await good(client, "memory_remember", content="The xylophone is under the bed", user_id="bobby")
        for tool in ("memory_recall", "memory_search", "memory_search_semantic"):
            assert await good(client, tool, query="xylophone", user_id="malory") == []
        assert (await good(client, "memory_export", user_id="malory"))["rows"] == []
        assert (await good(client, "memory_health", user_id="malory"))["memories"] == 0
        assert (await good(client, "memory_prune", keywords="xylophone", user_id="malory"))["count"] == 0
        assert (await good(client, "memory_prune", keywords="xylophone", user_id="bobby"))["count"] == 1
        for tool, arguments in [("memory_search", {"query": "xylophone"}), ("memory_remember", {"content": "x"}), ("memory_export", {})]:
            text = await bad(client, tool, agent_id="other", user_id="bobby", **arguments)
            assert "bound to agent_id='bot'" in text
        # Null widens to any user of this agent, and never beyond the agent.
        assert await good(client, "memory_search", query="xylophone", user_id=None, agent_id=None) != []
        with MemoryStore(served.path) as store:
            store.remember("A xylophone of another agent", agent_id="other", user_id="bobby")
        assert len(await good(client, "memory_search", query="xylophone", user_id=None)) == 1
        assert "must be somebody's" in await bad(client, "memory_remember", content="x", user_id=None)
        assert "user_id is missing" in await bad(client, "memory_search", query="x")


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("memory_remember", {}, "needs content"),
    ("memory_remember", {"content": ""}, "content"),
    ("memory_remember", {"content": "  "}, "content"),
    ("memory_remember", {"content": 7}, "valid string"),
    ("memory_remember", {"content": None}, "valid string"),
    ("memory_remember", {"content": "x", "metadata": []}, "metadata"),
    ("memory_remember", {"content": "x", "metadata": "y", "topic": "z"}, "metadata"),
    ("memory_remember", {"content": "x", "metadata": {"written_by": "me"}}, "written_by"),
    ("memory_remember", {"content": "a\x00b"}, "NUL"),
    ("memory_remember", {"content": "x", "ttl_ms": 0}, "ttl_ms"),
    ("memory_remember", {"content": "x", "ttl_ms": -1}, "ttl_ms"),
    ("memory_remember", {"content": "x", "ttl_ms": True}, "ttl_ms"),
    ("memory_remember", {"content": "x", "ttl_ms": 1.5}, "ttl_ms"),
    ("memory_remember", {"content": "x", "ttl_ms": 10**30}, "ttl_ms"),
    ("memory_remember", {"content": "x" * 30_000}, "limit"),
    ("memory_remember", {"content": "x", "path": "/etc/passwd"}, "no argument 'path'"),
    ("memory_recall", {"query": ""}, "query"),
    ("memory_recall", {"query": "x", "limit": 0}, "limit"),
    ("memory_recall", {"query": "x", "limit": "5"}, "limit"),
    ("memory_recall", {"query": "x", "limit": 10**9}, "limit"),
    ("memory_recall", {"query": "x", "limit": True}, "limit"),
    ("memory_search", {"query": ["x"]}, "query"),
    ("memory_search", {"query": "x", "filters": {"a": {"$where": "1"}}}, "where"),
    ("memory_search", {"query": "x", "filters": "a = 1"}, "filters"),
    *[
        (tool, {**query, "filters": {"path": "topic", "op": "eq", "value": "x"}}, '{"path": [LABEL], "op": "eq", "value": VALUE}')
        for tool, query in [
            ("memory_recall", {"query": "x"}), ("memory_search", {"query": "x"}), ("memory_search_semantic", {"query": "x"}),
            ("memory_export", {}),
        ]
    ],
    ("memory_search_semantic", {"query": "x", "filters": [1]}, "filters"),
    ("memory_edit", {"content": "x"}, "needs id"),
    ("memory_edit", {"id": 5, "content": "x"}, "id"),
    ("memory_feedback", {"id": UNKNOWN, "vote": "sideways"}, "vote"),
    ("memory_feedback", {"id": UNKNOWN, "vote": 1}, "vote"),
    ("memory_history", {"id": None}, "id"),
    ("memory_forget", {"id": ["x"]}, "id"),
    ("memory_prune", {}, "needs a condition"),
    ("memory_prune", {"keywords": "x", "dry_run": False, "confirm": True}, "--allow-prune"),
    ("memory_prune", {"keywords": "x", "dry_run": "no"}, "dry_run"),
    ("memory_prune", {"before": "yesterday"}, "2026-01-31T12:00:00Z"),
    ("memory_prune", {"before": "2026-01-31T12:00:00"}, "timezone"),
    ("memory_export", {"limit": 10**6}, "limit"),
    ("memory_export", {"path": "/tmp/x"}, "no argument 'path'"),
    ("memory_health", {"query": "x"}, "no argument"),
    ("memory_vacuum", {"file": "x"}, "no argument"),
    ("memory_search", {"query": "x", "user_id": 7}, "user_id must be text"),
    ("memory_search", {"query": "x", "org_id": ["a"]}, "org_id must be text"),
    ("memory_search", {"query": "x", "user_id": "a\x00b"}, "user_id"),
]  # fmt: skip


async def test_bad_arguments_are_answered(http_served: Served) -> None:
    """Each in words that say what was wrong, none changes anything, and the server goes on."""
    with MemoryStore(http_served.path) as store:
        before = store.version
    async with http_served.connect() as client:
        for tool, arguments, words in BAD:
            text = await bad(client, tool, **{"user_id": "pete", **arguments})
            assert words in text, (tool, arguments, text)
            assert len(text) <= 500
        assert (await good(client, "memory_health", user_id="pete"))["version"] == before
        with pytest.raises(MCPError, match="there is no tool 'memory_erase'"):
            await client.call_tool("memory_erase", {})


async def test_the_list_describes_every_tool(served: Served) -> None:
    """Names, schemas and hints; a scope that the server is bound to is no argument."""
    async with served.connect() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == TOOLS
        for tool in listed.values():
            assert tool.description
            assert tool.input_schema["type"] == "object"
            assert {"user_id", "org_id", "workspace_id"} <= set(tool.input_schema["properties"])
            assert not {"agent_id", "observer_id", "fact", "top_k"} & set(tool.input_schema["properties"])
            assert tool.annotations is not None
            assert tool.annotations.open_world_hint is False
        hints = {name: tool.annotations for name, tool in listed.items() if tool.annotations}
        reading = {name for name, about in hints.items() if about.read_only_hint}
        assert reading == {
            "memory_recall", "memory_search", "memory_search_semantic", "memory_history", "memory_prune", "memory_health", "memory_export",
        }  # fmt: skip
        assert {name for name, about in hints.items() if about.destructive_hint} == {"memory_forget", "memory_forget_expired"}
        required = {name: tool.input_schema["required"] for name, tool in listed.items()}
        assert required["memory_remember"] == ["content"]
        assert required["memory_edit"] == ["id"]


async def test_resources_are_the_bound_scope(served: Served) -> None:
    """Records and histories have addresses; nothing is listed or read while it is open whose memories they are."""
    async with served.connect() as client:
        kept = await good(client, "memory_remember", content="Dee likes figs", user_id="dee")
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["memory://records/{id}", "memory://records/{id}/history"]
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="user_id is missing"):
            await client.read_resource(f"memory://records/{kept['id']}")


async def read(client: Client, uri: str) -> Any:
    """The JSON at an address."""
    (content,) = (await client.read_resource(uri)).contents
    assert content.mime_type == "application/json"
    return json.loads(getattr(content, "text", ""))
