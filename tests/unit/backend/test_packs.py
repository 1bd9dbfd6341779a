"""Vectors that lie together are those that were given, whatever was packed, changed and taken out, and when."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.backend.interface import Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite import packs as packing
from indelible.backend.sqlite.packs import Packs, is_turn
from indelible.base.canonical import dumps
from indelible.base.draft import CONTEXT_PART, Draft, PartVector
from indelible.base.event import Op
from indelible.base.record import Scope
from indelible.errors import RecordNotFound
from tests.crash.engine import open_engine

EVERYTHING = Selection(namespace=None)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 8), st.integers(0, 1)),
        st.tuples(st.just("revise"), st.integers(1, 4), st.integers(0, 40)),
        st.tuples(st.just("forget"), st.just(1), st.integers(0, 40)),
        st.tuples(st.just("restore"), st.just(1), st.integers(0, 40)),
        st.tuples(st.just("purge"), st.integers(1, 3), st.integers(0, 40)),
        st.tuples(st.just("set"), st.integers(0, 2), st.integers(0, 40)),
        st.tuples(st.just("drop"), st.integers(0, 1), st.integers(0, 1)),
        st.tuples(st.sampled_from(["vacuum", "rebuild"]), st.just(0), st.just(0)),
    ),
    max_size=25,
)


def note(
    text: str, *, user: str = "u", model: str = "m", dim: int = 2, record: bytes | None = None, parts: tuple[str, ...] = ("",)
) -> Draft:
    """A write whose vectors say what it says."""
    vectors = tuple(PartVector(part, model, vector(text, dim, part)) for part in parts)
    fields = {"content": dumps(text)}
    if record is not None:
        return Draft(Op.REVISE, None, record=record, fields=fields, vectors=vectors)
    return Draft(Op.REMEMBER, ("n",), Scope(user_id=user), fields=fields, vectors=vectors)


def vector(text: str, dim: int = 2, part: str = "") -> bytes:
    return f"{text}/{part}".encode().ljust(4 * dim, b".")[: 4 * dim]


@pytest.fixture
def backend() -> Iterator[SqliteBackend]:
    with closing(open_engine(":memory:")) as backend:
        yield backend


def ask(backend: SqliteBackend, sql: str, *values: object) -> list[tuple[int, ...]]:
    with backend._connections.read() as connection:
        return connection.execute(sql, values).fetchall()


def change(backend: SqliteBackend, sql: str, *values: object) -> None:
    with backend._connections.write() as connection:
        connection.execute(sql, values)


def waiting(backend: SqliteBackend) -> list[int]:
    return [doc for (doc,) in ask(backend, "SELECT id >> 20 FROM vector ORDER BY id")]


def packed(backend: SqliteBackend) -> list[int]:
    return [row[0] for row in ask(backend, "SELECT doc FROM packed ORDER BY doc")]


def kept(backend: SqliteBackend, docs: list[int], models: tuple[str, ...] = ("m",), rows: int = 4) -> dict[int, set[tuple[str, bytes]]]:
    """The vectors of documents, as they are read in pieces."""
    found: dict[int, set[tuple[str, bytes]]] = {}
    for chunk in backend.vector_chunks(np.array(docs, np.int64), models, rows):
        size = len(chunk.data) // len(chunk.docs)
        assert found.keys().isdisjoint(chunk.docs.tolist())
        for at, doc in enumerate(chunk.docs.tolist()):
            part = "" if chunk.parts is None else chunk.parts[at]
            found.setdefault(doc, set()).add((part, bytes(chunk.data[at * size : (at + 1) * size])))
    return found


def test_a_batch_is_packed_straight_away(backend: SqliteBackend) -> None:
    """What fills packs never waits; what is left over does."""
    backend.append([note(f"t{number}") for number in range(8)])
    assert (packed(backend), waiting(backend)) == ([1, 2, 3, 4, 5, 6], [7, 8])
    assert [len(row[0]) // 8 for row in ask(backend, "SELECT docs FROM pack")] == [3, 3]  # type: ignore[arg-type]  # bytes in this column
    assert kept(backend, list(range(1, 9))) == {doc: {("", vector(f"t{doc - 1}"))} for doc in range(1, 9)}
    assert backend.verify().ok


def test_a_number_whose_bytes_stand_across_two_others_is_not_taken_for_them(backend: SqliteBackend) -> None:
    """Of a few documents each is looked for by its bytes among those of its pack, where those of 256 come between 1 and 2 already."""
    backend.append([note(f"t{number}", user="u" if number in (1, 2, 256) else "v") for number in range(1, 257)])
    assert ask(backend, "SELECT instr(docs, ?) FROM pack ORDER BY id DESC", (256).to_bytes(8, "big"))[0][0] == 2
    assert kept(backend, [1, 256]) == {doc: {("", vector(f"t{doc}"))} for doc in (1, 256)}


def test_single_writes_are_packed_by_some_of_them(backend: SqliteBackend) -> None:
    """Slices that take turns are packed all the same, and no more waits than a few."""
    for number in range(120):
        backend.append([note(f"t{number}", user=f"u{number % 3}")])
    assert len(waiting(backend)) < 60
    assert len(packed(backend)) == 120 - len(waiting(backend))
    assert backend.verify().ok


@pytest.mark.parametrize("step", [1, 2, 3, 7, 16, 64])
def test_turns_come_to_everybody(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part of all writes is a slice's, one in about sixteen looks."""
    monkeypatch.setattr(packing, "PACK", 16)
    turns = sum(is_turn(doc) for doc in range(5, 5 + 4096 * step, step))
    assert 192 < turns < 320


