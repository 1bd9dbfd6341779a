"""The package itself: what it exports, what it loads, and what its page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import llama_index_indelible
from tests.architecture.source_tree import ROOT
from tests.interop.programs import programs, run

FOLDER = ROOT / "packages" / "llamaindex"


def test_the_exports_are_a_sorted_list_and_all_there() -> None:
    """Each name resolves, and an unknown one is an attribute error."""
    names = llama_index_indelible.__all__
    assert list(names) == sorted(set(names))
    assert set(names) <= set(dir(llama_index_indelible))
    for name in names:
        assert getattr(llama_index_indelible, name) is not None
    unknown = "no_such_name"
    with pytest.raises(AttributeError, match=unknown):
        getattr(llama_index_indelible, unknown)


def test_importing_it_loads_nothing(tmp_path: Path) -> None:
    """Neither LlamaIndex nor numpy, until a name is used."""
    program = (
        "import sys, llama_index_indelible; print(sorted({'llama_index', 'numpy', 'pydantic', 'indelible.faces.store'} & set(sys.modules)))"
    )
    done = run("-c", program, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_readme_s_programs_print_what_they_say(tmp_path: Path) -> None:
    """Each run in an empty folder, to the last character."""
    found = programs(FOLDER / "README.md")
    assert len(found) == 2
    for number, program in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = run("-W", "error", "-c", program.text, cwd=folder)
        assert done.stderr == ""
        assert done.stdout == program.output
