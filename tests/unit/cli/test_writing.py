"""remember, edit, forget, undo, restore, feedback on the command line."""

from __future__ import annotations

import uuid

import pytest

from indelible import MemoryStore
from tests.unit.cli.command import Cli

RECORD = {
    "id", "version", "content", "metadata", "key", "source", "parent", "context", "agent_id", "user_id", "org_id", "workspace_id",
    "created_at", "updated_at", "occurred_at", "expires_at",
}  # fmt: skip


def test_remember_answers_with_the_record(cli: Cli) -> None:
    """S30: every argument of remember has its option, and the document has every field."""
    other = cli.remember("an earlier one")
    record = cli.json(
        "remember", "Ada prefers tea", "--metadata", '{"topic": "tea", "n": 1}', "--ttl-ms", "60000", "--key", "drink", "--source", "user",
        "--parent", "chat-1", "--occurred-at", "2026-01-31T12:00:00+02:00", "--org-id", "acme", "--workspace-id", "lab",
        "--context", other, "--context", "2026-01-30", "--idempotency-key", "once",
    )  # fmt: skip
    assert set(record) == RECORD
    assert uuid.UUID(record["id"]).version == 7
    wanted = {
        "version": 2, "content": "Ada prefers tea", "metadata": {"topic": "tea", "n": 1}, "key": "drink", "source": "user",
        "parent": "chat-1", "occurred_at": "2026-01-31T10:00:00Z", "agent_id": "bot", "user_id": "ada", "org_id": "acme",
        "workspace_id": "lab", "context": [other, "2026-01-30"],
    }  # fmt: skip
    assert {name: record[name] for name in wanted} == wanted
    assert record["created_at"] < record["expires_at"]
    assert cli.json("get", record["id"]) == record


def test_remember_says_the_id_to_people(cli: Cli) -> None:
    said = cli.good("remember", "Ada prefers tea")
    record = cli.json("list")[0]
    assert said == f"remembered {record['id']} (version 1)\n"


def test_remember_takes_standard_input(cli: Cli) -> None:
    """A dash is standard input, as it is but for the last line break."""
    for given, kept in (("one\ntwo\n", "one\ntwo"), ("\ufeffmarked", "marked"), ("a\r\n", "a")):
        assert cli.json("remember", "-", stdin=given)["content"] == kept
    assert "UTF-8" in cli.bad(2, "remember", "-", stdin=b"\xff\xfe")


def test_idempotency_and_dedup(cli: Cli) -> None:
    """S32: a retry answers with the first record; without asking for it nothing is merged."""
    first = cli.remember("x", "--idempotency-key", "k")
    assert cli.remember("other", "--idempotency-key", "k") == first
    assert cli.remember("x", "--dedup") == first
    assert cli.remember("x") != first


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["remember", ""], "content"),
        (["remember", "  \n"], "content"),
        (["remember", "x", "--metadata", "{"], "--metadata"),
        (["remember", "x", "--metadata", "[1]"], "--metadata"),
        (["remember", "x", "--metadata", '{"a":1,"a":2}'], "repeated"),
        (["remember", "x", "--metadata", '{"a":NaN}'], "NaN"),
        (["remember", "x", "--ttl-ms", "0"], "ttl_ms"),
        (["remember", "x", "--ttl-ms", "-5"], "ttl_ms"),
        (["remember", "x", "--ttl-ms", "1.5"], "--ttl-ms"),
        (["remember", "x", "--occurred-at", "yesterday"], "--occurred-at"),
        (["remember", "x", "--occurred-at", "2026-01-31T12:00:00"], "timezone"),
        (["remember", "x", "--context", "nonsense"], "context"),
        (["remember", "\ud800"], "surrogate"),
        (["remember"], "CONTENT"),
        (["remember", "x", "y"], "argument"),
        (["remember", "x", "--colour", "red"], "--colour"),
    ],
)
def test_bad_arguments_write_nothing(cli: Cli, arguments: list[str], word: str) -> None:
    """S31: exit code 2, one line that names the culprit, nothing written."""
    assert word in cli.bad(2, *arguments)
    with MemoryStore(cli.path) as store:
        assert store.version == 0


def test_edit_revises(cli: Cli) -> None:
    """S33: what is left out stays; the old words no longer hit."""
    note = cli.remember("green tea", "--metadata", '{"a": 1}', "--ttl-ms", "60000")
    edited = cli.json("edit", note, "black coffee", "--source", "user")
    assert (edited["id"], edited["version"], edited["metadata"], edited["source"]) == (note, 2, {"a": 1}, "user")
    assert edited["expires_at"] is not None
    assert (cli.contents("search", "tea"), cli.contents("search", "coffee")) == ([], ["black coffee"])
    assert cli.json("edit", note, "--no-ttl", "--metadata", "{}", "--expected-version", "2")["expires_at"] is None
    assert cli.json("edit", note, "-", stdin="water\n")["content"] == "water"
    assert cli.json("get", note)["metadata"] == {}


def test_edit_refuses(cli: Cli) -> None:
    """S33: a lost race is exit code 4, an unknown id 3, nothing to change 2."""
    note = cli.remember("green tea")
    assert "version 7" in cli.bad(4, "edit", note, "x", "--expected-version", "7")
    assert "id" in cli.bad(3, "edit", str(uuid.uuid4()), "x")
    assert "nothing to change" in cli.bad(2, "edit", note)
    assert "--no-ttl" in cli.bad(2, "edit", note, "--ttl-ms", "5", "--no-ttl")
    assert cli.json("get", note)["version"] == 1


def test_forget_and_undo(cli: Cli) -> None:
    """S34, S36: a second forget is a no-op, undo brings the memory back, restore any version."""
    note = cli.remember("green tea")
    assert cli.json("forget", note) == {"id": note, "forgotten": True}
    assert cli.json("forget", note) == {"id": note, "forgotten": False}
    assert cli.good("forget", note) == f"{note} was not remembered any more\n"
    assert cli.json("list") == []
    assert cli.json("undo", note)["content"] == "green tea"
    cli.good("edit", note, "black coffee")
    assert cli.json("restore", note, "1")["content"] == "green tea"
    assert "version" in cli.bad(2, "restore", note, "99")


def test_undo_of_the_first_state(cli: Cli) -> None:
    """S36: before the first state there is nothing, and that is no failure."""
    note = cli.remember("green tea")
    assert cli.json("undo", note) is None
    assert cli.json("list") == []


def test_feedback(cli: Cli) -> None:
    """S35: a vote is an event of the history."""
    note = cli.remember("green tea")
    assert cli.json("feedback", note, "up", "--note", "so it is") == {"id": note, "vote": "up", "note": "so it is"}
    assert cli.json("history", note)[-1]["vote"] == "up"
    assert "sideways" in cli.bad(2, "feedback", note, "sideways")


@pytest.mark.parametrize("id", [str(uuid.UUID(int=7)), "nonsense", "", "x" * 5000, "\x1b[31m"])
@pytest.mark.parametrize("arguments", [["get"], ["forget"], ["history"], ["undo"], ["restore", "1"], ["feedback", "up"], ["edit", "text"]])
def test_unknown_ids(cli: Cli, id: str, arguments: list[str]) -> None:
    """S34: every verb on one memory answers an id that names nothing with exit code 3."""
    verb, *more = arguments
    assert "no memory" in cli.bad(3, verb, id, *more)
