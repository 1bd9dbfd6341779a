"""Whose memories a call is about (S60 to S62)."""

from __future__ import annotations

import uuid

import pytest

from indelible import MemoryStore
from tests.unit.cli.command import Cli

ID = str(uuid.UUID(int=7))
FACT_VERBS = [
    ["remember", "x"], ["recall", "x"], ["search", "x"], ["search-semantic", "x"], ["get", ID], ["list"], ["edit", ID, "x"], ["forget", ID],
    ["history", ID], ["as-of", "1"], ["undo", ID], ["restore", ID, "1"], ["feedback", ID, "up"], ["withdraw", "x"], ["forget-expired"],
    ["prune", "--expired-only"], ["purge", ID, "--yes-i-really-want-to-delete"],
]  # fmt: skip
each_verb = pytest.mark.parametrize("arguments", FACT_VERBS, ids=lambda arguments: arguments[0])


@each_verb
@pytest.mark.parametrize("field", ["agent", "user"])
@pytest.mark.parametrize("empty", [None, ""])
def test_agent_and_user_are_required(cli: Cli, arguments: list[str], field: str, empty: str | None) -> None:
    """S61: not given, or an empty variable: the error names the option and the variable, and no store is made."""
    variable = f"MEMORY_{field.upper()}_ID"
    line = cli.bad(2, *arguments, **{variable: empty})
    assert f"--{field}-id" in line
    assert variable in line
    assert not cli.path.exists()


@each_verb
def test_the_command_line_is_enough(cli: Cli, arguments: list[str]) -> None:
    """S61: without the environment, options do; an id of nobody is then just not found."""
    done = cli.call(*arguments, "--agent-id", "bot", "--user-id", "ada", MEMORY_AGENT_ID=None, MEMORY_USER_ID=None)
    assert done.exit_code in (0, 3)


@pytest.fixture
def shared(cli: Cli) -> Cli:
    """One store, memories of several scopes, each named after its scope."""
    for owners in ("bot ada", "bot ada acme", "bot ada acme lab", "bot bob", "owl ada"):
        agent, user, org, workspace = (*owners.split(), "", "")[:4]
        cli.good(
            "remember", f"note {owners}",
            "--agent-id", agent, "--user-id", user, "--org-id", org, "--workspace-id", workspace,
        )  # fmt: skip
    return cli


READS = [["list"], ["search", "note"], ["recall", "note", "--limit", "99"], ["as-of", "99"]]


@pytest.mark.parametrize("verb", READS, ids=lambda verb: verb[0])
def test_narrowing(shared: Cli, verb: list[str]) -> None:
    """S60, S61: the environment fills in, an option wins, an empty option is no filter."""
    ada = {"note bot ada", "note bot ada acme", "note bot ada acme lab"}
    assert set(shared.contents(*verb)) == ada
    assert set(shared.contents(*verb, MEMORY_ORG_ID="acme")) == ada - {"note bot ada"}
    assert set(shared.contents(*verb, MEMORY_ORG_ID="acme", MEMORY_WORKSPACE_ID="lab")) == {"note bot ada acme lab"}
    assert set(shared.contents(*verb, "--workspace-id", "", MEMORY_ORG_ID="acme", MEMORY_WORKSPACE_ID="lab")) == ada - {"note bot ada"}
    assert set(shared.contents(*verb, "--org-id", "other", MEMORY_ORG_ID="acme")) == set()
    assert set(shared.contents(*verb, "--user-id", "bob")) == {"note bot bob"}
    assert set(shared.contents(*verb, "--user-id", "")) == ada | {"note bot bob"}
    assert set(shared.contents(*verb, "--user-id", "", "--agent-id", "")) == ada | {"note bot bob", "note owl ada"}


@pytest.mark.parametrize("value", ["%", "_da", "ADA", "ad", "ada ", "'ada'", "a*"])
def test_matching_is_exact(shared: Cli, value: str) -> None:
    """S60: no prefix, no pattern, no folding of case."""
    assert shared.json("list", "--user-id", value) == []


def test_remember_needs_real_owners(cli: Cli) -> None:
    """An empty value means any, and a new memory cannot be anybody's."""
    for field in ("agent", "user"):
        assert f"--{field}-id" in cli.bad(2, "remember", "x", f"--{field}-id", "")
    assert cli.json("remember", "x", "--org-id", "", MEMORY_ORG_ID="acme")["org_id"] is None
    assert cli.json("remember", "x", MEMORY_ORG_ID="acme")["org_id"] == "acme"


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("get", []),
        ("edit", ["x"]),
        ("forget", []),
        ("history", []),
        ("undo", []),
        ("restore", ["1"]),
        ("feedback", ["up"]),
        ("purge", ["--yes-i-really-want-to-delete"]),
    ],
)
def test_another_scope_looks_not_found(shared: Cli, verb: str, more: list[str]) -> None:
    """S62: neither read nor changed, and told in the same words as an id that never was."""
    theirs = shared.json("list", "--user-id", "bob")[0]["id"]
    with MemoryStore(shared.path) as store:
        before = store.version
    said = shared.bad(3, verb, theirs, *more)
    assert said.replace(theirs, ID) == shared.bad(3, verb, ID, *more)
    with MemoryStore(shared.path) as store:
        assert store.version == before
    assert shared.call(verb, theirs, *more, "--user-id", "bob").exit_code == (0 if verb != "restore" else 2)


def test_withdraw_stays_inside(cli: Cli) -> None:
    """S62: bulk verbs end at the scope."""
    cli.good("remember", "a", "--source", "web")
    cli.good("remember", "b", "--source", "web", "--user-id", "bob")
    assert cli.json("withdraw", "web") == {"source": "web", "forgotten": 1}
    assert cli.contents("list", "--user-id", "bob") == ["b"]
