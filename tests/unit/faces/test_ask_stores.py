"""Lines 24 and 25 of the semantics: how much is shown, that what is not shown is counted, and asking a memory as it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, Memory, MemoryStore, MockModel, PersistentMemory, ask_with_memory, compose_prompt
from indelible.testing import FakeClock, HashEmbedder

MODEL = MockModel("ok")
MANY = 10_000


@pytest.fixture
def store(clock: FakeClock) -> Iterator[MemoryStore]:
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


def fill(store: MemoryStore, count: int, **scope: Any) -> None:
    """Facts that are about equally near to any prompt, none a near-duplicate of another."""
    store.remember_many([f"fact {number} word{number * 7} other{number * 11}" for number in range(count)], **scope)


def shown(prompt: str) -> list[str]:
    """The entries of a composed prompt."""
    return [line for line in prompt.split("\n\n")[0].splitlines()[1:] if line.startswith("- ")]


def test_s24_everything_of_a_session_memory_is_injected() -> None:
    """S24: 10,000 entries: all, in order, none left out."""
    memory = Memory()
    for number in range(MANY):
        memory.remember(f"key {number}", number)
    answer = ask_with_memory("what?", memory, MODEL, limit=5, max_tokens=5)
    assert shown(answer.prompt) == [f"- key {number}: {number}" for number in range(MANY)]
    assert (len(answer.used), answer.left_out) == (MANY, 0)


def test_s24_everything_of_a_persistent_memory_is_injected() -> None:
    """S24: the same for a memory on the log."""
    with PersistentMemory("memory", ":memory:") as memory:
        for number in range(MANY):
            memory.remember(f"key {number}", number)
        for past in (memory, memory.at(MANY)):
            answer = ask_with_memory("what?", past, MODEL)
            assert shown(answer.prompt) == [f"- key {number}: {number}" for number in range(MANY)]
        assert len(shown(compose_prompt("what?", memory.at(MANY - 1)))) == MANY - 1


@pytest.mark.parametrize("facts", [3, 30, 250])
@pytest.mark.parametrize("limit", [0, 1, 20, 220])
def test_s24_what_a_limit_leaves_out_is_counted(store: MemoryStore, facts: int, limit: int) -> None:
    """S24: at most ``limit`` facts, and "N more not shown" for the rest of the slice, also far beyond what recall ranks."""
    fill(store, facts)
    answer = ask_with_memory("which fact?", store, MODEL, limit=limit)
    expected = min(facts, limit)
    assert (len(answer.used), answer.left_out) == (expected, facts - expected)
    lines = shown(answer.prompt)
    assert [f"- ({facts - expected} more not shown)"] * (facts > expected) == lines[expected:]


def test_s24_without_a_limit_all_are_shown(store: MemoryStore) -> None:
    """S24: ``limit=None`` is never a silent cut; by default 20 are shown."""
    fill(store, 250)
    answer = ask_with_memory("which fact?", store, MODEL, limit=None)
    assert (len(answer.used), answer.left_out, len(shown(answer.prompt))) == (250, 0, 250)
    assert (len(ask_with_memory("which fact?", store, MODEL).used), len(shown(compose_prompt("which fact?", store)))) == (20, 21)


def test_s24_facts_come_in_the_order_of_hybrid_recall(store: MemoryStore) -> None:
    """S24: what recall would find, best first."""
    fill(store, 10)
    store.remember("Ada likes green tea")
    ranked = [hit.content for hit in store.recall("does Ada like green tea?", mode="hybrid", limit=5)]
    assert ranked[0] == "Ada likes green tea"
    answer = ask_with_memory("does Ada like green tea?", store, MODEL, limit=5)
    assert [record.content for record in answer.used if not isinstance(record, str)] == ranked


@given(st.integers(0, 300), st.sampled_from(["default", "words", "one"]))
def test_s24_a_budget_is_kept(budget: int, counter: str) -> None:
    """S24: the lines of facts shown take at most ``max_tokens`` by the given counter; the first that does not fit ends the list."""
    counters: dict[str, Any] = {"default": None, "words": lambda text: len(text.split()), "one": lambda text: 1}
    options = {} if counters[counter] is None else {"count_tokens": counters[counter]}
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        fill(store, 12)
        answer = ask_with_memory("which fact?", store, MODEL, max_tokens=budget, **options)
        whole = ask_with_memory("which fact?", store, MODEL)
    count = counters[counter] or (lambda text: -(-len(text) // 4))
    costs = [count(line + "\n") for line in shown(whole.prompt)]
    assert sum(costs[: len(answer.used)]) <= budget
    assert len(answer.used) == 12 or sum(costs[: len(answer.used) + 1]) > budget
    assert (answer.used, answer.left_out) == (whole.used[: len(answer.used)], 12 - len(answer.used))


@pytest.mark.parametrize("value", [-1, True, 1.5, "5", [5]])
@pytest.mark.parametrize("name", ["limit", "max_tokens"])
def test_s24_bad_limits_are_refused(store: MemoryStore, name: str, value: Any) -> None:
    """S24: InvalidInput that names the argument, before a model is asked."""
    store.remember("fact")
    model = MockModel()
    with pytest.raises(InvalidInput, match=name):
        ask_with_memory("fact?", store, model, **{name: value})
    assert model.prompts == []


@pytest.mark.parametrize("counter", [lambda text: -1, lambda text: "5", lambda text: 1 / 0, lambda text: None])
def test_s24_bad_counters_are_refused(store: MemoryStore, counter: Any) -> None:
    """S24: a counter that fails or gives no count is InvalidInput."""
    store.remember("fact")
    with pytest.raises(InvalidInput, match="token counter"):
        ask_with_memory("fact?", store, MODEL, max_tokens=10, count_tokens=counter)


def test_s24_near_duplicates_are_shown_once(store: MemoryStore) -> None:
    """S24: what says the same again neither takes the place of something else nor counts as left out."""
    for text in ("Ada likes green tea", "ada likes GREEN tea!", "Ada likes green tea", "Bob likes coffee"):
        store.remember(text)
    answer = ask_with_memory("who likes green tea?", store, MODEL, limit=2)
    assert [line.split(" (")[0].casefold() for line in shown(answer.prompt)] in (
        ["- ada likes green tea", "- bob likes coffee"],
        ["- ada likes green tea!", "- bob likes coffee"],
    )
    assert answer.left_out == 0


def test_s24_a_view_shows_its_slice_only(store: MemoryStore) -> None:
    """S24: neither facts nor counts of another scope."""
    fill(store, 30, user_id="bob")
    store.remember("Ada likes tea", user_id="ada")
    answer = ask_with_memory("fact?", store.scope(user_id="ada"), MODEL, limit=5)
    assert (shown(answer.prompt), answer.left_out) == (["- Ada likes tea (2026-01-01)"], 0)
    assert ask_with_memory("fact?", store.scope(user_id="bob"), MODEL, limit=5).left_out == 25
    assert ask_with_memory("fact?", store, MODEL, limit=5).left_out == 26


def test_s24_a_collection_is_a_memory_too(store: MemoryStore) -> None:
    """S24: one with a model by hybrid recall, namespaces below included; records without text are nothing to show."""
    notes = store.collection("notes", model="store")
    for number in range(30):
        notes.put(f"k{number}", f"note {number} word{number * 7}")
    notes.put("empty", value={"a": 1})
    store.collection("notes", "below", model="store").put("k", "note from below")
    store.collection("other", model="store").put("k", "note from elsewhere")
    answer = ask_with_memory("which note?", notes, MODEL, limit=10)
    assert (len(answer.used), answer.left_out) == (10, 21)
    everything = ask_with_memory("which note?", notes, MODEL, limit=None)
    assert len(everything.used) == 31
    assert "- note from below (2026-01-01)" in shown(everything.prompt)
    assert "elsewhere" not in everything.prompt


def test_s24_a_collection_without_a_model_answers_by_words(store: MemoryStore) -> None:
    """S24: any of the question's words will do, since a question is seldom made of the words of its answer; the rest is counted."""
    notes = store.collection("notes")
    for text in ("Ada likes green tea", "Bob drinks coffee", *(f"tea number {number} and{number}" for number in range(30))):
        notes.put(text, text)
    answer = ask_with_memory("What tea does Ada like?", notes, MODEL, limit=5)
    assert shown(answer.prompt)[0] == "- Ada likes green tea (2026-01-01)"
    assert (len(answer.used), answer.left_out) == (5, 26)
    assert ask_with_memory("nothing of this kind", notes, MODEL).prompt == "nothing of this kind"


