"""The contract finds what it is there to find: for each class a bug planted in the class itself, and the law that must fail.

So each law reaches the adapter, and is not held by the core alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import langchain_indelible
from indelible import Scope
from langchain_indelible import (
    IndelibleByteStore,
    IndelibleChatMessageHistory,
    IndelibleMemory,
    IndelibleRecordManager,
    IndelibleRetriever,
    IndelibleStore,
    IndelibleVectorStore,
    MemoryMiddleware,
)
from langchain_indelible.scoping import Binding
from tests.interop.langchain import test_adapters_contract as documents
from tests.interop.langchain import test_agents_contract as agents
from tests.interop.langchain import test_conversations_contract as sessions
from tests.interop.langchain import test_store_contract as items
from tests.interop.langchain.contract_subject import Subject

Bug = Callable[[Any], Any]
"""From what a name stood for to what stands there instead."""


def nothing(answer: Any) -> Bug:
    """It does nothing and says this."""
    return lambda right: lambda *args, **kwargs: answer


def forgets(argument: str) -> Bug:
    """It drops one of its arguments."""
    return lambda right: lambda *args, **kwargs: right(*args, **{name: value for name, value in kwargs.items() if name != argument})


def backwards(right: Any) -> Callable[..., Any]:
    """It answers in the opposite order."""
    return lambda *args, **kwargs: right(*args, **kwargs)[::-1]


def read_backwards(right: Any) -> property:
    """The same for a property."""
    return property(lambda self: right.fget(self)[::-1])


def twice(right: Any) -> Callable[..., Any]:
    """It does everything twice."""

    @functools.wraps(right)
    def call(*args: Any, **kwargs: Any) -> Any:
        right(*args, **kwargs)
        return right(*args, **kwargs)

    return call


def shared(right: Any) -> Callable[..., Any]:
    """It keeps everybody's in one place."""
    return lambda *args, **kwargs: right(*args, **{name: value for name, value in kwargs.items() if not name.endswith("_id")})


def in_place_of(answer: Any) -> Bug:
    """It is another thing altogether."""
    return lambda right: answer


