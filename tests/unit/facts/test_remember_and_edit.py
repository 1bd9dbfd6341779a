"""S30, S32, S33, S34: remembering, revising and forgetting a fact."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, Record, RecordNotFound, Scope, VersionConflict
from indelible.testing import FakeClock, SequentialIds
from tests.unit.facts.stores import contents, ids, open_store

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOWHERE = str(uuid.uuid4())


def everything(**changes: Any) -> dict[str, Any]:
    """Every argument of remember but the content."""
    return {
        "agent_id": "a", "user_id": "u", "org_id": "o", "workspace_id": "w", "metadata": {"tags": ["x"]}, "ttl_ms": 5000, "key": "k",
        "source": "chat", "parent": "session-1", "occurred_at": NOW - timedelta(days=1),
        "context": ["2025-12-31"], "idempotency_key": "once",
        "dedup": False,
    } | changes  # fmt: skip


def test_s30_every_argument_is_kept(store: MemoryStore) -> None:
    made = store.remember("Ada prefers tea", **everything())
    found = store.get(made.id)
    assert found == made
    assert found == Record(
        id=made.id, version=1, content="Ada prefers tea", created_at=NOW, updated_at=NOW, occurred_at=NOW - timedelta(days=1),
        metadata={"tags": ["x"]}, scope=Scope("a", "u", "o", "w"), key="k", source="chat", parent="session-1",
        expires_at=NOW + timedelta(seconds=5), context=("2025-12-31",),
    )  # fmt: skip


def test_s30_what_is_left_out_has_a_default(store: MemoryStore) -> None:
    made = store.remember("Ada prefers tea")
    assert made == Record(
        id=made.id, version=1, content="Ada prefers tea", created_at=NOW, updated_at=NOW, occurred_at=NOW, scope=Scope("default", "default")
    )


def test_s30_agent_and_user_come_from_the_call_the_view_the_environment_or_a_default(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_AGENT_ID", "env-agent")
    monkeypatch.setenv("MEMORY_USER_ID", "")
    monkeypatch.setenv("MEMORY_ORG_ID", "never in the library")
    assert store.remember("x").scope == Scope("env-agent", "default")
    assert store.scope(agent_id="view-agent").remember("x").scope == Scope("view-agent", "default")
    assert store.scope(agent_id="view-agent").remember("x", user_id="u").scope == Scope("view-agent", "u")
    assert store.remember("x", agent_id="call-agent").scope == Scope("call-agent", "default")
    assert store.scope(agent_id=None, user_id=None).remember("x").scope == Scope()


def test_s30_a_store_may_insist_on_a_scope(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_AGENT_ID", "a")
    with open_store(clock=clock, require_scope=True) as store:
        incomplete: list[dict[str, Any]] = [{}, {"agent_id": "a"}, {"user_id": "u"}]
        for given in incomplete:
            with pytest.raises(InvalidInput, match=r"require_scope"):
                store.remember("x", **given)
            with pytest.raises(InvalidInput, match=r"require_scope"):
                store.remember_many(["x"], **given)
        assert store.version == 0
        assert store.remember("x", agent_id="a", user_id="u").scope == Scope("a", "u")
        assert store.scope(agent_id="a", user_id="u").remember("x").scope == Scope("a", "u")


def test_s30_other_namespaces_are_out_of_sight(store: MemoryStore) -> None:
    """Every verb sees facts alone, unless a namespace is asked for."""
    fact = store.remember("tea", agent_id="a", user_id="u")
    page = store.collection("pages", model="store").put("p", "tea")
    store.memory("notes").remember("tea", "tea")
    for found in (store.list(), store.recall("tea"), store.search("tea"), store.recall("tea", mode="hybrid")):
        assert ids(found) == [fact.id]
    assert store.get(page.id) is None
    assert store.history(page.id) == []
    assert not store.forget(page.id)
    assert store.purge(page.id) == 0
    assert store.count() == 1
    with pytest.raises(RecordNotFound):
        store.edit(page.id, content="coffee")
    pages = store.scope(namespace=("pages",))
    assert ids(pages.list()) == ids(pages.search("tea")) == ids(pages.recall("tea")) == [page.id]
    assert pages.get(fact.id) is None


def test_s32_ids_are_uuids_that_sort_by_time(store: MemoryStore) -> None:
    made = [store.remember("x").id for _ in range(50)] + ids(store.remember_many(["x"] * 50))
    assert made == sorted(made)
    assert len(set(made)) == 100
    assert {uuid.UUID(id).version for id in made} == {7}


def test_s32_ids_may_be_injected(clock: FakeClock) -> None:
    """Also those of turns, which are known before they are written."""
    turns = [("user", "one"), ("assistant", "two")]
    made = []
    for _ in range(2):
        with open_store(clock=clock, new_id=SequentialIds()) as store:
            made.append([store.remember("x").id, *ids(store.remember_many(["y", "z"])), *ids(store.remember_turns(turns))])
    assert made[0] == made[1]


def test_s32_the_same_text_twice_is_two_memories(store: MemoryStore) -> None:
    assert store.remember("tea").id != store.remember("tea").id
    assert store.count() == 2


def test_s32_a_key_is_unique_within_its_scope(store: MemoryStore) -> None:
    """The same key in the same scope is a revision; in another scope, or with a missing value, another record."""
    first = store.remember("one", key="k", user_id="u", metadata={"a": 1}, ttl_ms=1000)
    again = store.remember("two", key="k", user_id="u")
    assert (again.id, again.created_at, again.version) == (first.id, first.created_at, 2)
    assert (again.metadata, again.expires_at) == ({}, None)
    others: list[dict[str, Any]] = [{"user_id": "v"}, *({"user_id": "u", name: "x"} for name in ("workspace_id", "agent_id", "org_id"))]
    made = {store.remember("other", key="k", **scope).id for scope in others}
    assert len(made) == 4
    assert first.id not in made
    assert contents(store.list(key="k", user_id="u", workspace_id=None, agent_id="default", org_id=None)) == ["two"]
    assert len(store.list(key="k")) == 5


def test_s32_a_key_that_was_forgotten_begins_a_new_life(store: MemoryStore, clock: FakeClock) -> None:
    first = store.remember("one", key="k")
    store.forget(first.id)
    clock.advance(ms=1000)
    again = store.remember("two", key="k")
    assert again.id == first.id
    assert again.created_at == NOW + timedelta(seconds=1)
    assert [str(change.op) for change in store.history(first.id)] == ["remember", "forget", "remember"]


def test_s32_an_empty_key_is_a_key(store: MemoryStore) -> None:
    first = store.remember("one", key="")
    assert store.remember("two", key="").id == first.id
    assert store.remember("three").id != first.id


# S33


def test_s33_an_edit_is_a_new_version_of_the_same_record(store: MemoryStore) -> None:
    first = store.remember("tea", **everything())
    second = store.edit(first.id, content="coffee")
    assert (second.id, second.created_at, second.version) == (first.id, first.created_at, 2)
    assert second.updated_at > first.updated_at
    assert (second.content, second.metadata, second.expires_at) == ("coffee", first.metadata, first.expires_at)
    assert (second.key, second.source, second.parent, second.scope) == (first.key, first.source, first.parent, first.scope)
    assert (second.occurred_at, second.context) == (first.occurred_at, first.context)
    assert store.get(first.id) == second


def test_s33_each_field_by_itself(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea", metadata={"a": 1}, ttl_ms=1000)
    clock.advance(ms=500)
    assert store.edit(record.id, ttl_ms=2000).expires_at == NOW + timedelta(seconds=2.5)
    assert store.edit(record.id, metadata={"b": 2}).metadata == {"b": 2}
    assert store.edit(record.id, metadata={}).metadata == {}
    assert store.edit(record.id, ttl_ms=None).expires_at is None
    final = store.edit(record.id, content="milk", metadata=None, source="me")
    assert (final.content, final.metadata, final.source, final.expires_at) == ("milk", {}, "me", None)


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_s33_both_indexes_follow_at_once(store: MemoryStore, mode: str) -> None:
    other = store.remember("completely unrelated words")
    record = store.remember("zebra stripes")
    assert ids(store.recall("zebra stripes", mode=mode, limit=1)) == [record.id]
    store.edit(record.id, content="okapi legs")
    assert ids(store.recall("okapi legs", mode=mode, limit=1)) == [record.id]
    assert store.search("zebra") == []
    hits = {hit.id: hit.score for hit in store.recall("zebra stripes")}
    assert (hits[record.id] or 0) < 0.5
    assert other.id in hits


def test_s33_an_edit_of_metadata_keeps_the_vector(store: MemoryStore) -> None:
    record = store.remember("tea")
    before = store.get(record.id, with_vectors=True)
    store.edit(record.id, metadata={"a": 1})
    after = store.get(record.id, with_vectors=True)
    assert before is not None
    assert after is not None
    assert before.vectors == after.vectors


def test_s33_updated_at_is_strictly_later_in_a_standing_or_falling_clock(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea")
    moments = [record.updated_at]
    for step in (0, -5_000, 0, 7_000):
        clock.advance(ms=step)
        moments.append(store.edit(record.id, metadata={"step": step}).updated_at)
    assert moments == sorted(set(moments))


def test_s33_a_wrong_expected_version_loses(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.edit(record.id, content="coffee", expected_version=1)
    for wrong in (0, 1, 3, 2**70):
        with pytest.raises(VersionConflict) as caught:
            store.edit(record.id, content="milk", expected_version=wrong)
        assert (caught.value.expected, caught.value.actual) == (wrong, 2)
    assert store.version == 2
    assert contents(store.list()) == ["coffee"]


@pytest.mark.parametrize("bad", [True, -1, "1", 1.0])
def test_s33_a_bad_expected_version_is_refused(store: MemoryStore, bad: Any) -> None:
    record = store.remember("tea")
    with pytest.raises(InvalidInput, match="expected_version"):
        store.edit(record.id, content="milk", expected_version=bad)


def test_s33_nothing_to_change_is_refused(store: MemoryStore) -> None:
    record = store.remember("tea")
    for arguments in ({}, {"source": "me"}):
        with pytest.raises(InvalidInput, match="nothing to change"):
            store.edit(record.id, **arguments)  # type: ignore[arg-type]  # one of them is empty
    assert store.version == 1


# S34


def test_s34_a_forgotten_memory_is_gone_from_every_answer_and_kept_in_history(store: MemoryStore) -> None:
    record = store.remember("tea")
    assert store.forget(record.id) is True
    for found in (
        store.list(),
        store.recall("tea"),
        store.search("tea"),
        store.recall("tea", mode="hybrid"),
        store.list(include_expired=True),
    ):
        assert found == []
    assert store.get(record.id) is None
    assert store.count() == 0
    assert [str(change.op) for change in store.history(record.id)] == ["remember", "forget"]


def test_s34_a_second_forget_is_a_no_op(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.forget(record.id)
    assert store.forget(record.id) is False
    assert store.version == 2


@pytest.mark.parametrize("unknown", [NOWHERE, "", "tea", "0", "not-a-uuid", NOWHERE.upper(), "\ud800", "x" * 10_000])
def test_s34_an_unknown_id_is_not_found(store: MemoryStore, unknown: str) -> None:
    """The same answer for what never was, what is no id, and (S62) what is out of reach; nothing is changed."""
    store.remember("tea")
    assert store.get(unknown) is None
    assert store.history(unknown) == []
    assert store.forget(unknown) is False
    assert store.purge(unknown) == 0
    with pytest.raises(RecordNotFound):
        store.edit(unknown, content="x")
    with pytest.raises(RecordNotFound):
        store.undo(unknown)
    with pytest.raises(RecordNotFound):
        store.restore(unknown, 1)
    with pytest.raises(RecordNotFound):
        store.feedback(unknown, "up")
    assert store.version == 1


def test_s34_a_forgotten_or_expired_memory_cannot_be_edited_or_voted_on(store: MemoryStore, clock: FakeClock) -> None:
    gone, late = store.remember("tea"), store.remember("milk", ttl_ms=1000)
    store.forget(gone.id)
    clock.advance(ms=1000)
    before = store.version
    for record in (gone, late):
        with pytest.raises(RecordNotFound):
            store.edit(record.id, content="x")
        with pytest.raises(RecordNotFound):
            store.feedback(record.id, "up")
    assert store.version == before


def test_s34_ids_are_read_in_any_spelling(store: MemoryStore) -> None:
    record = store.remember("tea")
    for spelling in (record.id.upper(), record.id.replace("-", "")):
        assert store.get(spelling) == record
