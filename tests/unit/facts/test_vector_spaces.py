"""Models and spaces: what may be compared, what is refused, and what happens while a model is not installed. Also S51, S86."""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path

import pytest

from indelible import EmbedderMismatch, InvalidInput, MemoryStore, MissingExtra, ModelError, Part
from indelible.embed import OnnxEmbedder, resolve
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import contents, ids, open_store, other_process


def by_length(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 10.0] for text in texts]


def no_numbers(texts: list[str]) -> list[list[float]]:
    return [[math.nan, 1.0] for _ in texts]


OTHER_MODELS = {"another space": HashEmbedder(seed=7), "another size": HashEmbedder(32), "a bundled one": "static"}


@pytest.mark.parametrize("other", OTHER_MODELS.values(), ids=list(OTHER_MODELS))
def test_another_vector_space_is_refused(path: Path, clock: FakeClock, other: object) -> None:
    """By every verb that would mix them, with what to do; nothing is written, and the old model goes on."""
    with open_store(path, clock=clock) as store:
        record = store.remember("tea")
    with open_store(path, clock=clock, embedder=other) as wrong:
        for call in (
            lambda: wrong.remember("milk"),
            lambda: wrong.remember_many(["milk"]),
            lambda: wrong.edit(record.id, content="milk"),
            lambda: wrong.recall("tea"),
            lambda: wrong.recall("tea", mode="hybrid"),
            lambda: wrong.recall("tea", as_of=1),
            lambda: wrong.search_semantic("tea"),
        ):
            with pytest.raises(EmbedderMismatch, match="reindex"):
                call()
        assert wrong.version == 1
        assert contents(wrong.search("tea")) == ["tea"]
        assert wrong.edit(record.id, metadata={"a": 1}).version == 2
        assert wrong.forget(record.id)
    with open_store(path, clock=clock) as store:
        store.undo(record.id)
        assert contents(store.recall("tea")) == ["tea"]


def test_a_read_settles_nothing(path: Path, clock: FakeClock) -> None:
    """A search in an empty store holds it to no model: there is nothing that the next one could not be compared with."""
    for embedder in (HashEmbedder(), HashEmbedder(32)):
        with open_store(path, clock=clock, embedder=embedder) as store:
            assert store.recall("tea") == store.recall("tea", mode="hybrid") == []
    with open_store(path, clock=clock, embedder=HashEmbedder(16)) as store:
        store.remember("tea")
        assert contents(store.recall("tea")) == ["tea"]


