"""S50: a store asked about a version answers as a store that had received only the events up to it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore
from indelible.base.clock import datetime_from_ms
from indelible.faces.facts_read import FactReads
from indelible.testing import FakeClock
from tests.unit.facts.random_facts import Life, Step, answers, steps
from tests.unit.facts.stores import contents, open_store


@given(steps(most=10), st.booleans())
def test_s50_the_past_is_what_a_store_of_that_time_says(script: list[Step], bm25: bool) -> None:
    """Every answer, with ids, order and scores: by version and by the time at which that version was the newest."""
    with pytest.MonkeyPatch.context() as patch, Life() as then, Life() as now:
        if bm25:
            patch.setenv("MEMORY_FTS5_BM25", "1")
        taken: list[tuple[int, int, dict[str, object]]] = []
        for step in script:
            before = then.store.version
            then.take(step)
            # Votes and forgets included, but only moments at which something arrived: the past knows no others.
            if then.store.version > before:
                taken.append((then.store.version, then.clock.now_us() // 1000, answers(then.store, then.made)))
            now.take(step)
        for version, at_ms, said in taken:
            assert answers(now.store.at(version), then.made) == said
            newest_then = [other for other, ms, _ in taken if ms == at_ms][-1]
            if newest_then == version:
                assert answers(now.store.at(datetime_from_ms(at_ms)), then.made) == said


def asked(reads: FactReads, **when: object) -> list[list[str]]:
    return [contents(reads.recall("tea", **when)), contents(reads.search("tea", **when)), contents(reads.list(**when))]  # type: ignore[arg-type]  # versions and times


def test_s50_every_reading_verb_takes_a_version_or_a_time(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea")
    began = record.created_at
    clock.advance(ms=1000)
    store.edit(record.id, content="tea with milk")
    clock.advance(ms=1000)
    store.forget(record.id)
    for when, expected in ((1, ["tea"]), (2, ["tea with milk"]), (3, []), (0, []), (-5, []), (99, []), (2**70, [])):
        assert asked(store, as_of=when) == asked(store.at(when)) == [expected] * 3
        found = store.get(record.id, as_of=when)
        assert ([found.content] if found else []) == expected
        assert store.count(as_of=when) == len(expected)
    for moment, expected in ((began - timedelta(seconds=1), []), (began, ["tea"]), (began + timedelta(seconds=1.5), ["tea with milk"])):
        assert asked(store, as_of=moment) == asked(store.at(moment)) == [expected] * 3


def test_s50_expiry_in_the_past_is_judged_at_that_time(store: MemoryStore, clock: FakeClock) -> None:
    """What had not expired then is there, however long ago that is; what had is not."""
    store.remember("tea", ttl_ms=1000)
    clock.advance(ms=999)
    store.remember("water")
    clock.advance(ms=1)
    store.remember("milk")
    assert contents(store.list(as_of=2)) == ["tea", "water"]
    assert contents(store.list(as_of=3)) == ["water", "milk"]
    clock.advance(ms=10**9)
    assert contents(store.list(as_of=2)) == ["tea", "water"]
    assert contents(store.list(as_of=3, include_expired=True)) == ["tea", "water", "milk"]


def test_s50_half_a_transaction_is_at_no_version(store: MemoryStore) -> None:
    """S83: a version inside a batch shows what stood before it."""
    store.remember("one")
    store.remember_many(["two", "three", "four"])
    store.remember("five")
    assert [len(store.at(version).list()) for version in range(6)] == [0, 1, 1, 1, 4, 5]


def test_s50_later_votes_do_not_change_an_earlier_ranking(store: MemoryStore) -> None:
    first, second = store.remember_many(["green tea", "black tea"])
    before = store.search("tea", feedback=True)
    store.feedback(first.id if before[0].id == second.id else second.id, "up")
    assert store.search("tea", feedback=True)[0].id != before[0].id
    assert store.search("tea", feedback=True, as_of=2) == before


def test_s50_history_ends_at_the_view(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.edit(record.id, content="coffee")
    store.forget(record.id)
    assert [change.version for change in store.at(2).history(record.id)] == [1, 2]
    assert store.at(0).history(record.id) == []


def test_s50_a_view_of_the_past_of_a_scope_stays_in_it(store: MemoryStore) -> None:
    mine = store.remember("tea", user_id="me")
    theirs = store.remember("tea", user_id="you")
    past = store.scope(user_id="me").at(2)
    assert contents(past.list()) == ["tea"]
    assert past.get(theirs.id) is None
    assert past.history(theirs.id) == []
    assert [hit.id for hit in past.recall("tea")] == [mine.id]


def test_s50_the_past_survives_reopening_rebuilding_and_vacuuming(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    record = kept.remember("tea")
    kept.edit(record.id, content="coffee")
    before = answers(kept.at(1), [record.id])
    kept.vacuum()
    kept.rebuild()
    kept.close()
    with open_store(path, clock=clock) as again:
        assert answers(again.at(1), [record.id]) == before


@pytest.mark.parametrize("when", [True, 1.0, "1", b"", [1]])
def test_s50_bad_times_are_refused(store: MemoryStore, when: object) -> None:
    with pytest.raises(InvalidInput):
        store.at(when)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InvalidInput):
        store.list(as_of=when)  # type: ignore[arg-type]  # that is the test


def test_s50_a_time_without_a_zone_is_refused(store: MemoryStore) -> None:
    moment = store.remember("tea").created_at.replace(tzinfo=None)
    with pytest.raises(InvalidInput, match="timezone"):
        store.at(moment)
