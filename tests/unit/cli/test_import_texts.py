"""import of texts: plain lines, lines of JSON, a column of somebody else's SQLite file, standard input."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore
from indelible.cli.sources import Texts, load
from tests.unit.cli.command import Cli


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def database(path: Path, *statements: str, texts: tuple[Any, ...] = ()) -> str:
    """Somebody else's database; texts go to note(body)."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        connection.executemany("INSERT INTO note (body) VALUES (?)", [(text,) for text in texts])
    return str(path)


def version_of(cli: Cli) -> int:
    with MemoryStore(cli.path) as store:
        return store.version


def test_plain_lines(cli: Cli, tmp_path: Path) -> None:
    """Each line that is not blank is a text, without the white space around it."""
    file = write(tmp_path / "notes.txt", "one", "", "  two\u2028still two \r", '"', "[x]")
    done = cli.json("import", file, "--source", "file", "--metadata", '{"a": 1}', "--ttl-ms", "60000")
    assert done == {"format": "lines", "added": 4, "known": 0}
    records = cli.json("list")
    assert [record["content"] for record in records] == ["one", "two\u2028still two", '"', "[x]"]
    assert all((record["source"], record["metadata"]) == ("file", {"a": 1}) and record["expires_at"] for record in records)


def test_lines_of_json(cli: Cli, tmp_path: Path) -> None:
    """Strings, or objects with remember's arguments; what an item says itself wins; null is as good as nothing."""
    file = write(
        tmp_path / "notes.jsonl",
        '"one"',
        {"text": "two", "metadata": {"b": 2}, "occurred_at": "2026-01-31T12:00:00Z", "key": "k", "user_id": None},
        {"content": "three", "user_id": "bob", "source": "tool"},
    )
    assert cli.json("import", file, "--source", "file", "--metadata", '{"a": 1}')["added"] == 3
    first, second = cli.json("list")
    assert (first["content"], first["metadata"], first["source"]) == ("one", {"a": 1}, "file")
    assert (second["content"], second["metadata"], second["occurred_at"], second["key"]) == ("two", {"b": 2}, "2026-01-31T12:00:00Z", "k")
    assert [(r["content"], r["source"]) for r in cli.json("list", "--user-id", "bob")] == [("three", "tool")]


def test_standard_input(cli: Cli) -> None:
    """A dash: lines, or lines of JSON if the first is one, or what --format says."""
    assert cli.json("import", "-", stdin="one\ntwo\n") == {"format": "lines", "added": 2, "known": 0}
    assert cli.json("import", "-", stdin='\n{"text": "three"}\n"four"\n')["format"] == "jsonl"
    assert cli.json("import", "-", "--format", "lines", stdin='"quoted"\n')["format"] == "lines"
    assert cli.json("import", "-", stdin="")["added"] == 0
    assert cli.contents("list") == ["one", "two", "three", "four", '"quoted"']
    assert "path of the file" in cli.bad(2, "import", "-", "--format", "log", stdin="")
    assert "UTF-8" in cli.bad(2, "import", "-", stdin=b"caf\xe9\n")


def test_a_pipe_with_a_name(cli: Cli) -> None:
    """What a shell gives for <(command) can be read only once, and is read whole."""
    read, written = os.pipe()
    with open(written, "w", encoding="utf-8") as pipe:
        pipe.write("".join(f"note {number}\n" for number in range(1000)))
    assert cli.json("import", f"/dev/fd/{read}")["added"] == 1000
    os.close(read)


