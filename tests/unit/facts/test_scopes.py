"""S60, S61, S62: whose memory it is. Exact equality, nothing silent, and no way out of a view."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore, Record, RecordNotFound, Scope, UnsupportedOperation, VersionConflict
from indelible.base.record import SCOPE_FIELDS
from tests.unit.facts.stores import contents, ids, open_store

VALUES = (
    "a",
    "A",
    "ab",
    "%",
    "_",
    "a%",
    "'",
    '"',
    "*",
    "é",
    unicodedata.normalize("NFD", "é"),
    " a",
    "a\n",
    "null",
    "\\",
    "x" * 4096,
    "🍵",
)
OPTIONAL = st.none() | st.sampled_from(VALUES)
SCOPES = st.builds(Scope, st.sampled_from(VALUES), st.sampled_from(VALUES), OPTIONAL, OPTIONAL)
# Per field: left out, "not set", or a value.
FILTERS = st.dictionaries(st.sampled_from(SCOPE_FIELDS), OPTIONAL, max_size=3)


def given_values(scope: Scope) -> dict[str, Any]:
    return {name: value for name, value in scope._asdict().items() if value is not None}


def admitted(records: list[Record], asked: dict[str, str | None]) -> list[str]:
    """The oracle: exact equality in every field that is asked for."""
    return [record.id for record in records if all(getattr(record, name) == value for name, value in asked.items())]


@given(st.lists(SCOPES, min_size=1, max_size=8), FILTERS)
def test_s60_matching_is_equality_in_every_verb(scopes: list[Scope], asked: dict[str, Any]) -> None:
    """Never a prefix, never a pattern; case, accents, spaces and quotes are literal; None is a value of its own."""
    with open_store() as store:
        records = [store.remember("tea", **given_values(scope)) for scope in scopes]
        assert [record.scope for record in records] == scopes
        expected = admitted(records, asked)
        view = store.scope(**asked)
        for listed in (store.list(**asked), view.list()):
            assert ids(listed) == expected
        for found in (
            *(store.recall("tea", mode=mode, limit=99, **asked) for mode in ("semantic", "keyword", "hybrid")),
            store.search("tea", limit=99, **asked),
            view.recall("tea", limit=99),
            view.search("tea", limit=99),
            view.at(store.version).recall("tea", limit=99),
        ):
            assert sorted(ids(found)) == sorted(expected)
        assert store.count(**asked) == view.count() == len(expected)
        assert dict(view.scopes()) == Counter(record.scope for record in records if record.id in expected)
        assert [view.get(record.id) is not None for record in records] == [record.id in expected for record in records]


def test_s60_agent_and_user_reach_across_workspaces_and_more_narrows(store: MemoryStore) -> None:
    for org, workspace in product((None, "o"), (None, "w")):
        store.remember(f"{org} {workspace}", agent_id="a", user_id="u", org_id=org, workspace_id=workspace)
    both: dict[str, Any] = {"agent_id": "a", "user_id": "u"}
    assert len(store.list(**both)) == 4
    assert contents(store.list(**both, workspace_id="w")) == ["None w", "o w"]
    assert contents(store.list(**both, workspace_id="w", org_id="o")) == ["o w"]
    assert contents(store.list(**both, workspace_id=None)) == ["None None", "o None"]


def test_s61_in_the_python_api_an_omitted_scope_is_no_filter(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says: it fills in what is written, and narrows nothing."""
    store.remember("tea", agent_id="a", user_id="u")
    store.remember("tea", agent_id="b", user_id="v", org_id="o")
    for name in ("AGENT", "USER", "ORG", "WORKSPACE"):
        monkeypatch.setenv(f"MEMORY_{name}_ID", "elsewhere")
    for found in (store.list(), store.recall("tea"), store.search("tea"), store.recall("tea", mode="hybrid")):
        assert len(found) == 2
    assert store.count() == 2


def test_s60_the_scopes_there_are(store: MemoryStore, clock: Any) -> None:
    store.remember_many(["x", "y"], user_id="b")
    store.remember("x", user_id="a", org_id="o")
    gone = store.remember("x", user_id="c")
    store.forget(gone.id)
    assert store.scopes() == [(Scope("default", "a", "o"), 1), (Scope("default", "b"), 2)]
    assert store.scopes(user_id="b") == [(Scope("default", "b"), 2)]


# S62


@pytest.fixture
def theirs(store: MemoryStore) -> Record:
    """A memory of somebody else, with a history."""
    record = store.remember("their tea", user_id="you", source="chat", key="k", idempotency_key="once")
    return store.edit(record.id, content="their tea again")


def test_s62_a_view_reads_nothing_outside(store: MemoryStore, theirs: Record) -> None:
    view = store.scope(user_id="me")
    assert view.get(theirs.id) is None
    assert view.get(theirs.id, with_vectors=True, include_expired=True, as_of=1) is None
    assert view.history(theirs.id) == view.at(1).history(theirs.id) == []
    for found in (view.list(), view.recall("their tea"), view.search("their tea"), view.at(1).list(), view.list(key="k"), view.scopes()):
        assert found == []
    assert view.count() == 0
    assert view.search("tea", feedback=True, recency=True) == []


