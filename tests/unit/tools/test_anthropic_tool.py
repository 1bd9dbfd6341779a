"""The memory tool of Anthropic's client: ours answers as the client's own, which works on files of the disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore
from indelible.faces.store import ScopedView
from indelible.tools import AnthropicMemoryTool, Policy

names = st.sampled_from(["a", "b.txt", "dir", ".hidden"])
paths = st.lists(names, max_size=3).map(lambda parts: "/".join(["/memories", *parts]))
texts = st.lists(st.sampled_from(["tea", "Ada", "", "tea tea"]), max_size=4).map("\n".join)
commands = st.one_of(
    st.fixed_dictionaries({"command": st.just("view"), "path": paths}),
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": paths, "view_range": st.tuples(st.integers(1, 4), st.integers(-1, 5)).map(list)}
    ),
    st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": texts}),
    st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": texts}),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": paths, "old_str": st.sampled_from(["tea", "Ada", "a"]), "new_str": texts}
    ),
    st.fixed_dictionaries({"command": st.just("insert"), "path": paths, "insert_line": st.integers(-1, 4), "insert_text": texts}),
    st.fixed_dictionaries({"command": st.just("delete"), "path": paths}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
)


def answer(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> tuple[bool, str]:
    """Whether it went well, and the text; what the disk alone refuses in words of its own counts as refused."""
    try:
        return True, str(tool.call(command))
    except ToolError as error:
        return False, str(error)
    except OSError:
        return False, "refused by the file system"


def comparable(text: str) -> str:
    """Without the sizes of directories, which on a disk are the disk's."""
    return re.sub(r"(?m)^[0-9.]+[BKMG]\t(?=/memories)", "", text)


def without_empty_folders(tool: BetaLocalFilesystemMemoryTool) -> None:
    """On a disk a folder outlives what was in it; here it is there as long as something is below it."""
    for folder in sorted((path for path in tool.memory_root.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


@given(st.lists(commands, max_size=12))
def test_the_same_answers_as_the_clients_own(tmp_path_factory: pytest.TempPathFactory, script: list[dict[str, Any]]) -> None:
    """Command by command: what works there works here with the same text, and what is refused there is refused here."""
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("disk")))
    with MemoryStore(":memory:") as store:
        ours = AnthropicMemoryTool(store.scope("helper", "ada"), policy=Policy(max_writes=None))
        for command in script:
            (went_well, there), (goes_well, here) = answer(theirs, command), answer(ours, command)
            assert went_well == goes_well, (command, there, here)
            own_words = "refused by" in there or "is a file, so" in here or "inside it" in here or "Not a directory" in there
            assert own_words or comparable(there) == comparable(here), command
            without_empty_folders(theirs)


def test_it_is_the_clients_tool(view: ScopedView) -> None:
    """An instance of the abstract class, announced under the type that the service knows."""
    tool = AnthropicMemoryTool(view, session="monday", model="a model")
    assert isinstance(tool, BetaAbstractMemoryTool)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert tool.call({"command": "create", "path": "/memories/a", "file_text": "x"}) == "File created successfully at: /memories/a"
    assert tool.clear_all_memory() == "All memory cleared"
    assert view.collection("indelible", "files").list() == []
    assert [change.source for change in view.collection("indelible", "files").history("a")] == ["monday", "monday"]


@pytest.mark.parametrize(
    "command",
    [
        {}, None, 7, "view", [], {"command": "format"}, {"command": "view"}, {"command": "view", "path": 7},
        {"command": "create", "path": "/memories/../x", "file_text": "x"}, {"command": "view", "path": "/memories", "user_id": "bob"},
        {"command": "insert", "path": "/memories/a", "insert_line": "x", "insert_text": "y"},
    ],
    ids=str,
)  # fmt: skip
def test_what_makes_no_sense_is_an_error_of_the_tool(view: ScopedView, command: Any) -> None:
    """The runner hands it to the model as text; nothing else is raised."""
    with pytest.raises(ToolError) as caught:
        AnthropicMemoryTool(view).call(command)
    assert str(caught.value)


def test_without_the_client_it_says_what_to_install(tmp_path: Path) -> None:
    """The rest of the tools does not need it, and does not load it."""
    from tests.interop.programs import run

    program = "import sys\nsys.modules['anthropic'] = None\nimport indelible.tools\nindelible.tools.AnthropicMemoryTool"
    done = run("-c", program, cwd=tmp_path)
    assert 'pip install "indelible[anthropic]"' in done.stderr
    assert "MissingExtra" in done.stderr
    assert run("-c", "import sys, indelible.tools\nprint('anthropic' in sys.modules)", cwd=tmp_path).stdout == "False\n"
