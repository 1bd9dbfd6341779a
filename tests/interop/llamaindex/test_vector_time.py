"""The vector store over time: the past, expiry, scopes, and objects that are copied, pickled and persisted."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, UnsupportedOperation
from indelible.testing import FakeClock
from llama_index_indelible import IndelibleVectorStore
from tests.interop.llamaindex.samples import WAYS, asked, both_ways, ids_of, node, where


@pytest.fixture(params=WAYS)
def nodes(request: pytest.FixtureRequest) -> IndelibleVectorStore:
    """An empty vector store in memory: each test by its plain verbs and by its coroutines."""
    return both_ways(IndelibleVectorStore(":memory:"), request.param)


# Time, expiry, scopes


def test_the_past_can_be_asked(nodes: IndelibleVectorStore) -> None:
    """In every mode, after changes, deletion and clearing."""
    nodes.add([node("1", "red fox", of="doc"), node("2", "blue whale", of="doc")])
    version = nodes.client.version
    nodes.add([node("1", "green frog")])
    nodes.delete("doc")
    nodes.clear()
    for mode in ("default", "mmr", "text_search", "hybrid"):
        assert asked(nodes, "fox", mode=mode) == []
        assert asked(nodes, "fox", mode=mode, top_k=1, options={"as_of": version}) == ["1"]
    assert asked(nodes, "fox", doc_ids=["doc"], options={"as_of": version}) == ["1", "2"]
    assert nodes.list_ref_docs(as_of=version) == {"doc": ["1", "2"]}
    assert [found.get_content() for found in nodes.get_nodes(["1"], as_of=version)] == ["red fox"]


def test_expiry() -> None:
    """By the store, by the call; hidden when the time has come, and deleting still ends it."""
    clock = FakeClock()
    nodes = IndelibleVectorStore(store=MemoryStore(":memory:", clock=clock), ttl_ms=1000)
    nodes.add([node("short", "fox")])
    nodes.add([node("long", "fox", of="doc")], ttl_ms=5000)
    assert sorted(asked(nodes, "fox")) == ["long", "short"]
    clock.advance(ms=1000)
    assert asked(nodes, "fox") == asked(nodes, "fox", mode="text_search") == asked(nodes) == ["long"]
    assert ids_of(nodes.get_nodes()) == ["long"]
    assert sorted(asked(nodes, "fox", options={"include_expired": True})) == ["long", "short"]
    clock.advance(ms=5000)
    nodes.delete("doc")
    nodes.delete_nodes(["short"])
    assert asked(nodes, "fox", options={"include_expired": True}) == []


def test_scopes_cannot_be_left(file: str) -> None:
    """Ids, filters, deletion and clearing of one user never reach another, nor does a narrower view get out again."""
    ada = IndelibleVectorStore(file, user_id="ada")
    bob = IndelibleVectorStore(file, user_id="bob", agent_id="helper")
    everybody = IndelibleVectorStore(file)
    for store in (ada, bob, everybody):
        store.add([node("1", f"a fox of {store.user_id}", of="doc", n=1)])
    ada.delete("doc")
    bob.delete_nodes(["1"], where(n=2))
    everybody.clear()
    assert ids_of(ada.get_nodes()) == ids_of(everybody.get_nodes()) == []
    assert [found.get_content() for found in bob.get_nodes()] == ["a fox of bob"]
    assert [found.get_content() for found in everybody.within(user_id="bob", agent_id="helper").get_nodes()] == ["a fox of bob"]
    with pytest.raises(InvalidInput, match="bound to 'ada'"):
        ada.within(user_id="bob")
    with pytest.raises(InvalidInput, match="usr_id"):
        ada.within(usr_id="bob")


def test_namespaces_are_apart(file: str) -> None:
    """One label or several; a namespace below another is not part of it."""
    one, two = IndelibleVectorStore(file, namespace="a"), IndelibleVectorStore(file, namespace=("a", "b"))
    one.add([node("1", "fox", vector=[1, 2])])
    two.add([node("2", "fox")])
    assert asked(two, "fox") == ["2"]
    assert ids_of(one.get_nodes()) == ["1"]


# Objects


def test_pickles_and_copies_are_on_the_same_file(file: str) -> None:
    """With scope, namespace and expiry; elsewhere a copy fails or comes back without its file."""
    nodes = IndelibleVectorStore(file, namespace=("x", "y"), user_id="ada", ttl_ms=10_000_000)
    nodes.add([node("1", "red fox")])
    copies = [pickle.loads(pickle.dumps(nodes)), copy.copy(nodes), copy.deepcopy(nodes), IndelibleVectorStore.from_dict(nodes.to_dict())]
    for other in copies:
        assert other.to_dict() == nodes.to_dict()
        assert asked(other, "fox") == ["1"]
    copies[0].add([node("2", "blue whale")])
    assert asked(nodes, "whale", top_k=1) == ["2"]


def test_a_store_in_memory_is_not_pickled() -> None:
    """It would come back empty."""
    with pytest.raises(UnsupportedOperation, match="open the store at a path"):
        pickle.dumps(IndelibleVectorStore(":memory:"))


def test_persist_writes_no_file(nodes: IndelibleVectorStore, tmp_path: Any) -> None:
    """LlamaIndex would try to read it as JSON later."""
    nodes.persist(str(tmp_path / "default__vector_store.json"))
    assert list(tmp_path.iterdir()) == []


def test_path_and_store_must_agree(file: str) -> None:
    """Else one of them would be silently ignored."""
    with MemoryStore(file) as store:
        assert IndelibleVectorStore(file, store=store).client is store
        with pytest.raises(InvalidInput, match="give one"):
            IndelibleVectorStore(file + "x", store=store)
        with pytest.raises(InvalidInput, match="stores_text"):
            IndelibleVectorStore(store=store, stores_text=False)
