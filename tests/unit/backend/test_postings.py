"""The packed index lists each document under its words, whatever was packed, added and taken away, and when."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.backend.sqlite import columns, keyword, postings
from indelible.backend.sqlite.columns import columns_by_hand, columns_in_steps
from indelible.backend.sqlite.postings import BEYOND, Postings, Waiting, entries_of, listed, posting_problems
from indelible.backend.sqlite.schema import queries, script, statements
from indelible.search.keyword import marked_stem

WORDS = ("run", "running", "runs", "tea", "teas", "学", "x")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join) | st.sampled_from(["tea tea tea", "run running runs"])
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), TEXTS),
        st.tuples(st.just("split"), TEXTS),
        st.tuples(st.just("again"), TEXTS, st.integers(0, 30)),
        st.tuples(st.just("remove"), st.integers(0, 30)),
        st.tuples(st.just("pack")),
        st.tuples(st.just("look")),
    ),
    max_size=40,
)


@contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements(script("schema.sql")):
        connection.execute(statement)
    yield connection
    connection.close()


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of four documents, and more than twice the same word in one is many."""
    monkeypatch.setattr(postings, "MANY", 2)
    monkeypatch.setattr(postings, "CHUNK_BITS", 2)
    monkeypatch.setattr(postings, "CHUNK_MASK", 3)
    monkeypatch.setattr(columns, "FEW", 1)
    monkeypatch.setattr(columns, "LOOKED_UP", 2)
    for module in (keyword, columns):
        monkeypatch.setattr(module, "CHUNK_BITS", 2)
    for module in (keyword, columns):
        monkeypatch.setattr(module, "CHUNK_MASK", 3)


class Index:
    """The index and, beside it, what it should say."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.postings = Postings(connection, marked_stem)
        self.waiting = Waiting(marked_stem)
        self.texts: dict[int, str] = {}
        self.newest = 0
        self.epoch = 0

    def put(self, doc: int, words: str) -> None:
        self.connection.execute(queries()["add_keyword"], (doc, words, words.count(" ") + 1))
        self.postings.add(doc, words)
        self.texts[doc] = words

    def remove(self, doc: int) -> None:
        self.postings.remove(doc, self.texts.pop(doc))
        self.connection.execute(queries()["drop_keyword"], (doc,))
        self.connection.execute(queries()["raise_epoch"])

    def act(self, act: tuple[str, object, object]) -> None:
        kind, *about = act
        docs = sorted(self.texts)
        if kind == "write":
            self.newest += 1
            self.put(self.newest, str(about[0]))
        elif kind == "split":
            self.put(min([0, *docs]) - 1, str(about[0]))
        elif kind == "pack":
            self.postings.pack(self.newest, least=1)
        elif kind == "look":
            self.waiting.counts(self.connection, WORDS)
        elif docs:
            number = about[-1]
            assert isinstance(number, int)
            doc = docs[number % len(docs)]
            self.remove(doc)
            if kind == "again":
                self.put(doc, str(about[0]))

    def check(self) -> None:
        assert posting_problems(self.connection, marked_stem) == []
        terms = [["run", "ˢrun"], ["tea"], ["学"], ["absent"]]
        found = keyword.occurrences(self.connection, terms, self.waiting)
        wanted = {doc: [sum(listed(words, marked_stem)[word] for word in term) for term in terms] for doc, words in self.texts.items()}
        wanted = {doc: counts for doc, counts in sorted(wanted.items()) if any(counts)}
        assert dict(zip(found.documents.tolist(), found.counts.T.tolist(), strict=True)) == wanted
        assert found.documents.tolist() == list(wanted)
        some = list(self.texts)[::-2]
        names = [word for term in terms for word in term]
        late = self.waiting.counts(self.connection, names, set(some))
        for count in (columns_by_hand, columns_in_steps):
            rows = [
                (name, *row)
                for word in names
                for name in (word, word + BEYOND)
                for row in self.connection.execute(queries()["postings"], (name,))
            ]
            hits = [doc for doc in some if doc in wanted]
            counts = [[wanted[doc][number] for doc in hits] for number in range(len(terms))]
            places, columns_of_hits = count(terms, some, rows, late)
            assert (places, np.array(columns_of_hits).tolist()) == ([some.index(doc) for doc in hits], counts)
        for among in (None, set(list(self.texts)[::2])):
            holders = keyword._Holders(self.connection, [[[*WORDS, "ˢrun"]]], self.waiting, among)
            for word in (*WORDS, "ˢrun"):
                holding = {doc for doc, words in self.texts.items() if listed(words, marked_stem)[word]}
                assert holders(word) == (holding if among is None else holding & among)


@pytest.mark.usefixtures("narrow")
@given(acts=ACTS)
def test_the_index_is_what_a_count_of_all_texts_says(acts: list[tuple[str, object, object]]) -> None:
    """S41: whichever documents are packed, wait, were taken out or indexed again, in chunks of four."""
    with opened() as connection:
        index = Index(connection)
        for act in acts:
            index.act(act)
        index.check()


@pytest.mark.usefixtures("narrow")
@given(acts=ACTS, together=st.integers(1, 20), entries=st.integers(1, 20))
def test_texts_are_packed_in_pieces(acts: list[tuple[str, object, object]], together: int, entries: int) -> None:
    """S41: however few documents are gone through, and entries gathered, at a time."""
    with pytest.MonkeyPatch.context() as patch, opened() as connection:
        patch.setattr(postings, "TOGETHER", together)
        patch.setattr(postings, "GATHERED", entries)
        index = Index(connection)
        for act in acts:
            index.act(act)
        index.check()


@pytest.mark.usefixtures("narrow")
@given(split=st.lists(TEXTS, max_size=10), written=st.lists(TEXTS, max_size=10))
def test_a_store_of_old_is_listed_whole(split: list[str], written: list[str]) -> None:
    """S80: what an older release had is listed as if it had come now, the documents that context split among it."""
    with opened() as connection:
        index = Index(connection)
        texts = {-number: text for number, text in enumerate(split, 1)} | dict(enumerate(written, 1))
        for doc, text in texts.items():
            connection.execute(queries()["add_keyword"], (doc, text, text.count(" ") + 1))
        index.texts, index.newest = texts, len(written)
        index.postings.pack_everything(index.newest)
        assert index.postings.packed == index.newest
        index.check()


def test_packing_takes_no_more_memory_for_more_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """S80: what is at hand at a time is bounded, so that a rebuild or a migration of any store can be done."""
    monkeypatch.setattr(postings, "TOGETHER", 20_000)
    monkeypatch.setattr(postings, "GATHERED", 20_000)
    peaks = []
    for many in (100, 800):
        with opened() as connection:
            index = Index(connection)
            for number in range(many):
                index.put(number + 1, " ".join(f"w{(number * 7 + word) % 900}" for word in range(300)))
            tracemalloc.start()
            index.postings.pack(many, least=1)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert posting_problems(connection, marked_stem) == []
    assert peaks[1] < 1.5 * peaks[0], peaks


@given(acts=ACTS)
def test_nothing_of_what_was_taken_out_is_left(acts: list[tuple[str, object, object]]) -> None:
    """S60: when every document is gone, no word is listed."""
    with opened() as connection:
        index = Index(connection)
        for act in acts:
            index.act(act)
        for doc in list(index.texts):
            index.remove(doc)
        assert connection.execute("SELECT count(*) FROM posting").fetchone() == (0,)


@pytest.mark.parametrize("kind", ["write", "split"])
def test_a_text_that_is_listed_again_stands_where_it_stood(kind: str, narrow: None) -> None:
    """With words that it holds many times, too: what neighbours say is indexed anew each time one of them changes."""
    with opened() as connection:
        index = Index(connection)
        for text in ("tea tea tea", "tea tea tea tea", "x"):
            index.act((kind, text, None))
        index.act(("pack", None, None))
        for number in range(3):
            index.act(("again", "tea tea tea run run run", number))
            index.check()


@pytest.mark.parametrize("damage", ["DELETE FROM posting WHERE word = 'tea'", "UPDATE posting SET documents = x'0000' WHERE word = 'tea'"])
def test_damage_is_noticed(damage: str) -> None:
    """A word that is not listed, or listed for another document, is a problem that verify tells."""
    with opened() as connection:
        index = Index(connection)
        index.act(("write", "tea", None))
        index.act(("pack", None, None))
        assert posting_problems(connection, marked_stem) == []
        connection.execute(damage)
        assert len(posting_problems(connection, marked_stem)) == 1


def test_occurrences_are_listed_in_order_and_as_often_as_they_are() -> None:
    """A row is sixteen bits for each occurrence, the low byte first on every machine."""
    with opened() as connection:
        index = Index(connection)
        for text in ("tea tea", "x", "tea"):
            index.act(("write", text, None))
        index.act(("pack", None, None))
        (data,) = connection.execute("SELECT documents FROM posting WHERE word = 'tea'").fetchone()
        assert data == b"\x01\x00\x01\x00\x03\x00"
        assert Counter(entries_of("tea", data)) == {1: 2, 3: 1}


def test_a_word_said_a_million_times_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row holds no more than some entries for a document, whatever its text: a value in the database has a greatest length."""
    monkeypatch.setattr(postings, "PACK_WORDS", 10**9)
    with opened() as connection:
        index = Index(connection)
        for _ in range(3):
            index.act(("write", "tea " * 100_000 + "run", None))
        index.act(("pack", None, None))
        assert connection.execute("SELECT max(length(documents)) FROM posting").fetchone()[0] <= 24
        index.check()
        index.remove(2)
        index.check()