def test_import_again(cli: Cli, tmp_path: Path) -> None:
    """S32: idempotency keys make an import that can be repeated; without them every call adds."""
    file = write(tmp_path / "notes.jsonl", {"text": "one", "idempotency_key": "1"}, {"text": "two", "idempotency_key": "2"})
    assert cli.json("import", file) == {"format": "jsonl", "added": 2, "known": 0}
    assert cli.json("import", file) == {"format": "jsonl", "added": 0, "known": 2}
    assert "2 known already" in cli.good("import", file)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{", "JSON"),
        ("7", "string or object"),
        ('{"content": "a", "text": "b"}', "both"),
        ('{"note": "a"}', "'note'"),
        ('{"text": "a", "_id": "x"}', "'_id'"),
        ('{"text": "a", "_neighbour": "x"}', "'_neighbour'"),
        ('{"text": ""}', "content"),
        ("{}", "content"),
        ('{"text": 5}', "content"),
        ('{"text": "a", "occurred_at": "then"}', "occurred_at"),
        ('{"text": "a", "ttl_ms": 0}', "ttl_ms"),
        ('{"text": "a", "text": "b"}', "repeated"),
        ('{"text": "a", "metadata": [1]}', "metadata"),
        ('{"text": "a", "user_id": ""}', "user_id"),
    ],
)
def test_one_bad_line_refuses_all(cli: Cli, tmp_path: Path, line: str, word: str) -> None:
    """S83: all or nothing, and the message names the line, blank ones counted."""
    file = write(tmp_path / "notes.jsonl", '"good"', "", line, '"good too"')
    said = cli.bad(2, "import", file)
    assert f"line 3 of {file}" in said
    assert word in said
    assert cli.json("list") == []


def test_owners(cli: Cli, tmp_path: Path) -> None:
    """S61: items without owners need them from the options or the environment; options bind, the environment fills in."""
    none: dict[str, str | None] = {"MEMORY_AGENT_ID": None, "MEMORY_USER_ID": None}
    ada, bob = ({"text": "a", "agent_id": "bot", "user_id": user} for user in ("ada", "bob"))
    own = write(tmp_path / "own.jsonl", ada, bob)
    said = cli.bad(2, "import", "-", stdin="one\n", **none)
    assert "line 1 of standard input" in said
    assert "--agent-id" in said
    assert "MEMORY_USER_ID" in cli.bad(2, "import", "-", "--agent-id", "bot", stdin="one\n", **none)
    assert "--user-id" in cli.bad(2, "import", "-", "--user-id", "", stdin="one\n")
    assert f"line 2 of {own}" in cli.bad(2, "import", own, "--user-id", "ada")
    assert cli.json("import", own, **none)["added"] == 2
    assert cli.json("import", own, MEMORY_USER_ID="eve")["added"] == 2
    assert cli.json("list", "--user-id", "eve") == []


def test_sqlite(cli: Cli, tmp_path: Path) -> None:
    """One column of text, in the order of the rows, whatever indexes there are; the file stays as it was."""
    file = database(
        tmp_path / "other.db", "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)", "CREATE INDEX i ON note (body)",
        texts=("zebra", None, "", "apple", " \n"),
    )  # fmt: skip
    before = Path(file).read_bytes()
    assert "which column" in cli.bad(2, "import", file)
    assert cli.json("import", file, "--column", "body") == {"format": "sqlite", "added": 2, "known": 0}
    assert cli.contents("list") == ["zebra", "apple"]
    assert Path(file).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("other")) == ["other.db"]


def test_sqlite_tells_by_itself(cli: Cli, tmp_path: Path) -> None:
    """The only table; the only column, or the one that is named content or text."""
    for number, columns in enumerate(("content TEXT, other TEXT", "a INT, Text TEXT", "anything TEXT")):
        column = columns.split(" TEXT")[0].rpartition(" ")[2] if number != 1 else "Text"
        file = tmp_path / f"{number}.db"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(f"CREATE TABLE t ({columns})")
            connection.execute(f"INSERT INTO t ({column}) VALUES (?)", (f"text {number}",))
        cli.good("import", str(file))
    assert cli.contents("list") == ["text 0", "text 1", "text 2"]


