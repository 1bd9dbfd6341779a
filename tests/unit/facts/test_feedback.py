"""S35: votes are events, and change an order only where asked to, a little, and never what is found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import FeedbackSettings, InvalidInput, MemoryStore, Op, RecordNotFound
from indelible.testing import FakeClock
from tests.unit.facts.stores import ids, open_store

VERBS = ("recall", "search", "search_semantic")


def test_s35_a_vote_is_an_event_of_the_record_and_no_state_of_it(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.feedback(record.id, "up")
    store.feedback(record.id, "down", note="not any more")
    assert [(change.op, change.vote, change.note, change.record) for change in store.history(record.id)[1:]] == [
        (Op.VOTE, "up", None, None),
        (Op.VOTE, "down", "not any more", None),
    ]
    assert store.get(record.id) == record


def test_s35_a_vote_never_revives(store: MemoryStore, clock: FakeClock) -> None:
    """Neither what is forgotten, nor what has expired, nor one from another scope."""
    gone, late, other = store.remember("a"), store.remember("b", ttl_ms=1000), store.remember("c", user_id="you")
    store.forget(gone.id)
    clock.advance(ms=1000)
    for view, record in ((store, gone), (store, late), (store.scope(user_id="me"), other)):
        with pytest.raises(RecordNotFound):
            view.feedback(record.id, "up")
    assert store.version == 4
    assert ids(store.list()) == [other.id]


@pytest.mark.parametrize("verb", VERBS)
def test_s35_the_order_is_unchanged_unless_opted_in(store: MemoryStore, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    older, newer = store.remember_many(["tea", "tea"])
    call = getattr(store, verb)
    store.feedback(older.id, "up")
    assert ids(call("tea")) == [newer.id, older.id]
    assert ids(call("tea", feedback=True)) == [older.id, newer.id]
    monkeypatch.setenv("MEMORY_FEEDBACK_RERANK", "1")
    assert ids(call("tea")) == [older.id, newer.id]
    assert ids(call("tea", feedback=False)) == [newer.id, older.id]
    monkeypatch.setenv("MEMORY_FEEDBACK_RERANK", "0")
    assert ids(call("tea")) == [newer.id, older.id]


def test_s35_only_the_last_votes_of_the_window_count(store: MemoryStore) -> None:
    record = store.remember("tea")

    def shift(**settings: Any) -> float:
        return round(store.recall("tea", feedback=FeedbackSettings(**settings))[0].rank_score - 1, 6)

    for _ in range(5):
        store.feedback(record.id, "up")
    assert shift() == 0.15
    assert shift(window=1) == 0.05
    assert shift(window=100) == 0.25
    assert shift(boost=0.01) == 0.03
    assert shift(boost=0.0) == 0.0
    for _ in range(2):
        store.feedback(record.id, "down")
    assert shift() == -0.05
    assert shift(window=2) == -0.1
    store.feedback(record.id, "down")
    assert shift() == -0.15


def test_s35_the_score_stays_the_cosine(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.feedback(record.id, "down")
    hit = store.recall("tea", feedback=True)[0]
    assert (hit.score, hit.rank_score) == (1.0, 0.95)


def test_s35_the_shift_is_bounded(store: MemoryStore) -> None:
    """A hundred votes do not lift a memory over a difference of more than boost * window."""
    near, far = store.remember_many(["green tea with milk", "tea of another kind altogether"])
    scores = {hit.id: hit.score or 0 for hit in store.recall("green tea with milk")}
    assert scores[near.id] - scores[far.id] > 0.3
    for _ in range(100):
        store.feedback(far.id, "up")
        store.feedback(near.id, "down")
    assert ids(store.recall("green tea with milk", feedback=True)) == [near.id, far.id]
    assert ids(store.recall("green tea with milk", feedback=FeedbackSettings(1.0, 3))) == [far.id, near.id]


def test_s35_of_keyword_scores_the_best_is_the_unit(store: MemoryStore) -> None:
    """A term frequency may be 1 or 50; a vote is worth 5 % of the best either way."""
    many, few = store.remember_many(["tea " * 40, "tea " * 39])
    store.feedback(few.id, "up")
    assert ids(store.search("tea", feedback=True)) == [few.id, many.id]
    assert [hit.rank_score for hit in store.search("tea", feedback=True)] == [pytest.approx(41.0), 40.0]
    one = store.remember("tea " * 20)
    for _ in range(3):
        store.feedback(one.id, "up")
    assert ids(store.search("tea", feedback=True))[-1] == one.id


@pytest.mark.parametrize("verb", VERBS)
def test_s35_it_is_applied_before_the_cut(store: MemoryStore, verb: str) -> None:
    """A memory below the limit can come up, and offsets page through the changed order."""
    records = store.remember_many(["tea"] * 8)
    store.feedback(records[0].id, "up")
    call = getattr(store, verb)
    assert ids(call("tea", limit=1)) == [records[7].id]
    assert ids(call("tea", limit=1, feedback=True)) == [records[0].id]
    assert ids(call("tea", limit=2, offset=1, feedback=True)) == [records[7].id, records[6].id]


VOTES = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["up", "down"])), max_size=12)


@given(VOTES, st.floats(0, 1), st.integers(1, 5), st.sampled_from(VERBS))
def test_s35_votes_are_never_a_filter_and_bounded(votes: list[tuple[int, Any]], boost: float, window: int, verb: str) -> None:
    with open_store() as store:
        records = store.remember_many(["tea", "green tea", "tea tea", "black tea with milk", "milk"])
        before = getattr(store, verb)("tea")
        for index, vote in votes:
            store.feedback(records[index].id, vote)
        after = getattr(store, verb)("tea", feedback=FeedbackSettings(boost, window))
        assert {hit.id: hit.score for hit in after} == {hit.id: hit.score for hit in before}
        plain = {hit.id: hit.rank_score for hit in before}
        unit = max(plain.values()) if verb == "search" else 1
        assert all(abs(hit.rank_score - plain[hit.id]) <= boost * window * unit + 1e-9 for hit in after)
        assert [hit.rank_score for hit in after] == sorted((hit.rank_score for hit in after), reverse=True)


@pytest.mark.parametrize("setting", ["on", "true", "YES", "boost=0.05,window=3", " window = 3 ", "boost=0.05"])
def test_s35_settings_in_the_environment(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    record = store.remember("tea")
    store.feedback(record.id, "up")
    monkeypatch.setenv("MEMORY_FEEDBACK_RERANK", setting)
    assert store.recall("tea")[0].rank_score == 1.05


@pytest.mark.parametrize(
    "setting", ["maybe", "boost", "boost=x", "boost=2", "window=0", "window=1.5", "boost=0.1,boost=0.2", "speed=3", "boost=nan"]
)
@pytest.mark.parametrize("verb", VERBS)
def test_s35_bad_settings_are_a_clear_error(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, setting: str, verb: str) -> None:
    """Not silently something else."""
    store.remember("tea")
    monkeypatch.setenv("MEMORY_FEEDBACK_RERANK", setting)
    with pytest.raises(InvalidInput, match="MEMORY_FEEDBACK_RERANK"):
        getattr(store, verb)("tea")
    assert len(getattr(store, verb)("tea", feedback=False)) == 1
