"""What is printed: nothing that was remembered is obeyed, and JSON is one document."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.cli.documents import json_text
from tests.unit.cli.command import MAIN, Cli, run

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnp.exe \u200b\U000e0041 tab\tline\r\n[bold red]markup[/] :smile: [link=https://x]y[/link]"
)


def on_a_terminal(cli: Cli, *arguments: str, columns: int = 200, kind: str = "dumb") -> str:
    """What a call shows on a terminal, byte for byte."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**os.environ, **cli.variables, "COLUMNS": str(columns), "LINES": "50", "TERM": kind},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # Linux answers so once the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(leader)
    process.wait(timeout=60)
    return shown.decode()


@pytest.fixture
def hostile(cli: Cli) -> Cli:
    """A store with a memory that would like to be obeyed, in every field that is shown."""
    metadata = json.dumps({HOSTILE: [HOSTILE]})
    cli.good("remember", HOSTILE, "--key", HOSTILE, "--source", HOSTILE, "--metadata", metadata, "--org-id", HOSTILE)
    return cli


def verbs(note: str) -> list[list[str]]:
    recall = ["recall", "red", "--mode", "keyword"]
    return [["list"], ["search", "red"], recall, ["get", note], ["history", note], ["as-of", "1"], ["scopes"]]


def test_piped_lines_hold_no_control_characters(hostile: Cli) -> None:
    """Tab-separated, one line a row: a memory cannot make another line, another column, or a control sequence."""
    note = hostile.json("list")[0]["id"]
    for verb in verbs(note):
        lines = hostile.good(*verb).removesuffix("\n").split("\n")
        assert all(cell.isprintable() for line in lines for cell in line.split("\t")), verb
        widths = {len(line.split("\t")) for line in lines}
        assert len(widths) == 1, verb
    assert len(hostile.good("list").splitlines()) == 2
    assert "[bold red]markup[/] :smile:" in hostile.good("list")


def test_json_holds_no_control_characters(hostile: Cli) -> None:
    """One line of JSON that a terminal cannot be steered by, and that reads back exact."""
    note = hostile.json("list")[0]["id"]
    for verb in verbs(note):
        text = hostile.good(*verb, "--json")
        assert text.removesuffix("\n").isprintable()
    record = hostile.json("get", note)
    assert (record["content"], record["key"], record["metadata"]) == (HOSTILE, HOSTILE, {HOSTILE: [HOSTILE]})


def test_a_terminal_gets_tables_and_nothing_to_obey(hostile: Cli) -> None:
    """On a terminal: a table; escapes for control characters, markup as it is written."""
    note = hostile.json("list")[0]["id"]
    for verb in verbs(note):
        shown = on_a_terminal(hostile, *verb)
        assert all(character.isprintable() or character in "\r\n" for character in shown), verb
        assert "[bold red]markup[/] :smile:" in shown or verb[0] == "scopes", verb
    shown = on_a_terminal(hostile, "list")
    assert "\\u001b[31mred" in shown
    assert note in shown
    assert "─" in shown
    assert note in on_a_terminal(hostile, "list", columns=60)  # never broken, so that it can be copied


def test_get_on_a_terminal_keeps_lines(cli: Cli) -> None:
    """There, and only there, the lines of a text are shown as lines; a list cuts long texts and says so."""
    note = cli.remember("first line\nsecond line " + "x" * 1000)
    shown = on_a_terminal(cli, "get", note)
    assert "\\u000a" not in shown
    assert shown.count("x" * 50)
    assert "more characters" not in shown
    listed = on_a_terminal(cli, "list")
    assert "more characters)" in "".join(listed.split("\r\n")).replace("  ", "")
    assert "x" * 1000 in cli.good("list")


def test_errors_hold_no_control_characters(cli: Cli) -> None:
    """What is quoted of the arguments is escaped too."""
    for arguments in ([HOSTILE], ["get", "x", "--" + HOSTILE], ["list", "--limit", HOSTILE], ["list", "--db", f"/proc/{HOSTILE}"]):
        done = cli.call(*arguments)
        assert done.exit_code in (2, 5)
        assert done.stderr.removesuffix("\n").isprintable()


def test_a_terminal_is_told_of_nothing(cli: Cli) -> None:
    """An empty result says so to people, beside the result."""
    assert "no memories" in on_a_terminal(cli, "list")
    assert cli.good("list") == "id\tupdated\tcontent\n"
    assert "nothing found" in on_a_terminal(cli, "search", "tea")


def test_progress_is_for_terminals(cli: Cli, tmp_path: Path) -> None:
    """A bar on a terminal; elsewhere standard error stays empty."""
    file = tmp_path / "notes.txt"
    file.write_text("one\ntwo\n")
    shown = on_a_terminal(cli, "import", str(file), kind="xterm")
    assert "remembering" in shown
    assert "remembered 2 texts" in shown
    done = run(["import", str(file)], variables=cli.variables)
    assert (done.stdout, done.stderr) == (b"remembered 2 texts; 0 known already\n", b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
def test_any_encoding(cli: Cli, encoding: str) -> None:
    """Where the output cannot hold a character it is escaped; JSON stays JSON."""
    cli.good("remember", "naïve 茶 🍵 ñ")
    variables = {**cli.variables, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = run(["list"], variables=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "na" in done.stdout.decode(encoding)
    done = run(["list", "--json"], variables=variables)
    assert json.loads(done.stdout.decode(encoding))[0]["content"] == "naïve 茶 🍵 ñ"


def test_long_integers(cli: Cli) -> None:
    """S7: numbers of any size come through."""
    note = cli.good("remember", "x", "--metadata", '{"n": 1' + "0" * 5000 + "}").split(" ")[1]
    assert '"n":1' + "0" * 5000 in cli.good("get", note, "--json")


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10), st.booleans())
def test_json_text_reads_back(document: object, unicode: bool) -> None:
    """Any document is one printable line, plain ASCII where asked for, and reads back equal."""
    text = json_text(document, unicode=unicode)
    assert text.isprintable()
    assert unicode or text.isascii()
    assert json.loads(text) == document
