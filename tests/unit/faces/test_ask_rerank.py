"""S52 where recall is not called by its name: what asks with a memory, composes a prompt or a block takes the same ``rerank``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from indelible import InvalidInput, Memory, MemoryStore, MockModel, Rerank, ask_with_memory, compose_prompt, memory_block
from indelible.testing import HashEmbedder
from tests.rerankers import Longest, in_place_of_the_bundled

NEAR, LONG = "red fox", "a red fox runs over the wide field behind the old house"
WAYS: dict[str, Callable[..., str]] = {
    "ask_with_memory": lambda query, memory, **more: ask_with_memory(query, memory, MockModel("ok"), **more).prompt,
    "compose_prompt": compose_prompt,
    "memory_block": lambda query, memory, **more: memory_block(query, memory, **more).text,
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    with MemoryStore(":memory:", embedder=HashEmbedder()) as opened:
        opened.remember(LONG)
        opened.remember(NEAR)
        yield opened


def first(prompt: str) -> str:
    """The entry that stands first."""
    return prompt.splitlines()[1].removeprefix("- ").split(" (")[0]


@each_way
def test_s52_what_a_reranker_puts_first_is_shown_first(store: MemoryStore, way: Callable[..., str]) -> None:
    reranker = Longest()
    assert first(way("red fox", store)) == NEAR
    assert first(way("red fox", store, rerank=reranker)) == LONG
    assert reranker.seen == [("red fox", [NEAR, LONG])]
    assert first(way("red fox", store.at(store.version), limit=1, rerank=Rerank(reranker=Longest()))) == LONG


@each_way
def test_s52_true_is_the_bundled_one(store: MemoryStore, way: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    in_place_of_the_bundled(monkeypatch)
    assert first(way("red fox", store, rerank=True)) == LONG


@each_way
@pytest.mark.parametrize("model", [None, "store"])
def test_s52_of_a_collection_as_well(store: MemoryStore, way: Callable[..., str], model: str | None) -> None:
    notes = store.collection("notes", model=model)
    notes.put("long", LONG)
    notes.put("near", NEAR)
    assert first(way("red fox", notes)) == NEAR
    assert first(way("red fox", notes, rerank=Longest())) == LONG


@each_way
def test_a_key_value_memory_is_shown_whole_and_in_its_order(way: Callable[..., str]) -> None:
    memory, reranker = Memory(), Longest()
    memory.remember("a", NEAR)
    memory.remember("b", LONG)
    assert way("red fox", memory, rerank=reranker) == way("red fox", memory)
    assert reranker.seen == []


@each_way
@pytest.mark.parametrize("wrong", [1, "yes", Longest, {"pool": 3}])
def test_what_is_no_reranker_is_refused(store: MemoryStore, way: Callable[..., str], wrong: Any) -> None:
    for query in ("red fox", " "):
        with pytest.raises(InvalidInput, match="rerank must be True, a Rerank, or a reranker"):
            way(query, store, rerank=wrong)
