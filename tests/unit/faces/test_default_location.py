"""Line 13 of the semantics: where a persistent memory without a path lies, in programs of their own."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indelible import InvalidInput, PersistentMemory, StoreUnavailable
from tests.unit.faces.programs import DECLARE, run, start, write

FILE = "ledger.sense_memory.db"
IN_FUNCTION = (
    "from indelible import PersistentMemory\n\n\ndef declare():\n    return PersistentMemory('ledger').path\n\n\n"
    "class Agent:\n    def __init__(self):\n        self.memory = PersistentMemory('ledger')\n"
)
NO_FILE = {"PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder to run in that has nothing to do with the program; it must stay empty."""
    made = tmp_path / "elsewhere"
    made.mkdir()
    return made


def beside(folder: Path) -> str:
    return str(folder / ".sense_memory" / FILE)


def files_below(folder: Path) -> set[str]:
    return {str(found.relative_to(folder)) for found in folder.rglob("*")}


def test_s13_declared_at_the_top_of_a_file(project: Path, elsewhere: Path) -> None:
    """S13: beside the declaring file, independent of the current directory."""
    program = write(project / "main.py", DECLARE)
    assert run(program, cwd=elsewhere) == run("main.py", cwd=project) == beside(project)
    assert files_below(elsewhere) == set()


def test_s13_declared_after_changing_the_folder(project: Path, elsewhere: Path) -> None:
    """S13: a program started by a relative name and gone elsewhere since."""
    write(project / "main.py", f"import os\nos.chdir({str(elsewhere)!r})\n{DECLARE}")
    assert run("main.py", cwd=project) == beside(project)


def test_s13_declared_in_a_function_a_class_or_a_comprehension(project: Path, elsewhere: Path) -> None:
    """S13: the file in which the declaring line stands, however deep."""
    program = write(
        project / "main.py",
        f"{IN_FUNCTION}print(declare())\nprint(Agent().memory.path)\nprint([PersistentMemory(n).path for n in ['ledger']][0])\n"
        "print((lambda: PersistentMemory('ledger').path)())\n",
    )
    assert run(program, cwd=elsewhere).splitlines() == [beside(project)] * 4


def test_s13_declared_in_an_imported_module(project: Path, elsewhere: Path) -> None:
    """S13: beside the module, not beside the program that imports it; the same in a package run with ``-m``."""
    library = project / "library"
    write(library / "agents" / "__init__.py", IN_FUNCTION)
    write(library / "agents" / "__main__.py", DECLARE)
    program = write(project / "main.py", "from agents import Agent, declare\nprint(declare())\nprint(Agent().memory.path)\n")
    variables = {"PYTHONPATH": str(library)}
    assert run(program, cwd=elsewhere, variables=variables).splitlines() == [beside(library / "agents")] * 2
    assert run("-m", "agents", cwd=elsewhere, variables=variables) == beside(library / "agents")


def test_s13_through_a_symlink(project: Path, elsewhere: Path, tmp_path: Path) -> None:
    """S13: the real file counts, also for ``anchor=``."""
    program = write(project / "main.py", DECLARE)
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "tool.py"
    link.symlink_to(program)
    assert run(link, cwd=elsewhere) == beside(project)
    with closing(PersistentMemory("ledger", anchor=link)) as memory:
        assert memory.path == beside(project)
    assert files_below(tmp_path / "bin") == {"tool.py"}


def test_s13_an_anchor_names_the_declaring_file(project: Path, elsewhere: Path) -> None:
    """S13: ``anchor=__file__``, absolute or relative, from wherever the call comes; the file need not exist."""
    program = write(
        elsewhere / "main.py",
        f"from indelible import PersistentMemory\nprint(PersistentMemory('ledger', anchor={str(project / 'x.py')!r}).path)\n",
    )
    assert run(program, cwd=elsewhere) == beside(project)
    assert run("-c", "from indelible import *\nprint(PersistentMemory('ledger', anchor='x.py').path)", cwd=project) == beside(project)


@pytest.mark.parametrize("anchor", ["", b"x.py", 5, "a\0b"])
def test_s13_an_anchor_is_a_path(anchor: object) -> None:
    """S13: anything else is InvalidInput."""
    with pytest.raises(InvalidInput, match="path must be"):
        PersistentMemory("ledger", anchor=anchor)  # type: ignore[arg-type]  # that is the test


