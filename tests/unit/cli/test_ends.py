"""How a call ends: exit codes, help, versions, streams that break, interrupts."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import indelible
from indelible import errors
from indelible.cli.application import VERBS, exit_code
from indelible.testing import HashEmbedder
from tests.unit.cli.command import MAIN, Cli, run

CODES = {
    errors.InvalidInput: 2, errors.EmbedderMismatch: 2, errors.RecordNotFound: 3, errors.StoreUnavailable: 5, errors.StoreClosed: 5,
    errors.StorageFull: 5, errors.SchemaMismatch: 5, errors.StoreError: 5, errors.IntegrityFailure: 6, errors.ModelNotFound: 7,
    errors.ModelError: 7, errors.MissingExtra: 7, errors.UnsupportedOperation: 1, errors.NoSuchAttribute: 1, errors.PolicyError: 1,
    errors.IndelibleError: 1,
}  # fmt: skip


def test_every_error_has_its_exit_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """S88: whatever error of ours a verb meets, one line and the documented code."""
    tree = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.IndelibleError)}
    assert tree == {*CODES, errors.VersionConflict}
    made: list[tuple[errors.IndelibleError, int]] = [(kind("it was\nso"), code) for kind, code in CODES.items()]
    for error, code in [*made, (errors.VersionConflict(1, 2), 4)]:
        assert exit_code(error) == code

        def fail(*_: object, error: errors.IndelibleError = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("indelible.faces.store.MemoryStore.list", fail)
        monkeypatch.setattr("indelible.faces.store.ScopedView.list", fail)
        assert " ".join(str(error).split()) in cli.bad(code, "list")


def test_help_lists_the_exit_codes(cli: Cli) -> None:
    """The table of exit codes stands in --help, and every verb."""
    text = cli.good("--help")
    for code in {*CODES.values(), 0, 4, 130, 141}:
        assert f"\n    {code} " in text
    for verb in VERBS:
        assert f"\n  {verb} " in text
    assert cli.good("-h") == text


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_help(cli: Cli, name: str) -> None:
    """Each verb says what it does, in a first sentence that the list shows whole, and takes --db, and --json if it has an answer."""
    text = cli.good(name, "--help")
    assert ("--json" in text) is (name != "mcp")
    assert "--db" in text
    command = VERBS[name]()[name]
    assert command.name == name
    assert not command.get_short_help_str(58).endswith("...")


def test_without_arguments_it_explains_itself(cli: Cli) -> None:
    """Standard output is for results alone."""
    done = cli.call()
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Exit codes" in done.stderr


def test_version(cli: Cli) -> None:
    assert indelible.__version__ in cli.good("--version")


@pytest.mark.parametrize("arguments", [["frobnicate"], ["--frob"], ["list", "--frob"], ["get"], ["get", "a", "b"], ["list", "--limit"]])
def test_usage(cli: Cli, arguments: list[str]) -> None:
    """One line that says where the help is."""
    assert "--help" in cli.bad(2, *arguments)


def test_paths_that_cannot_be(cli: Cli, tmp_path: Path) -> None:
    """S14: a folder, a file in a file, another program's database, no database: exit code 5, nothing half-made."""
    (tmp_path / "file").write_text("plain text, and more of it than one SQLite header is long" * 20)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
    before = sorted(os.listdir(tmp_path))
    for path in (tmp_path, tmp_path / "file" / "store.db", tmp_path / "other.db", tmp_path / "file"):
        for verb in (["list"], ["remember", "x"], ["health"]):
            assert str(path) in cli.bad(5, *verb, "--db", str(path))
    assert [name for name in sorted(os.listdir(tmp_path)) if not name.endswith((".lock", "-wal", "-shm"))] == before


# A superuser may write everywhere, so the program becomes somebody else; whatever it needs is imported before.
AS_NOBODY = """
import os, sys
import indelible.backend.sqlite, indelible.cli.writing, indelible.faces.store, portalocker
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
from indelible.cli import main
sys.exit(main())
"""


def test_a_folder_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    """S14: exit code 5, one line, no traceback, nothing created."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = run(["remember", "x", "--db", str(locked / "sub" / "store.db")], program=AS_NOBODY, variables=cli.variables)
    assert (done.returncode, done.stdout) == (5, b"")
    assert done.stderr.count(b"\n") == 1
    assert str(locked).encode() in done.stderr
    assert os.listdir(locked) == []


def test_the_model_may_be_missing(cli: Cli) -> None:
    """S86: words are found without the extra; meaning says what to install, with exit code 7."""
    without = "import sys; sys.modules['onnxruntime'] = sys.modules['tokenizers'] = sys.modules['indelible_models'] = None\n" + MAIN
    assert run(["remember", "green tea"], program=without, variables=cli.variables).returncode == 0
    assert run(["search", "tea"], program=without, variables=cli.variables).stdout.count(b"\n") == 2
    done = run(["recall", "tea"], program=without, variables=cli.variables)
    assert (done.returncode, done.stdout) == (7, b"")
    assert b"indelible[embed]" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away(cli: Cli) -> None:
    """A broken pipe is quiet, wherever it breaks."""
    with indelible.MemoryStore(cli.path, embedder=HashEmbedder()) as store:
        store.remember_many([f"note {number} " + "x" * 500 for number in range(500)], agent_id="bot", user_id="ada")
    for arguments in (["list"], ["list", "--json"], ["health"]):
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **cli.variables}
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written(cli: Cli) -> None:
    """One line and exit code 1; what the call did to the store stays done."""
    with open("/dev/full", "wb") as full:
        done = run(["remember", "kept"], variables=cli.variables, stdout=full)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert cli.contents("list") == ["kept"]


def test_interrupt(cli: Cli) -> None:
    """Ctrl-C is exit code 130, without a traceback, and nothing is written."""
    process = subprocess.Popen(
        # As in a terminal: what a shell runs in the background, these tests perhaps, is started with Ctrl-C switched off.
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{MAIN}", "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **cli.variables},
    )
    assert process.stdin is not None
    # More than a pipe holds: once it is taken, the program is surely running and waits for the end of its input.
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not cli.path.exists()


def test_interrupt_of_a_verb(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of a write: nothing is left of it."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("indelible.backend.sqlite.backend.SqliteBackend.append", interrupted)
    done = cli.call("remember", "x")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "")


def test_completion(cli: Cli) -> None:
    """Shells can ask how to complete a line."""
    asked = {"_INDELIBLE_COMPLETE": "bash_complete", "COMP_WORDS": "indelible search-", "COMP_CWORD": "1"}
    assert b"search-semantic" in run([], variables=cli.variables | asked).stdout
    assert b"complete" in run([], variables={**cli.variables, "_INDELIBLE_COMPLETE": "bash_source"}).stdout


def test_as_a_module(cli: Cli) -> None:
    """``python -m indelible.cli`` is the same program."""
    command = [sys.executable, "-m", "indelible.cli", "path"]
    done = subprocess.run(command, env={**os.environ, **cli.variables}, capture_output=True, check=True)
    assert done.stdout == os.fsencode(cli.path) + b"\n"
