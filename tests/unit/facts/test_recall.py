"""S40, S43, S46, S47, S48: what recall returns, in which order, and when."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indelible import FeedbackSettings, InvalidInput, MemoryStore, Mmr, Recency
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import contents, ids, open_store, other_process

MODES = ("semantic", "hybrid", "keyword")


class TwoNumbers:
    """A model whose vectors are readable: a text is ``"3 4"``, its vector (3, 4) made unit."""

    id = space = "two-numbers"
    dim = 2

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in text.split()] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def plane(clock: FakeClock) -> MemoryStore:
    """Memories on the unit circle."""
    store = open_store(clock=clock, embedder=TwoNumbers())
    store.remember_many(["1 0", "1 1", "0 1", "-1 0"])
    return store


def test_s40_semantic_recall_is_nearest_by_cosine(plane: MemoryStore) -> None:
    found = [(hit.content, hit.score) for hit in plane.recall("2 0")]
    assert found == [("1 0", 1.0), ("1 1", pytest.approx(math.sqrt(0.5), abs=1e-6)), ("0 1", 0.0), ("-1 0", -1.0)]


def test_s40_a_vector_may_stand_for_the_query(plane: MemoryStore) -> None:
    """Of any length: only its direction counts."""
    for scale in (1.0, 1e-20, 1e30):
        assert contents(plane.recall(vector=[0.0, scale], limit=2)) == ["0 1", "1 1"]


@pytest.mark.parametrize("bad", [[], [0.0, 0.0], [1.0], [1.0, 2.0, 3.0], [math.nan, 1.0], [math.inf, 1.0], "12", 5, {1.0: 2.0}, [None, 1]])
def test_s40_bad_vectors_are_refused(plane: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        plane.recall(vector=bad)


def test_s40_hits_say_what_found_them(store: MemoryStore) -> None:
    store.remember("tea", metadata={"a": 1})
    for mode, why in (("semantic", ("semantic",)), ("keyword", ("keyword",)), ("hybrid", ("keyword", "semantic"))):
        hit = store.recall("tea", mode=mode)[0]
        assert (hit.why, hit.content, hit.metadata, hit.record.vectors) == (why, "tea", {"a": 1}, None)
        assert hit.score == (None if mode == "keyword" else 1.0)


def test_s40_vectors_are_returned_by_get_alone(store: MemoryStore) -> None:
    record = store.remember("tea")
    found = store.get(record.id, with_vectors=True)
    assert found is not None
    assert list(found.vectors or {}) == [""]
    assert len((found.vectors or {})[""]) == 64
    plain = store.get(record.id)
    assert plain is not None
    assert plain.vectors is None


def test_s40_keyword_mode_is_search(store: MemoryStore) -> None:
    store.remember_many(["tea tea", "tea", "milk"])
    assert store.recall("tea", mode="keyword", limit=10) == store.search("tea")


def test_s40_hybrid_joins_both_channels(store: MemoryStore) -> None:
    """A rare word is found by the keyword channel, OR with stop words dropped and English stems."""
    store.remember_many(["the cables are running everywhere", "entirely different", "another thing"])
    hit = store.recall("does it run", mode="hybrid", limit=1)[0]
    assert hit.content == "the cables are running everywhere"
    assert "keyword" in hit.why
    assert store.search("does it run") == []


def test_s40_a_score_is_the_cosine_however_a_hit_was_found(clock: FakeClock) -> None:
    """Hit.score is the cosine wherever there is a vector, also beyond the depth to which channels are fused."""
    with open_store(clock=clock, embedder=TwoNumbers()) as store:
        store.remember("-1 7")
        store.remember_many(["1 0"] * 1001)
        for hits in (store.recall("1 7", mode="hybrid", limit=2000), store.recall("1 7", mode="hybrid", limit=3)):
            found = next(hit for hit in hits if hit.content == "-1 7")
            assert found.score == pytest.approx((-1 + 49) / 50, abs=1e-6)


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_s40_min_score_leaves_out_what_is_lower(plane: MemoryStore, mode: str) -> None:
    found = plane.recall("1 1", mode=mode, min_score=0.5)
    assert {hit.content for hit in found} == {"1 1", "1 0", "0 1"}
    assert contents(plane.recall("1 1", mode=mode, min_score=0.9)) == ["1 1"]


def test_s40_a_score_may_be_used_as_the_least(plane: MemoryStore) -> None:
    """What a hit says can be asked for again."""
    for hit in plane.recall("3 1"):
        assert hit.id in ids(plane.recall("3 1", min_score=hit.score))


@pytest.mark.parametrize("bad", [-1.1, 1.1, "0", True, math.nan])
@pytest.mark.parametrize("name", ["min_score", "mmr"])
def test_s43_numbers_out_of_range_are_refused(store: MemoryStore, name: str, bad: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        store.recall("tea", **{name: bad})


def test_s43_search_semantic_takes_filters_and_a_limit_by_place(store: MemoryStore) -> None:
    store.remember_many([{"content": f"tea {number}", "metadata": {"even": number % 2 == 0}} for number in range(6)])
    assert len(store.search_semantic("tea")) == 5
    found = store.search_semantic("tea", {"even": True}, 2)
    assert len(found) == 2
    assert all(hit.metadata == {"even": True} for hit in found)
    assert store.search_semantic("tea", {"even": True}, 2) == store.recall("tea", filters={"even": True}, limit=2)


def test_s43_mmr_trades_nearness_for_variety(clock: FakeClock) -> None:
    with open_store(clock=clock, embedder=TwoNumbers()) as store:
        store.remember_many(["10 1", "10 2", "0 1", "-1 3"])
        assert contents(store.recall("1 0", limit=3, mmr=1.0)) == contents(store.recall("1 0", limit=3)) == ["10 1", "10 2", "0 1"]
        assert contents(store.recall("1 0", limit=2, mmr=0.0)) == ["10 1", "-1 3"]
        assert contents(store.recall("1 0", limit=2, mmr=0.4)) == ["10 1", "-1 3"]
        for balance in (0.0, 0.3, 1.0):
            assert sorted(contents(store.recall("1 0", mmr=balance))) == sorted(["10 1", "10 2", "0 1", "-1 3"])


def test_s43_mmr_chooses_from_a_pool(clock: FakeClock) -> None:
    """What lies beyond follows in order of nearness."""
    with open_store(clock=clock, embedder=TwoNumbers()) as store:
        store.remember_many(["10 1", "10 2", "0 1", "-1 3"])
        assert contents(store.recall("1 0", mmr=Mmr(0.0, pool=3))) == ["10 1", "0 1", "10 2", "-1 3"]
        assert (
            contents(store.recall("1 0", mmr=Mmr(0.0, pool=0)))
            == contents(store.recall("1 0", mmr=Mmr(1.0)))
            == contents(store.recall("1 0"))
        )
        assert contents(store.recall("1 0", limit=1, offset=1, mmr=0.0)) == ["-1 3"]
    bad: list[dict[str, Any]] = [{"balance": 2}, {"balance": "x"}, {"balance": None}, {"pool": -1}, {"pool": 1.5}, {"pool": True}]
    for each in bad:
        with pytest.raises(InvalidInput):
            Mmr(**each)


def test_s43_recency_is_over_when_it_happened(store: MemoryStore) -> None:
    """Not over when it was told; a nudge of at most its weight, and never more than the difference that it may bridge."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    new = store.remember("tea", occurred_at=now)
    old = store.remember("tea", occurred_at=now - timedelta(days=300))
    assert ids(store.recall("tea")) == [old.id, new.id]
    for verb in (store.recall, store.search):
        assert ids(verb("tea", recency=True)) == [new.id, old.id]
        assert ids(verb("tea", recency=Recency(0.01, timedelta(hours=1)))) == [new.id, old.id]
        assert ids(verb("tea", recency=0.2)) == [new.id, old.id]
        assert ids(verb("tea", recency=False)) == ids(verb("tea", recency=0.0)) == [old.id, new.id]
    far = store.remember("entirely different words", occurred_at=now)
    assert ids(store.recall("tea", recency=True))[-1] == far.id