NOTEBOOK = f"exec(compile({DECLARE!r}, '/tmp/ipykernel_1/1234567890.py', 'exec'))"


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(("-c", DECLARE), ""), (("-",), DECLARE), ((), DECLARE), (("-i", "-q"), DECLARE), (("-c", NOTEBOOK), "")],
    ids=["-c", "stdin", "piped", "shell", "notebook"],
)
def test_s13_without_a_file_the_current_folder(elsewhere: Path, arguments: tuple[str, ...], stdin: str) -> None:
    """S13: a shell, ``-c``, a notebook cell: a bare file name in the current folder."""
    assert run(*arguments, cwd=elsewhere, stdin=stdin) == str(elsewhere / FILE)
    assert (elsewhere / FILE).is_file()


def test_s13_source_that_a_program_runs_has_no_file(project: Path, elsewhere: Path) -> None:
    """S13: text handed to ``exec`` is not the file that holds the call."""
    program = write(project / "main.py", f"exec({DECLARE!r})\n")
    assert run(program, cwd=elsewhere) == str(elsewhere / FILE)


def test_s13_the_variable_goes_before_the_declaring_file(project: Path, elsewhere: Path, tmp_path: Path) -> None:
    """S13: flat, with ``~`` expanded and missing folders made; an explicit path goes before both."""
    program = write(project / "main.py", DECLARE)
    home = {"HOME": str(tmp_path / "home")}
    assert run(program, cwd=elsewhere, variables={"SENSE_MEMORY_DIR": "~/all/mine", **home}) == str(
        tmp_path / "home" / "all" / "mine" / FILE
    )
    explicit = write(project / "explicit.py", "from indelible import *\nprint(PersistentMemory('ledger', '~/mine.db').path)\n")
    variables = {"SENSE_MEMORY_DIR": str(tmp_path / "unused"), **home}
    assert run(explicit, cwd=elsewhere, variables=variables) == str(tmp_path / "home" / "mine.db")
    assert not (tmp_path / "unused").exists()


def test_s13_an_empty_variable_is_unset(project: Path, elsewhere: Path) -> None:
    """S13: it does not mean the current folder."""
    program = write(project / "main.py", DECLARE)
    assert run(program, cwd=elsewhere, variables={"SENSE_MEMORY_DIR": ""}) == beside(project)


def test_s13_the_variable_of_the_store_is_another(project: Path, elsewhere: Path) -> None:
    """S13: ``MEMORY_DB_PATH`` does not touch a persistent memory, nor ``SENSE_MEMORY_DIR`` a store."""
    program = write(project / "main.py", f"{DECLARE}from indelible import MemoryStore\nprint(MemoryStore().path)\n")
    variables = {"MEMORY_DB_PATH": str(elsewhere / "store.db"), "SENSE_MEMORY_DIR": str(elsewhere / "all")}
    assert run(program, cwd=elsewhere, variables=variables).splitlines() == [str(elsewhere / "all" / FILE), str(elsewhere / "store.db")]


def test_s13_only_the_owner_may_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S13: made folders have mode 0700, files 0600, whatever the mask of the process."""
    monkeypatch.setenv("SENSE_MEMORY_DIR", str(folder / "a" / "b"))
    mask = os.umask(0)
    try:
        with PersistentMemory("ledger") as memory:
            memory.remember("a", 1)
            modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in files_below(folder)}
    finally:
        os.umask(mask)
    assert {modes.pop("a"), modes.pop("a/b")} == {0o700}
    assert f"a/b/{FILE}" in modes
    assert set(modes.values()) == {0o600}


def test_s13_two_files_of_a_folder_share_a_name(project: Path, elsewhere: Path) -> None:
    """S13: documented: the same name in the same folder is the same memory."""
    one = write(project / "one.py", "from indelible import *\nPersistentMemory('ledger').remember('a', 1)\n")
    two = write(
        project / "two.py", "from indelible import *\nprint(PersistentMemory('ledger').recall('a'), PersistentMemory('other').keys())\n"
    )
    run(one, cwd=elsewhere)
    assert run(two, cwd=elsewhere) == "1 []"


def test_s13_an_installed_package_is_no_place_for_data(project: Path, elsewhere: Path) -> None:
    """S13: StoreUnavailable that says ``path=`` and the variable; nothing is created anywhere."""
    site = project / "lib" / "site-packages"
    write(site / "agents" / "__init__.py", DECLARE)
    before = files_below(project)
    done = start(["-c", "import agents"], cwd=elsewhere, variables={"PYTHONPATH": str(site), **NO_FILE})
    assert "StoreUnavailable" in done.stderr.splitlines()[-1]
    assert "path=" in done.stderr
    assert "SENSE_MEMORY_DIR" in done.stderr
    assert (files_below(project), files_below(elsewhere)) == (before, set())
    fixed = run("-c", "import agents", cwd=elsewhere, variables={"PYTHONPATH": str(site), "SENSE_MEMORY_DIR": str(elsewhere), **NO_FILE})
    assert fixed == str(elsewhere / FILE)


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that everybody may read and nobody but a superuser may write; not below the private folders of the test run."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o555)
        yield Path(made)
        os.chmod(made, 0o700)


# A superuser may write everywhere, so the program becomes somebody else; whatever it needs is imported before.
AS_NOBODY = """
import json, os, sys, sysconfig
import indelible.backend.sqlite, indelible.faces.persistent, portalocker
from indelible import PersistentMemory, StoreUnavailable
sysconfig.get_paths()
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    PersistentMemory("ledger", **json.loads(sys.argv[1]))
except StoreUnavailable as error:
    print(error)
