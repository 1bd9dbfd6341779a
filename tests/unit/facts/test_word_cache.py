"""The words of a slice are read at the second question, and only what changed after that."""

from __future__ import annotations

import pytest

from indelible import MemoryStore
from indelible.faces import word_cache
from indelible.faces.engine import open_backend
from indelible.testing import FakeClock, FlakyBackend
from tests.unit.facts.stores import contents, open_store

KEYWORD_VERBS = ("counted", "find", "words", "corpus")


@pytest.fixture
def watched(clock: FakeClock) -> tuple[MemoryStore, FlakyBackend]:
    """A store, and its backend that notes how words are looked for."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=KEYWORD_VERBS)
    return open_store(clock=clock, backend=backend), backend


def calls(backend: FlakyBackend) -> list[str]:
    done = list(backend.calls)
    backend.calls.clear()
    return done


def test_one_question_does_not_read_the_slice(watched: tuple[MemoryStore, FlakyBackend]) -> None:
    """A command that asks once goes through the index; a program that asks again has the words at hand."""
    store, backend = watched
    store.remember_many(["green tea", "milk"], user_id="u")
    asked = []
    for _ in range(4):
        assert contents(store.search("tea", user_id="u")) == ["green tea"]
        asked.append(calls(backend))
    assert asked == [["counted"], ["words"], [], []]
    store.search("tea", user_id="v")
    assert calls(backend) == ["counted"], "another slice is another question"
    store.remember("black tea", user_id="u")
    assert contents(store.search("tea", user_id="u")) == ["black tea", "green tea"]
    assert calls(backend) == ["words"], "of what is new"


@pytest.mark.parametrize(("mode", "questions"), [("keyword", 5), ("hybrid", 2)])
def test_words_are_read_once_counting_has_cost_as_much(
    watched: tuple[MemoryStore, FlakyBackend], monkeypatch: pytest.MonkeyPatch, mode: str, questions: int
) -> None:
    """Not before: reading them at the second question would make that one the slowest of all."""
    monkeypatch.setattr(word_cache, "PATIENCE", 5)
    store, backend = watched
    store.remember_many(["green tea", "milk"], user_id="u")
    asked = []
    for _ in range(questions + 2):
        assert contents(store.recall("tea", mode=mode, limit=1, user_id="u")) == ["green tea"]
        asked.append(calls(backend))
    assert asked == [["counted"]] * questions + [["words"], []]


def test_the_past_is_read_once(watched: tuple[MemoryStore, FlakyBackend]) -> None:
    """Whatever is written later, it stays as it was."""
    store, backend = watched
    store.remember_many([f"tea {number}" for number in range(5)], user_id="u")
    for number in range(4):
        assert len(store.search("tea", user_id="u", as_of=5)) == 5
        store.remember(f"more tea {number}", user_id="u")
    assert calls(backend) == ["counted", "words"]


def test_a_large_slice_goes_through_the_index(watched: tuple[MemoryStore, FlakyBackend]) -> None:
    """For the sake of phrases; single words are counted there."""
    store, backend = watched
    store.remember_many([f"学习 {number}" for number in range(5)], user_id="u")
    store._engine.word_cache.max_records = 4
    for _ in range(4):
        assert len(store.search("学习", user_id="u")) == 5
    assert calls(backend) == ["find"] * 4, "it is seen to be too large before it is read"


def test_what_is_kept_expires(watched: tuple[MemoryStore, FlakyBackend], clock: FakeClock) -> None:
    """S70: judged at each question, statistics included."""
    store, _ = watched
    store.remember("green tea", ttl_ms=1000)
    store.remember("black tea")
    for _ in range(3):
        assert len(store.search("tea")) == 2
    before = store.recall("tea", mode="hybrid")
    clock.advance(ms=1001)
    assert contents(store.search("tea")) == ["black tea"]
    assert contents(store.recall("tea", mode="hybrid")) == ["black tea"]
    assert len(before) == 2
    assert len(store.search("tea", include_expired=True)) == 2


def test_the_least_used_slice_is_let_go(watched: tuple[MemoryStore, FlakyBackend]) -> None:
    """Memory is bounded by bytes, and by the number of slices that are noted."""
    store, backend = watched
    store._engine.word_cache._max_bytes = 3000
    for user in "ab":
        store.remember("tea", user_id=user)
        store.search("tea", user_id=user)
        store.search("tea", user_id=user)
    assert len(store._engine.word_cache._entries) == 1
    calls(backend)
    store.search("tea", user_id="a")
    assert calls(backend) == ["words"]


def test_what_takes_too_much_memory_goes_through_the_index(watched: tuple[MemoryStore, FlakyBackend]) -> None:
    """A few long texts are as much as many short ones."""
    store, backend = watched
    store._engine.word_cache._max_bytes = 3000
    store.remember_many(["tea " + "x" * 3000, "tea " + "y" * 3000], user_id="u")
    for _ in range(4):
        assert len(store.search("tea", user_id="u")) == 2
    assert calls(backend) == ["counted", "words", "counted"], "then it counts as too large to be kept"
