"""Memory as tools for a model, as the core describes them."""

from __future__ import annotations

from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, Record, RecordNotFound
from indelible.base.record import UNSET
from indelible.tools import (
    EDIT,
    FORGET,
    HISTORY,
    LIST,
    READ_TOOLS,
    RECALL,
    REMEMBER,
    SEARCH,
    SEARCH_SEMANTIC,
    TOOLS,
    MemoryTool,
    tool_view,
)

ADA = {"agent_id": "helper", "user_id": "ada"}
NOBODYS = "0190a1b2-0000-7000-8000-000000000000"


@pytest.fixture
def tea(store: MemoryStore) -> Record:
    return store.remember("Ada prefers tea", agent_id="helper", user_id="ada")


def run(store: MemoryStore, tool: MemoryTool, *, source: str | None = None, **arguments: Any) -> Any:
    return tool.run(tool_view(store, ADA), arguments, source=source)


def test_each_is_described_once() -> None:
    """Distinct names, descriptions that a model can read, and nothing that destroys; no argument says whose memories."""
    assert [tool.name for tool in TOOLS] == [
        "remember", "recall", "search", "search_semantic", "edit", "forget", "history", "feedback", "list",
    ]  # fmt: skip
    assert set(READ_TOOLS) == {tool for tool in TOOLS if tool.read_only}
    for tool in TOOLS:
        assert 20 < len(tool.description) < 300
        assert all(argument.description.endswith(".") for argument in tool.fields)
        assert not (tool.read_only and tool.destructive)
        assert not {argument.name for argument in tool.fields} & {"agent_id", "user_id", "org_id", "workspace_id", "scope", "source"}


def test_a_memory_through_its_life(store: MemoryStore) -> None:
    """Ids lead from one tool to the next; what was written says by whom."""
    made = run(store, REMEMBER, content="Ada prefers tea", metadata={"topic": "drinks"}, source="thread 1")
    (found,) = run(store, RECALL, query="what does Ada prefer?", limit=1)
    about = {"date": "2026-01-01", "source": "thread 1", "metadata": {"topic": "drinks"}}
    assert found == {"id": made["id"], "content": "Ada prefers tea", **about}
    assert run(store, SEARCH, query="TEA") == [found]
    edited = run(store, EDIT, id=made["id"], content="Ada prefers coffee", source="thread 2")
    assert edited == {"id": made["id"], "version": made["version"] + 1}
    assert [line.split(" ", 2)[2] for line in run(store, HISTORY, id=made["id"])] == [
        'created "Ada prefers tea"',
        'revised "Ada prefers coffee"',
    ]
    assert run(store, FORGET, id=made["id"], source="thread 1") == {"forgotten": made["id"]}
    assert run(store, RECALL, query="Ada") == run(store, SEARCH, query="Ada") == []
    assert [change.source for change in store.history(made["id"])] == ["thread 1", "thread 2", "thread 1"]


@pytest.mark.parametrize(("tool", "more"), [(EDIT, {"content": "x"}), (FORGET, {}), (HISTORY, {})])
@pytest.mark.parametrize("id", ["nowhere", NOBODYS, "", "x" * 1000])
def test_an_id_that_is_not_there(store: MemoryStore, tool: MemoryTool, more: dict[str, str], id: str) -> None:
    """Whatever it looks like, the message says what to do, and is short."""
    with pytest.raises(RecordNotFound, match="recall or search first") as caught:
        run(store, tool, id=id, **more)
    assert len(str(caught.value)) < 250
    assert store.version == 0


@pytest.mark.parametrize(("tool", "more"), [(EDIT, {"content": "x"}), (FORGET, {}), (HISTORY, {})])
def test_another_scopes_memory_is_not_found(store: MemoryStore, tea: Record, tool: MemoryTool, more: dict[str, str]) -> None:
    """S62: neither changed nor looked into."""
    bob = tool_view(store, {**ADA, "user_id": "bob"})
    with pytest.raises(RecordNotFound, match="recall or search first"):
        tool.run(bob, {"id": tea.id, **more})
    assert RECALL.run(bob, {"query": "tea"}) == SEARCH.run(bob, {"query": "tea"}) == []
    assert store.get(tea.id) == tea


