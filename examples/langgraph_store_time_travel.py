"""A LangGraph graph whose long-term memory keeps every version: history, reads in the past, and writes that notice others.

Needs langchain-indelible and langgraph. No network and no model.
"""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from indelible.errors import VersionConflict
from indelible.testing import HashEmbedder
from langchain_indelible import IndelibleStore

USERS = ("users", "ada")


class State(TypedDict, total=False):
    said: str
    known: str


def remember(state: State, runtime: Runtime[None]) -> State:
    """Answer with what was known before, and keep what was said."""
    assert runtime.store is not None
    before = runtime.store.get(USERS, "home")
    runtime.store.put(USERS, "home", {"text": state["said"]})
    return {"known": before.value["text"] if before else "nothing yet"}


# A path keeps it; `embedder` may be left out where indelible[embed] is installed.
with IndelibleStore(":memory:", index={"fields": ["text"]}, embedder=HashEmbedder()) as store:
    graph = StateGraph(State).add_node(remember).add_edge(START, "remember").add_edge("remember", END).compile(store=store)
    for said in ("Ada lives in Oslo", "Ada lives in Lima", "Ada lives on the moon"):
        print(graph.invoke({"said": said})["known"])
    # -> nothing yet
    # -> Ada lives in Oslo
    # -> Ada lives in Lima

    # Nothing was overwritten.
    history = store.history(USERS, "home")
    for change in history:
        print(change.version, change.op, change.item and change.item.value["text"])
    # -> 1 remember Ada lives in Oslo
    # -> 2 revise Ada lives in Lima
    # -> 3 revise Ada lives on the moon

    # What the graph would have read, and found by meaning, at any version.
    past = store.get(USERS, "home", as_of=2)
    print(past and past.value["text"])
    # -> Ada lives in Lima
    for version in (1, 3):
        nearest = store.search(("users",), query="Ada lives in Oslo", as_of=version)[0]
        print(nearest.value["text"], f"{nearest.score:.2f}")
    # -> Ada lives in Oslo 1.00
    # -> Ada lives on the moon 0.44

    # The moon was a joke: put back what was there, unless somebody else has written meanwhile.
    if past:
        store.put(USERS, "home", past.value, expected_version=3)
        try:
            store.put(USERS, "home", {"text": "Ada lives in Rome"}, expected_version=3)
        except VersionConflict as conflict:
            print("not written:", conflict)
    # -> not written: expected version 3, but the record is at version 4: read it again and retry

    # A whole namespace can go, and its past stays.
    print(store.delete_namespace(("users",)), store.search(()), len(store.history(USERS, "home")))
    # -> 1 [] 5
    print(store.store.verify().ok)
    # -> True
