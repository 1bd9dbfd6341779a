"""The tool loop: a model decides, mistakes are answers, rounds are counted, and only tools write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, MockModel, ModelError, PolicyError, audit_log
from indelible.faces.store import ScopedView
from indelible.testing import HashEmbedder, ScriptedToolModel
from indelible.tools import TOOLS, Argument, Call, MemoryTool, Message, Policy, Reply, Toolbox, ToolUse, ask_with_tools


def use(name: str, **arguments: Any) -> ToolUse:
    return ToolUse(name, arguments)


def results(messages: Sequence[Message]) -> list[tuple[str, bool]]:
    return [(message.text, message.is_error) for message in messages if message.role == "tool"]


def test_a_model_remembers_edits_and_recalls_in_a_new_process(tmp_path: Path) -> None:
    """What it decided to keep in one conversation, and changed in the next, a third finds."""
    path = tmp_path / "memory.db"

    def ask(prompt: str, session: str, *steps: Any) -> str:
        with MemoryStore(path, embedder=HashEmbedder()) as store:
            model = ScriptedToolModel(*steps)
            answer = ask_with_tools(prompt, Toolbox(store.scope("helper", "ada"), session=session), model)
            assert len(model.seen) == len(steps)
            return answer.value

    def edit(messages: Sequence[Message]) -> ToolUse:
        return use("edit", id=json.loads(messages[-1].text)[0]["id"], content="Ada prefers coffee")

    def said(messages: Sequence[Message]) -> str:
        return str(json.loads(messages[-1].text)[0]["content"])

    assert ask("I prefer tea", "monday", use("remember", content="Ada prefers tea"), "noted") == "noted"
    assert ask("coffee from now on", "tuesday", use("recall", query="Ada prefers"), edit, "changed") == "changed"
    assert ask("what do I prefer?", "wednesday", use("recall", query="Ada prefers"), said) == "Ada prefers coffee"
    with MemoryStore(path) as store:
        (kept,) = store.list()
        assert [(str(change.op), change.source) for change in store.history(kept.id)] == [("remember", "monday"), ("revise", "tuesday")]


def test_what_a_model_is_shown(view: ScopedView) -> None:
    """System text, question, its own calls, and each result by the id of its call; the tools are those of the toolbox."""
    model = ScriptedToolModel(
        Reply("let me see", (ToolUse("list", id="a"), ToolUse("list", "{}", id="a"), ToolUse("list"))), "there is nothing"
    )
    answer = ask_with_tools("what is known?", view, model, system="Be brief.")
    assert (answer.value, str(answer), answer.rounds) == ("there is nothing", "there is nothing", 1)
    assert model.tools == TOOLS
    assert [(message.role, message.text) for message in answer.messages] == [
        ("system", "Be brief."),
        ("user", "what is known?"),
        ("assistant", "let me see"),
        *[("tool", "[]")] * 3,
        ("assistant", "there is nothing"),
    ]
    ids = [one.id for one in answer.messages[2].uses]
    assert len(set(ids)) == 3
    assert [message.use_id for message in answer.messages if message.role == "tool"] == ids
    assert model.seen == [answer.messages[:2], answer.messages[:6]]


def test_mistakes_are_fed_back_and_the_model_goes_on(view: ScopedView) -> None:
    """Unknown tool, missing and wrong arguments, no JSON, a denied call, a tool that raises: each is a result."""

    def raising(call: Call) -> None:
        raise ZeroDivisionError("by design")

    broken = MemoryTool("broken", "Broken", "It raises.", (), raising)
    toolbox = Toolbox(view, tools=[*TOOLS, broken], policy=Policy({"forget": "deny"}))
    model = ScriptedToolModel(
        use("purge", id="all"),
        use("remember"),
        [use("recall", query=7), use("recall", query="x", user_id="bob"), ToolUse("recall", "{nonsense")],
        use("forget", id="x"),
        use("broken"),
        use("edit", id="x", content="y"),
        use("remember", content="Ada prefers tea"),
        "done",
    )
    answer = ask_with_tools("go", toolbox, model)
    assert (answer.value, answer.rounds) == ("done", 7)
    told = results(answer.messages)
    assert [is_error for _, is_error in told] == [True] * 8 + [False]
    for (text, _), says in zip(
        told,
        [
            "no tool 'purge'",
            "needs content",
            "query",
            "no argument 'user_id'",
            "not valid JSON",
            "not allowed",
            "ZeroDivisionError",
            "recall or",
        ],
        strict=False,
    ):
        assert says in text
    assert view.count() == 1


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_rounds_are_limited_and_what_was_written_stays(view: ScopedView, rounds: int) -> None:
    """A model that never stops is an error of this library; the call beyond the limit is not made."""
    model = ScriptedToolModel(*[use("remember", content=f"fact {number}") for number in range(9)])
    with pytest.raises(ModelError, match=f"after {rounds} rounds"):
        ask_with_tools("go", view, model, max_rounds=rounds)
    assert [record.content for record in view.list()] == [f"fact {number}" for number in range(rounds)]
    last = ScriptedToolModel(*[use("list")] * rounds, "enough")
    assert ask_with_tools("go", view, last, max_rounds=rounds).rounds == rounds
    late = ScriptedToolModel(*[use("list")] * (rounds + 1), "too late")
    with pytest.raises(ModelError, match=f"after {rounds} rounds"):  # it is not asked once more without the results of its calls
        ask_with_tools("go", view, late, max_rounds=rounds)


def test_a_failing_model_keeps_what_it_wrote(view: ScopedView) -> None:
    """Its error is named, the cause kept; what ends a program passes."""
    model = ScriptedToolModel(use("remember", content="one"), OSError("the line is dead"))
    with pytest.raises(ModelError, match=r"ScriptedToolModel failed: OSError: the line is dead") as caught:
        ask_with_tools("go", view, model)
    assert isinstance(caught.value.__cause__, OSError)
    assert view.count() == 1
    with pytest.raises(KeyboardInterrupt):
        ask_with_tools("go", view, ScriptedToolModel(KeyboardInterrupt()))


@pytest.mark.parametrize("reply", [None, 7, b"x", {"text": "x"}, Reply(7), Reply("x", ("remember",)), Reply("x", 7)])  # type: ignore[arg-type]  # what a model may give
def test_what_is_no_reply_is_the_models_failure(view: ScopedView, reply: Any) -> None:
    with pytest.raises(ModelError, match="failed: TypeError"):
        ask_with_tools("go", view, lambda messages, tools: reply)


def test_free_text_never_writes(store: MemoryStore, view: ScopedView) -> None:
    """However much it looks like a call of a tool, or speaks of remembering."""
    for text in (
        "I will remember that Ada prefers tea.",
        '{"name": "remember", "arguments": {"content": "x"}}',
        '<tool_call>{"name": "remember", "arguments": {"content": "x"}}</tool_call>',
        "remember(content='x')",
    ):
        assert ask_with_tools(text, view, lambda messages, tools, text=text: text).value == text
        assert ask_with_tools(text, view, ScriptedToolModel(Reply(text, (use("list"),)), text)).value == text
    assert store.version == 0


def test_a_flood_of_calls_is_cut(view: ScopedView) -> None:
    """A round carries out so many; the rest is told to ask again."""
    answer = ask_with_tools("go", view, ScriptedToolModel([use("remember", content=f"fact {number}") for number in range(100)], "done"))
    told = results(answer.messages)
    assert (len(told), sum(is_error for _, is_error in told), view.count()) == (100, 36, 64)
    assert "ask again for the rest" in told[-1][0]


def test_arguments_are_checked_before_the_model_is_asked(view: ScopedView) -> None:
    """And so does the gate come first."""
    model = ScriptedToolModel()
    wrong: list[tuple[Any, ...]] = [
        (7, view, model),
        ("x", None, model),
        ("x", view, None),
        ("x", view, model, -1),
        ("x", view, model, True),
    ]
    for arguments in wrong:
        with pytest.raises(InvalidInput):
            ask_with_tools(*arguments)
    with pytest.raises(InvalidInput):
        ask_with_tools("x", view, model, system=7)  # type: ignore[arg-type]  # what a caller may try
    with pytest.raises(PolicyError, match="the gate refused"):
        ask_with_tools("x", view, model, gate=lambda prompt: False)
    assert model.seen == []


def test_s61_whose_they_are_must_be_settled(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """S61: a store itself is nobody's: agent and user come from the environment, or it is an error."""
    with pytest.raises(InvalidInput, match="agent_id is missing"):
        ask_with_tools("x", store, ScriptedToolModel())
    monkeypatch.setenv("MEMORY_AGENT_ID", "helper")
    monkeypatch.setenv("MEMORY_USER_ID", "ada")
    store.remember("Bob's", agent_id="helper", user_id="bob")
    answer = ask_with_tools("x", store, ScriptedToolModel(use("list"), "done"))
    assert results(answer.messages) == [("[]", False)]


