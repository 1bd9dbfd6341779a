"""Lines 21 to 23 of the semantics: models of every kind, delegation, answers, the order of checks, the gate and the audit log."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from indelible import (
    InvalidInput,
    Memory,
    MemoryStore,
    MockModel,
    ModelError,
    PersistentMemory,
    PolicyError,
    ask,
    ask_with_memory,
    audit_log,
    delegation,
)


@pytest.fixture(autouse=True)
def _no_model_set() -> Iterator[None]:
    """No test finds, or leaves, a model that is set for the whole process."""
    delegation(None)
    yield
    delegation(None)


@pytest.fixture
def profile() -> Memory:
    memory = Memory("profile")
    memory.remember("color", "blue")
    return memory


class Runnable:
    """What LangChain offers: ``invoke``, which answers with a message; calling it is something else."""

    def __init__(self, reply: object) -> None:
        self.reply = reply
        self.model_name = "runnable-1"

    def invoke(self, prompt: str) -> object:
        return self.reply

    def __call__(self, *args: object) -> str:
        raise AssertionError("invoke is the way to ask a runnable")


class Completing:
    """What LlamaIndex offers: ``complete``, which answers with a completion."""

    model = "completing-1"

    def complete(self, prompt: str) -> object:
        return SimpleNamespace(text=f"completed {prompt[-5:]}")


class TextAccessor(str):
    """Text that may also be called, as the text of newer LangChain messages."""

    __slots__ = ()

    def __call__(self) -> str:
        raise AssertionError("deprecated")


class OldMessage:
    """A message whose text is a method."""

    content: tuple[object, ...] = ()

    def text(self) -> str:
        return "from a method"


BLOCKS = [{"type": "text", "text": "from "}, "blocks", {"type": "image"}]
MODELS: dict[str, tuple[object, str]] = {
    "a function": (lambda prompt: f"{len(prompt.splitlines())} lines", "4 lines"),
    "a method": (MockModel("mock").__call__, "mock"),
    "the mock": (MockModel(["first", "second"]), "first"),
    "a runnable with a message": (Runnable(SimpleNamespace(content="from content")), "from content"),
    "a runnable with text": (Runnable("plain"), "plain"),
    "a runnable with blocks": (Runnable(SimpleNamespace(content=BLOCKS)), "from blocks"),
    "a runnable with a text that can be called": (Runnable(SimpleNamespace(text=TextAccessor("accessed"), content=[])), "accessed"),
    "a runnable with a method": (Runnable(OldMessage()), "from a method"),
    "a language model": (Completing(), "completed asked"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_s21_any_model_will_do(kind: str, profile: Memory) -> None:
    """S21: a callable, a runnable, a language model or the mock: given, delegated as a statement, or for a block."""
    model, value = MODELS[kind]
    answer = ask_with_memory("I asked", profile, model)
    assert (answer.value, type(answer.value)) == (value, str)
    delegation(model)
    assert ask("I asked", None).prompt == "I asked"
    assert ask_with_memory("I asked", profile).prompt == answer.prompt
    delegation(None)
    with delegation(model) as delegated:
        assert delegated is model
        assert ask_with_memory("I asked", profile).prompt == answer.prompt


def test_s21_the_mock_answers_in_turn_by_a_function_or_with_an_echo() -> None:
    """S21: it needs no network; what it was asked can be looked at."""
    scripted, computed, echo = MockModel(["one", "two"]), MockModel(str.upper), MockModel()
    assert [ask("x", scripted).value for _ in range(3)] == ["one", "two", "two"]
    assert [ask("x", computed).value, ask("x", echo).value, ask("x", MockModel("")).value] == ["X", "[mock] x", ""]
    assert scripted.prompts == ["x", "x", "x"]


def test_s21_delegation_as_a_statement_holds_for_the_process() -> None:
    """S21: in every thread, until another is set; an argument wins over it."""
    delegation(MockModel("one"))
    delegation(MockModel("two"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(ask, "x").result().value == ask("x").value == "two"
    assert ask("x", MockModel("given")).value == "given"


def test_s21_delegation_as_a_block_ends_with_the_block() -> None:
    """S21: blocks nest; also an error ends one, and what was set for the process comes back."""
    delegation(MockModel("process"))
    with delegation(MockModel("outer")):
        with suppress(KeyError), delegation(MockModel("inner")):
            assert ask("x").value == "inner"
            raise KeyError
        assert ask("x").value == "outer"
        with delegation(None), pytest.raises(InvalidInput, match="no model"):
            ask("x")
    assert ask("x").value == "process"


def test_s21_one_block_does_not_set_the_model_of_another() -> None:
    """S21: two blocks that begin at the same moment in two threads leave nothing behind, whichever is entered first."""
    one, two = delegation(MockModel("one")), delegation(MockModel("two"))
    with one:
        pass
    with two:
        assert ask("x").value == "two"
    with pytest.raises(InvalidInput, match="no model"):
        ask("x")


def test_s21_threads_are_isolated() -> None:
    """S21: each thread sees its own block's model, a thread outside sees none."""
    barrier = threading.Barrier(6, timeout=60)

    def inside(name: str) -> list[str]:
        with delegation(MockModel(name)):
            barrier.wait()
            seen = [ask("x").value for _ in range(20)]
            barrier.wait()
        return seen

    def outside() -> list[str]:
        barrier.wait()
        with pytest.raises(InvalidInput, match="no model"):
            ask("x")
        barrier.wait()
        return []

    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(inside, name) for name in "abcde"] + [pool.submit(outside)]
    assert [set(future.result()) for future in futures] == [{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, set()]


def test_s21_tasks_are_isolated() -> None:
    """S21: the same for tasks of one event loop that take turns, and for the threads they hand work to."""

    async def inside(name: str) -> set[str]:
        seen = set()
        with delegation(MockModel(name)):
            for _ in range(5):
                await asyncio.sleep(0)
                seen |= {ask("x").value, (await asyncio.to_thread(ask, "x")).value}
        return seen

    async def all_at_once() -> list[set[str]]:
        return await asyncio.gather(*(inside(name) for name in "abc"))

    assert asyncio.run(all_at_once()) == [{"a"}, {"b"}, {"c"}]


def test_s21_a_model_that_is_empty_is_a_model() -> None:
    """S21: a model is not asked whether it is true."""

    class Empty(MockModel):
        def __len__(self) -> int:
            return 0

    with delegation(Empty("here")):
        assert ask("x").value == "here"


def test_s21_nothing_is_written(store: MemoryStore) -> None:
    """S21: the version counter is equal before and after, for every kind of memory in the file."""
    store.remember("Ada likes tea", user_id="ada")
    store.memory().remember("color", "blue")
    notes = store.collection("notes", model="store")
    notes.put("a", "tea is green")
    before = (store.version, len(list(store.iter_events())), store.verify().heads)
    for memory in (store, store.scope(user_id="ada"), store.at(1), store.memory(), store.memory().at(2), notes, notes.at(3)):
        assert ask_with_memory("tea?", memory, MockModel("remember this")).value == "remember this"
    assert (store.version, len(list(store.iter_events())), store.verify().heads) == before


def test_s22_an_answer_says_what_was_shown(store: MemoryStore, ledger: PersistentMemory) -> None:
    """S22: value, prompt, the memories used, in their order, and how many were left out."""
    ledger.remember("color", "blue")
    ledger.remember("tea", "green")
    answer = ask_with_memory("what?", ledger, MockModel("blue"))
    assert (answer.value, answer.used, answer.left_out, str(answer)) == ("blue", ("color", "tea"), 0, "blue")
    assert answer.prompt == "Known information from memory:\n- color: blue\n- tea: green\n\nwhat?"
    notes = [store.remember(f"note number {number}") for number in range(3)]
    answer = ask_with_memory("note number 1", store, MockModel("blue"), limit=1)
    assert (answer.used, answer.left_out) == ((notes[1],), 2)
    plain = ask("what?", MockModel("blue"))
    assert (plain.value, plain.prompt, plain.used, plain.left_out) == ("blue", "what?", (), 0)


def test_s23_the_order_of_checks(profile: Memory) -> None:
    """S23: model present, prompt a str, memory one of ours, gate; each speaks only once those before it are content."""
    asked: list[str] = []

    def refuse(prompt: str) -> bool:
        asked.append(prompt)
        return False

    wrong: Any = 5
    model = MockModel()
    with pytest.raises(InvalidInput, match="no model"):
        ask_with_memory(wrong, wrong, gate=refuse)
    with pytest.raises(InvalidInput, match=r"a model is a callable .* got int"):
        ask_with_memory(wrong, wrong, wrong, gate=refuse)
    with pytest.raises(InvalidInput, match="a prompt must be a str, got int"):
        ask_with_memory(wrong, wrong, model, gate=refuse)
    with pytest.raises(InvalidInput, match=r"memory must be .* got int"):
        ask_with_memory("prompt", wrong, model, gate=refuse)
    assert asked == []
    with pytest.raises(PolicyError, match="gate refused"):
        ask_with_memory("prompt", profile, model, gate=refuse)
    assert asked == ["Known information from memory:\n- color: blue\n\nprompt"]
    assert model.prompts == []


@pytest.mark.parametrize("memory", [None, {}, {"a": 1}, [], "text", object(), Memory])
def test_s23_only_memories_of_this_library(memory: Any) -> None:
    """S23: a dict would do, and is refused: what is shown to a model is never a guess."""
    with pytest.raises(InvalidInput, match="memory must be"):
        ask_with_memory("prompt", memory, MockModel())


@pytest.mark.parametrize("prompt", [None, b"x", 5, ["x"]])
def test_s23_a_prompt_is_text(prompt: Any) -> None:
    """S23: for ``ask`` as well."""
    with pytest.raises(InvalidInput, match="a prompt must be a str"):
        ask(prompt, MockModel())


def test_s23_a_gate_may_refuse_by_raising(profile: Memory) -> None:
    """S23: its own PolicyError comes through; anything but False lets the prompt pass."""

    def policy(prompt: str) -> None:
        raise PolicyError("not on Sundays")

    model = MockModel("ok")
    with pytest.raises(PolicyError, match="Sundays"):
        ask("x", model, gate=policy)
    with pytest.raises(PolicyError, match="Sundays"):
        ask_with_memory("x", profile, model, gate=policy)
    assert model.prompts == []
    passing: list[Callable[[str], object]] = [lambda prompt: None, lambda prompt: True, lambda prompt: 0]
    assert [ask("x", model, gate=gate).value for gate in passing] == ["ok"] * 3
    with pytest.raises(InvalidInput, match="a gate must be callable"):
        ask("x", model, gate="no gate")  # type: ignore[arg-type]  # that is the test


def failing(prompt: str) -> str:
    raise TimeoutError("too slow")


class Named(Runnable):
    def invoke(self, prompt: str) -> object:
        raise KeyError("no such key")


@pytest.mark.parametrize(
    ("model", "name", "cause"),
    [
        (failing, "failing", TimeoutError),
        (Named(""), "runnable-1", KeyError),
        (Runnable(5), "runnable-1", TypeError),
        (Runnable(SimpleNamespace(content=None)), "runnable-1", TypeError),
        (lambda: "takes no prompt", "<lambda>", TypeError),
        (MockModel(lambda prompt: prompt[1000]), "MockModel", IndexError),
    ],
)
def test_s23_a_failure_of_the_model_is_a_model_error(model: object, name: str, cause: type[Exception], profile: Memory) -> None:
    """S23: it names the model and keeps the cause; a failed call, or a reply without text, is not in the audit log."""
    before = audit_log()
    with pytest.raises(ModelError, match=name) as raised:
        ask_with_memory("x", profile, model)
    assert isinstance(raised.value.__cause__, cause)
    assert audit_log() == before


def test_s23_a_real_call_is_one_line_of_the_audit_log(profile: Memory) -> None:
    """S23: in order, with the model's name and without the text of prompt, memory or answer; the mock's calls are none."""
    before = len(audit_log())
    ask("top secret", Completing())
    ask_with_memory("top secret", profile, MockModel("answer"))
    ask_with_memory("top secret", profile, lambda prompt: "answer")
    lines = audit_log()[before:]
    assert [line.split(" ", 1)[1] for line in lines] == [
        "ask completing-1: 10 characters, 0 memories",
        "ask <lambda>: 56 characters, 1 memories",
    ]
    assert not [word for word in ("secret", "blue", "answer") for line in lines if word in line]


def test_s23_the_audit_log_is_a_copy_and_its_lines_are_lines() -> None:
    """S23: nobody writes into it from outside, neither by its list nor by a model's name."""
    hostile = Runnable("ok")
    hostile.model_name = "evil\n2026-01-01T00:00:00Z ask good: 0 characters"
    before = len(audit_log())
    ask("x", hostile)
    audit_log().clear()
    (line,) = audit_log()[before:]
    assert line.splitlines() == [line]
    assert "evil\\u000a2026" in line


def test_s23_every_call_of_every_thread_is_audited() -> None:
    """S23: none is lost."""
    before = len(audit_log())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ask("x" * number, str.upper), range(200)))
    assert sorted(int(line.split(": ")[1].split()[0]) for line in audit_log()[before:]) == list(range(200))
