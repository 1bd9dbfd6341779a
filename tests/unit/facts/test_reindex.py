"""S88: moving memories to another model, wherever it is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from indelible import EmbedderMismatch, InvalidInput, MemoryStore, ModelError, Part
from indelible.backend.interface import Selection
from indelible.faces.reindexing import CHUNK
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.random_facts import Life, Step, seen, steps
from tests.unit.facts.stores import contents, ids, open_store, other_process

NEW = HashEmbedder(32, seed=5)


class Stumbling(HashEmbedder):
    """Fails after some texts."""

    def __init__(self, texts: int) -> None:
        super().__init__(32, seed=5)
        self._left = texts

    def embed_documents(self, texts: Any) -> Any:
        self._left -= len(texts)
        if self._left < 0:
            raise RuntimeError("stumbled")
        return super().embed_documents(texts)


class Interrupted(BaseException):
    """What a person does to a long call."""


def test_s88_the_store_goes_on_with_the_new_model(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    record = kept.remember("tea")
    kept.edit(record.id, content="green tea")
    kept.remember("milk")
    assert kept.reindex(NEW) == 3, "every version's"
    assert set(kept.health().vectors) == {'["hash-32-5",32,"hash-32-5"]'}
    assert contents(kept.recall("green tea", limit=1)) == ["green tea"]
    assert contents(kept.recall("tea", as_of=1)) == ["tea"]
    kept.remember("water")
    with pytest.raises(EmbedderMismatch), open_store(path, clock=clock) as old:
        old.recall("tea")
    with open_store(path, clock=clock, embedder=NEW) as new:
        assert len(new.recall("tea")) == 3


def test_s88_answers_are_those_of_a_store_of_that_model(clock: FakeClock) -> None:
    """Now and in the past, contexts and long texts included."""

    def told(store: MemoryStore) -> MemoryStore:
        first = store.remember("zebra questions " * 200)
        second = store.remember("plain reply", context=first)
        store.edit(first.id, content="okapi answers")
        store.remember_turns([("user", "tea"), ("assistant", "milk")])
        store.edit(second.id, metadata={"a": 1})
        store.forget(first.id)
        return store

    def answers(store: MemoryStore) -> list[Any]:
        views = [store, *map(store.at, range(1, store.version))]
        found = [[view.recall(query, limit=9) for query in ("zebra questions", "okapi", "tea milk")] for view in views]
        return [[[(hit.content, hit.score, hit.part) for hit in hits] for hits in of_view] for of_view in found]

    with told(open_store(clock=clock)) as moved, told(open_store(clock=clock, embedder=NEW)) as never_moved:
        moved.reindex(NEW)
        assert answers(moved) == answers(never_moved)
        assert sorted(moved.health().vectors.values()) == sorted(never_moved.health().vectors.values())


@given(steps("purge", "beside", most=10))
def test_s88_moving_there_and_back_changes_no_answer(script: list[Step]) -> None:
    with Life() as life:
        life.take(*script)
        store = life.store
        versions = [None, store.version // 2]

        def answers() -> list[Any]:
            return [seen(store.recall("the cafe tea", limit=20, as_of=version)) for version in versions]

        before = answers()
        store.reindex(NEW)
        store.reindex(HashEmbedder())
        assert answers() == before
        assert store.verify().ok


@pytest.mark.parametrize("texts", [0, 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_s88_interrupted_anywhere_the_old_model_answers_and_the_next_call_goes_on(path: Path, clock: FakeClock, texts: int) -> None:
    count = 2 * CHUNK + 10
    with open_store(path, clock=clock) as store:
        store.remember_many([f"tea {number}" for number in range(count)])
        before = store.recall("tea 7", limit=20)
        with pytest.raises(ModelError):
            store.reindex(Stumbling(texts))
        assert store.recall("tea 7", limit=20) == before
        store.remember("written meanwhile")
    with open_store(path, clock=clock) as again:
        assert again.recall("tea 7", limit=20) == before
        done = texts // CHUNK * CHUNK
        assert again.reindex(NEW) == count + 1 - done, "what was done is not done twice"
        assert len(again.recall("tea 7", limit=1000)) == count + 1
        assert list(again.health().vectors) == ['["hash-32-5",32,"hash-32-5"]']
        assert again.reindex() == 0


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_s88_stopped_by_hand(store: MemoryStore, moment: int) -> None:
    store.remember_many([f"tea {number}" for number in range(2 * CHUNK + 10)])
    before = store.recall("tea 7", limit=20)
    said: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        said.append((done, total))
        if len(said) == moment:
            raise Interrupted

    with pytest.raises(Interrupted):
        store.reindex(NEW, progress)
    assert store.recall("tea 7", limit=20) == before
    assert [total for _, total in said] == [2 * CHUNK + 10] * moment
    store.reindex(NEW)
    assert store.recall("tea 7", limit=20) != before


def test_s88_with_the_same_model_it_makes_what_is_missing(store: MemoryStore) -> None:
    store.remember("tea")
    assert store.reindex() == store.reindex(HashEmbedder()) == 0
    store._engine.backend.drop_vectors(Selection(expiry="all"), store._engine.backend.models())
    assert store.reindex() == 1
    assert contents(store.recall("tea")) == ["tea"]


def test_s88_within_a_shared_space_only_the_new_models_vectors_stay(path: Path, clock: FakeClock) -> None:
    with MemoryStore(path, clock=clock, embedder="static") as store:
        store.remember_many(["Ada drinks tea", "The train is late"])
        assert store.reindex("bge-256") == 2
        assert list(store.health().vectors) == ['["bge-256",256,"bge-256"]']
        assert contents(store.recall("a hot beverage", limit=1)) == ["Ada drinks tea"]


def test_s88_another_process_notices(kept: MemoryStore, path: Path) -> None:
    """The old model's store is told, and does not mix."""
    kept.remember("tea")
    assert len(kept.recall("tea")) == 1
    other_process(path, "store.reindex(HashEmbedder(16))")
    for call in (lambda: kept.recall("tea"), lambda: kept.remember("milk")):
        with pytest.raises(EmbedderMismatch, match="hash-16"):
            call()
    assert contents(kept.search("tea")) == ["tea"]
    assert kept.version == 1


