"""verify, rebuild, reindex, vacuum, health, doctor, path; export, import of a log, backup on the command line."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.cli.command import Cli


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """A store with one memory, revised."""
    note = cli.remember("green tea", "--key", "drink")
    cli.good("edit", note, "black coffee")
    return cli


def test_verify(filled: Cli) -> None:
    """S88: what it reports, for programs and people."""
    report = filled.json("verify")
    assert (set(report), report["ok"], report["events"], report["problems"]) == ({"ok", "events", "heads", "problems"}, True, 2, [])
    assert [head["seq"] for head in report["heads"].values()] == [2]
    assert "problems\tnone\n" in filled.good("verify")


def test_verify_finds_damage(filled: Cli) -> None:
    """S88: exit code 6, the report on standard output, one line on standard error."""
    with closing(sqlite3.connect(filled.path)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE payload SET body = replace(body, 'green tea', 'stale tea')")
    done = filled.call("verify")
    assert done.exit_code == 6
    assert "ok\tfalse\n" in done.stdout
    assert done.stderr.startswith("indelible: ")
    assert done.stderr.count("\n") == 1


def test_rebuild_reindex_vacuum(filled: Cli) -> None:
    """S75, S88: each says what it did, and answers stay the same."""
    before = filled.json("list"), filled.json("recall", "coffee")
    assert filled.json("rebuild") == {"version": 2}
    assert filled.good("reindex") == "embedded 0 texts\n"
    assert filled.json("reindex", "--model", "static") == {"embedded": 0}
    assert set(filled.json("vacuum")) == {"bytes_before", "bytes_after", "busy"}
    assert "bytes" in filled.good("vacuum")
    assert (filled.json("list"), filled.json("recall", "coffee")) == before
    assert "abacus" in filled.bad(2, "reindex", "--model", "abacus")


def test_health(filled: Cli) -> None:
    """S76: numbers, no content."""
    filled.good("remember", "soon gone", "--ttl-ms", "86400000")
    found = filled.json("health")
    numbers = {"ok": True, "version": 3, "live": 2, "expired": 0, "forgotten": 0, "purged": 0}
    assert {name: found[name] for name in numbers} == numbers
    assert found["settings"]["MEMORY_USER_ID"] == "ada"
    assert found["bytes"] > 0
    for text in (filled.good("health"), filled.good("health", "--json")):
        assert "tea" not in text
        assert "coffee" not in text


def test_doctor(filled: Cli) -> None:
    """S76: engine, settings read back, risks."""
    found = filled.json("doctor")
    assert set(found) == {"release", "python", "engine", "pragmas", "risks"}
    assert found["pragmas"]["journal_mode"] == "wal"
    assert sqlite3.sqlite_version in found["engine"]
    os.chmod(filled.path, 0o644)
    assert "chmod 600" in filled.good("doctor")


def test_path(cli: Cli, tmp_path: Path) -> None:
    """S85: option, else variable, else the home folder; an empty variable is none; nothing is made."""
    home = tmp_path / "home" / ".memory" / "default.db"
    assert cli.good("path") == f"{cli.path}\n"
    assert cli.json("path", MEMORY_DB_PATH="") == {"path": str(home), "exists": False}
    assert cli.good("path", MEMORY_DB_PATH=None) == f"{home}\n"
    assert cli.good("path", MEMORY_DB_PATH="~/a b.db") == f"{tmp_path / 'home' / 'a b.db'}\n"
    assert cli.good("path", "--db", "/one.db") == cli.good("--db", "/one.db", "path") == "/one.db\n"
    assert cli.good("--db", "/one.db", "path", "--db", "/two.db") == "/two.db\n"
    assert not cli.path.exists()
    assert not home.parent.exists()
    assert "path" in cli.bad(2, "path", "--db", "")


def test_path_says_what_is_there(filled: Cli) -> None:
    assert filled.json("path")["exists"] is True


@pytest.mark.parametrize("arguments", [["verify"], ["rebuild"], ["reindex"], ["vacuum"], ["export", "x"], ["backup", "x"]])
def test_upkeep_makes_no_store(cli: Cli, arguments: list[str]) -> None:
    """A misspelt path is an error, not an empty store that verifies."""
    assert str(cli.path) in cli.bad(5, *arguments)
    assert not cli.path.exists()


def test_reading_makes_a_store(cli: Cli) -> None:
    """S85: parents, tables and indexes come with the first use."""
    deep = cli.path.parent / "a" / "b" / "store.db"
    assert cli.json("list", "--db", str(deep)) == []
    assert deep.stat().st_mode & 0o777 == 0o600


def test_export_and_import(filled: Cli, tmp_path: Path) -> None:
    """S87: lossless and idempotent, history included."""
    file, other = str(tmp_path / "log.jsonl"), str(tmp_path / "other.db")
    assert filled.json("export", file) == {"file": file, "events": 2}
    taken = filled.json("import", file, "--db", other, MEMORY_AGENT_ID=None, MEMORY_USER_ID=None)
    assert taken == {"format": "log", "added": 2, "known": 0}
    assert filled.json("import", file, "--db", other) == {"format": "log", "added": 0, "known": 2}
    note = filled.json("list")[0]["id"]
    assert filled.json("history", note, "--db", other) == filled.json("history", note)
    assert "exists" in filled.bad(2, "export", file)
    for arguments in (["--source", "x"], ["--ttl-ms", "5"], ["--metadata", "{}"], ["--table", "t"]):
        filled.bad(2, "import", file, "--db", other, *arguments)


def test_a_broken_export_is_refused(filled: Cli, tmp_path: Path) -> None:
    """S87: a hash that does not hold is exit code 6, and nothing was taken."""
    file, other = tmp_path / "log.jsonl", str(tmp_path / "other.db")
    filled.good("export", str(file))
    file.write_text(file.read_text().replace("green tea", "stale tea"))
    filled.bad(6, "import", str(file), "--db", other)
    assert filled.json("list", "--db", other) == []


def test_backup_and_restore(filled: Cli, tmp_path: Path) -> None:
    """S87: a verified copy, and a store made of it where nothing stands."""
    file, other = str(tmp_path / "copy.db"), str(tmp_path / "other.db")
    assert filled.json("backup", file) == {"file": file, "events": 2, "ok": True}
    assert filled.json("restore-backup", file, "--db", other) == {"path": other, "version": 2}
    assert filled.json("list", "--db", other) == filled.json("list")
    assert "exists" in filled.bad(2, "backup", file)
    filled.bad(2, "restore-backup", file, "--db", other)
    filled.bad(5, "restore-backup", str(tmp_path / "none.db"), "--db", str(tmp_path / "third.db"))


def test_results_go_to_files(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is no file name here."""
    monkeypatch.chdir(tmp_path)
    for verb in ("export", "backup"):
        filled.bad(2, verb, "-")
    assert not (tmp_path / "-").exists()
