"""recall, both searches, get, list, history, as-of, scopes on the command line."""

from __future__ import annotations

import json
import sys

import pytest

from indelible import MemoryStore
from indelible.embed import OnnxReranker
from indelible.testing import FakeClock, HashEmbedder
from tests.rerankers import in_place_of_the_bundled
from tests.unit.cli.command import Cli
from tests.unit.cli.test_writing import RECORD

HIT = RECORD | {"score", "rank_score", "why", "part"}
CHANGE = {"version", "op", "at", "expires_at", "superseded", "purged", "vote", "note", "source", "record"}


@pytest.fixture
def drinks(cli: Cli) -> Cli:
    """A store with three memories."""
    cli.good("remember", "Ada prefers green tea", "--metadata", '{"topic": "tea", "year": 2020}')
    cli.good("remember", "tea for two and two for tea", "--metadata", '{"topic": "song", "year": 1924}')
    cli.good("remember", "the kettle is broken", "--metadata", '{"topic": "tea", "year": 2021}')
    return cli


def test_search(drinks: Cli) -> None:
    """S41: whole words, all of them unless told otherwise, term frequency first."""
    hits = drinks.json("search", "TEA")
    assert [hit["content"] for hit in hits] == ["tea for two and two for tea", "Ada prefers green tea"]
    assert all(set(hit) == HIT for hit in hits)
    assert (hits[0]["score"], hits[0]["rank_score"], hits[0]["why"]) == (None, 2.0, ["keyword"])
    assert drinks.contents("search", "tea kettle") == []
    assert len(drinks.contents("search", "tea kettle", "--match", "any")) == 3
    assert len(drinks.contents("search", "tea", "--limit", "1")) == 1
    assert drinks.contents("search", "tea", "--limit", "1", "--offset", "1") == ["Ada prefers green tea"]
    assert drinks.contents("search", "tea", "--limit", "0") == []


@pytest.mark.parametrize("query", ['"', "* NOT (", "NEAR(a b", "a:b", "--", "'; DROP TABLE event; --", "100%", "🍵", "x" * 100_000])
def test_text_is_never_syntax(drinks: Cli, query: str) -> None:
    """S45: any text has a defined result."""
    assert drinks.json("search", "--", query) == []


def test_recall_and_search_semantic(drinks: Cli) -> None:
    """S40, S43: by meaning, with the cosine as score."""
    for verb in ("recall", "search-semantic"):
        hits = drinks.json(verb, "broken kettle", "--limit", "2")
        assert hits[0]["content"] == "the kettle is broken"
        assert hits[0]["score"] == hits[0]["rank_score"] > hits[1]["score"]
        assert len(drinks.json(verb, "broken kettle", "--min-score", "0.5")) == 1
    assert drinks.json("recall", "broken kettle", "--mode", "hybrid")[0]["why"] == ["keyword", "semantic"]
    assert drinks.contents("recall", "kettle", "--mode", "keyword") == ["the kettle is broken"]


@pytest.mark.parametrize("verb", [["recall", "tea"], ["search-semantic", "tea"], ["as-of", "1", "tea"]])
def test_fast_embeds_queries_by_the_static_table(drinks: Cli, embedders: list[object], verb: list[str]) -> None:
    """--fast names the embedder that needs no model runtime for queries."""
    embedders.clear()
    drinks.good(*verb)
    drinks.good(*verb, "--fast")
    assert embedders == [None, "static-query"]


LISTING = [["list"], ["search", "tea kettle", "--match", "any"], ["recall", "tea"], ["search-semantic", "tea"], ["as-of", "9"]]


@pytest.mark.parametrize("verb", LISTING, ids=lambda verb: verb[0])
def test_filters(drinks: Cli, verb: list[str]) -> None:
    """S49: the shorthand and the tree, on every verb that lists."""
    tree = json.dumps({"and": [{"path": ["topic"], "op": "eq", "value": "tea"}, {"path": ["year"], "op": "gt", "value": 2020}]})
    assert set(drinks.contents(*verb, "--filter", '{"topic": "tea"}')) == {"Ada prefers green tea", "the kettle is broken"}
    assert drinks.contents(*verb, "--filter", tree) == ["the kettle is broken"]
    for bad in ("{", "[]", "null", '{"topic": ["tea"]}', '{"path": ["a"], "op": "near", "value": 1}'):
        assert "filter" in drinks.bad(2, *verb, "--filter", bad)


def test_list(drinks: Cli) -> None:
    """S47: in order of time, paged."""
    records = drinks.json("list")
    assert [record["version"] for record in records] == [1, 2, 3]
    assert all(set(record) == RECORD for record in records)
    assert [record["version"] for record in drinks.json("list", "--descending", "--limit", "1", "--offset", "1")] == [2]
    drinks.good("edit", records[0]["id"], "Ada prefers coffee")
    assert [record["version"] for record in drinks.json("list", "--order", "updated")] == [2, 3, 4]
    keyed = drinks.remember("keyed", "--key", "k", "--parent", "p")
    assert [record["id"] for record in drinks.json("list", "--key", "k")] == [keyed]
    assert [record["id"] for record in drinks.json("list", "--parent", "p")] == [keyed]


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--limit", "-1"],
        ["list", "--limit", "x"],
        ["list", "--order", "size"],
        ["search"],
        ["search", ""],
        ["search", "a", "--offset", "-1"],
        ["search", "a", "--match", "x"],
        ["recall", "  "],
        ["recall", "a", "--mode", "psychic"],
        ["recall", "a", "--min-score", "7"],
    ],
)
def test_bad_arguments(drinks: Cli, arguments: list[str]) -> None:
    """S46: exit code 2."""
    drinks.bad(2, *arguments)