BUGS: list[tuple[type, str, Bug, type[Subject], str]] = [
    (IndelibleStore, "delete", nothing(None), items.TestItems, "test_what_is_forgotten_is_gone"),
    (IndelibleStore, "put", forgets("ttl"), items.TestItems, "test_it_is_gone_at_its_instant"),
    (IndelibleStore, "put", forgets("expected_version"), items.TestWrittenByItems, "test_a_compare_that_fails_says_why"),
    (IndelibleStore, "search", backwards, items.TestReadByItems, "test_the_nearest_comes_first"),
    (IndelibleVectorStore, "delete", nothing(True), documents.TestDocuments, "test_what_is_forgotten_is_gone"),
    (IndelibleVectorStore, "_hits", forgets("filter"), documents.TestDocuments, "test_conditions_are_met_exactly"),
    (IndelibleVectorStore, "add_documents", forgets("ttl_ms"), documents.TestWrittenByDocuments, "test_it_is_gone_at_its_instant"),
    (IndelibleVectorStore, "at", in_place_of(lambda self, when: self), documents.TestReadByDocuments, "test_each_version_reads_as_it_was"),
    (IndelibleVectorStore, "_hits", backwards, documents.TestReadByDocuments, "test_the_nearest_comes_first"),
    (IndelibleRetriever, "_hits", forgets("as_of"), documents.TestRetrievedFacts, "test_each_version_reads_as_it_was"),
    (IndelibleRetriever, "_hits", forgets("filters"), documents.TestRetrievedFacts, "test_conditions_are_met_exactly"),
    (IndelibleRetriever, "_hits", forgets("as_of"), documents.TestRetrievedCollection, "test_the_past_is_recalled_as_it_was"),
    (IndelibleRetriever, "_hits", backwards, documents.TestRetrievedDocuments, "test_the_nearest_comes_first"),
    (
        IndelibleRecordManager,
        "exists",
        in_place_of(lambda self, keys: [False] * len(keys)),
        documents.TestIndexed,
        "test_the_last_text_counts",
    ),
    (IndelibleRecordManager, "list_keys", nothing([]), documents.TestIndexed, "test_what_is_remembered_is_there"),
    (IndelibleVectorStore, "add_documents", nothing([]), documents.TestWrittenByIndex, "test_what_is_remembered_is_there"),
    (IndelibleRecordManager, "list_keys", nothing([]), documents.TestKnownToRecords, "test_a_forgotten_key_can_be_told_again"),
    (IndelibleByteStore, "mdelete", nothing(None), documents.TestBytes, "test_what_is_forgotten_is_gone"),
    (IndelibleByteStore, "mset", nothing(None), documents.TestWrittenByBytes, "test_what_is_remembered_is_there"),
    (IndelibleByteStore, "mget", nothing([None]), documents.TestReadByBytes, "test_what_is_remembered_is_there"),
    (IndelibleChatMessageHistory, "add_messages", twice, sessions.TestHistory, "test_each_write_is_one_version"),
    (IndelibleChatMessageHistory, "__init__", shared, sessions.TestHistory, "test_one_key_in_two_scopes_is_two_memories"),
    (IndelibleChatMessageHistory, "clear", nothing(None), sessions.TestWrittenByHistory, "test_what_is_forgotten_is_gone"),
    (IndelibleChatMessageHistory, "messages", read_backwards, sessions.TestReadByHistory, "test_the_last_text_counts"),
    (IndelibleMemory, "_scope", nothing(Scope()), sessions.TestChainMemory, "test_one_key_in_two_scopes_is_two_memories"),
    (IndelibleMemory, "clear", nothing(None), sessions.TestWrittenByChain, "test_what_is_forgotten_is_gone"),
    (IndelibleMemory, "load_memory_variables", nothing({"history": []}), sessions.TestReadByChain, "test_the_last_text_counts"),
    (IndelibleMemory, "save_context", twice, sessions.TestChainFacts, "test_each_write_is_one_version"),
    (IndelibleMemory, "clear", nothing(None), sessions.TestWrittenByChainFacts, "test_what_is_forgotten_is_gone"),
    (IndelibleMemory, "_facts_for", backwards, sessions.TestReadByChainFacts, "test_the_last_text_counts"),
    (Binding, "scope", nothing({"agent_id": "a", "user_id": "all"}), agents.TestTools, "test_what_is_forgotten_is_gone"),
    (Binding, "scope", nothing({"agent_id": "a", "user_id": "all"}), agents.TestWrittenByTools, "test_what_is_remembered_is_there"),
    (Binding, "scope", nothing({"agent_id": "a", "user_id": "all"}), agents.TestReadByTools, "test_what_is_remembered_is_there"),
    (Binding, "scope", nothing({"user_id": "all"}), agents.TestShown, "test_what_is_remembered_is_there"),
    (MemoryMiddleware, "_with_memories", in_place_of(lambda self, request: request), agents.TestShown, "test_the_last_text_counts"),
    (MemoryMiddleware, "after_agent", nothing(None), agents.TestCaptured, "test_the_last_text_counts"),
]


def law_on(subject: type[Subject], law: str, folder: Path) -> None:
    """Run one law on a new driver."""
    method = getattr(subject(), law)
    driver = subject.made(folder)
    try:
        method(driver, **({"tmp_path": folder} if "tmp_path" in inspect.signature(method).parameters else {}))
    finally:
        driver.close()


@pytest.mark.parametrize(("owner", "name", "bug", "subject", "law"), BUGS, ids=lambda value: getattr(value, "__name__", value))
def test_the_named_law_fails(
    owner: type, name: str, bug: Bug, subject: type[Subject], law: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class with this bug breaks this law; without the bug it keeps it."""
    for folder in ("whole", "broken"):
        (tmp_path / folder).mkdir()
    law_on(subject, law, tmp_path / "whole")
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        law_on(subject, law, tmp_path / "broken")


def test_every_subject_has_a_bug() -> None:
    """No class runs the suite without having been shown to fail it."""
    every = {
        found
        for module in (documents, sessions, agents, items)
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Subject) and found.__test__
    }
    assert every == {subject for _, _, _, subject, _ in BUGS}


def test_every_class_runs_the_suite() -> None:
    """Whatever of the package keeps or finds something; the others are what those take and give, a model, and a runnable around them."""
    exported = {name for name in langchain_indelible.__all__ if not name.startswith("_")}
    tested = {owner.__name__ for owner, *_ in BUGS} & exported
    values = {"CheckedPut", "IndelibleItem", "IndelibleSearchItem", "ItemChange"}
    tools = {"memory_tools", "MemoryToolkit"}  # functions of each run's scope, which is where their bugs are planted
    assert exported - tested == values | tools | {"IndelibleEmbeddings", "as_embedder", "with_memory"}
    assert {agents.TestTools, agents.TestReadByTools, agents.TestWrittenByTools} <= {subject for _, _, _, subject, _ in BUGS}
