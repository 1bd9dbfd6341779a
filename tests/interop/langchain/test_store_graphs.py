"""The store where LangGraph and LangChain take one: graphs, agents and their tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.tools import InjectedStore, ToolRuntime, tool
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from langchain_indelible import IndelibleStore
from tests.interop.langchain.models import ScriptedChatModel, calling


class State(TypedDict, total=False):
    said: str
    seen: list[str]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[IndelibleStore]:
    with IndelibleStore(tmp_path / "store.db") as opened:
        yield opened


def graph_of(node: Any, store: BaseStore) -> Any:
    return StateGraph(State).add_node("node", node).add_edge(START, "node").add_edge("node", END).compile(store=store)


def test_a_node_reaches_it_by_its_runtime(store: IndelibleStore) -> None:
    """``compile(store=)``: what one run puts the next one finds; earlier versions stay."""

    def remember(state: State, runtime: Runtime[None]) -> State:
        assert runtime.store is not None
        before = runtime.store.get(("said",), "last")
        runtime.store.put(("said",), "last", {"text": state["said"]})
        return {"seen": [] if before is None else [before.value["text"]]}

    graph = graph_of(remember, store)
    assert [graph.invoke({"said": said})["seen"] for said in ("one", "two", "three")] == [[], ["one"], ["two"]]
    assert [change.item and change.item.value["text"] for change in store.history(("said",), "last")] == ["one", "two", "three"]


def test_a_coroutine_reaches_it_by_the_config(store: IndelibleStore) -> None:
    """``get_store()`` inside ``ainvoke``, many runs at once."""

    async def remember(state: State) -> State:
        here = get_store()
        await here.aput(("said",), state["said"], {"text": state["said"]})
        found = await here.aget(("said",), state["said"])
        assert found is not None
        return {"seen": [found.value["text"]]}

    async def use() -> list[Any]:
        graph = graph_of(remember, store)
        return await asyncio.gather(*(graph.ainvoke({"said": f"run {number}"}) for number in range(10)))

    assert [result["seen"] for result in asyncio.run(use())] == [[f"run {number}"] for number in range(10)]
    assert len(store.search(("said",), limit=100)) == 10


@tool
def note(text: str, runtime: ToolRuntime) -> str:
    """Note a text."""
    assert runtime.store is not None
    runtime.store.put(("notes",), "last", {"text": text})
    return "noted"


@tool
def recall(store: Annotated[Any, InjectedStore()]) -> str:
    """Say what was noted."""
    return str(store.get(("notes",), "last").value["text"])


@pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])
def test_an_agent_s_tools_reach_it(store: IndelibleStore, awaited: bool) -> None:
    """``create_agent(store=)``, by ``ToolRuntime`` and by ``InjectedStore``."""
    model = ScriptedChatModel(answers=[calling("note", text="buy tea"), calling("recall"), "done"])
    agent: Any = create_agent(model, tools=[note, recall], store=store)
    messages = {"messages": [{"role": "user", "content": "note that I should buy tea"}]}
    result = asyncio.run(agent.ainvoke(messages)) if awaited else agent.invoke(messages)
    assert [message.text for message in result["messages"] if message.type == "tool"] == ["noted", "buy tea"]
    assert [item.value for item in store.search(("notes",))] == [{"text": "buy tea"}]


def test_pages_of_a_hundred_reach_everything(store: IndelibleStore) -> None:
    """As programs read a whole namespace: pages of a hundred until a short one, while others write."""
    for number in range(250):
        store.put(("files", f"folder {number % 3}"), f"file {number}", {"n": number})
    found: list[int] = []
    while len(page := store.search(("files",), limit=100, offset=len(found))) == 100:
        found += [item.value["n"] for item in page]
        store.put(("files", "folder 0"), f"file {found[-1] // 3 * 3}", {"n": found[-1] // 3 * 3})
    found += [item.value["n"] for item in page]
    assert sorted(found) == list(range(250))