def test_get_with_vectors(drinks: Cli) -> None:
    """Vectors only where asked for."""
    note = drinks.json("list")[0]["id"]
    assert set(drinks.json("get", note)) == RECORD
    vectors = drinks.json("get", note, "--with-vectors")["vectors"]
    assert len(vectors[""]) == 64


def test_expired(cli: Cli) -> None:
    """S71: hidden unless asked for."""
    with MemoryStore(cli.path, embedder=HashEmbedder(), clock=FakeClock()) as store:
        note = store.remember("short-lived tea", agent_id="bot", user_id="ada", ttl_ms=1).id
    for verb in (["list"], ["search", "tea"], ["recall", "tea"]):
        assert cli.json(*verb) == []
        assert cli.contents(*verb, "--include-expired") == ["short-lived tea"]
    cli.bad(3, "get", note)
    assert cli.json("get", note, "--include-expired")["id"] == note


def test_history(cli: Cli) -> None:
    """S37: every event, oldest first, as lines for people."""
    note = cli.remember("green tea", "--source", "user")
    cli.good("edit", note, "a\nb")
    cli.good("forget", note)
    changes = cli.json("history", note)
    assert [(change["version"], change["op"]) for change in changes] == [(1, "remember"), (2, "revise"), (3, "forget")]
    assert all(set(change) == CHANGE for change in changes)
    assert (changes[0]["source"], changes[0]["record"]["content"], changes[2]["record"]) == ("user", "green tea", None)
    lines = cli.good("history", note).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["v1", "v2", "v3"]
    assert "created" in lines[0]
    assert lines[1].endswith('revised "a\\nb"')


def test_as_of(drinks: Cli) -> None:
    """S50: list, recall and get in the past, by version and by time."""
    first = drinks.json("list")[0]
    drinks.good("edit", first["id"], "Ada prefers coffee")
    assert drinks.contents("as-of", "1") == ["Ada prefers green tea"]
    assert drinks.contents("as-of", "0") == []
    assert drinks.contents("as-of", "2", "prefers tea") == ["Ada prefers green tea", "tea for two and two for tea"]
    assert drinks.contents("as-of", "2", "green", "--mode", "keyword") == ["Ada prefers green tea"]
    assert drinks.json("as-of", "3", "--id", first["id"])["content"] == "Ada prefers green tea"
    assert drinks.json("get", first["id"], "--as-of", "3")["content"] == "Ada prefers green tea"
    assert drinks.contents("search", "green", "--as-of", "3") == ["Ada prefers green tea"]
    assert drinks.contents("list", "--as-of", "1") == ["Ada prefers green tea"]
    moment = drinks.json("history", first["id"])[-1]["at"]
    assert "Ada prefers coffee" in drinks.contents("as-of", "2099-01-01T00:00:00Z")
    assert "Ada prefers coffee" in drinks.contents("list", "--as-of", moment[:19] + ".999999Z")
    assert drinks.contents("list", "--as-of", "1999-12-31T23:59:59+01:00") == []
    drinks.bad(3, "as-of", "0", "--id", first["id"])


@pytest.mark.parametrize("when", ["tomorrow", "2026-01-31", "2026-01-31T12:00:00", "1.5", "", "٣", "9" * 5000])
def test_bad_times(cli: Cli, when: str) -> None:
    """Neither a version nor a time that says its timezone: exit code 2."""
    assert "--as-of" in cli.bad(2, "list", "--as-of", when)
    cli.bad(2, "as-of", when)


def test_as_of_of_both(cli: Cli) -> None:
    assert "not both" in cli.bad(2, "as-of", "1", "query", "--id", "x")


def test_scopes(cli: Cli) -> None:
    """Whose memories there are, whatever the environment says."""
    cli.good("remember", "a")
    cli.good("remember", "b", "--user-id", "bob", "--org-id", "acme")
    cli.good("remember", "c", "--user-id", "bob", "--org-id", "acme")
    nobody = {"org_id": None, "workspace_id": None}
    bob = {"agent_id": "bot", "user_id": "bob", "org_id": "acme", "workspace_id": None, "memories": 2}
    assert cli.json("scopes") == [{"agent_id": "bot", "user_id": "ada", **nobody, "memories": 1}, bob]
    assert cli.json("scopes", "--user-id", "bob") == [bob]


def test_read_your_writes(cli: Cli) -> None:
    """S48: what one call wrote the next one finds."""
    cli.good("remember", "read your writes")
    assert cli.contents("search", "writes") == cli.contents("recall", "writes") == ["read your writes"]


@pytest.mark.parametrize("verb", [["recall"], ["recall", "--mode", "hybrid"], ["recall", "--mode", "keyword"], ["search-semantic"]])
def test_s52_rerank_has_a_model_read_the_query_beside_the_best(cli: Cli, verb: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Off unless it is asked for."""
    in_place_of_the_bundled(monkeypatch)
    cli.remember("red fox in the wide field behind the old house")
    cli.remember("red fox")
    assert cli.contents(*verb, "red fox", "--limit", "1") != cli.contents(*verb, "red fox", "--limit", "1", "--rerank")
    assert cli.contents(*verb, "red fox", "--rerank") == ["red fox in the wide field behind the old house", "red fox"]
    assert cli.contents("as-of", "2", "red fox", "--rerank") == ["red fox in the wide field behind the old house", "red fox"]


def test_rerank_without_its_extra_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indelible.faces.reranking.bundled_reranker", OnnxReranker)
    monkeypatch.setitem(sys.modules, "indelible_reranker", None)
    cli.remember("red fox")
    assert "indelible[rerank]" in cli.bad(7, "recall", "red fox", "--rerank")


def test_a_server_without_what_it_was_asked_for_does_not_start(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "indelible_reranker", None)
    assert "indelible[rerank]" in cli.bad(7, "mcp", "--rerank")
