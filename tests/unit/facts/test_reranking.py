"""The optional second look (S52): the same hits in a reranker's order, the pool first, and everything else as it was."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import (
    AsyncMemoryStore,
    FeedbackSettings,
    InvalidInput,
    MemoryStore,
    MissingExtra,
    Mmr,
    ModelError,
    Part,
    Recency,
    Rerank,
)
from indelible.testing import FakeClock, HashEmbedder
from tests.rerankers import Longest
from tests.unit.facts.stores import contents, ids, open_store

MODES = ("semantic", "hybrid", "keyword")
each_mode = pytest.mark.parametrize("mode", MODES)


class Answering:
    """Returns or raises what it was made with."""

    id = "answering"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def score(self, query: str, texts: Sequence[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(texts) if callable(self.answer) else self.answer


@pytest.fixture
def many(store: MemoryStore) -> MemoryStore:
    """Thirty memories that hold the words, in another order by length than by nearness."""
    store.remember_many([f"red fox {'x' * (number * 7 % 31 + 1)}" for number in range(30)])
    return store


@each_mode
def test_s52_the_pool_is_reordered_and_the_rest_follows(many: MemoryStore, mode: str) -> None:
    """S52: a permutation; beyond the pool the order of before; one order by score, from 0 to 1 in the pool, and the cosine stays."""
    before = many.recall("red fox", mode=mode, limit=30)
    after = many.recall("red fox", mode=mode, limit=30, rerank=Rerank(pool=12, reranker=Longest()))
    assert ids(after[12:]) == ids(before[12:])
    assert sorted(ids(after[:12])) == sorted(ids(before[:12]))
    lengths = [len(hit.content) for hit in after[:12]]
    assert lengths == sorted(lengths, reverse=True)
    assert [hit.rank_score for hit in after[:12]] == [length / (1 + length) for length in lengths]
    scores = [hit.rank_score for hit in after]
    assert scores == sorted(scores, reverse=True)
    assert all(score <= 0 for score in scores[12:])
    assert {hit.id: (hit.score, hit.why, hit.part) for hit in after} == {hit.id: (hit.score, hit.why, hit.part) for hit in before}


@each_mode
@given(pool=st.integers(1, 40), page=st.integers(1, 13))
def test_pages_join(mode: str, pool: int, page: int) -> None:
    """Pages of any size are the whole answer, cut, scores included: the pool never depends on the page."""
    with open_store() as store:
        store.remember_many([f"red fox {'x' * (number * 7 % 31 + 1)}" for number in range(30)])
        wanted = Rerank(pool, Longest())
        whole = store.recall("red fox", mode=mode, limit=40, rerank=wanted)
        pages = [hit for start in range(0, 30, page) for hit in store.recall("red fox", mode=mode, limit=page, offset=start, rerank=wanted)]
    assert [(hit.id, hit.rank_score) for hit in pages] == [(hit.id, hit.rank_score) for hit in whole]


@each_mode
def test_ties_keep_the_order_they_had(many: MemoryStore, mode: str) -> None:
    """A reranker that has no opinion changes nothing."""
    same = Answering(lambda texts: [0.5] * len(texts))
    assert ids(many.recall("red fox", mode=mode, limit=30, rerank=same)) == ids(many.recall("red fox", mode=mode, limit=30))


def test_off_is_off(many: MemoryStore) -> None:
    """``None`` and ``False`` are the recall of before, and the pool of 20 is the default."""
    plain = many.recall("red fox", mode="hybrid", limit=30)
    assert many.recall("red fox", mode="hybrid", limit=30, rerank=False) == plain
    longest = Longest()
    assert many.recall("red fox", mode="hybrid", rerank=longest) == many.recall("red fox", mode="hybrid", rerank=Rerank(20, Longest()))
    assert [(query, len(texts)) for query, texts in longest.seen] == [("red fox", 20)]


def test_a_page_beyond_the_pool_reads_nothing(many: MemoryStore) -> None:
    """Unless what comes after the reranker may still move something from there into it."""
    longest = Longest()
    many.recall("red fox", limit=5, offset=20, rerank=longest)
    assert longest.seen == []
    many.recall("red fox", limit=5, offset=20, rerank=longest, recency=True)
    assert len(longest.seen) == 1


@each_mode
def test_scopes_filters_and_expiry_come_first(store: MemoryStore, clock: FakeClock, mode: str) -> None:
    """S44: the reranker reads nothing that could not be a hit, however well it would score."""
    wanted = store.remember("red fox", user_id="ada", metadata={"n": 1})
    store.remember("red fox of another scope, and a long one", user_id="bob", metadata={"n": 1})
    store.remember("red fox without the number, and a long one", user_id="ada")
    store.remember("red fox that is soon over, and a long one", user_id="ada", metadata={"n": 1}, ttl_ms=1000)
    clock.advance(ms=2000)
    longest = Longest()
    view = store.scope(user_id="ada")
    assert ids(view.recall("red fox", mode=mode, filters={"n": 1}, rerank=longest)) == [wanted.id]
    assert ids(view.recall("red fox", mode=mode, accept=lambda record: record.id == wanted.id, rerank=longest)) == [wanted.id]
    assert {text for _, texts in longest.seen for text in texts} == {"red fox"}


@each_mode
def test_the_past_is_read_as_it_was(store: MemoryStore, mode: str) -> None:
    """S50: at a version the texts of then are read, by argument and by view."""
    first = store.remember("red fox and more words than the other")
    second = store.remember("red fox two")
    then = store.version
    store.edit(second.id, "red fox two, now with far more words than the other ever had")
    assert ids(store.recall("red fox", mode=mode, rerank=Longest())) == [second.id, first.id]
    past = store.recall("red fox", mode=mode, as_of=then, rerank=Longest())
    assert ids(past) == [first.id, second.id]
    assert store.at(then).recall("red fox", mode=mode, rerank=Longest()) == past


def test_priors_come_after(store: MemoryStore) -> None:
    """Votes, recency and variety change the reranker's order, not the one that it would undo."""
    long, short = store.remember("red fox with many words"), store.remember("red fox")
    near = Answering(lambda texts: [0.5 + len(text) / 10_000 for text in texts])
    store.feedback(short.id, "up")
    assert ids(store.recall("red fox", rerank=near)) == [long.id, short.id]
    assert ids(store.recall("red fox", rerank=near, feedback=FeedbackSettings(0.3))) == [short.id, long.id]


