"""withdraw, forget-expired, prune, purge on the command line."""

from __future__ import annotations

import re

import pytest

from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.cli.command import Cli

REALLY = "--yes-i-really-want-to-delete"


def version_of(cli: Cli) -> int:
    with MemoryStore(cli.path) as store:
        return store.version


def test_withdraw(cli: Cli) -> None:
    """S36: everything a source wrote, since a version, with what was derived; undo brings each back."""
    page = cli.remember("one", "--source", "web")
    cli.good("remember", "two", "--source", "web")
    cli.good("remember", "derived", "--parent", page)
    cli.good("remember", "mine", "--source", "user")
    assert cli.json("withdraw", "web", "--since", "2") == {"source": "web", "forgotten": 1}
    assert cli.good("withdraw", "web", "--derived") == "forgot 2 memories of web\n"
    assert cli.contents("list") == ["mine"]
    cli.good("undo", page)
    assert cli.contents("list") == ["one", "mine"]
    assert "--since" in cli.bad(2, "withdraw", "web", "--since", "lately")


def test_forget_expired(cli: Cli) -> None:
    """S72: tombstones for what has expired; a second call has nothing to do."""
    with MemoryStore(cli.path, embedder=HashEmbedder(), clock=FakeClock()) as store:
        store.remember("old news", agent_id="bot", user_id="ada", ttl_ms=1)
    cli.good("remember", "good news")
    assert cli.json("forget-expired") == {"forgotten": 1}
    assert cli.good("forget-expired") == "forgot 0 memories\n"
    assert cli.contents("list", "--include-expired") == ["good news"]


def test_prune_is_a_dry_run(cli: Cli) -> None:
    """S73: without --yes it counts and changes nothing."""
    notes = [cli.remember(f"green tea {n}") for n in range(12)]
    cli.good("remember", "coffee")
    before = version_of(cli)
    found = cli.json("prune", "--keywords", "TEA")
    assert (found["count"], found["done"], found["hard"]) == (12, False, False)
    assert found["sample"] == notes[:10]
    said = cli.good("prune", "--keywords", "tea")
    assert said.startswith("would forget 12 memories")
    assert "--yes" in said
    assert REALLY in cli.good("prune", "--keywords", "tea", "--hard")
    assert version_of(cli) == before
    assert len(cli.json("list")) == 13


def test_prune_forgets(cli: Cli) -> None:
    """S73: soft: what matches all conditions, and undo brings it back."""
    tea = cli.remember("green tea")
    cli.good("remember", "green coffee")
    assert cli.json("prune", "--keywords", "green tea", "--before", "2099-01-01T00:00:00Z", "--yes")["count"] == 1
    assert cli.contents("list") == ["green coffee"]
    assert cli.json("prune", "--keywords", "green", "--before", "1999-01-01T00:00:00Z", "--yes")["count"] == 0
    cli.good("undo", tea)
    assert cli.json("prune", "--user-id", "ada", "--yes")["count"] == 2


def test_prune_where_a_scope_is_empty(cli: Cli) -> None:
    """S73: explicit emptiness, against the environment too."""
    cli.good("remember", "a")
    cli.good("remember", "b", "--org-id", "acme")
    assert cli.json("prune", "--is-empty", "org-id", MEMORY_ORG_ID="acme")["count"] == 1
    assert cli.json("prune", "--is-empty", "org-id", "--is-empty", "workspace-id", "--yes")["count"] == 1
    assert cli.contents("list") == ["b"]
    assert "contradict" in cli.bad(2, "prune", "--is-empty", "org-id", "--org-id", "acme")


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--yes",
        "--agent-id= --yes",
        "--agent-id= --user-id= --yes",
        f"--hard {REALLY}",
        f"--keywords tea {REALLY}",
        f"--keywords tea --yes {REALLY}",
        "--keywords tea --hard --yes",
        "--keywords tea --reason boredom",
        "--before 2026-01-01",
        "--before then",
        "--is-empty user-id",
    ],
)
def test_prune_refuses(cli: Cli, options: str) -> None:
    """S73: no condition on the command line, or a confirmation that does not fit: nothing happens."""
    cli.good("remember", "green tea")
    cli.bad(2, "prune", *options.split())
    assert version_of(cli) == 1


def test_hard_prune_destroys(cli: Cli) -> None:
    """S73: hard needs its own confirmation and takes what was forgotten too."""
    secret = cli.remember("secret tea")
    cli.good("forget", secret)
    assert cli.json("prune", "--keywords", "secret", "--hard", REALLY) == {"count": 1, "sample": [secret], "done": True, "hard": True}
    assert re.search(r"\bpurge", cli.good("history", secret, "--agent-id", "", "--user-id", ""))
    assert "secret" not in cli.good("history", secret, "--agent-id", "", "--user-id", "")


def test_purge(cli: Cli) -> None:
    """S36: only with the long option; afterwards it is gone, and the log still verifies."""
    note = cli.remember("secret")
    assert REALLY in cli.bad(2, "purge", note)
    assert cli.json("get", note)["content"] == "secret"
    assert cli.json("purge", note, REALLY, "--reason", "secret") == {"id": note, "purged": True, "reason": "secret"}
    cli.bad(3, "purge", note, REALLY)
    cli.bad(3, "get", note)
    assert cli.json("verify")["ok"]