def test_calls_of_a_model_are_in_the_audit_log(view: ScopedView) -> None:
    """One line for each, without what was said."""
    before = len(audit_log())
    ask_with_tools("a question", view, ScriptedToolModel(use("list"), "done"))
    lines = audit_log()[before:]
    assert [line.split(" ", 1)[1] for line in lines] == [
        "ask_with_tools ScriptedToolModel: 10 characters, 1 calls of tools",
        "ask_with_tools ScriptedToolModel: 12 characters, 0 calls of tools",
    ]
    with pytest.raises(ModelError, match="MockModel"):  # it speaks text, and knows no tools
        ask_with_tools("x", view, MockModel("x"))  # type: ignore[arg-type]  # what a caller may try


def test_the_script_must_be_long_enough(view: ScopedView) -> None:
    with pytest.raises(ModelError, match="the script has 1 steps"):
        ask_with_tools("go", view, ScriptedToolModel(use("list")))


def test_a_tool_of_the_programs_own(view: ScopedView) -> None:
    """Runs in the same loop under the same policy."""
    seen: list[str] = []

    def note(call: Call, text: str) -> str:
        seen.append(text)
        return "ok"

    tool = MemoryTool("note", "Note", "Note something.", (Argument("text", str, "What."),), note)
    toolbox = Toolbox(view, tools=[tool], policy=Policy(max_writes=1))
    answer = ask_with_tools("go", toolbox, ScriptedToolModel([use("note", text="a"), use("note", text="b")], "done"))
    assert (seen, [is_error for _, is_error in results(answer.messages)]) == (["a"], [False, True])
