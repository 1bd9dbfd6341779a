"""S70 to S73 and the erase of S36: what time does, and what only a person may ask for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore, Record
from indelible.testing import FakeClock
from tests.unit.facts.stores import contents, ids, open_store

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOFT: dict[str, Any] = {"dry_run": False, "confirm": True}
HARD: dict[str, Any] = {**SOFT, "hard": True, "yes_i_really_want_to_delete": True}


def test_s70_the_end_is_now_and_the_time_to_live(store: MemoryStore, clock: FakeClock) -> None:
    clock.advance(ms=5)
    assert store.remember("x", ttl_ms=1).expires_at == NOW + timedelta(milliseconds=6)
    assert store.remember("x", ttl_ms=None).expires_at is None
    years = 7900 * 365 * 86_400_000
    assert store.remember("x", ttl_ms=years).expires_at == NOW + timedelta(milliseconds=5 + years)


@given(st.integers(1, 10_000), st.integers(0, 20_000))
def test_s70_it_has_expired_once_now_is_not_before_its_end(ttl_ms: int, elapsed: int) -> None:
    clock = FakeClock()
    with open_store(clock=clock) as store:
        record = store.remember("tea", ttl_ms=ttl_ms)
        clock.advance(ms=elapsed)
        expired = elapsed >= ttl_ms
        for found in (store.list(), store.recall("tea"), store.search("tea"), store.recall("tea", mode="hybrid")):
            assert (found == []) is expired
        assert (store.get(record.id) is None) is expired
        assert store.count() == (not expired)
        assert (store.health().live, store.health().expired) == ((0, 1) if expired else (1, 0))


def test_s71_what_has_expired_is_in_the_file_and_in_history_and_shown_on_request(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea", ttl_ms=1000)
    clock.advance(ms=1000)
    for found in (
        store.list(include_expired=True),
        store.recall("tea", include_expired=True),
        store.search("tea", include_expired=True),
        store.recall("tea", mode="hybrid", include_expired=True),
    ):
        assert ids(found) == [record.id]
    assert store.get(record.id, include_expired=True) == record
    assert store.count(include_expired=True) == 1
    assert [change.record for change in store.history(record.id)] == [record]
    assert store.version == 1


def test_s71_an_expired_memory_may_be_forgotten_by_hand(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea", ttl_ms=1000)
    clock.advance(ms=1000)
    assert store.forget(record.id) is True
    assert store.get(record.id, include_expired=True) is None


def test_s71_the_cache_of_vectors_sees_time_pass(store: MemoryStore, clock: FakeClock) -> None:
    """Nothing was written between the two calls."""
    store.remember("tea", ttl_ms=1000)
    assert len(store.recall("tea")) == 1
    clock.advance(ms=1000)
    assert store.recall("tea") == []
    clock.advance(ms=-1)
    assert len(store.recall("tea")) == 1


def test_s72_forget_expired_appends_tombstones_once(store: MemoryStore, clock: FakeClock) -> None:
    gone = [store.remember(f"short {number}", ttl_ms=1000) for number in range(3)]
    live = [store.remember("long", ttl_ms=5000), store.remember("for ever")]
    assert store.forget_expired() == 0
    clock.advance(ms=1000)
    assert store.forget_expired() == 3
    assert store.version == 8
    assert store.forget_expired() == 0
    assert store.list(include_expired=True) == live
    assert [[str(change.op) for change in store.history(record.id)] for record in gone] == [["remember", "forget"]] * 3
    back = store.undo(gone[0].id)
    assert back is not None
    assert back.expires_at is None


def test_s72_forget_expired_of_a_scope(store: MemoryStore, clock: FakeClock) -> None:
    for user in ("u", "v", "w"):
        store.remember("x", ttl_ms=1, user_id=user)
    clock.advance(ms=1)
    assert store.forget_expired(user_id="u") == 1
    assert store.scope(user_id="v").forget_expired() == 1
    assert [record.user_id for record in store.list(include_expired=True)] == ["w"]


# S73


@pytest.fixture
def mixed(store: MemoryStore, clock: FakeClock) -> list[Record]:
    """Memories of two users, some old, some expired, one forgotten."""
    records = [
        store.remember("old tea", user_id="u", workspace_id="w"),
        store.remember("expired tea", user_id="u", ttl_ms=500),
        store.remember("expired milk", user_id="v", ttl_ms=500),
    ]
    clock.advance(ms=1000)
    records += [
        store.remember("new tea", user_id="u"),
        store.remember("new milk", user_id="v"),
        store.remember("forgotten tea", user_id="v"),
    ]
    store.forget(records[-1].id)
    return records


CONDITIONS: list[tuple[dict[str, Any], list[int]]] = [
    ({"user_id": "u"}, [0, 1, 3]),
    ({"user_id": "u", "workspace_id": None}, [1, 3]),
    ({"workspace_id": "w"}, [0]),
    ({"keywords": "tea"}, [0, 1, 3]),
    ({"keywords": "TEA new"}, [3]),
    ({"keywords": "te"}, []),
    ({"keywords": "..."}, []),
    ({"expired_only": True}, [1, 2]),
    ({"expired_only": True, "user_id": "v"}, [2]),
    ({"before": NOW + timedelta(seconds=1)}, [0, 1, 2]),
    ({"before": NOW}, []),
    ({"before": NOW + timedelta(seconds=9), "keywords": "milk"}, [2, 4]),
    ({"user_id": "nobody"}, []),
]


@pytest.mark.parametrize(("conditions", "expected"), CONDITIONS)
def test_s73_a_dry_run_says_exactly_what_would_go_and_changes_nothing(
    store: MemoryStore, mixed: list[Record], conditions: dict[str, Any], expected: list[int]
) -> None:
    before = store.version
    for found in (
        store.prune(**conditions),
        store.prune(**conditions, confirm=True),
        store.prune(**conditions, dry_run=True, confirm=True),
    ):
        assert (found.count, found.done, found.hard) == (len(expected), False, False)
        assert set(found.sample) == {mixed[index].id for index in expected}
    assert store.version == before


@pytest.mark.parametrize(("conditions", "expected"), CONDITIONS)
def test_s73_a_soft_prune_forgets_exactly_that(
    store: MemoryStore, mixed: list[Record], conditions: dict[str, Any], expected: list[int]
) -> None:
    done = store.prune(**conditions, **SOFT)
    assert (done.count, done.done, done.hard) == (len(expected), True, False)
    assert ids(store.list(include_expired=True)) == [record.id for index, record in enumerate(mixed[:5]) if index not in expected]
    for index in expected:
        assert store.undo(mixed[index].id) is not None, "a soft prune can be undone"


def test_s73_a_hard_prune_destroys(store: MemoryStore, mixed: list[Record]) -> None:
    preview = store.prune(user_id="u", hard=True)
    assert (preview.count, preview.done, preview.hard) == (3, False, True)
    done = store.prune(user_id="u", **HARD, reason="legal")
    assert (done.count, done.done, done.hard) == (3, True, True)
    assert all(change.purged for change in store.history(mixed[0].id)[:1])
    assert store.verify().ok
    assert [record.user_id for record in store.list(include_expired=True)] == ["v", "v"]


def test_s73_a_hard_prune_takes_what_is_forgotten_as_well(store: MemoryStore, mixed: list[Record]) -> None:
    """Also by its words: a tombstone has none, but what it hides is still in the file."""
    assert store.prune(user_id="v").count == 2
    assert store.prune(user_id="v", hard=True).count == 3
    assert store.prune(keywords="forgotten", **SOFT).count == 0
    assert store.prune(keywords="forgotten tea", **HARD).count == 1
    assert [change.purged for change in store.history(mixed[5].id)] == [True, True, False]


@pytest.mark.parametrize(
    "arguments",
    [
        {"dry_run": False},
        {"dry_run": False, "confirm": "yes"},
        {"dry_run": False, "confirm": 1},
        {"dry_run": False, "hard": True, "yes_i_really_want_to_delete": True},
        {"dry_run": False, "confirm": True, "hard": True},
        {"dry_run": False, "confirm": True, "hard": True, "yes_i_really_want_to_delete": "no"},
    ],
)
def test_s73_every_confirmation_is_needed(store: MemoryStore, mixed: list[Record], arguments: dict[str, Any]) -> None:
    before = store.version
    with pytest.raises(InvalidInput, match=r"confirm|yes_i_really"):
        store.prune(user_id="u", **arguments)
    assert store.version == before


@pytest.mark.parametrize("unclear", [None, 0, "", "no"])
def test_s73_only_false_is_no_dry_run(store: MemoryStore, mixed: list[Record], unclear: Any) -> None:
    assert store.prune(user_id="u", dry_run=unclear, confirm=True).done is False


def test_s73_no_condition_is_refused(store: MemoryStore, mixed: list[Record]) -> None:
    """A slip must not empty a store; in a view its scope is the condition."""
    for arguments in ({}, SOFT, HARD):
        with pytest.raises(InvalidInput, match="condition"):
            store.prune(**arguments)
    assert store.scope(user_id="u").prune().count == 3


def test_s73_the_sample_is_short_and_the_count_exact(store: MemoryStore) -> None:
    store.remember_many(["tea"] * 500)
    found = store.prune(keywords="tea")
    assert (found.count, len(found.sample)) == (500, 10)
    assert len(set(found.sample)) == 10


def test_s73_soft_pruning_again_finds_nothing(store: MemoryStore, mixed: list[Record]) -> None:
    assert [store.prune(keywords="tea", **SOFT).count for _ in range(2)] == [3, 0]
    assert store.prune(keywords="tea", hard=True).count == 4


# Erasing a person


@pytest.fixture
def spread(store: MemoryStore) -> MemoryStore:
    """One person in facts, in collections, revised, forgotten and expired, and somebody else beside."""
    store.remember("a fact", user_id="u")
    store.forget(store.remember("forgotten", user_id="u").id)
    store.remember("expired", user_id="u", ttl_ms=1)
    store.collection("pages", user_id="u").put("p", "a page")
    store.collection("pages", "deep", user_id="u", workspace_id="w").put("p", "a deeper page")
    store.remember("not theirs", user_id="v")
    store.collection("pages", user_id="v").put("p", "not theirs")
    store.memory("notes").remember("k", "nobody's")
    return store


def test_s36_erase_is_a_preview_until_confirmed(spread: MemoryStore) -> None:
    before = spread.version
    for arguments in ({}, {"confirm": "yes"}, {"confirm": 1}):
        receipt = spread.erase(user_id="u", **arguments)
        assert (receipt.count, receipt.done) == (5, False)
        assert receipt.namespaces == {(): 3, ("pages",): 1, ("pages", "deep"): 1}
    assert spread.version == before


def test_s36_erase_reaches_every_namespace_and_nothing_else(spread: MemoryStore) -> None:
    receipt = spread.erase(user_id="u", confirm=True, reason="legal")
    assert (receipt.count, receipt.done) == (5, True)
    assert any("backup" in place for place in receipt.not_reached)
    assert contents(spread.list(include_expired=True)) == ["not theirs"]
    assert spread.collection("pages", user_id="u").get("p") is None
    assert spread.collection("pages", user_id="v").get("p").content == "not theirs"
    assert spread.memory("notes").recall("k") == "nobody's"
    assert spread.erase(user_id="u", confirm=True).count == 0
    assert spread.verify().ok
    assert spread.health().purged == 5


def test_s36_erase_needs_a_scope(spread: MemoryStore) -> None:
    with pytest.raises(InvalidInput, match="scope"):
        spread.erase(confirm=True)


def test_s36_erase_narrows_with_every_field(spread: MemoryStore) -> None:
    assert spread.erase(user_id="u", workspace_id="w").count == 1
    assert spread.scope(workspace_id="w").erase(user_id="u", confirm=True).count == 1
    assert spread.erase(user_id="u").count == 4