"""


def test_s13_a_folder_that_cannot_be_written(locked: Path, elsewhere: Path) -> None:
    """S13: StoreUnavailable that says ``path=`` and the variable; nothing is created in its stead."""
    said = run("-c", AS_NOBODY, json.dumps({"anchor": str(locked / "main.py")}), cwd=elsewhere)
    assert str(locked) in said
    assert "path=" in said
    assert "SENSE_MEMORY_DIR" in said
    assert (files_below(locked), files_below(elsewhere)) == (set(), set())


def test_s14_a_path_that_cannot_be_written(locked: Path, elsewhere: Path) -> None:
    """S14: one clear error, whether the folder or the file is the trouble."""
    assert "path" in run("-c", AS_NOBODY, json.dumps({"path": str(locked / "sub" / "ledger.db")}), cwd=elsewhere)
    os.chmod(locked, 0o755)
    with PersistentMemory("ledger", locked / "ledger.db") as memory:
        memory.remember("a", 1)
    for file in locked.iterdir():
        file.chmod(0o444)
    before = {file.name: file.read_bytes() for file in locked.iterdir()}
    said = run("-c", AS_NOBODY, json.dumps({"path": str(locked / "ledger.db")}), cwd=elsewhere)
    assert "permissions" in said
    assert {file.name: file.read_bytes() for file in locked.iterdir()} == before


NAMES = ["a", "_", "A9", "_x-y_z", "a" * 64]
NO_NAMES = ["", "9a", "-a", "a b", "a.b", "a/b", "../a", "a\n", "ä", "a\0", "a" * 65, None, 5, b"a", ["a"]]


@pytest.mark.parametrize("name", NAMES)
def test_s13_names_that_are_good(name: str) -> None:
    """S13: a letter or underscore, then up to 63 letters, digits, underscores and hyphens."""
    with PersistentMemory(name, ":memory:") as memory:
        assert memory.name == name


@pytest.mark.parametrize("name", NO_NAMES)
def test_s13_names_that_are_not(name: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S13: InvalidInput, with or without a path, and no file is made."""
    monkeypatch.setenv("SENSE_MEMORY_DIR", str(folder))
    for path in (None, ":memory:", folder / "x.db"):
        with pytest.raises(InvalidInput, match="a memory's name"):
            PersistentMemory(name, path)  # type: ignore[arg-type]  # that is the test
    assert files_below(folder) == set()


def test_s13_a_file_in_the_place_of_the_folder(project: Path) -> None:
    """S13: a file named ``.sense_memory`` is left alone, and the error is the library's."""
    blocker = write(project / ".sense_memory", "mine")
    with pytest.raises(StoreUnavailable, match="path="):
        PersistentMemory("ledger", anchor=project / "main.py")
    assert blocker.read_text(encoding="utf-8") == "mine"


def test_programs_fail_loudly(tmp_path: Path) -> None:
    """The runner of these tests takes a failing program for a failure, and passes variables on."""
    with pytest.raises(AssertionError, match="boom"):
        run("-c", "raise SystemExit('boom')", cwd=tmp_path)
    done: subprocess.CompletedProcess[str] = start(["-c", "import os; print(os.environ['X'])"], cwd=tmp_path, variables={"X": "y"})
    assert done.stdout == "y\n"
