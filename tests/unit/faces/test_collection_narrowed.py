"""What a collection's list and search can be narrowed to besides metadata, and how a hybrid search is balanced."""

from __future__ import annotations

from typing import Any

import pytest

from indelible import Collection, InvalidInput, MemoryStore, Mmr, Part, Record
from indelible.search.fusion import clear_balance
from indelible.testing import HashEmbedder

TEXTS = {"a": ("red fox", "x"), "b": ("a fox in the snow", "x"), "c": ("blue whale", "y"), "d": ("lazy dog", None)}


@pytest.fixture
def notes() -> Collection:
    store = MemoryStore(":memory:", embedder=HashEmbedder())
    found: Collection = store.collection("notes", model="store")
    for key, (text, parent) in TEXTS.items():
        found.put(key, text, parent=parent, metadata={"n": len(key)})
    return found


def keys(found: list[Any]) -> list[str]:
    return [str(item.key if isinstance(item, Record) else item.record.key) for item in found]


@pytest.mark.parametrize(
    ("conditions", "wanted"),
    [
        ({"keys": ["d", "a", "gone"]}, "ad"),
        ({"keys": []}, ""),
        ({"parent": "x"}, "ab"),
        ({"parent": "None"}, ""),
        ({"parent": "x", "keys": ["b", "c"]}, "b"),
        ({"parent": "x", "filters": {"n": 2}}, ""),
        ({"accept": lambda record: record.parent is None}, "d"),
        ({"keys": ["a", "c"], "accept": lambda record: "whale" in record.content}, "c"),
    ],
)
def test_keys_and_parents_narrow_everything(notes: Collection, conditions: dict[str, Any], wanted: str) -> None:
    """List, and a search in every mode, of the past too."""
    version = notes._engine.backend.mark().version
    assert "".join(keys(notes.list(**conditions))) == wanted
    notes.put("e", "red fox", parent="x")
    assert "".join(keys(notes.list(**conditions, as_of=version))) == wanted
    narrowed = {**conditions, "as_of": version, "limit": None}
    assert sorted(keys(notes.search(**narrowed))) == sorted(wanted)
    assert sorted(keys(notes.search("fox", mode="semantic", **narrowed))) == sorted(wanted)
    assert sorted(keys(notes.search("fox", mode="semantic", mmr=Mmr(0.3), **narrowed))) == sorted(wanted)
    assert sorted(keys(notes.search("fox", mode="hybrid", **narrowed))) == sorted(wanted)
    assert sorted(keys(notes.search("fox", mode="keyword", **narrowed))) == sorted(set(wanted) & set("ab"))


def test_narrowing_comes_before_the_limit_and_changes_no_score(notes: Collection) -> None:
    """The farthest alone is found, with the score it has among all."""
    scores = {hit.record.key: hit.rank_score for hit in notes.search("fox", mode="hybrid", balance=0.0, limit=None)}
    for key in ("a", "b"):
        (hit,) = notes.search("fox", mode="hybrid", balance=0.0, keys=[key], limit=1)
        assert hit.rank_score == scores[key]
    assert keys(notes.search("red fox", mode="semantic", keys=["d"], limit=1)) == ["d"]


def test_what_nobody_embedded_is_narrowed_too() -> None:
    """``unscored`` adds only what the conditions let in."""
    store = MemoryStore(":memory:")
    notes = store.collection("notes")
    notes.put("v", "with", parts=[Part("", "", (1.0, 0.0))])
    for key, parent in (("p", "x"), ("q", None)):
        notes.put(key, "without", parent=parent)
    assert keys(notes.search(vector=[1.0, 0.0], unscored=True, keys=["v", "q"])) == ["v", "q"]
    assert keys(notes.search(vector=[1.0, 0.0], unscored=True, parent="x")) == ["p"]


def test_balance_goes_from_words_to_meaning(notes: Collection) -> None:
    """0 is the keyword channel alone and needs no model, 1 the cosines alone; without it meaning counts by how clearly it answers."""
    by_words = notes.search("foxes", mode="hybrid", balance=0.0)
    assert {hit.why for hit in by_words} == {("keyword",)}
    assert keys(by_words) == ["a", "b"]
    meant = [(hit.record.key, hit.score) for hit in notes.search("red fox", mode="semantic")]
    assert [(hit.record.key, hit.rank_score) for hit in notes.search("red fox", mode="hybrid", balance=1.0)] == meant
    clear = clear_balance([hit.score or 0.0 for hit in notes.search("fox", mode="semantic")])
    assert 0 < clear < 1
    assert notes.search("fox", mode="hybrid", balance=clear) == notes.search("fox", mode="hybrid")
    bare = MemoryStore(":memory:").collection("bare")
    bare.put("k", "The foxes of winter")
    assert keys(bare.search("who is the fox?", mode="hybrid", balance=0.0)) == ["k"]


@pytest.mark.parametrize(
    "bad",
    [
        {"keys": "ab"},
        {"keys": [1]},
        {"parent": 1},
        {"parent": ""},
        {"balance": 0.5},
        {"balance": 2.0, "mode": "hybrid"},
        {"balance": True, "mode": "hybrid"},
        {"accept": 1},
    ],
)
def test_a_bad_condition_is_refused(notes: Collection, bad: dict[str, Any]) -> None:
    """With the reason, before anything is read."""
    with pytest.raises(InvalidInput):
        notes.search("fox", **bad)
    if "balance" not in bad:
        with pytest.raises(InvalidInput):
            notes.list(**bad)


def test_many_come_with_their_vectors(notes: Collection) -> None:
    """From ``list`` and ``get_many`` as from ``get``."""
    one = notes.get("a", with_vectors=True)
    assert one is not None
    assert one.vectors
    assert notes.list(keys=["a"], with_vectors=True) == [one]
    assert notes.get_many(["gone", "a"], with_vectors=True) == [None, one]
    assert notes.list(keys=["a"])[0].vectors is None