def test_s62_a_view_changes_nothing_outside(store: MemoryStore, theirs: Record) -> None:
    """Another scope's id looks not found, in the same words as an id that never was."""
    view = store.scope(user_id="me")
    before = store.version
    said = set()
    calls: list[Callable[[str], object]] = [
        lambda id: view.edit(id, content="mine"),
        lambda id: view.edit(id, content="mine", expected_version=0),
        view.undo,
        lambda id: view.restore(id, 1),
        lambda id: view.feedback(id, "up"),
    ]
    for id in (theirs.id, "00000000-0000-7000-8000-000000000000"):
        for call in calls:
            with pytest.raises(RecordNotFound) as caught:
                call(id)
            said.add(str(caught.value).replace(id, "ID"))
        assert view.forget(id) is False
        assert view.purge(id) == 0
    assert len(said) == 1
    assert view.withdraw("chat", derived=True) == view.forget_expired() == 0
    assert view.prune(keywords="tea", dry_run=False, confirm=True).count == 0
    assert view.prune(keywords="tea", hard=True, dry_run=False, confirm=True, yes_i_really_want_to_delete=True).count == 0
    assert view.erase(user_id="me", confirm=True).count == 0
    assert store.version == before
    assert store.get(theirs.id) == theirs


def test_s62_a_wrong_expected_version_does_not_give_a_record_away(store: MemoryStore, theirs: Record) -> None:
    view = store.scope(user_id="me")
    with pytest.raises(VersionConflict) as of_theirs:
        view.edit(theirs.id, content="x", expected_version=7)
    with pytest.raises(VersionConflict) as of_none:
        view.edit("00000000-0000-7000-8000-000000000000", content="x", expected_version=7)
    assert str(of_theirs.value) == str(of_none.value)


def test_s62_keys_and_retries_of_others_are_neither_seen_nor_changed(store: MemoryStore, theirs: Record) -> None:
    view = store.scope(user_id="me")
    mine = view.remember("my tea", key="k", idempotency_key="once")
    assert mine.id != theirs.id
    assert view.remember("their tea again", dedup=True).id != theirs.id
    assert store.get(theirs.id) == theirs


def test_s62_a_view_cannot_be_left(store: MemoryStore) -> None:
    """By no argument of any verb, by no view of the view, and not by writing."""
    view = store.scope(user_id="me", workspace_id=None)
    for wrong in ({"user_id": "you"}, {"user_id": None}, {"workspace_id": "w"}):
        for call in (
            view.list, view.count, view.scopes, view.scope, view.forget_expired, view.prune,
            lambda **asked: view.recall("x", **asked), lambda **asked: view.search("x", **asked), lambda **asked: view.at(1).list(**asked),
        ):  # fmt: skip
            with pytest.raises(InvalidInput, match="bound to"):
                call(**wrong)
    for outside in ({"user_id": "you"}, {"workspace_id": "w"}):
        for write in (
            lambda **asked: view.remember("x", **asked),
            lambda **asked: view.remember_many(["x"], **asked),
            lambda **asked: view.remember_turns([("user", "x")], **asked),
            lambda **asked: view.erase(**asked),
        ):
            with pytest.raises(InvalidInput, match="bound to"):
                write(**outside)
    assert store.version == 0
    assert view.remember("x", user_id="me").scope == Scope("default", "me")


def test_s62_views_narrow_step_by_step(store: MemoryStore) -> None:
    view = store.scope(user_id="me").scope(workspace_id="w").scope(agent_id="a", user_id="me")
    assert view.remember("x").scope == Scope("a", "me", None, "w")
    store.remember("y", user_id="me")
    assert contents(view.list()) == ["x"]
    assert contents(store.scope(user_id="me").list()) == ["x", "y"]


@pytest.mark.parametrize(
    "verb", ["export", "import_", "backup", "vacuum", "rebuild", "verify", "iter_events", "memory", "reindex", "health"]
)
def test_s62_a_view_has_no_verb_on_the_whole_file(store: MemoryStore, verb: str) -> None:
    assert hasattr(store, verb)
    assert not hasattr(store.scope(user_id="me"), verb)
    assert not hasattr(store.at(0), verb)


@pytest.mark.parametrize(
    "verb", ["remember", "edit", "forget", "undo", "feedback", "purge", "prune", "erase", "withdraw", "forget_expired"]
)
def test_s62_a_view_of_the_past_only_reads(store: MemoryStore, verb: str) -> None:
    record = store.remember("tea")
    for view in (store.at(1), store.scope(user_id="default").at(1)):
        with pytest.raises((UnsupportedOperation, AttributeError)):
            getattr(view, verb)(record.id)
    assert store.version == 1


def test_s62_contexts_bring_no_words_of_others_into_a_view(store: MemoryStore) -> None:
    """Naming another scope's record as context indexes nothing of it, now or after it changes."""
    secret = store.remember("zebra secret", user_id="you")
    mine = store.scope(user_id="me").remember("plain words", context=[secret.id])
    store.edit(secret.id, content="okapi secret")
    view = store.scope(user_id="me")
    for query in ("zebra", "okapi", "secret"):
        assert view.search(query) == store.search(query, user_id="me") == []
    found = view.get(mine.id, with_vectors=True)
    assert found is not None
    assert list(found.vectors or {}) == [""]