def test_once_everything_is_purged_another_model_may_move_in(path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as store:
        store.purge(store.remember("tea").id)
    with open_store(path, clock=clock, embedder=HashEmbedder(16)) as store:
        store.remember("milk")
        assert contents(store.recall("milk")) == ["milk"]


@pytest.mark.parametrize("first", ["static", None])
def test_the_bundled_models_share_a_space(path: Path, clock: FakeClock, first: str | None) -> None:
    """Memories of either are found with either, also with the fast queries; each keeps the vectors that it made."""
    second = "static" if first is None else None
    with MemoryStore(path, clock=clock, embedder=first) as store:
        store.remember("Ada drinks green tea every morning")
    with MemoryStore(path, clock=clock, embedder=second) as store:
        store.remember("The train to Lisbon is late")
        assert contents(store.recall("a hot beverage", limit=1)) == ["Ada drinks green tea every morning"]
        assert len(store.health().vectors) == 2
    with MemoryStore(path, clock=clock, embedder="static-query") as store:
        assert contents(store.recall("railway delays", limit=1)) == ["The train to Lisbon is late"]


def test_the_bundled_model_has_256_numbers_and_cuts_long_texts(path: Path, clock: FakeClock) -> None:
    """A long text is found by what stands at its end, and says which piece of it was nearest."""
    with MemoryStore(path, clock=clock, embedder="static") as store:
        long = store.remember("The weather was fine and nothing happened. " * 60 + "Finally the parrot learned to play chess.")
        store.remember_many(["A cat sleeps in the sun", "The stock market fell"])
        found = store.get(long.id, with_vectors=True)
        assert found is not None
        parts = list(found.vectors or {})
        assert len(parts) > 1
        assert {len(vector) for vector in (found.vectors or {}).values()} == {256}
        hit = store.recall("a bird that plays a board game", limit=1)[0]
        assert (hit.id, hit.part) == (long.id, f"#{len(parts) - 1}")


# Several spaces in one file


def test_collections_may_have_models_of_their_own(store: MemoryStore) -> None:
    """Each is searched in its space, beside the facts; a second model for one of them is refused."""
    small = store.collection("small", model=HashEmbedder(16))
    large = store.collection("large", model=HashEmbedder(128))
    brought = store.collection("brought")
    store.remember("tea")
    small.put("k", "tea")
    large.put("k", "tea")
    brought.put("k", parts=[Part("p", "tea", (3.0, 4.0))])
    for hits in (store.recall("tea"), small.search("tea"), large.search("tea"), brought.search(vector=[3.0, 4.0])):
        assert [hit.score for hit in hits] == [1.0]
    assert sorted(store.health().vectors.values()) == [1, 1, 1, 1]
    with pytest.raises(EmbedderMismatch):
        store.collection("small", model=HashEmbedder(32)).put("l", "milk")
    with pytest.raises(EmbedderMismatch):
        store.collection("small", model=HashEmbedder(32)).search("tea")
    with pytest.raises(EmbedderMismatch):
        brought.put("l", parts=[Part("p", "milk", (1.0, 2.0, 3.0))])


def test_a_search_never_mixes_spaces(store: MemoryStore) -> None:
    """Also where it reaches namespaces below: what lives in another space is not compared."""
    store.collection("all", "one", model=HashEmbedder(16)).put("k", "tea")
    store.collection("all", "two", model=HashEmbedder(64, seed=3)).put("k", "tea")
    for model in (HashEmbedder(16), HashEmbedder(64, seed=3)):
        hits = store.collection("all", model=model).search("tea")
        assert [hit.score for hit in hits] == [1.0]
    assert store.collection("all", model=HashEmbedder(64)).search("tea") == []


# While the model is not installed


class _Missing:
    """Takes packages away, and gives them back."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        # No model that another test has loaded.
        patch.setattr(resolve, "_onnx", functools.cache(OnnxEmbedder))

    def take_away(self) -> None:
        self._patch.setitem(sys.modules, "onnxruntime", None)

    def give_back(self) -> None:
        self._patch.delitem(sys.modules, "onnxruntime")


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> _Missing:
    found = _Missing(monkeypatch)
    found.take_away()
    return found


def test_facts_may_be_written_before_the_model_is_installed(path: Path, clock: FakeClock, missing: _Missing) -> None:
    """They are found by words at once, and by meaning once there is a model: the next recall embeds them."""
    with MemoryStore(path, clock=clock) as store:
        first = store.remember("Ada drinks green tea every morning")
        store.remember_many(["The train is late", "A long text. " * 200])
        store.remember_turns([("user", "I moved"), ("assistant", "Where to?")])
        store.edit(first.id, content="Ada drinks black coffee every morning")
        assert ids(store.search("coffee")) == [first.id]
        for mode in ("semantic", "hybrid"):
            with pytest.raises(MissingExtra, match=r"indelible\[embed\]"):
                store.recall("a hot beverage", mode=mode)
        assert store.health().vectors == {}
        missing.give_back()
        assert store.recall("a hot beverage", limit=1)[0].id == first.id
        assert len(store.recall("anything", limit=10)) == 5
        assert store.version == 6
    missing.take_away()
    with MemoryStore(path, clock=clock, embedder=HashEmbedder()) as other, pytest.raises(EmbedderMismatch):
        other.recall("tea")


def test_a_model_that_was_chosen_must_be_there(path: Path, clock: FakeClock, missing: _Missing) -> None:
    """Only the default may be added later: who names a model is told that it is not there."""
    with MemoryStore(path, clock=clock, embedder="bge-256") as store:
        with pytest.raises(MissingExtra):
            store.remember("tea")
        assert store.version == 0


def test_another_process_makes_what_was_missing(path: Path, clock: FakeClock) -> None:
    """The vectors are written by whoever recalls first, and are there for all."""
    with MemoryStore(path, clock=clock, embedder="static") as store:
        store.remember("tea")
    other_process(
        path, "import sys\nsys.modules['onnxruntime'] = None\nown = MemoryStore(sys.argv[1])\nown.remember('green tea')\nown.close()"
    )
    with MemoryStore(path, clock=clock, embedder="static") as store:
        assert sum(store.health().vectors.values()) == 1
        assert len(store.recall("tea")) == 2
        assert sum(store.health().vectors.values()) == 2
        assert len(store.scope(user_id="default").recall("tea")) == 2


# S51, S86


def test_s51_searching_words_listing_and_history_load_no_model_and_open_no_socket(tmp_path: Path) -> None:
    """In an interpreter where neither can be done."""
    program = """
import socket, sys
def refused(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refused
own = MemoryStore(sys.argv[1] + "-own")
for name in ("onnxruntime", "tokenizers", "indelible_models"):
    assert name not in sys.modules, name
    sys.modules[name] = None
record = own.remember("green tea", metadata={"a": 1})
own.edit(record.id, content="black tea")
own.feedback(record.id, "up")
print(len(own.search("tea", feedback=True, recency=True)), len(own.list(filters={"a": 1})), len(own.history(record.id)), own.count())
print(own.at(1).search("green")[0].content, own.health().live, own.prune(keywords="tea").count, own.verify().ok)
memory = own.memory("notes")
memory.remember("k", [1])
print(memory.recall("k"), memory.history("k") != [], own.collection("c").put("k", "v").content)
own.forget(record.id), own.undo(record.id), own.vacuum(), own.export(sys.argv[1] + "-export"), own.backup(sys.argv[1] + "-backup")
own.close()
"""
    assert other_process(tmp_path / "x.db", program).splitlines() == ["1 1 3 1", "green tea 1 1 True", "[1] True v"]


def test_s51_recall_with_the_bundled_model_opens_no_socket(tmp_path: Path) -> None:
    program = """
import socket, sys
def refused(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refused
own = MemoryStore(sys.argv[1] + "-own")
own.remember("green tea")
print(own.recall("a hot beverage")[0].content, own.recall("tea", mode="hybrid")[0].why)
"""
    assert other_process(tmp_path / "x.db", program) == "green tea ('keyword', 'semantic')"


def test_s86_the_model_never_switches_by_itself(path: Path, clock: FakeClock) -> None:
    """Opened without a model, a store of another model does not take that one, and says so."""
    with open_store(path, clock=clock) as store:
        store.remember("tea")
    with MemoryStore(path, clock=clock) as default, pytest.raises(EmbedderMismatch, match="hash-64"):
        default.recall("tea")


def test_s86_a_callable_is_a_model(store: MemoryStore, clock: FakeClock) -> None:
    """Any function from texts to vectors that has a name; what it returns is checked."""
    with open_store(clock=clock, embedder=by_length) as own:
        own.remember_many(["tea", "chamomile"])
        assert contents(own.recall("xxx", limit=1)) == ["tea"]
    with open_store(clock=clock, embedder=no_numbers) as broken:
        with pytest.raises(ModelError):
            broken.remember("tea")
        assert broken.version == 0
    with open_store(clock=clock, embedder=lambda texts: by_length(texts)) as nameless, pytest.raises(InvalidInput, match="name"):
        nameless.remember("tea")