def test_arguments_are_checked(store: MemoryStore) -> None:
    """For those who run a tool without a schema of their own."""
    for tool, arguments, says in (
        (REMEMBER, {}, "needs content"),
        (REMEMBER, {"content": "x", "user_id": "bob"}, "no argument 'user_id'"),
        (REMEMBER, {"content": " "}, "empty"),
        (RECALL, {"query": ""}, "empty"),
        (SEARCH, {"query": "x", "limit": -1}, "limit"),
    ):
        with pytest.raises(InvalidInput, match=says):
            tool.run(tool_view(store, ADA), arguments)
    assert store.version == 0


# Whose


def test_s61_agent_and_user_must_come_from_somewhere(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """S61: given, bound, or from the environment; ``None`` is any."""
    for name in ADA:
        with pytest.raises(InvalidInput, match=f"{name} is missing"):
            tool_view(store, {**ADA, name: UNSET})
    assert tool_view(store, {"agent_id": None, "user_id": None}).bound == (UNSET,) * 4
    assert tool_view(store.scope(agent_id="a"), {"user_id": "u", "org_id": UNSET}).bound == ("a", "u", UNSET, UNSET)
    monkeypatch.setenv("MEMORY_USER_ID", "from the environment")
    monkeypatch.setenv("MEMORY_ORG_ID", "acme")
    assert tool_view(store, {"agent_id": "a"}).bound == ("a", "from the environment", "acme", UNSET)
    assert tool_view(store, ADA).bound == ("helper", "ada", "acme", UNSET)
    assert tool_view(store, {**ADA, "org_id": None}).bound == ("helper", "ada", UNSET, UNSET)


def test_s62_a_bound_view_cannot_be_left(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """S62: the environment does not reach past it, and a contradiction is an error."""
    monkeypatch.setenv("MEMORY_USER_ID", "bob")
    bound = store.scope("helper", "ada")
    assert tool_view(bound, {}).bound == ("helper", "ada", UNSET, UNSET)
    assert tool_view(bound, {"user_id": None}).bound == ("helper", "ada", UNSET, UNSET)
    with pytest.raises(InvalidInput, match="bound"):
        tool_view(bound, {"user_id": "bob"})


@pytest.mark.parametrize("tool", [SEARCH_SEMANTIC, LIST])
@pytest.mark.parametrize("name", ["path", "field", "key"])
@pytest.mark.parametrize("operator", ["op", "operator"])
@pytest.mark.parametrize("more", [{"value": "drinks"}, {}])
def test_a_condition_with_its_label_as_text_is_told_what_to_write(
    store: MemoryStore, tool: MemoryTool, name: str, operator: str, more: dict[str, str]
) -> None:
    """It would be three labels that no memory has, and a model would believe that there is nothing."""
    words = {"query": "tea"} if tool is SEARCH_SEMANTIC else {}
    with pytest.raises(InvalidInput, match=r'\{"path": \[LABEL\], "op": "eq", "value": VALUE\}'):
        run(store, tool, **words, filters={name: "topic", operator: "eq", **more})


@pytest.mark.parametrize(
    "filters",
    [
        {"topic": "drinks"},
        {"path": ["topic"], "op": "eq", "value": "drinks"},
        {"op": "read", "path": "/a", "topic": "drinks"},
        {"path": "/a"},
        {"op": "read"},
        {"and": [{"path": ["path"], "op": "eq", "value": "/a"}, {"path": ["op"], "op": "eq", "value": "read"}]},
        {},
        None,
    ],
)
def test_other_filters_mean_what_they_say(store: MemoryStore, filters: dict[str, Any] | None) -> None:
    """Labels of these names can be asked for."""
    made = run(store, REMEMBER, content="tea", metadata={"op": "read", "path": "/a", "topic": "drinks"})
    assert [found["id"] for found in run(store, LIST, filters=filters)] == [made["id"]]
    assert [found["id"] for found in run(store, SEARCH_SEMANTIC, query="tea", filters=filters)] == [made["id"]]