def test_recency_comes_after(store: MemoryStore, clock: FakeClock) -> None:
    old = store.remember("red fox with many words")
    clock.advance(ms=400 * 86_400_000)
    new = store.remember("red fox")
    near = Answering(lambda texts: [0.5 + len(text) / 10_000 for text in texts])
    assert ids(store.recall("red fox", rerank=near)) == [old.id, new.id]
    assert ids(store.recall("red fox", rerank=near, recency=Recency(0.2))) == [new.id, old.id]


def test_variety_starts_from_the_rerankers_order(store: MemoryStore) -> None:
    """``mmr`` weighs the reranker's scores in place of cosines: at 1 its order stands, below that repetition goes down."""
    texts = ["red fox runs", "red fox run", "green whale song of the deep sea"]
    store.remember_many(texts)
    assert contents(store.recall("red fox run", rerank=Longest(), mmr=Mmr(1.0))) == [texts[2], texts[0], texts[1]]
    assert contents(store.recall("red fox run", rerank=Longest(), mmr=Mmr(0.0)))[0] == texts[2]


def test_a_bound_on_cosines_keeps_its_meaning(many: MemoryStore) -> None:
    """``min_score`` is about the cosine, whatever the reranker says."""
    bound = many.recall("red fox", limit=30)[10].score or 0.0
    found = many.recall("red fox", limit=30, min_score=bound, rerank=Longest())
    assert sorted(ids(found)) == sorted(ids(many.recall("red fox", limit=30, min_score=bound)))