def test_small_slices_stay_as_they_are(backend: SqliteBackend) -> None:
    """Documents of different slices, models or lengths never lie together."""
    kinds = [("u", "m", 2), ("v", "m", 2), ("u", "other", 2), ("u", "m", 3)]
    backend.append([note(f"t{at}", user=user, model=model, dim=dim) for user, model, dim in kinds for at in range(2)])
    backend.vacuum()
    assert packed(backend) == []
    assert len(waiting(backend)) == 8


def test_a_document_of_two_models_waits(backend: SqliteBackend) -> None:
    """A pack is of one model."""
    both = [Draft(Op.REMEMBER, ("n",), Scope(), fields={}, vectors=(PartVector("", "m", b"1234"), PartVector("", "o", b"5678")))] * 3
    backend.append(both)
    backend.vacuum()
    assert packed(backend) == []
    assert kept(backend, [1, 2], ("m", "o")) == {1: {("", b"1234"), ("", b"5678")}, 2: {("", b"1234"), ("", b"5678")}}


def test_large_documents_wait(backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a pack nor what is read to make one grows without end."""
    monkeypatch.setattr(packing, "MOST_BYTES", 32)
    backend.append([note(f"t{number}", dim=9) for number in range(4)])
    backend.append([note(f"s{number}", dim=4) for number in range(4)])
    assert packed(backend) == [5, 6, 7, 8]
    assert len(ask(backend, "SELECT 1 FROM pack")) == 2


def test_a_vector_that_is_set_again_is_the_new_one(backend: SqliteBackend) -> None:
    """S33: and there is one, outside the pack, from which it was taken; the others stay in theirs."""
    backend.append([note(f"t{number}", parts=("a", "b")) for number in range(4)])
    assert packed(backend) == [1, 2, 3, 4]
    backend.put_vectors([(2, PartVector("b", "m", b"new data")), (3, PartVector("", "other", b"12345678"))])
    assert packed(backend) == [1, 3, 4]
    assert kept(backend, [1, 2]) == {
        1: {("a", vector("t0", part="a")), ("b", vector("t0", part="b"))},
        2: {("a", vector("t1", part="a")), ("b", b"new data")},
    }
    assert kept(backend, [3], ("m", "other"))[3] == {("a", vector("t2", part="a")), ("b", vector("t2", part="b")), ("", b"12345678")}
    assert backend.stored_vectors(3) == [
        *(PartVector(part, "m", vector("t2", part=part)) for part in "ab"),
        PartVector("", "other", b"12345678"),
    ]
    assert backend.verify().ok


def test_another_model_takes_over(backend: SqliteBackend) -> None:
    """A reindex leaves the packs until the old model's vectors go, and with them they do; the next vacuum packs the new ones."""
    backend.append([note(f"t{number}") for number in range(6)])
    backend.put_vectors([(doc, PartVector("", "new", b"4444")) for doc in range(1, 7)])
    assert packed(backend) == waiting(backend) == [1, 2, 3, 4, 5, 6]
    assert backend.unembedded(EVERYTHING, ["new"]) == backend.unembedded(EVERYTHING, ["m"]) == []
    backend.drop_vectors(EVERYTHING, ["m"])
    assert (packed(backend), ask(backend, "SELECT 1 FROM pack")) == ([], [])
    assert [row.doc for row in backend.unembedded(EVERYTHING, ["m"])] == [1, 2, 3, 4, 5, 6]
    assert backend.statistics()["vectors"] == {"new": 6}
    backend.vacuum()
    assert (packed(backend), waiting(backend)) == ([1, 2, 3, 4, 5, 6], [])
    assert backend.statistics()["vectors"] == {"new": 6}
    assert [row.data for row in backend.vectors(EVERYTHING, ["m", "new"])] == [b"4444"] * 6


def test_the_past_keeps_its_vectors(backend: SqliteBackend) -> None:
    """What was packed stays where it is when its record changes, and reads of the past find it."""
    written = backend.append([note(f"t{number}") for number in range(3)])
    for outcome in written:
        backend.append([note("changed", record=outcome.record)])
    for version, text in ((3, "t1"), (None, "changed")):
        selection = Selection(namespace=("n",), version=version, records=(written[1].record,))  # type: ignore[arg-type]
        assert [row.data for row in backend.vectors(selection, ["m"])] == [vector(text)]
        assert backend.embedded(selection, ["m"]).vectors.data == vector(text)
        whole = Selection(namespace=("n",), version=version)
        assert len(backend.embedded(whole, ["m"]).vectors.docs) == 3
    assert set(packed(backend)) >= {1, 2, 3}
    assert backend.verify().ok


def test_a_purge_takes_out_one_of_many(backend: SqliteBackend) -> None:
    """S74: the rest of its pack stays, and the pack goes with its last document."""
    written = backend.append([note(f"t{number}") for number in range(3)])
    for left in (2, 1, 0):
        backend.append([Draft(Op.PURGE, None, record=written[left].record)])
        assert packed(backend) == list(range(1, left + 1))
        assert kept(backend, [1, 2, 3]) == {doc: {("", vector(f"t{doc - 1}"))} for doc in range(1, left + 1)}
        assert backend.verify().ok
    assert ask(backend, "SELECT 1 FROM pack") == []


def test_a_batch_may_purge_what_it_wrote(backend: SqliteBackend) -> None:
    """S74: also what was about to fill a pack."""
    key = {"namespace": ("n",), "key": "k"}
    drafts = [Draft(Op.REMEMBER, **key, fields={}, vectors=(PartVector("", "m", b"1234"),)), Draft(Op.PURGE, **key)]  # type: ignore[arg-type]
    backend.append([note("t"), *drafts, note("u"), note("v")])
    assert sorted(kept(backend, [1, 2, 3, 4, 5, 6])) == [1, 4, 5]
    assert backend.verify().ok


def test_context_vectors_are_known_and_dropped(backend: SqliteBackend) -> None:
    """Of a packed document whose neighbour goes, only the vector of its context does."""
    first = backend.append([note("neighbour", user="u")])[0].record
    assert first is not None
    context = f'["{first.hex()[:8]}-{first.hex()[8:12]}-{first.hex()[12:16]}-{first.hex()[16:20]}-{first.hex()[20:]}"]'
    both = tuple(PartVector(part, "m", vector("x", part=part[:1])) for part in ("", CONTEXT_PART))
    drafts = [
        Draft(Op.REMEMBER, ("n",), Scope(user_id="u"), fields={"content": dumps(f"t{at}"), "context": context}, vectors=both)
        for at in range(4)
    ]
    backend.append(drafts)
    assert set(packed(backend)) >= {2, 3, 4}
    assert backend.unembedded(EVERYTHING, ["m"], context=True) == []
    backend.append([Draft(Op.PURGE, None, record=first)])
    for doc in (2, 3, 4, 5):
        assert [part.part for part in backend.stored_vectors(doc)] == [""]
    assert [row.doc for row in backend.unembedded(EVERYTHING, ["m"], context=True)] == [2, 3, 4, 5]
    assert backend.verify().ok


def test_pieces_are_whole_while_others_pack(backend: SqliteBackend) -> None:
    """S75: what waits when the first piece is read may lie in a pack when its turn comes, or the other way round."""
    backend.append([note(f"t{number}") for number in range(9)])
    backend.put_vectors([(doc, PartVector("", "m", vector(f"t{doc - 1}"))) for doc in (2, 3, 5, 8)])
    for between in (backend.vacuum, lambda: backend.put_vectors([(doc, PartVector("", "m", b"12345678")) for doc in (1, 6, 7)])):
        seen: list[int] = []
        for at, chunk in enumerate(backend.vector_chunks(np.arange(1, 10), ["m"], 2)):
            seen += chunk.docs.tolist()
            if at == 0:
                between()
        assert sorted(seen) == list(range(1, 10))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("UPDATE packed SET pack = 2 WHERE doc = 1", "noted wrongly"),
        ("DELETE FROM packed WHERE doc = 1", "noted wrongly"),
        ("INSERT INTO packed VALUES (77, 1)", "noted wrongly"),
        ("UPDATE pack SET slice = slice + 1 WHERE id = 1", "not of the slice"),
        ("UPDATE pack SET docs = x'00' WHERE id = 1", "does not hold what it lists"),
        ("UPDATE pack SET data = x'0011' WHERE id = 1", "does not hold what it lists"),
        ("UPDATE pack SET parts = '[]' WHERE id = 1", "does not hold what it lists"),
        ("UPDATE pack SET docs = (SELECT docs FROM pack WHERE id = 1) WHERE id = 2", "in two packs"),
        ("INSERT INTO vector VALUES (1 << 20, '', 1, x'00')", "in a pack and outside"),
    ],
)
def test_verify_tells_of_damage(backend: SqliteBackend, damage: str, says: str) -> None:
    """And a rebuild sets right what follows from the rest."""
    backend.append([note(f"t{number}") for number in range(6)])
    change(backend, damage)
    assert any(says in problem for problem in backend.verify().problems)
    heals = all(": rebuild" in problem for problem in backend.verify().problems)
    backend.rebuild()
    assert backend.verify().ok == heals
    if heals:
        assert kept(backend, list(range(1, 7))) == {doc: {("", vector(f"t{doc - 1}"))} for doc in range(1, 7)}