def test_s43_priors_never_admit_or_hide(store: MemoryStore) -> None:
    store.remember_many(["tea one", "tea two", "milk"])
    store.feedback(store.search("two")[0].id, "down")
    strong: dict[str, Any] = {"recency": 1.0, "feedback": FeedbackSettings(1.0, 9)}
    assert set(ids(store.search("tea", **strong))) == set(ids(store.search("tea")))
    assert set(ids(store.recall("tea", min_score=0.3, **strong))) == set(ids(store.recall("tea", min_score=0.3)))


@pytest.mark.parametrize(
    "bad", [{"weight": -1}, {"weight": 2}, {"weight": "x"}, {"weight": None}, {"half_life": 5}, {"half_life": timedelta(0)}]
)
def test_s43_bad_recency_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Recency(**bad)


@pytest.mark.parametrize("bad", ["yes", -0.1, 1.5, [], object()])
def test_s43_bad_recency_of_a_call_is_refused(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        store.recall("tea", recency=bad)


# S46


@pytest.mark.parametrize("verb", ["recall", "search", "search_semantic", "list"])
def test_s46_limit_and_offset(store: MemoryStore, verb: str) -> None:
    store.remember_many([f"tea {number}" for number in range(12)])
    call = getattr(store, verb)
    arguments = () if verb == "list" else ("tea",)
    everything = ids(call(*arguments, limit=2**70))
    assert len(everything) == 12
    assert call(*arguments, limit=0) == []
    for limit, offset in ((5, 0), (5, 5), (5, 10), (1, 11), (5, 12), (2**80, 3), (3, 2**80)):
        assert ids(call(*arguments, limit=limit, offset=offset)) == everything[offset : offset + limit]
    for bad in (-1, True, False, "5", 2.0, b"1", -(2**80)):
        for name in ("limit", "offset"):
            with pytest.raises(InvalidInput, match=name):
                call(*arguments, **{name: bad})


def test_s46_defaults(store: MemoryStore) -> None:
    store.remember_many(["tea"] * 12)
    assert [len(store.recall("tea")), len(store.search("tea")), len(store.search_semantic("tea")), len(store.list())] == [5, 10, 5, 12]


# S47


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [7, 33, 101])
def test_s47_ties_are_newest_first_also_after_reopening_and_rebuilding(path: Path, clock: FakeClock, mode: str, count: int) -> None:
    """Equal texts have equal scores, wherever their vectors lie in memory, and the newest comes first."""
    with open_store(path, clock=clock) as store:
        records = store.remember_many([f"filler {number}" if number % 3 else "tea time" for number in range(count)])
        tied = [record.id for record in records if record.content == "tea time"]
        newest_first = tied[::-1]
        assert ids(store.recall("tea time", mode=mode, limit=len(tied))) == newest_first
        assert len({hit.rank_score for hit in store.recall("tea time", mode=mode, limit=len(tied))}) == 1
        store.rebuild()
        assert ids(store.recall("tea time", mode=mode, limit=len(tied))) == newest_first
        store.edit(tied[0], metadata={"touched": True})
        assert ids(store.recall("tea time", mode=mode, limit=1)) == [tied[0]]
    with open_store(path, clock=clock) as again:
        assert ids(again.recall("tea time", mode=mode, limit=len(tied))) == [tied[0], *newest_first[:-1]]


