"""Expiry in collections (lines 70 to 72 of the semantics): judged when one reads, deleting nothing by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Collection, InvalidInput, MemoryStore, Op, Touch
from indelible.testing import FakeClock, HashEmbedder

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def notes(store: MemoryStore) -> Collection:
    found: Collection = store.collection("notes")
    return found


def keys(collection: Collection, **options: Any) -> list[str | None]:
    return [record.key for record in collection.list(**options)]


@given(st.integers(1, 10_000), st.integers(-2, 2))
def test_s70_expired_when_the_time_has_come(ttl_ms: int, offset: int) -> None:
    """S70: from the very millisecond on, by ``ttl_ms`` and by ``expires_at`` alike."""
    clock = FakeClock()
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as store:
        notes = store.collection("notes")
        notes.put("ttl", ttl_ms=ttl_ms)
        notes.put("at", expires_at=START + timedelta(milliseconds=ttl_ms))
        notes.put("never")
        clock.advance(ms=max(ttl_ms + offset, 0))
        alive = ttl_ms + offset < ttl_ms
        assert keys(notes) == (["ttl", "at", "never"] if alive else ["never"])


def test_s70_a_time_is_the_same_in_every_zone(notes: Collection) -> None:
    """S70: kept to the millisecond, given back in UTC."""
    there = START.astimezone(timezone(timedelta(hours=5, minutes=30))) + timedelta(seconds=1)
    assert notes.put("k", expires_at=there).expires_at == START + timedelta(seconds=1)
    (change,) = notes.history("k")
    assert str(change.expires_at) == "2026-01-01 00:00:01+00:00"
    assert notes.put("k").expires_at is None


@pytest.mark.parametrize(
    "ttl_ms", [0, -1, 1.5, "1000", True, False, 2**63, 10**400, timedelta(seconds=1)], ids=lambda value: type(value).__name__
)
def test_s70_a_time_to_live_is_a_positive_number(notes: Collection, ttl_ms: Any) -> None:
    """S70: InvalidInput for anything else, overflow included, in ``put`` and ``touch``; nothing is written."""
    notes.put("k", "before", ttl_ms=1000)
    for write in (lambda: notes.put("k", ttl_ms=ttl_ms), lambda: notes.touch(["k"], ttl_ms)):
        with pytest.raises(InvalidInput, match="ttl_ms"):
            write()
    assert len(notes.history("k")) == 1


def test_s71_what_has_expired_is_not_shown(store: MemoryStore, notes: Collection, clock: FakeClock) -> None:
    """S71: absent from get, list, search and namespaces; present in the history, and shown when asked for; no event is written."""
    notes.put("k", "green tea", ttl_ms=1000)
    store.collection("notes", "below").put("k", "black tea", ttl_ms=1000)
    store.collection("notes").put("other", "coffee")
    clock.advance(ms=1000)
    assert notes.get("k") is None
    assert notes.get_many(["k", "other"])[0] is None
    assert (keys(notes), keys(notes, prefix=True), notes.namespaces()) == (["other"], ["other"], [("notes",)])
    assert notes.search("tea") == []
    shown = notes.get("k", include_expired=True)
    assert shown is not None
    assert (shown.content, shown.expires_at) == ("green tea", START + timedelta(seconds=1))
    assert keys(notes, include_expired=True, prefix=True) == ["k", "k", "other"]
    assert [hit.content for hit in notes.search("tea", include_expired=True)] == ["black tea", "green tea"]
    assert len(notes.history("k")) == 1
    assert store.version == 3


def test_s71_a_key_lives_again_when_it_is_put(notes: Collection, clock: FakeClock) -> None:
    """S71: a new life of the same record, with a new birth; the old one stays in its history."""
    old = notes.put("k", "old", ttl_ms=1000)
    clock.advance(ms=2000)
    new = notes.put("k", "new")
    assert (new.id, new.created_at) == (old.id, START + timedelta(seconds=2))
    assert [change.op for change in notes.history("k")] == [Op.REMEMBER, Op.REMEMBER]
    undone = notes.undo("k")
    assert undone is not None
    assert (undone.content, undone.expires_at) == ("old", None)


def test_s71_a_past_view_judges_at_its_own_time(notes: Collection, clock: FakeClock) -> None:
    """S71: what was alive then is shown then, whatever is expired now; and what was expired then is not."""
    notes.put("short", ttl_ms=1000)
    clock.advance(ms=500)
    notes.put("long", ttl_ms=10_000)
    clock.advance(ms=1000)
    notes.put("later")
    clock.advance(ms=100_000)
    assert keys(notes) == ["later"]
    assert [keys(notes.at(version)) for version in (1, 2, 3)] == [["short"], ["short", "long"], ["long", "later"]]
    assert keys(notes.at(START + timedelta(milliseconds=999))) == ["short", "long"]
    assert keys(notes.at(START + timedelta(milliseconds=1000))) == ["long"]
    assert keys(notes.at(3), include_expired=True) == ["short", "long", "later"]


def test_s72_forget_expired_appends_tombstones(store: MemoryStore, notes: Collection, clock: FakeClock) -> None:
    """S72: here and below, live records untouched, a second call finds none; other collections are not reached."""
    for collection in (notes, store.collection("notes", "below"), store.collection("other"), store.collection("notes", user_id="ada")):
        collection.put("expired", ttl_ms=1000)
        collection.put("alive", ttl_ms=9000)
    clock.advance(ms=1000)
    assert [notes.forget_expired(), notes.forget_expired()] == [2, 0]
    assert keys(notes, include_expired=True, prefix=True) == ["alive", "alive"]
    assert keys(store.collection("other"), include_expired=True) == ["expired", "alive"]
    assert keys(store.collection("notes", user_id="ada"), include_expired=True) == ["expired", "alive"]
    assert [change.op for change in notes.history("expired")] == [Op.REMEMBER, Op.FORGET]
    assert store.version == 10


def test_touch_moves_the_expiry_and_nothing_else(notes: Collection, clock: FakeClock) -> None:
    """The version of the record stays, so that compare-and-set goes on; the move is an event, and seen in the past too."""
    put = notes.put("k", "text", ttl_ms=10_000)
    clock.advance(ms=5000)
    notes.touch(["k", "missing"], 10_000)
    touched = notes.get("k")
    assert touched is not None
    assert (touched.version, touched.content, touched.updated_at) == (put.version, "text", put.updated_at)
    assert touched.expires_at == START + timedelta(seconds=15)
    assert [change.op for change in notes.history("k")] == [Op.REMEMBER, Op.TOUCH]
    clock.advance(ms=7000)
    assert keys(notes) == ["k"]
    assert notes.put("k", "new", expected_version=put.version).content == "new"


def test_touch_does_not_write_for_little(notes: Collection, clock: FakeClock) -> None:
    """A move of less than a tenth of the time to live is left out, so that reading often does not write often."""
    notes.put("k", ttl_ms=10_000)
    for _ in range(50):
        clock.advance(ms=100)
        notes.touch(["k"], 10_000)
    assert len(notes.history("k")) == 1 + 5
    assert keys(notes) == ["k"]


def test_touch_does_not_bring_back(notes: Collection, clock: FakeClock) -> None:
    """What has expired or was deleted stays so; what never expires may get an end."""
    notes.put("expired", ttl_ms=1000)
    notes.put("deleted", ttl_ms=100_000)
    notes.put("endless")
    notes.delete("deleted")
    clock.advance(ms=1000)
    assert notes.batch([Touch("expired", 5000), Touch("deleted", 5000), Touch("endless", 5000), Touch("missing", 5000)]) == [
        False, False, True, False,
    ]  # fmt: skip
    clock.advance(ms=5000)
    assert keys(notes) == []


def test_a_touch_may_be_bound_to_a_version(notes: Collection, clock: FakeClock) -> None:
    """Who read an older state does not move the expiry of a newer one."""
    first = notes.put("k", "one", ttl_ms=10_000)
    second = notes.put("k", "two", ttl_ms=10_000)
    clock.advance(ms=5000)
    assert notes.batch([Touch("k", 10_000, first.version)]) == [False]
    assert notes.batch([Touch("k", 10_000, second.version)]) == [True]