def test_of_a_long_text_the_window_that_matched_is_read(store: MemoryStore) -> None:
    """Where meaning took part; by words alone the text is given as it is, and the model reads its beginning."""
    text = "nothing of note. " * 300 + "the red fox sleeps in the barn. " * 6 + "nothing of note. " * 300
    store.remember(text)
    longest = Longest()
    [hit] = store.recall("red fox sleeps barn", mode="hybrid", rerank=longest)
    assert hit.part is not None
    assert "#" in hit.part
    [[read]] = [texts for _, texts in longest.seen]
    assert "red fox" in read
    assert read in text
    assert len(read) < len(text) / 4
    store.recall("fox", mode="keyword", rerank=longest)
    assert longest.seen[-1][1] == [text]


def test_of_parts_the_one_that_matched_is_read(store: MemoryStore) -> None:
    """And a record without any text answers nothing: it is not read, and goes last."""
    notes = store.collection("notes", model="store")
    notes.put("a", "a note", parts=[Part("head", "green whale"), Part("tail", "red fox")])
    notes.put("b", "", parts=[Part("only", "red fox and more")])
    vector = tuple(float(number) for number in HashEmbedder().embed_query("red fox"))
    notes.put("c", "", parts=[Part("silent", "", vector)])
    longest = Longest()
    hits = notes.search("red fox", rerank=longest)
    assert [hit.record.key for hit in hits] == ["b", "a", "c"]
    assert hits[-1].rank_score == 0.0
    assert sorted(longest.seen[0][1]) == ["red fox", "red fox and more"]


def test_context_is_not_read(store: MemoryStore) -> None:
    """S38: the text of a neighbour helps to find, and is no part of the memory."""
    store.remember_turns([("user", "where does the red fox sleep?"), ("assistant", "in the barn")])
    longest = Longest()
    store.recall("red fox", mode="hybrid", rerank=longest)
    assert sorted(longest.seen[0][1]) == ["in the barn", "where does the red fox sleep?"]


def test_the_other_verbs_take_it(many: MemoryStore) -> None:
    """``search_semantic``, views, and the async face."""
    expected = many.recall("red fox", rerank=Rerank(7, Longest()))
    assert many.search_semantic("red fox", rerank=Rerank(7, Longest())) == expected
    assert many.scope(agent_id="default").recall("red fox", rerank=Rerank(7, Longest())) == expected

    async def ask() -> Any:
        async with AsyncMemoryStore(store=many) as store:
            return await store.recall("red fox", rerank=Rerank(7, Longest()))

    assert asyncio.run(ask()) == expected


def test_a_vector_beside_the_query(store: MemoryStore) -> None:
    """It finds, the query is read; without a query there is nothing to read beside a text."""
    store.remember_many(["red fox", "red fox again"])
    vector = list(HashEmbedder().embed_query("red fox"))
    assert contents(store.recall("red fox", vector=vector, rerank=Longest())) == ["red fox again", "red fox"]
    with pytest.raises(InvalidInput, match="give a query"):
        store.recall(vector=vector, rerank=Longest())
    with pytest.raises(InvalidInput, match="give a query"):
        store.collection("notes", model="store").search(rerank=True)


def test_a_query_that_it_does_not_read(many: MemoryStore) -> None:
    """Is answered as if it had not been asked for, in order and scores, with variety too; whether it reads one may fail as well."""
    longest, no = Longest(), Answering([])
    no.reads = lambda query: False  # type: ignore[attr-defined]  # an optional method
    assert many.recall("red fox", limit=30, rerank=no) == many.recall("red fox", limit=30)
    assert many.recall("red fox", rerank=no, mmr=0.5) == many.recall("red fox", mmr=0.5)
    longest.reads = lambda query: query == "red fox"  # type: ignore[attr-defined]  # likewise
    assert many.recall("red fox", rerank=longest) != many.recall("red fox")
    no.reads = lambda query: 1 / 0  # type: ignore[attr-defined]  # likewise
    with pytest.raises(ModelError, match="answering failed on the query: ZeroDivisionError"):
        many.recall("red fox", rerank=no)


def test_nothing_found_is_nothing_read(store: MemoryStore) -> None:
    longest = Longest()
    assert store.recall("red fox", rerank=longest) == []
    assert longest.seen == []


@pytest.mark.parametrize("bad", [1, 0, 20, "yes", [], object(), Longest, {"pool": 3}])
def test_what_is_no_reranker(many: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="rerank must be True"):
        many.recall("red fox", rerank=bad)