def test_s25_a_store_as_it_was(store: MemoryStore, clock: FakeClock) -> None:
    """S25: ``at(version)`` gives the prompt that the model would have seen then, by version and by time."""
    then = datetime(2026, 1, 1, tzinfo=UTC)
    tea = store.remember("Ada likes green tea", ttl_ms=10_000)
    composed = [compose_prompt("what does Ada like?", store)]
    clock.advance(ms=1000)
    store.edit(tea.id, "Ada likes black tea")
    composed.append(compose_prompt("what does Ada like?", store))
    clock.advance(ms=1000)
    store.remember("Ada likes coffee")
    composed.append(compose_prompt("what does Ada like?", store))
    clock.advance(ms=1000)
    store.forget(tea.id)
    composed.append(compose_prompt("what does Ada like?", store))
    clock.advance(ms=100_000)
    assert len(set(composed)) == 4
    assert [compose_prompt("what does Ada like?", store.at(version)) for version in (1, 2, 3, 4)] == composed
    times = [then + timedelta(seconds=second) for second in range(4)]
    assert [compose_prompt("what does Ada like?", store.at(time)) for time in times] == composed
    assert [compose_prompt("what does Ada like?", store.scope(agent_id="default").at(version)) for version in (1, 2, 3, 4)] == composed
    assert compose_prompt("what does Ada like?", store.at(0)) == "what does Ada like?"


def test_s25_what_was_left_out_then_is_counted_then(store: MemoryStore) -> None:
    """S25: the count is of the slice at that version."""
    for number in range(40):
        store.remember(f"fact {number} word{number * 7} other{number * 11}")
    for version in (10, 30, 40):
        answer = ask_with_memory("which fact?", store.at(version), MODEL, limit=5)
        assert (len(answer.used), answer.left_out) == (5, version - 5)


def test_s25_a_collection_as_it_was(store: MemoryStore) -> None:
    """S25: the same for collections."""
    notes = store.collection("notes", model="store")
    notes.put("a", "tea is green")
    first = compose_prompt("tea?", notes)
    notes.put("a", "tea is black")
    notes.delete("a")
    assert compose_prompt("tea?", notes.at(1)) == first
    assert "tea is black" in compose_prompt("tea?", notes.at(2))
    assert compose_prompt("tea?", notes) == "tea?"


def test_s25_a_persistent_memory_as_it_was(ledger: PersistentMemory) -> None:
    """S25: the same for key/value memories."""
    ledger.remember("color", "blue")
    first = compose_prompt("what?", ledger)
    ledger.remember("color", "green")
    assert compose_prompt("what?", ledger.at(1)) == first
    assert compose_prompt("what?", ledger.at(0)) == "what?"
