"""Times that no view could show, and texts that stand for each other within one batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from indelible import InvalidInput, MemoryStore, compose_prompt
from indelible.testing import HashEmbedder


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(":memory:", embedder=HashEmbedder())


@pytest.mark.parametrize(
    "when", [datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))]
)
def test_s31_a_time_outside_the_calendar_is_refused(store: MemoryStore, when: datetime) -> None:
    """It would be written and then break every read that meets it."""
    store.remember("fine")
    with pytest.raises(InvalidInput):
        store.remember("late", occurred_at=when)
    with pytest.raises(InvalidInput):
        store.remember_turns([("user", "late")], date=when)
    assert [record.content for record in store.list()] == ["fine"]
    assert store.version == 1


@pytest.mark.parametrize("year", [1, 987, 9999])
def test_s20_a_year_has_four_digits(store: MemoryStore, year: int) -> None:
    """Also one long ago."""
    store.remember("omega", occurred_at=datetime(year, 1, 2, tzinfo=UTC))
    assert f"({year:04d}-01-02)" in compose_prompt("omega", store)


def test_s32_a_twin_is_not_one_that_the_batch_revises(store: MemoryStore) -> None:
    """After the call every text that was given is there."""
    store.remember("a", key="k")
    store.remember_many([{"content": "b", "key": "k"}, {"content": "a", "dedup": True}])
    assert sorted(record.content for record in store.list()) == ["a", "b"]
    store.remember_many([{"content": "b", "dedup": True}, {"content": "c", "key": "k"}])
    assert sorted(record.content for record in store.list()) == ["a", "b", "c"]
    store.remember_many([{"content": "x", "key": "n"}, {"content": "y", "key": "n"}, {"content": "x", "dedup": True}])
    assert sorted(record.content for record in store.list()) == ["a", "b", "c", "x", "y"]


@pytest.mark.parametrize("other", [{"key": "k"}, {"idempotency_key": "i"}])
def test_s32_dedup_goes_with_no_other_identity(store: MemoryStore, other: dict[str, str]) -> None:
    """Each says by itself which memory is meant."""
    store.remember("a")
    with pytest.raises(InvalidInput):
        store.remember_many([{"content": "a", "dedup": True, **other}])
    assert store.count() == 1
