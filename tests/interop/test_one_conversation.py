"""A model remembers, changes what it remembered, and recalls it in a new process: the same events, whichever way it calls tools."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from indelible import MemoryStore
from tests.architecture.source_tree import ROOT
from tests.conftest import Require
from tests.interop.one_conversation import AGENT, FACES, USER
from tests.interop.programs import run

NEEDS = {"loop": "pydantic", "langchain": "langchain", "llamaindex": "llama_index", "mcp": "mcp"}
FIRST = ["monday", "I drink green tea, and I cycle to work.", "tuesday", "I have gone over to black coffee."]
SECOND = ["wednesday", "What do I drink?", "wednesday", "Forget the bicycle."]
DRINKS = {"topic": "drinks", "written_by": {"tool": "remember"}}
SCOPE = {"agent_id": AGENT, "user_id": USER, "org_id": None, "workspace_id": None}
LOG: list[tuple[Any, ...]] = [
    ("remember", [], "Ada drinks green tea", DRINKS, SCOPE, "monday"),
    ("remember", [], "Ada cycles to work", {"written_by": {"tool": "remember"}}, SCOPE, "monday"),
    ("revise", [], "Ada drinks black coffee", {**DRINKS, "written_by": {"tool": "edit"}}, SCOPE, "tuesday"),
    ("forget", [], None, None, SCOPE, "wednesday"),
]
"""What each face has to leave: op, namespace, content, metadata, scope and source of each event."""


def log_of(path: Path) -> list[tuple[Any, ...]]:
    """The events of a store, without what is another one each time: ids, times, hashes."""
    with MemoryStore(path) as store:
        assert store.verify().ok
        events = list(store.iter_events())
    found = []
    for event in events:
        assert event.payload is not None
        fields = event.payload.fields
        scope = {name: fields.get(name) for name in SCOPE}
        found.append(
            (str(event.op), fields.get("namespace", []), fields.get("content"), fields.get("metadata"), scope, fields.get("source"))
        )
    return found


@pytest.mark.parametrize("face", FACES)
def test_one_conversation(face: str, tmp_path: Path, require: Require) -> None:
    """Its answers and its log are the same, event by event, whoever carried the model's calls."""
    require(find_spec(NEEDS[face]) is not None, f"needs the package {NEEDS[face]}")
    path = tmp_path / "memory.db"
    answers = []
    for turns in (FIRST, SECOND):
        done = run("-m", "tests.interop.one_conversation", face, path, *turns, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        answers += done.stdout.splitlines()
    assert answers == ["I will remember both.", "I have changed that.", "Ada drinks black coffee", "I have forgotten that."]
    assert log_of(path) == LOG