@pytest.mark.parametrize("docs", [(-1, -2), (-2, -1), (1, 2), (2, 1)])
def test_how_often_beyond_is_listed_in_order(docs: tuple[int, int]) -> None:
    """S88: documents that are indexed again, or out of order, stand as they would in an index that is made anew, which verify asks for."""
    with opened() as connection:
        index = Index(connection)
        index.newest = 2
        index.postings.pack(2, least=1)
        for doc in docs:
            index.put(doc, "tea " * 99 + "tea")
        index.check()
        for doc in docs:
            index.remove(doc)
            index.put(doc, "tea " * 88 + "tea")
            index.check()


def test_long_texts_do_not_wait_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is kept in memory by every reader, so words are packed early where there are many of them."""
    monkeypatch.setattr(postings, "PACK", 100)
    monkeypatch.setattr(postings, "PACK_WORDS", 50)
    with opened() as connection:
        index = Index(connection)
        for text in ("tea " * 29 + "tea", "tea " * 29 + "tea"):
            index.act(("write", text, None))
            index.postings.pack(index.newest)
        assert index.postings.packed == 2
        index.check()


def test_the_long_texts_of_many_writers_do_not_wait_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """S80: programs that write one text and end, or take turns, do not leave their readers more to remember than one that stays."""
    monkeypatch.setattr(postings, "PACK", 100)
    monkeypatch.setattr(postings, "PACK_WORDS", 1000)
    with opened() as connection:
        index = Index(connection)
        packed = []
        for number in range(60):
            index.postings = Postings(connection, marked_stem)
            index.act(("write", "tea " * (99 if number % 2 else 4) + "tea", None))
            index.postings.pack(index.newest)
            packed.append(index.postings.packed)
        assert sorted(set(packed)) == [0, 20, 40, 60]
        index.check()
