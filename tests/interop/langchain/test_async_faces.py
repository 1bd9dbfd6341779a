"""Whatever is awaited leaves the loop free: neither the database nor a model is ever waited for on its thread."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.indexing import aindex
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.store.base import GetOp, PutOp

from indelible import MemoryStore
from indelible.backend.sqlite import SqliteBackend
from indelible.testing import HashEmbedder
from langchain_indelible import (
    IndelibleByteStore,
    IndelibleChatMessageHistory,
    IndelibleMemory,
    IndelibleRecordManager,
    IndelibleRetriever,
    IndelibleStore,
    IndelibleVectorStore,
    MemoryMiddleware,
    memory_tools,
    with_memory,
)
from tests.interop.langchain.models import USER, ScriptedChatModel, open_store

NAMESPACE = ("notes",)
Use = Callable[[MemoryStore], Awaitable[object]]


class Watch:
    """Notes what was called on a thread, once it is told which."""

    def __init__(self) -> None:
        self.loop: int | None = None
        self.blocked: list[str] = []
        self.elsewhere = 0

    def over(self, owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Watch a method."""
        right = getattr(owner, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == self.loop:
                self.blocked.append(f"{owner.__name__}.{name}")
            else:
                self.elsewhere += self.loop is not None
            return right(*args, **kwargs)

        monkeypatch.setattr(owner, name, watched)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Every verb of the database and of the model."""
    watch = Watch()
    for owner in (SqliteBackend, HashEmbedder):
        for name, _ in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                watch.over(owner, name, monkeypatch)
    return watch


@pytest.fixture
def opened(watch: Watch, tmp_path: Path) -> Iterator[MemoryStore]:
    """Opened and closed off the loop, so to say: that is the program's to do."""
    with open_store(tmp_path / "store.db") as store:
        store.remember("Ada prefers tea", **USER)
        watch.loop = threading.get_ident()
        yield store
        watch.loop = None


async def items(store: MemoryStore) -> None:
    async with IndelibleStore(store, index={"fields": ["text"]}) as kept:
        await kept.aput(NAMESPACE, "k", {"text": "green tea"}, ttl=1)
        await kept.aget(NAMESPACE, "k")
        await kept.asearch(NAMESPACE, query="tea")
        await kept.alist_namespaces()
        await kept.abatch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "j", {"text": "x"})])
        await kept.ahistory(NAMESPACE, "k")
        await kept.adelete(NAMESPACE, "k")
        await kept.adelete_namespace(NAMESPACE)


async def documents(store: MemoryStore) -> None:
    kept = await IndelibleVectorStore.afrom_texts(["red fox"], None, store=store)  # type: ignore[arg-type]  # the store's own model
    await kept.aadd_documents([Document(id="1", page_content="green tea")])
    await kept.aadd_texts(["blue tea"], ids=["2"])
    await kept.aget_by_ids(["1"])
    await kept.asimilarity_search("tea")
    await kept.asimilarity_search_with_score("tea")
    await kept.asimilarity_search_with_relevance_scores("tea")
    await kept.asimilarity_search_by_vector([1.0] * 64)
    await kept.amax_marginal_relevance_search("tea")
    await kept.as_retriever().ainvoke("tea")
    await kept.adelete(["1"])
    await kept.adelete()


async def retriever(store: MemoryStore) -> None:
    found = IndelibleRetriever(memory=store)
    assert len(await found.ainvoke("tea", k=1)) == 1
    await found.abatch(["tea", "coffee"])
    async for _ in found.astream("tea"):
        pass


async def chain_memory(store: MemoryStore) -> None:
    memory = IndelibleMemory(store=store, facts_key="facts", **USER)
    await memory.asave_context({"input": "hi"}, {"output": "hello"})
    await memory.aload_memory_variables({"input": "hi"})
    await memory.aclear()


async def chat_history(store: MemoryStore) -> None:
    history = IndelibleChatMessageHistory(store, "s", pinned=True)
    await history.aget_messages()
    await history.aadd_messages([HumanMessage("hi")])
    await history.aclear()


async def byte_store(store: MemoryStore) -> None:
    kept = IndelibleByteStore(store)
    await kept.amset([("a", b"1"), ("b", b"2")])
    await kept.amget(["a"])
    assert [key async for key in kept.ayield_keys()] == ["a", "b"]
    await kept.amdelete(["a"])


async def record_manager(store: MemoryStore) -> None:
    kept = IndelibleVectorStore(store)
    records = IndelibleRecordManager(kept)
    await records.acreate_schema()
    found = [Document(page_content=text, metadata={"source": text}) for text in ("a b", "c d")]
    for docs in (found, found[:1]):
        await aindex(docs, records, kept, cleanup="full", source_id_key="source", key_encoder="sha256")
    await records.aupdate(["k"], group_ids=["g"])
    await records.alist_keys(group_ids=["g"])
    await records.adelete_keys(["k"])


async def tools(store: MemoryStore) -> None:
    offered = {tool.name: tool for tool in memory_tools(store, **USER)}
    made = json.loads(await offered["remember"].ainvoke({"content": "Ada likes cake"}))
    for name in ("recall", "search"):
        await offered[name].ainvoke({"query": "cake"})
    await offered["edit"].ainvoke({"id": made["id"], "content": "Ada likes pie"})
    for name in ("history", "forget"):
        await offered[name].ainvoke({"id": made["id"]})


async def middleware(store: MemoryStore) -> None:
    model = ScriptedChatModel(answers=["tea"])
    agent = create_agent(model, tools=[], middleware=[MemoryMiddleware(store, capture=True, **USER)])
    await agent.ainvoke({"messages": [HumanMessage("what does Ada prefer?")]})
    assert model.seen[0][0].type == "system"


async def runnable(store: MemoryStore) -> None:
    await with_memory(RunnableLambda(str), store).ainvoke("what does Ada prefer?")


@pytest.mark.parametrize(
    "use",
    [items, documents, retriever, chain_memory, chat_history, byte_store, record_manager, tools, middleware, runnable],
    ids=lambda use: use.__name__,
)
async def test_the_loop_is_never_blocked(use: Use, opened: MemoryStore, watch: Watch) -> None:
    """By nothing that each class has to be awaited."""
    await use(opened)
    assert watch.blocked == []
    assert watch.elsewhere > 0


async def test_the_watch_is_alive(opened: MemoryStore, watch: Watch) -> None:
    """A plain call inside a coroutine is what it notes."""
    opened.recall("tea")
    assert {"SqliteBackend.rows", "HashEmbedder.embed_query"} <= set(watch.blocked)
