"""The package itself: what it exports, what it loads, and that it only translates."""

from __future__ import annotations

from pathlib import Path

import pytest

import llama_index_indelible
from tests.architecture.source_tree import ROOT, Module, forbidden_calls, forbidden_imports, sql_strings
from tests.interop.programs import programs, run

FOLDER = ROOT / "packages" / "llamaindex"
SOURCES = sorted((FOLDER / "src" / "llama_index_indelible").rglob("*.py"))
LIMIT = 250


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


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_module_only_translates(source: Path) -> None:
    """No SQL, no hashing, nothing that runs text or connects; and short enough to be read at once."""
    name = "" if source.stem == "__init__" else source.stem
    module = Module(name, source.read_text(encoding="utf-8"))
    assert len(module.text.splitlines()) <= LIMIT
    assert not sql_strings(module)
    assert not forbidden_calls(module)
    assert not forbidden_imports(module)
    assert not [imported for _, imported in module.imports() if imported.partition(".")[0] in ("hashlib", "sqlite3", "numpy", "pickle")]


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