def test_a_pack_under_another_slice_is_found_all_the_same(backend: SqliteBackend) -> None:
    """Where a pack stands makes a read slower, not wrong."""
    backend.append([note(f"t{number}") for number in range(6)])
    change(backend, "UPDATE pack SET slice = 99 WHERE id = 1")
    assert sorted(backend.embedded(Selection(namespace=("n",)), ["m"]).vectors.docs.tolist()) == [1, 2, 3, 4, 5, 6]


def test_a_store_of_schema_5_is_packed(tmp_path: Path) -> None:
    """What an older release had lies together after the update, but for the past."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        written = backend.append([note(f"t{number}") for number in range(7)])
        backend.append([note("changed", record=written[0].record)])
        with backend._connections.write() as connection:
            Packs(connection).loosen(range(1, 9))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("pack", "packed"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version=5")
    with closing(open_engine(path)) as backend:
        assert (packed(backend), waiting(backend)) == ([2, 3, 4, 5, 6, 7], [1, 8])
        assert kept(backend, [1, 2, 8]) == {1: {("", vector("t0"))}, 2: {("", vector("t1"))}, 8: {("", vector("changed"))}}
        assert backend.verify().ok


class Writings:
    """A store and, beside it, the vectors that its documents should have."""

    def __init__(self, backend: SqliteBackend) -> None:
        self.backend = backend
        self.records: list[bytes] = []
        self.owners: dict[int, bytes] = {}
        self.given: dict[int, dict[tuple[str, str], bytes]] = {}

    def act(self, kind: str, number: int, which: int) -> None:
        if kind == "write":
            self.write(number, which)
        elif kind == "drop":
            self.drop(("m", "o")[number])
        elif kind in ("vacuum", "rebuild"):
            getattr(self.backend, kind)()
        elif kind == "set" and self.given:
            self.put(*(("", "m"), ("p", "m"), ("", "o"))[number], which)
        elif kind == "purge" and self.records:
            self.purge({self.records[(which + at) % len(self.records)] for at in range(number)})
        elif kind != "set" and self.records:
            with suppress(RecordNotFound):  # a forgotten one is not revised
                self.change(kind, self.records[which % len(self.records)], number)

    def write(self, number: int, which: int) -> None:
        parts = [("", "p")[: 1 + at % 2] for at in range(number)]
        written = self.backend.append([note(f"w{at}", user=f"u{which}", parts=some) for at, some in enumerate(parts)])
        for at, (outcome, some) in enumerate(zip(written, parts, strict=True)):
            assert outcome.record is not None
            self.records.append(outcome.record)
            self.keep(outcome.version, outcome.record, {(part, "m"): vector(f"w{at}", part=part) for part in some})

    def change(self, kind: str, record: bytes, number: int) -> None:
        if kind == "revise":
            for at, outcome in enumerate(self.backend.append([note(f"r{at}", record=record) for at in range(number)])):
                if outcome.changed:
                    self.keep(outcome.version, record, {("", "m"): vector(f"r{at}")})
        elif kind == "restore":
            first = min(version for version, owner in self.owners.items() if owner == record)
            outcome = self.backend.append([Draft(Op.RESTORE, None, record=record, restore_version=first)])[0]
            if outcome.changed:
                self.keep(outcome.version, record, dict(self.given[first]))
        else:
            self.backend.append([Draft(Op.FORGET, None, record=record, if_missing="ignore")])

    def keep(self, doc: int, record: bytes, vectors: dict[tuple[str, str], bytes]) -> None:
        self.owners[doc] = record
        self.given[doc] = vectors

    def put(self, part: str, model: str, which: int) -> None:
        for doc in sorted(self.given)[which % len(self.given) :][:3]:
            self.given[doc][part, model] = b"setagain"
            self.backend.put_vectors([(doc, PartVector(part, model, b"setagain"))])

    def drop(self, model: str) -> None:
        self.backend.drop_vectors(EVERYTHING, [model])
        for row in self.backend.select(EVERYTHING):
            self.given[row.doc] = {name: data for name, data in self.given[row.doc].items() if name[1] != model}

    def purge(self, records: set[bytes]) -> None:
        self.backend.append([Draft(Op.PURGE, None, record=record) for record in sorted(records)])
        self.records = [record for record in self.records if record not in records]
        self.given = {doc: vectors for doc, vectors in self.given.items() if self.owners[doc] not in records}
        self.owners = {doc: owner for doc, owner in self.owners.items() if owner not in records}

    def check(self) -> None:
        assert self.backend.verify().problems == ()
        for models in (("m",), ("o",), ("m", "o")):
            wanted = {doc: {(name[0], data) for name, data in some.items() if name[1] in models} for doc, some in self.given.items()}
            wanted = {doc: some for doc, some in wanted.items() if some}
            for rows in (1, 100):
                assert kept(self.backend, [*sorted(self.given), 10_000], models, rows) == wanted
            half = self.backend.mark().version // 2
            for selection in (EVERYTHING, Selection(namespace=("n",)), Selection(namespace=None, version=half)):
                documents, chunk, _ = self.backend.embedded(selection, models)
                docs = set(documents.docs.tolist())
                assert set(chunk.docs.tolist()) == docs & wanted.keys()
                data = [bytes(chunk.data[at : at + 8]) for at in range(0, len(chunk.data), 8)]
                assert sorted(data) == sorted(row.data for row in self.backend.vectors(selection, models))
                assert len(data) == len(chunk.docs)
        for doc, some in self.given.items():
            assert {(vector.part, vector.model): vector.data for vector in self.backend.stored_vectors(doc)} == some
        numbers = Counter(model for some in self.given.values() for _, model in some)
        assert self.backend.statistics()["vectors"] == dict(numbers)


@given(acts=ACTS)
def test_vectors_are_those_that_were_given(acts: list[tuple[str, int, int]]) -> None:
    """S33: by document and by selection, now and in the past, whatever was written and done before."""
    with closing(open_engine(":memory:")) as backend:
        writings = Writings(backend)
        for act in acts:
            writings.act(*act)
        writings.check()