@pytest.mark.parametrize(
    "bad", [{"pool": 0}, {"pool": -1}, {"pool": 1001}, {"pool": True}, {"pool": "x"}, {"reranker": 3}, {"reranker": Longest}]
)
def test_faulty_settings(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="rerank"):
        Rerank(**bad)


async def _later() -> list[float]:
    return []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (RuntimeError("out of memory"), "answering failed on 20 texts: RuntimeError: out of memory"),
        (lambda texts: [0.5], "1 scores for 20 texts"),
        (lambda texts: [0.5] * (len(texts) + 1), "21 scores for 20 texts"),
        (lambda texts: [math.nan] * len(texts), "from 0 to 1"),
        (lambda texts: [3.2] * len(texts), "a logit wants a sigmoid"),
        (lambda texts: [-math.inf] * len(texts), "from 0 to 1"),
        (lambda texts: ["0.5"] * len(texts), "from 0 to 1"),
        (lambda texts: [None] * len(texts), "TypeError"),
        (None, "not NoneType"),
        ("0.5", "not str"),
        (0.5, "not float"),
        (lambda texts: _later(), "coroutine"),
    ],
)
def test_a_reranker_that_fails_is_a_model_error(many: MemoryStore, answer: Any, says: str) -> None:
    """With its name and the cause; the store answers as before."""
    with pytest.raises(ModelError, match=says) as caught:
        many.recall("red fox", rerank=Answering(answer))
    if isinstance(answer, Exception):
        assert caught.value.__cause__ is answer
    assert len(many.recall("red fox")) == 5


def test_arrays_are_scores(many: MemoryStore) -> None:
    """What numpy returns is as good as a list; an error of this library passes as it is."""
    import numpy as np

    found = many.recall("red fox", limit=20, rerank=Answering(lambda texts: np.linspace(0, 1, len(texts), dtype=np.float32)))
    assert found[0].rank_score == 1.0
    assert ids(found) == ids(many.recall("red fox", limit=20))[::-1]
    with pytest.raises(MissingExtra, match="as it is"):
        many.recall("red fox", rerank=Answering(MissingExtra("as it is")))


def test_a_file_answers_as_memory_does(path: Path, clock: FakeClock) -> None:
    """S47: the same order and scores after reopening."""
    with open_store(path, clock=clock) as kept:
        kept.remember_many([f"red fox {'x' * (number * 7 % 31 + 1)}" for number in range(30)])
        before = kept.recall("red fox", mode="hybrid", limit=30, rerank=Longest())
    with open_store(path, clock=clock) as again:
        assert again.recall("red fox", mode="hybrid", limit=30, rerank=Longest()) == before


@each_mode
def test_s52_of_a_part_that_is_a_vector_alone_the_content_is_read(store: MemoryStore, mode: str) -> None:
    """As adapters write that bring their own vectors."""
    notes = store.collection("notes")
    for content in ("red fox", "red fox in the field"):
        notes.put(content, content, parts=[Part("", "", tuple(HashEmbedder().embed_query(content).tolist()))])
    reranker = Longest()
    vector = None if mode == "keyword" else HashEmbedder().embed_query("red fox")
    hits = notes.search("red fox", vector, mode=mode, rerank=reranker)
    assert contents(hits) == ["red fox in the field", "red fox"]
    assert [sorted(texts) for _, texts in reranker.seen] == [["red fox", "red fox in the field"]]


@each_mode
def test_what_changes_while_a_reranker_reads_is_left_out(many: MemoryStore, mode: str) -> None:
    """Whatever else reorders: reranking takes its time, and others write meanwhile."""
    first = many.recall("red fox", mode=mode, limit=1)[0]

    class Editing(Longest):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            many.edit(first.id, "red fox elsewhere")
            return super().score(query, texts)

    for more in ({}, {"recency": True}, {"feedback": True}, {"mmr": 0.5}):
        found = many.recall("red fox", mode=mode, limit=100, rerank=Editing(), **more)
        assert first.id not in ids(found)
        assert len(found) == 29