def test_sqlite_leaves_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    """A file in WAL mode that nobody uses is read without side files."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    file = database(folder / "other.db", "PRAGMA journal_mode=WAL", "CREATE TABLE note (body TEXT)", texts=("one",))
    assert cli.json("import", file)["added"] == 1
    assert [path.name for path in folder.iterdir()] == ["other.db"]


def test_sqlite_while_it_is_in_use(cli: Cli, tmp_path: Path) -> None:
    """What a program has just committed to its write-ahead log is read; a lock is answered as one."""
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE note (body TEXT)")
        writer.execute("INSERT INTO note VALUES ('in the log')")
        assert cli.json("import", str(file))["added"] == 1
    assert cli.contents("list") == ["in the log"]


@pytest.mark.parametrize("name", ['a"b', "select", "x; DROP TABLE y", "ta ble", "[t]", "été"])
def test_sqlite_names_are_names(cli: Cli, tmp_path: Path, name: str) -> None:
    """Names of tables and columns are never part of the language."""
    quoted = '"' + name.replace('"', '""') + '"'
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE {quoted} ({quoted} TEXT, b TEXT)")
        connection.execute(f"INSERT INTO {quoted} VALUES ('text', 'b')")
    assert cli.json("import", str(file), "--table", name, "--column", name)["added"] == 1
    for arguments in (["--table", "none"], ["--column", "none"], ["--column", name + "x"]):
        assert "it has" in cli.bad(2, "import", str(file), *arguments)


def test_sqlite_that_will_not_do(cli: Cli, tmp_path: Path) -> None:
    """Numbers, bytes, text that is none, a damaged file, no table: exit code 2, nothing written."""
    make = "CREATE TABLE note (body)"
    for number, texts in enumerate([("a", 5), ("a", b"\x00"), ("a", 1.5)]):
        said = cli.bad(2, "import", database(tmp_path / f"kind{number}.db", make, texts=texts))
        assert "row 2" in said
    for number, statements in enumerate(
        [
            ["INSERT INTO note VALUES (CAST(x'ff' AS TEXT))"],
            ["CREATE TABLE second (body)"],
            ["DROP TABLE note", "CREATE VIRTUAL TABLE f USING fts5(body)", "CREATE VIEW note AS SELECT 'a' AS body"],
        ]
    ):
        file = tmp_path / f"bad{number}.db"
        with closing(sqlite3.connect(file)) as connection, connection:
            for statement in (make, *statements):
                connection.execute(statement)
        cli.bad(2, "import", str(file))
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\x00" + os.urandom(4096))
    cli.bad(2, "import", str(damaged))
    assert "SQLite" in cli.bad(2, "import", "-", "--table", "t", stdin="x\n")
    assert not cli.path.exists()


def test_stores_are_not_texts(cli: Cli, tmp_path: Path) -> None:
    """S81: neither this store under any of its names nor another store is opened as a foreign file."""
    cli.good("remember", "x")
    link, hard = tmp_path / "link.db", tmp_path / "hard.db"
    link.symlink_to(cli.path)
    os.link(cli.path, hard)
    for name in (cli.path, link, hard):
        assert "the store itself" in cli.bad(2, "import", str(name), "--table", "payload", "--column", "body")
    other = tmp_path / "other.db"
    cli.good("remember", "y", "--db", str(other))
    assert "export" in cli.bad(2, "import", str(other), "--table", "payload", "--column", "body")
    assert version_of(cli) == 1


@pytest.mark.parametrize("kind", [[], ["--format", "jsonl"], ["--format", "sqlite"], ["--format", "log"]])
def test_files_that_cannot_be_read(cli: Cli, tmp_path: Path, kind: list[str]) -> None:
    """No file, or a folder: exit code 5."""
    assert "none.txt" in cli.bad(5, "import", str(tmp_path / "none.txt"), *kind)
    cli.bad(5, "import", str(tmp_path), *kind)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=1, max_size=5))
def test_json_lines_round_trip(tmp_path: Path, contents: list[str]) -> None:
    """Any text comes through lines of JSON unchanged."""
    found = load(write(tmp_path / "notes.jsonl", *contents_as_json(contents)), None, None, None)
    assert found is not None
    assert [item["content"] for item in found.items] == contents


def contents_as_json(contents: list[str]) -> list[str]:
    return [json.dumps(text, ensure_ascii=number % 2 == 0) for number, text in enumerate(contents)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_file_has_a_defined_result(tmp_path: Path, data: bytes) -> None:
    """Whatever stands in a file, it is texts or one clear refusal."""
    file = tmp_path / "anything"
    file.write_bytes(data)
    found: Texts | str | None
    try:
        found = load(str(file), None, None, None)
    except InvalidInput as error:
        found = str(error)
    assert isinstance(found, Texts | str)
    assert str(file) in found if isinstance(found, str) else len(found.items) == len(found.places)
