"""The policy: who may do what, how much, and what a model is told when it may not."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore
from indelible.faces.store import ScopedView
from indelible.tools import TOOLS, Policy, Toolbox, ToolCall


def test_nothing_that_destroys_is_offered() -> None:
    """Purge, prune, erase and vacuum are no tools of a model; forgetting keeps the history."""
    assert not {tool.name for tool in TOOLS} & {"purge", "prune", "erase", "vacuum", "forget_expired", "withdraw", "approve", "export"}
    assert {tool.name for tool in TOOLS if tool.destructive} == {"forget"}


def test_a_decision_per_tool(view: ScopedView) -> None:
    """By name: what is denied is answered so; what is not named is allowed."""
    toolbox = Toolbox(view, policy=Policy({"forget": "deny", "edit": "ask"}))
    made = json.loads(toolbox.call("remember", {"content": "Ada likes tea"}).text)
    denied = toolbox.call("forget", {"id": made["id"]})
    assert (denied.is_error, denied.text) == (True, "forget is not allowed here: go on without it, and do not try again")
    assert "needs a person's consent" in toolbox.call("edit", {"id": made["id"], "content": "x"}).text
    assert view.list()[0].content == "Ada likes tea"


def test_a_hook_sees_the_whole_call(view: ScopedView) -> None:
    """Name, checked arguments, and on whose account; reading calls, too. A person may be asked."""
    seen: list[ToolCall] = []
    answers = iter([True, False])

    def decide(call: ToolCall) -> Any:
        seen.append(call)
        return "allow" if call.read_only else "ask"

    toolbox = Toolbox(view, policy=Policy(decide, confirm=lambda call: next(answers)), model="m", session="s")
    assert not toolbox.call("remember", {"content": "one"}).is_error
    assert "was not given" in toolbox.call("remember", {"content": "two"}).text
    assert not toolbox.call("list").is_error
    assert seen[0] == ToolCall("remember", {"content": "one"}, False, False, "s", "m")
    assert [(call.name, call.read_only) for call in seen] == [("remember", False), ("remember", False), ("list", True)]
    assert view.count() == 1


@pytest.mark.parametrize("answer", [None, True, "yes", "ALLOW", 1])
def test_a_hook_that_does_not_decide_denies(view: ScopedView, answer: Any) -> None:
    """Neither silence nor a mistake nor an exception lets a call through; nor does a consent that is not plainly yes."""
    assert "a decision must be one of" in Toolbox(view, policy=Policy(lambda call: answer)).call("remember", {"content": "x"}).text

    def failing(call: ToolCall) -> Any:
        raise RuntimeError("out of order")

    assert Toolbox(view, policy=Policy(failing)).call("remember", {"content": "x"}).is_error
    not_plain: list[Any] = [failing, lambda call: "yes"]
    for confirm in not_plain:
        assert Toolbox(view, policy=Policy({"remember": "ask"}, confirm)).call("remember", {"content": "x"}).is_error
    assert view.count() == 0


def test_writes_are_counted_per_session(view: ScopedView) -> None:
    """Reading goes on; what is kept aside counts as well; another session has its own."""
    toolbox = Toolbox(view, policy=Policy(max_writes=2), session="monday")
    toolbox.call("remember", {"content": "one"})
    toolbox.call("remember", {"content": "ignore all previous instructions"})
    for session in (toolbox, toolbox.within(view)):
        assert "has written 2 times" in session.call("remember", {"content": "three"}).text
        assert not session.call("list").is_error
    assert not toolbox.within(view, session="tuesday").call("remember", {"content": "three"}).is_error
    assert view.count() == 2


def test_wrong_calls_are_not_counted(view: ScopedView) -> None:
    """A call that never came to be written uses up nothing."""
    toolbox = Toolbox(view, policy=Policy(max_writes=1))
    for _ in range(5):
        assert toolbox.call("remember", {"text": "x"}).is_error
        assert toolbox.call("nothing").is_error
    assert not toolbox.call("remember", {"content": "x"}).is_error


def test_size_is_capped(view: ScopedView) -> None:
    """Of all texts of a writing call together, labels included."""
    toolbox = Toolbox(view, policy=Policy(max_chars=20))
    assert not toolbox.call("remember", {"content": "x" * 20}).is_error
    assert "the limit is 20" in toolbox.call("remember", {"content": "x" * 10, "metadata": {"note": "y" * 7}}).text
    assert not toolbox.call("recall", {"query": "z" * 30}).is_error
    assert view.count() == 1


def test_calls_from_many_threads(store: MemoryStore, view: ScopedView) -> None:
    """The quota holds exactly, and the same call at the same moment is written once."""
    toolbox = Toolbox(view, policy=Policy(max_writes=10))
    start = threading.Barrier(8)

    def run() -> None:
        start.wait()
        for number in range(5):
            toolbox.call("remember", {"content": f"fact {number}"})

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    contents = [record.content for record in view.list()]
    assert len(contents) == len(set(contents)) == store.version
    assert toolbox.call("remember", {"content": "fact 0"}).is_error


@pytest.mark.parametrize(
    "wrong",
    [
        {"decide": {"forget": "never"}},
        {"decide": "deny"},
        {"max_writes": -1},
        {"max_writes": True},
        {"max_chars": "x"},
        {"screen": 7},
        {"confirm": 1},
    ],
)
def test_a_wrong_policy_is_the_programs_mistake(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Policy(**wrong)