@pytest.mark.parametrize("order", ["created", "updated"])
@pytest.mark.parametrize("descending", [False, True])
def test_s47_listing_has_a_total_order_stable_over_pages(store: MemoryStore, order: str, descending: bool) -> None:
    """Also for what was written in one moment: the clock stands still in this test."""
    made = ids(store.remember_many([f"tea {number}" for number in range(9)]))
    for index in (3, 1, 7):
        store.edit(made[index], metadata={"edited": index})
    expected = made if order == "created" else [*(id for index, id in enumerate(made) if index not in (3, 1, 7)), made[3], made[1], made[7]]
    expected = expected[::-1] if descending else expected
    pages = [store.list(order=order, descending=descending, limit=2, offset=offset) for offset in range(0, 10, 2)]
    assert [id for page in pages for id in ids(page)] == ids(store.list(order=order, descending=descending)) == expected


@pytest.mark.parametrize("bad", ["oldest", None, 1, ""])
def test_s47_an_unknown_order_is_refused(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="order"):
        store.list(order=bad)


# S48


@pytest.mark.parametrize("mode", MODES)
def test_s48_a_write_is_read_at_once(store: MemoryStore, mode: str) -> None:
    for number in range(5):
        record = store.remember(f"tea {number}")
        assert ids(store.recall(f"tea {number}", mode=mode, limit=1)) == [record.id]


def test_s48_a_write_is_read_by_every_other_process(kept: MemoryStore, path: Path) -> None:
    """In both directions, while both have the store open and have searched before."""
    kept.remember("mine")
    assert contents(kept.recall("theirs")) == ["mine"]
    said = other_process(path, 'print(store.recall("mine")[0].content); store.remember("theirs")')
    assert said == "mine"
    for mode in MODES:
        assert contents(kept.recall("theirs", mode=mode, limit=1)) == ["theirs"]


def test_s48_another_model_instance_reads_them_too(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    kept.remember("tea")
    with open_store(path, clock=clock, embedder=HashEmbedder()) as second:
        assert contents(second.recall("tea")) == ["tea"]
        second.remember("milk")
    assert contents(kept.recall("milk", limit=1)) == ["milk"]
