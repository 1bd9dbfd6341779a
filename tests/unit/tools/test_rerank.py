"""S52 in the tools and the server: settled by whoever sets them up, and no argument of the model's."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, MissingExtra, Rerank
from indelible.faces.store import ScopedView
from indelible.mcp.options import Options
from indelible.mcp.service import Service
from indelible.tools import TOOLS, Toolbox, schema
from tests.rerankers import Longest, in_place_of_the_bundled

NEAR, LONG = "red fox", "a red fox runs over the wide field behind the old house"
each_verb = pytest.mark.parametrize("verb", ["recall", "search_semantic"])


@pytest.fixture(autouse=True)
def foxes(view: ScopedView) -> None:
    """Two memories, of which the nearer one is the shorter."""
    view.remember(LONG)
    view.remember(NEAR)


def found(toolbox: Toolbox, verb: str) -> list[str]:
    result = toolbox.call(verb, {"query": "red fox"})
    assert not result.is_error, result.text
    return [memory["content"] for memory in json.loads(result.text)]


@each_verb
def test_s52_a_toolbox_reranks_if_its_maker_says_so(view: ScopedView, verb: str) -> None:
    """Also through another view or session of it."""
    assert found(Toolbox(view), verb) == [NEAR, LONG]
    reranker = Longest()
    toolbox = Toolbox(view, rerank=reranker)
    for box in (toolbox, toolbox.within(view, session="tuesday")):
        assert found(box, verb) == [LONG, NEAR]
    assert len(reranker.seen) == 2


@each_verb
def test_s52_true_and_a_pool(view: ScopedView, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = in_place_of_the_bundled(monkeypatch)
    assert found(Toolbox(view, rerank=True), verb) == [LONG, NEAR]
    assert found(Toolbox(view, rerank=Rerank(pool=1)), verb) == [NEAR, LONG]
    assert [len(texts) for _, texts in stand_in.seen] == [2, 1]


def test_a_model_has_no_say_in_it(view: ScopedView) -> None:
    assert all("rerank" not in schema(tool)["properties"] for tool in TOOLS)
    assert Toolbox(view).call("recall", {"query": "red fox", "rerank": True}).is_error


def test_words_are_found_without_it(view: ScopedView) -> None:
    reranker = Longest()
    assert len(found(Toolbox(view, rerank=reranker), "search")) == 2
    assert reranker.seen == []


@pytest.mark.parametrize("wrong", [1, "yes", Longest])
def test_whoever_sets_the_tools_up_hears_of_a_wrong_one(view: ScopedView, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="rerank must be True"):
        Toolbox(view, rerank=wrong)


@pytest.mark.parametrize("package", ["indelible_reranker", "onnxruntime"])
def test_whoever_sets_the_tools_up_hears_what_is_not_installed(view: ScopedView, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the model, call by call."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*indelible\[rerank\]"):
        Toolbox(view, rerank=True)
    Toolbox(view, rerank=Longest())


@pytest.mark.parametrize("tool", ["memory_recall", "memory_search_semantic"])
def test_s52_the_server_reranks_if_it_was_started_so(
    store: MemoryStore, view: ScopedView, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place_of_the_bundled(monkeypatch)
    for rerank, expected in ((False, [NEAR, LONG]), (True, [LONG, NEAR])):
        service = Service(store, Options(view.bound, rerank=rerank))
        (block,) = service.call(tool, {"query": "red fox"})["content"]
        assert [memory["content"] for memory in json.loads(block["text"])] == expected
        (message,) = service.prompt("recall_at_task_start", {"task": "red fox"})["messages"]
        text = message["content"]["text"]
        assert (text.index(f"- {NEAR} (") > text.index(f"- {LONG} (")) is rerank
