"""langmem's tools and managers on the store: nothing is lost, and what they overwrite can be read again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langmem import ReflectionExecutor, create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

from langchain_indelible import IndelibleStore
from langchain_indelible.testing import RecordingEmbeddings
from tests.interop.langchain.models import ScriptedChatModel, calling

CONFIG: Any = {"configurable": {"user": "ada"}}
TOOLS = ("memories", "{user}")
FACTS = ("facts", "{user}")


@pytest.fixture
def store() -> Iterator[IndelibleStore]:
    with IndelibleStore(":memory:", index={"embed": RecordingEmbeddings(), "fields": ["content"]}) as opened:
        yield opened


def test_the_tools_write_and_find(store: IndelibleStore) -> None:
    """Create, update, search and delete; what was overwritten and deleted is in the history, with its time."""
    manage, search = create_manage_memory_tool(TOOLS, store=store), create_search_memory_tool(TOOLS, store=store)
    key = manage.invoke({"content": "Ada likes green tea"}, config=CONFIG).split()[-1]
    manage.invoke({"content": "Ada plays chess"}, config=CONFIG)
    manage.invoke({"content": "Ada likes coffee", "action": "update", "id": key}, config=CONFIG)
    found = json.loads(search.invoke({"query": "likes coffee"}, config=CONFIG))
    assert [item["value"]["content"] for item in found] == ["Ada likes coffee", "Ada plays chess"]
    assert found[0]["score"] > found[1]["score"]
    manage.invoke({"action": "delete", "id": key}, config=CONFIG)
    history = store.history(("memories", "ada"), key)
    assert [change.item and change.item.value["content"] for change in history] == ["Ada likes green tea", "Ada likes coffee", None]
    assert history[0].at < history[1].at < history[2].at


def test_the_tools_can_be_awaited(store: IndelibleStore) -> None:
    """Several at once, with a filter and paging."""
    manage, search = create_manage_memory_tool(TOOLS, store=store), create_search_memory_tool(TOOLS, store=store)

    async def use() -> Any:
        await asyncio.gather(*(manage.ainvoke({"content": f"fact {number}"}, config=CONFIG) for number in range(12)))
        return json.loads(await search.ainvoke({"query": "fact", "limit": 5, "offset": 10}, config=CONFIG))

    assert len(asyncio.run(use())) == 2
    assert json.loads(search.invoke({"query": "fact", "filter": {"content": "fact 7"}}, config=CONFIG))[0]["value"] == {"content": "fact 7"}


def test_a_duplicate_can_be_told(store: IndelibleStore) -> None:
    """langmem makes a new id for each create; the store finds what says the same."""
    manage = create_manage_memory_tool(TOOLS, store=store)
    for _ in range(2):
        manage.invoke({"content": "Ada likes tea"}, config=CONFIG)
    found = store.search(("memories", "ada"), query="Ada likes tea")
    assert [round(item.score or 0, 4) for item in found] == [1, 1]
    assert len(store.search(("memories",), filter={"content": "Ada likes tea"})) == 2


def test_the_manager_writes_what_the_model_extracts(store: IndelibleStore) -> None:
    """By ``invoke``, whose threads drop the errors of the store, and by ``ainvoke``: what it says it put is there."""
    model = ScriptedChatModel(answers=[calling("Memory", content="Ada plays chess"), calling("Memory", content="Ada lives in Oslo")])
    manager = create_memory_store_manager(model, namespace=FACTS, store=store)
    said = manager.invoke({"messages": [{"role": "user", "content": "I play chess"}]}, config=CONFIG)
    said += asyncio.run(manager.ainvoke({"messages": [{"role": "user", "content": "I live in Oslo"}]}, config=CONFIG))
    assert sorted(put["value"]["content"]["content"] for put in said) == ["Ada lives in Oslo", "Ada plays chess"]
    for put in said:
        item = store.get(put["namespace"], put["key"])
        assert item is not None
        assert item.value == put["value"]


def test_the_manager_finds_what_it_wrote(store: IndelibleStore) -> None:
    """Its own search goes to the same place."""
    model = ScriptedChatModel(answers=[calling("Memory", content="Ada plays chess")])
    manager = create_memory_store_manager(model, namespace=FACTS, store=store)
    manager.invoke({"messages": [{"role": "user", "content": "I play chess"}]}, config=CONFIG)
    found = manager.search(query="chess", config=CONFIG)
    assert [item.value.content for item in found] == ["Ada plays chess"]


def test_the_executor_writes_in_the_background(store: IndelibleStore) -> None:
    """A reflection on another thread, with a loop of its own, reaches the same store."""
    written = threading.Event()
    model = ScriptedChatModel(answers=[calling("Memory", content="Ada plays chess")])
    manager = create_memory_store_manager(model, namespace=FACTS, store=store)
    with ReflectionExecutor(manager, store=store) as executor:
        future = executor.submit({"messages": [{"role": "user", "content": "I play chess"}]}, config=CONFIG, after_seconds=0)
        future.add_done_callback(lambda done: written.set())
        assert written.wait(60)
    assert [item.value["content"] for item in store.search(("facts",))] == [{"content": "Ada plays chess"}]
