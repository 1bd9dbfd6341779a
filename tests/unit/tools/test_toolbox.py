"""The toolbox: short answers that lead on, and whatever goes wrong is an answer, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore
from indelible.faces.store import ScopedView
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder, ReferenceBackend
from indelible.tools import RECALL, REMEMBER, TOOLS, Argument, Call, MemoryTool, Toolbox, ToolResult
from indelible.tools.provenance import WRITTEN_BY

NOBODYS = "0190a1b2-0000-7000-8000-000000000000"


def answer(toolbox: Toolbox, name: str, **arguments: Any) -> Any:
    result = toolbox.call(name, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text)


def refusal(toolbox: Toolbox, name: object, arguments: Any = None) -> str:
    result = toolbox.call(name, arguments)  # type: ignore[arg-type]  # a model names what it likes
    assert result.is_error
    return result.text


def test_every_tool_in_one_life(toolbox: Toolbox, store: MemoryStore) -> None:
    """Ids lead from one tool to the next, from a recall to an edit above all."""
    made = answer(toolbox, "remember", content="Ada prefers tea", metadata={"topic": "drinks"})
    (found,) = answer(toolbox, "recall", query="what does Ada prefer?")
    assert found == {
        "id": made["id"],
        "content": "Ada prefers tea",
        "date": "2026-01-01",
        "source": "monday",
        "metadata": {"topic": "drinks"},
    }
    edited = answer(toolbox, "edit", id=found["id"], content="Ada prefers coffee")
    assert edited == {"id": made["id"], "version": made["version"] + 1}
    assert answer(toolbox, "search", query="tea") == []
    assert answer(toolbox, "search", query="coffee")[0]["id"] == made["id"]
    (nearest,) = answer(toolbox, "search_semantic", query="coffee", filters={"topic": "drinks"})
    assert (nearest["id"], -1 <= nearest["score"] <= 1) == (made["id"], True)
    assert answer(toolbox, "search_semantic", query="coffee", filters={"topic": "food"}) == []
    assert answer(toolbox, "feedback", id=made["id"], vote="up", note="it helped") == {"id": made["id"], "vote": "up"}
    assert [one["id"] for one in answer(toolbox, "list")] == [made["id"]]
    assert answer(toolbox, "list", offset=1) == answer(toolbox, "list", filters={"topic": "food"}) == []
    assert answer(toolbox, "forget", id=made["id"]) == {"forgotten": made["id"]}
    lines = answer(toolbox, "history", id=made["id"])
    assert [line.split()[2] for line in lines] == ["created", "revised", "voted", "forgotten"]
    assert answer(toolbox, "recall", query="Ada") == []


def test_a_value_under_a_key(toolbox: Toolbox, view: ScopedView) -> None:
    """The value, or "(unknown)"; "ok" for keeping it; searchable like every other memory."""
    assert toolbox.call("recall_fact", {"key": "color"}) == ToolResult("(unknown)")
    assert toolbox.call("remember_fact", {"key": "color", "value": "blue"}) == ToolResult("ok")
    assert toolbox.call("remember_fact", {"key": "color", "value": "green"}) == ToolResult("ok")
    assert toolbox.call("recall_fact", {"key": "color"}) == ToolResult("green")
    (found,) = answer(toolbox, "search", query="color green")
    assert len(view.history(found["id"])) == 2
    answer(toolbox, "edit", id=found["id"], content="color: teal")
    assert toolbox.call("recall_fact", {"key": "color"}).text == "teal"
    answer(toolbox, "forget", id=found["id"])
    assert toolbox.call("recall_fact", {"key": "color"}).text == "(unknown)"
    assert "key is empty" in refusal(toolbox, "remember_fact", {"key": " ", "value": "x"})


def test_arguments_as_text(toolbox: Toolbox) -> None:
    """A mapping, JSON text of one, or nothing."""
    made = json.loads(toolbox.call("remember", '{"content": "Ada prefers tea"}').text)
    empty: tuple[Any, ...] = (None, "", " ", "{}", {})
    for nothing in empty:
        assert json.loads(toolbox.call("list", nothing).text)[0]["id"] == made["id"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("destroy", {}, "there is no tool 'destroy': there are remember, recall"),
        ("purge", {"id": NOBODYS}, "there is no tool"),
        (7, {}, "there is no tool '7'"),
        (None, {}, "there is no tool"),
        ("remember", {}, "needs content"),
        ("remember", "[1]", "must be a JSON object, got list"),
        ("remember", "{", "not valid JSON"),
        ("remember", "[" * 100_000, "not valid JSON"),
        ("remember", '{"content": "x", "content": "y"}', "repeated key"),
        ("remember", '{"content": NaN}', "not JSON"),
        ("remember", 7, "must be a JSON object, got int"),
        ("remember", {"content": 7}, "content: Input should be a valid string"),
        ("remember", {"content": " "}, "must not be empty"),
        ("remember", {"content": "a\x00b"}, "NUL"),
        ("remember", {"content": "a\ud800b"}, "lone surrogate"),
        ("remember", {"content": "x", "metadata": []}, "metadata"),
        ("remember", {"content": "x", "metadata": {"written_by": {"tool": "a person"}}}, "written_by"),
        ("remember", {"content": "x", "user_id": "bob"}, "no argument 'user_id'"),
        ("recall", {"query": "x", "limit": 0}, "limit"),
        ("recall", {"query": "x", "limit": True}, "limit"),
        ("recall", {"query": "x", "limit": 10**9}, "limit"),
        ("recall", {"query": ""}, "empty"),
        ("search_semantic", {"query": "x", "filters": {"a": {"nope": 2}}}, "the filter on 'a' has a dict"),
        ("edit", {"id": NOBODYS, "content": "x"}, f"no memory with id '{NOBODYS}' in this scope: recall or search first"),
        ("edit", {"id": "nowhere", "content": "x"}, "recall or search first"),
        ("forget", {"id": NOBODYS}, "recall or search first"),
        ("history", {"id": "x" * 1000}, "recall or search first"),
        ("feedback", {"id": NOBODYS, "vote": "up"}, "recall or search first"),
        ("feedback", {"id": NOBODYS, "vote": "sideways"}, "vote"),
    ],
)
def test_errors_are_text_that_a_model_can_act_on(toolbox: Toolbox, store: MemoryStore, name: object, arguments: Any, says: str) -> None:
    """Short, never raised, and nothing was written."""
    text = refusal(toolbox, name, arguments)
    assert says in text
    assert len(text) <= 500
    text.encode()
    assert store.version == 0


def test_errors_of_the_store_are_text(store: MemoryStore) -> None:
    """A store that fails or is closed, and a tool of the program that raises; what ends a program passes."""
    flaky = MemoryStore(":memory:", embedder=HashEmbedder(), backend=FlakyBackend(ReferenceBackend(), [1], verbs=["append"]))
    tools = Toolbox(flaky.scope("a", "b"))
    assert "as the test asked" in refusal(tools, "remember", {"content": "x"})
    assert not tools.call("remember", {"content": "x"}).is_error
    view = store.scope("a", "b")
    store.close()
    assert "closed" in refusal(Toolbox(view), "remember", {"content": "x"})

    def raising(error: BaseException) -> Toolbox:
        def verb(call: Call) -> None:
            raise error

        return Toolbox(view, tools=[MemoryTool("broken", "Broken", "It raises.", (), verb)])

    assert refusal(raising(ValueError("no luck")), "broken") == "the tool failed with ValueError: no luck"
    assert "RecursionError" in refusal(raising(RecursionError("too deep")), "broken")
    for error in (KeyboardInterrupt(), SystemExit(1), GeneratorExit()):
        with pytest.raises(type(error)):
            raising(error).call("broken")


def test_another_scopes_memory_is_not_found(toolbox: Toolbox, store: MemoryStore) -> None:
    """S62: with the same words as an id that nobody has."""
    secret = store.remember("Bob's secret", agent_id="helper", user_id="bob")
    for name, more in (("edit", {"content": "x"}), ("forget", {}), ("history", {}), ("feedback", {"vote": "down"})):
        unknown = refusal(toolbox, name, {"id": NOBODYS, **more})
        assert refusal(toolbox, name, {"id": secret.id, **more}) == unknown.replace(NOBODYS, secret.id)
    assert answer(toolbox, "recall", query="secret") == answer(toolbox, "search", query="secret") == answer(toolbox, "list") == []
    assert store.get(secret.id) == secret
    assert store.version == 1


def test_provenance_is_on_every_write(toolbox: Toolbox, view: ScopedView) -> None:
    """Tool, model and session; labels of the model stay beside it, and an edit keeps them."""
    made = answer(toolbox, "remember", content="Ada prefers tea", metadata={"topic": "drinks"})
    tuesday = toolbox.within(view, session="tuesday", model="another model")
    answer(tuesday, "edit", id=made["id"], content="Ada prefers coffee")
    answer(tuesday, "feedback", id=made["id"], vote="down")
    answer(tuesday, "forget", id=made["id"])
    changes = view.history(made["id"])
    assert [change.source for change in changes] == ["monday", "tuesday", "tuesday", "tuesday"]
    assert [change.record.metadata for change in changes if change.record] == [
        {"topic": "drinks", WRITTEN_BY: {"tool": "remember", "model": "a model"}},
        {"topic": "drinks", WRITTEN_BY: {"tool": "edit", "model": "another model"}},
    ]
    toolbox.call("remember_fact", {"key": "color", "value": "blue"})
    (fact,) = view.list(key="color")
    assert (fact.source, fact.metadata) == ("monday", {WRITTEN_BY: {"tool": "remember_fact", "model": "a model"}})


def test_a_retry_writes_nothing_more(toolbox: Toolbox, store: MemoryStore) -> None:
    """The same call twice, with whatever answer was lost in between, gives the same answer and no other event."""
    made = answer(toolbox, "remember", content="Ada prefers tea")
    for name, arguments in (
        ("remember", {"content": "Ada prefers tea"}),
        ("edit", {"id": made["id"], "content": "Ada prefers coffee", "metadata": {"a": 1}}),
        ("feedback", {"id": made["id"], "vote": "up", "note": "yes"}),
        ("remember_fact", {"key": "color", "value": "blue"}),
        ("forget", {"id": made["id"]}),
    ):
        first, version = toolbox.call(name, arguments), store.version
        assert (toolbox.call(name, arguments), store.version) == (first, version)
    assert store.version == 5


def test_long_and_unseen_text(toolbox: Toolbox, view: ScopedView) -> None:
    """An answer is short and visible, whatever a memory holds, and it is JSON."""
    hidden = "Ada\u200b \u202eprefers \U000e0041 tea\u2028 café 茶 🍵"
    view.remember(hidden)
    view.remember("long " * 10_000)
    text = toolbox.call("list").text
    found = json.loads(text)
    assert found[1]["content"] == hidden
    assert not {"\u200b", "\u202e", "\U000e0041", "\u2028"} & set(text)
    assert "café 茶 🍵" in text
    assert (len(found[0]["content"]), found[0]["cut_after"]) == (4000, "4000 of 50000 characters")


def test_a_long_history_is_cut(toolbox: Toolbox, view: ScopedView) -> None:
    """The latest changes, each as far as it helps; what is left out is said."""
    fact = view.remember("version 0")
    for number in range(1, 60):
        view.edit(fact.id, f"version {number} " + "x" * 5000)
    lines = answer(toolbox, "history", id=fact.id)
    assert (len(lines), lines[0]) == (51, "(10 earlier changes not shown)")
    assert "version 59" in lines[-1]
    assert max(map(len, lines)) == 1000


def test_a_query_without_end_is_refused(toolbox: Toolbox) -> None:
    """Reading calls are not for a policy to measure, but nothing is read that nobody would write."""
    assert "shorten" in refusal(toolbox, "search", {"query": "x " * 3_000_000})
    assert "shorten" in refusal(toolbox, "search", json.dumps({"query": "x " * 3_000_000}))


def test_what_a_toolbox_is_made_of(view: ScopedView) -> None:
    """Mistakes of the program are raised."""
    wrong: list[dict[str, Any]] = [{"view": None}, {"tools": [RECALL, RECALL]}, {"policy": "none"}, {"session": 7}, {"model": ""}]
    for arguments in wrong:
        with pytest.raises(InvalidInput):
            Toolbox(**{"view": view, **arguments})
    assert [tool.name for tool in Toolbox(view, tools=[REMEMBER]).tools] == ["remember"]
    assert Toolbox(view).tools == TOOLS


def test_a_tool_of_the_programs_own(view: ScopedView) -> None:
    """Described in the same way; text is shown as it is."""
    times = Argument("times", int, "How often.", 1)
    ping = MemoryTool("ping", "Ping", "Say pong.", (times,), lambda call, times=1: "pong\n" * times, read_only=True)
    assert Toolbox(view, tools=[ping]).call("ping", {"times": 2}).text == "pong\npong\n"


def test_what_is_remembered_again_in_earnest(toolbox: Toolbox, store: MemoryStore, view: ScopedView) -> None:
    """Only a repetition is a retry: with other labels, in another session, or where the memory is gone or changed, it is a new one."""
    first = answer(toolbox, "remember", content="Ada prefers tea")
    labelled = answer(toolbox, "remember", content="Ada prefers tea", metadata={"topic": "drinks"})
    elsewhere = answer(toolbox.within(view, session="tuesday"), "remember", content="Ada prefers tea")
    assert len({first["id"], labelled["id"], elsewhere["id"]}) == 3
    answer(toolbox, "forget", id=first["id"])
    second = answer(toolbox, "remember", content="Ada prefers tea")
    assert second["id"] != first["id"]
    answer(toolbox, "edit", id=second["id"], content="Ada prefers coffee")
    third = answer(toolbox, "remember", content="Ada prefers tea")
    assert third["id"] not in (first["id"], second["id"])
    assert answer(toolbox, "remember", content="Ada prefers tea") == third
    assert view.count() == 4
    assert store.undo(first["id"]) is not None


def test_a_life_that_is_over_before_it_is_written_is_written_once(clock: FakeClock) -> None:
    """A millisecond passes while a text is embedded: one call is one memory, not one after the other until the disk is full."""

    class Slow(HashEmbedder):
        calls = 0

        def embed_documents(self, texts: Sequence[str]) -> Any:
            self.calls += 1
            assert self.calls < 10, "the tool does not end"
            clock.advance(ms=5)
            return super().embed_documents(texts)

    with MemoryStore(":memory:", embedder=Slow(), clock=clock) as store:
        toolbox = Toolbox(store.scope(agent_id="helper", user_id="ada"), session="monday")
        for times in (1, 2):
            assert not toolbox.call("remember", {"content": "gone at once", "ttl_ms": 1}).is_error
            assert store.count(include_expired=True) == store.version == times
        assert store.count() == 0
