"""Every coroutine does its work at the store on another thread than the event loop's."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.schema import Document

from indelible.backend.sqlite.backend import SqliteBackend
from llama_index_indelible import (
    IndelibleBufferChatStore,
    IndelibleChatStore,
    IndelibleDocumentStore,
    IndelibleKVStore,
    IndelibleMemoryBlock,
    IndelibleRetriever,
    IndelibleVectorStore,
)
from tests.interop.llamaindex.chats import open_store, user
from tests.interop.llamaindex.samples import WordEmbedding, node, query_of

ARGUMENTS: dict[str, Any] = {
    "nodes": [node("n", "red fox")],
    "node_ids": ["n"],
    "ref_doc_id": "d",
    "query": query_of("fox"),
    "key": "k",
    "val": {"a": 1},
    "kv_pairs": [("k", {"a": 1})],
    "keys": ["k"],
    "docs": [Document(id_="d", text="red fox")],
    "doc_id": "d",
    "doc_hash": "h",
    "doc_hashes": {"d": "h"},
    "raise_error": False,
    "message": user("tea"),
    "messages": [user("tea")],
    "idx": 0,
    "n": 1,
    "session_id": "s",
}
KINDS: dict[str, Callable[[Any], Any]] = {
    "vector store": lambda store: IndelibleVectorStore(store=store),
    "retriever": lambda store: IndelibleRetriever(IndelibleVectorStore(store=store), WordEmbedding()),
    "key/value store": lambda store: IndelibleKVStore(store=store),
    "cache": lambda store: IndelibleKVStore(store=store, cache=True),
    "document store": lambda store: IndelibleDocumentStore(store=store),
    "chat store": lambda store: IndelibleChatStore(store=store),
    "chat store of buffers": lambda store: IndelibleBufferChatStore(store=store),
    "memory block": lambda store: IndelibleMemoryBlock(store=store, tokenizer_fn=str.split),
}
OF_LLAMA_INDEX: dict[str, dict[str, Any]] = {
    "retriever": {"aretrieve": {"str_or_query_bundle": "fox"}},
    "memory block": {"aget": {"messages": [user("tea")], "session_id": "s"}},
}
"""Coroutines of LlamaIndex that call ours, and what they are called with."""


def on_a_loop() -> bool:
    """Whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def calls(kind: str, subject: object) -> dict[str, dict[str, Any]]:
    """Each coroutine that reaches the store, with its arguments."""
    found = dict(OF_LLAMA_INDEX.get(kind, {}))
    for name, function in inspect.getmembers(type(subject), inspect.iscoroutinefunction):
        if not name.startswith("_") and function.__module__.startswith("llama_index_indelible") and name != "atruncate":
            found[name] = {key: ARGUMENTS[key] for key in inspect.signature(function).parameters if key in ARGUMENTS}
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_no_coroutine_uses_the_store_on_the_loop(kind: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is called once; the store is used, and never by a thread that runs a loop."""
    used: list[bool] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            used.append(on_a_loop())
            return function(*given, **options)

        return call

    for name, function in inspect.getmembers(SqliteBackend, inspect.isfunction):
        if not name.startswith("_"):
            monkeypatch.setattr(SqliteBackend, name, watched(function))
    with open_store(tmp_path / "store.db") as store:
        subject = KINDS[kind](store)
        called = calls(kind, subject)
        assert called
        for name, given in called.items():
            used.clear()
            asyncio.run(getattr(subject, name)(**given))
            assert (name, set(used)) == (name, {False})
