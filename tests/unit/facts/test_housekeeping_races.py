"""Verbs on many memories read before they write. What somebody else changes in between is judged as it stands when it is written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from indelible import MemoryStore, Record
from indelible.base.clock import datetime_from_us
from indelible.testing import FakeClock
from tests.unit.facts.stores import Before, contents, ids, near

Pair = tuple[MemoryStore, MemoryStore]
Remove = Callable[[MemoryStore, FakeClock], int]
SOFT: dict[str, Any] = {"dry_run": False, "confirm": True}
HARD: dict[str, Any] = {**SOFT, "hard": True, "yes_i_really_want_to_delete": True}

ON_EXPIRED: dict[str, Remove] = {
    "forget_expired": lambda store, _: store.forget_expired(),
    "prune": lambda store, _: store.prune(expired_only=True, **SOFT).count,
    "hard prune": lambda store, _: store.prune(expired_only=True, **HARD).count,
}
ON_TEXT: dict[str, Remove] = {
    "withdraw": lambda store, _: store.withdraw("chat"),
    "withdraw with what derives from it": lambda store, _: store.withdraw("chat", derived=True),
    "withdraw and restore": lambda store, _: store.withdraw("chat", restore=True),
    "prune by words": lambda store, _: store.prune(keywords="zebra", **SOFT).count,
    "hard prune by words": lambda store, _: store.prune(keywords="zebra", **HARD).count,
    "prune by date": lambda store, clock: store.prune(before=datetime_from_us(clock.now_us()) - timedelta(milliseconds=500), **SOFT).count,
    "hard prune by date": lambda store, clock: (
        store.prune(before=datetime_from_us(clock.now_us()) - timedelta(milliseconds=500), **HARD).count
    ),
}


def two(store: MemoryStore, clock: FakeClock, **more: Any) -> tuple[Record, Record]:
    first, second = store.remember_many(["zebra one", "zebra two"], source="chat", **more)
    clock.advance(ms=1000)
    return first, second


@pytest.mark.parametrize("remove", ON_EXPIRED)
def test_what_is_given_more_time_meanwhile_stays(pair: Pair, before_the_write: Before, clock: FakeClock, remove: str) -> None:
    """S72: live rows are untouched, also those that live again since the look."""
    store, rival = pair
    first, second = two(store, clock, ttl_ms=1000)
    kept = store.remember("zebra kept", key="k", ttl_ms=1)
    clock.advance(ms=1)
    before_the_write(lambda: rival.remember("zebra kept", key="k"))
    assert ON_EXPIRED[remove](store, clock) == 2
    assert ids(store.list()) == [kept.id]
    assert ON_EXPIRED[remove](store, clock) == 0
    assert store.get(first.id, include_expired=True) is store.get(second.id, include_expired=True) is None


@pytest.mark.parametrize("remove", ON_TEXT)
def test_what_no_longer_meets_the_condition_stays(pair: Pair, before_the_write: Before, clock: FakeClock, remove: str) -> None:
    """S36, S73: whoever corrects a memory while it is being removed for what it said keeps it."""
    store, rival = pair
    first, second = two(store, clock)
    before_the_write(lambda: rival.edit(first.id, content="okapi one", source="me"))
    assert ON_TEXT[remove](store, clock) == 1
    assert contents(store.list()) == ["okapi one"]
    assert [change.op for change in store.history(first.id)] == ["remember", "revise"]
    assert store.get(second.id) is None
    assert store.verify().ok


@pytest.mark.parametrize("remove", [name for name in ON_TEXT if "date" not in name])
def test_what_still_meets_it_goes_all_the_same(pair: Pair, before_the_write: Before, clock: FakeClock, remove: str) -> None:
    """However often it is changed meanwhile."""
    store, rival = pair
    first, _ = two(store, clock)
    before_the_write(lambda: rival.edit(first.id, metadata={"a": 1}, source="chat"))
    assert ON_TEXT[remove](store, clock) == 2
    assert store.list() == []


@pytest.mark.parametrize("remove", ["forget_expired", "prune", "hard prune"])
def test_what_another_purges_meanwhile_is_simply_gone(pair: Pair, before_the_write: Before, clock: FakeClock, remove: str) -> None:
    store, rival = pair
    first, _ = two(store, clock, ttl_ms=1000)
    before_the_write(lambda: rival.purge(first.id))
    assert ON_EXPIRED[remove](store, clock) in (1, 2)
    assert store.list(include_expired=True) == []
    assert store.verify().ok


def test_what_is_brought_back_meanwhile_is_not_destroyed(pair: Pair, before_the_write: Before, clock: FakeClock) -> None:
    """S73: a hard prune takes forgotten memories along for what they once said, not those that somebody wants back."""
    store, rival = pair
    first, _ = two(store, clock)
    store.edit(first.id, content="okapi")
    store.forget(first.id)
    before_the_write(lambda: rival.undo(first.id))
    assert store.prune(keywords="zebra", **HARD).count == 1
    assert contents(store.list()) == ["okapi"]
    assert store.verify().ok


def test_derived_memories_of_what_went_first_go_too(pair: Pair, before_the_write: Before, clock: FakeClock) -> None:
    """S36: also if one of them is looked at twice."""
    store, rival = pair
    first, _ = two(store, clock)
    child = store.remember("summary", parent=first.id)
    before_the_write(lambda: rival.edit(child.id, content="summary of zebras"))
    assert store.withdraw("chat", derived=True) == 3
    assert store.list() == []


def test_what_withdraw_restored_is_not_looked_at_twice(pair: Pair, before_the_write: Before, clock: FakeClock) -> None:
    store, rival = pair
    child = store.remember("summary", source="me")
    _, second = two(store, clock)
    child = store.edit(child.id, content="spam", source="chat")
    before_the_write(lambda: rival.edit(second.id, metadata={"a": 1}, source="chat"))
    assert store.withdraw("chat", restore=True) == 3
    assert contents(store.list()) == ["summary"]


def test_what_withdraw_restored_is_embedded_with_its_context(pair: Pair, clock: FakeClock) -> None:
    store, _ = pair
    first = store.remember("zebra")
    second = store.remember("plain reply", source="me", context=[first])
    store.edit(second.id, content="spam", source="chat")
    store.edit(first.id, content="okapi")
    assert store.withdraw("chat", restore=True) == 1
    assert near(store, "okapi plain reply", second) == pytest.approx(1.0, abs=1e-5)


def test_erase_takes_what_is_changed_and_added_meanwhile(pair: Pair, before_the_write: Before, clock: FakeClock) -> None:
    """S36: the scope alone decides, and no edit changes that."""
    store, rival = pair
    first, _ = two(store, clock, user_id="u")
    other = store.remember("zebra", user_id="v")

    def act() -> None:
        rival.edit(first.id, content="okapi")
        rival.remember("tapir", user_id="u")
        rival.collection("c", user_id="u").put("k", "gnu")

    before_the_write(act)
    erased = store.erase(user_id="u", confirm=True)
    assert (erased.count, erased.namespaces) == (4, {(): 3, ("c",): 1})
    assert store.list(include_expired=True) == [other]
    assert store.erase(user_id="u").count == 0
    assert store.verify().ok
