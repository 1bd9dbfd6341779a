"""Variety in place of repetition, and conditions that only Python can tell: both before the cut (lines 43 and 44 of the semantics)."""

from __future__ import annotations

from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, Mmr, Record
from tests.unit.facts.stores import contents

TEXTS = ["red fox run", "red fox runs", "red bird", "green whale song"]


@pytest.fixture
def animals(store: MemoryStore) -> MemoryStore:
    store.remember_many(TEXTS)
    return store


def test_s43_variety_is_chosen_from_a_pool(animals: MemoryStore) -> None:
    """S43: from the nearest only; what lies beyond the pool follows in order of nearness, and nothing is lost."""
    nearest = contents(animals.recall("red fox run", limit=4))
    assert nearest[:3] == TEXTS[:3]
    assert contents(animals.recall("red fox run", limit=4, mmr=Mmr(1.0))) == nearest
    assert contents(animals.recall("red fox run", limit=2, mmr=Mmr(0.3, pool=3))) == ["red fox run", "red bird"]
    assert contents(animals.recall("red fox run", limit=2, mmr=Mmr(0.0, pool=2))) == nearest[:2]
    assert sorted(contents(animals.recall("red fox run", limit=4, mmr=Mmr(0.0, pool=2)))) == sorted(TEXTS)
    assert contents(animals.recall("red fox run", limit=4, mmr=Mmr(0.0, pool=0))) == nearest
    assert contents(animals.recall("red fox run", limit=2, mmr=0.3)) == contents(animals.recall("red fox run", limit=2, mmr=Mmr(0.3)))


def test_a_pool_greater_than_the_usual_one(store: MemoryStore) -> None:
    """It is as deep as it was asked to be, also where that is deeper than any channel ranks by itself."""
    store.remember_many([f"red fox {number}" for number in range(1200)] + ["green whale song"])
    found = contents(store.recall("red fox 7", limit=2, mmr=Mmr(0.01, pool=1201)))
    assert found == ["red fox 7", "green whale song"]


@pytest.mark.parametrize("bad", [{"balance": 2}, {"balance": None}, {"balance": "x"}, {"balance": True}, {"pool": -1}, {"pool": 1.5}])
def test_faulty_variety(bad: dict[str, Any]) -> None:
    """Out of range or of another type."""
    with pytest.raises(InvalidInput, match="mmr"):
        Mmr(**bad)


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_s44_a_function_of_the_record_comes_before_the_cut(animals: MemoryStore, mode: str) -> None:
    """S44: one wanted among nearer ones is found; the function sees all of the record, and filters hold beside it."""
    animals.remember_many([f"red fox number {number}" for number in range(30)])
    kept = animals.remember("red fox far away and long ago", metadata={"n": 1}, source="Ada")

    def wanted(record: Record) -> bool:
        return record.source == "Ada" and "long ago" in record.content

    assert [hit.id for hit in animals.recall("red fox", mode=mode, limit=1, accept=wanted)] == [kept.id]
    assert [hit.id for hit in animals.recall("red fox", mode=mode, limit=1, accept=wanted, filters={"n": 1})] == [kept.id]
    assert animals.recall("red fox", mode=mode, accept=wanted, filters={"n": 2}) == []


def test_a_function_that_fails_or_is_none(animals: MemoryStore) -> None:
    """Its exception is the cause."""
    with pytest.raises(InvalidInput, match="KeyError") as caught:
        animals.recall("red", accept=lambda record: record.metadata["missing"])
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(InvalidInput, match="function of a record"):
        animals.recall("red", accept="red")  # type: ignore[arg-type]  # the mistake itself


def test_what_a_view_is_bound_to(store: MemoryStore) -> None:
    """It can be told, of the past as well."""
    assert store.scope("a", None).bound[:2] == ("a", None)
    assert store.scope("a").at(0).bound.agent_id == "a"


def test_a_collection_tells_its_model(store: MemoryStore) -> None:
    """The store's own, or none, which is an error to ask for."""
    assert store.collection("notes", model="store").embedder.id == "hash-64"
    with pytest.raises(InvalidInput, match="no model"):
        _ = store.collection("notes").embedder