def test_s88_facts_and_collections_are_moved_apart(store: MemoryStore) -> None:
    """Each by its namespace; what has a model of its own below stays in its space."""
    store.remember("tea")
    store.collection("pages", model="store").put("k", "tea")
    store.collection("pages", "deep", model="store").put("k", "deep tea")
    store.collection("pages", "own", model=HashEmbedder(16)).put("k", "own tea")
    store.reindex(NEW)
    assert contents(store.recall("tea")) == ["tea"]
    with pytest.raises(EmbedderMismatch):
        store.collection("pages", model="store").search("tea")
    assert store.reindex(NEW, namespace=("pages", "deep")) == 1
    assert store.reindex(NEW, namespace=("pages",)) == 1
    pages = store.collection("pages", model="store")
    assert sorted(contents(pages.search("tea", mode="semantic"))) == ["deep tea", "tea"]
    assert contents(store.collection("pages", "own", model=HashEmbedder(16)).search("tea")) == ["own tea"]
    assert contents(store.recall("tea")) == ["tea"]


def test_s88_vectors_that_only_their_owner_can_make_are_not_thrown_away(store: MemoryStore) -> None:
    brought = store.collection("brought", model=HashEmbedder(2))
    brought.put("text", "tea")
    brought.put("vector", parts=[Part("p", "", (3.0, 4.0))])
    with pytest.raises(InvalidInput, match="no text"):
        store.reindex(NEW, namespace=("brought",))
    assert [hit.record.key for hit in brought.search(vector=[3.0, 4.0], limit=1)] == ["vector"]
    brought.delete("vector")
    assert store.reindex(NEW, namespace=("brought",)) == 1


@pytest.mark.parametrize("bad", [5, "x"])
def test_s88_bad_arguments(store: MemoryStore, bad: Any) -> None:
    store.remember("tea")
    with pytest.raises(InvalidInput, match="progress"):
        store.reindex(progress=bad)
    with pytest.raises(InvalidInput, match="namespace"):
        store.reindex(namespace=bad)
    with pytest.raises(InvalidInput):
        store.reindex("nope")
    assert ids(store.recall("tea")) == ids(store.list())
