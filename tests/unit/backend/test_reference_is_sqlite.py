"""The in-memory reference and the SQLite backend give the same answers to the same calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indelible.backend.interface import Backend, Selection
from indelible.backend.large import VectorChunk
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.documents import has_neighbours
from indelible.base.draft import Draft, PartVector, Written
from indelible.base.event import Event, Op
from indelible.base.record import ANY_SCOPE, UNSET, Scope, ScopeFilter
from indelible.base.standing import FOREVER
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, Medium, ReferenceBackend, SequentialIds
from tests.unit.base.random_log import MODEL, SLOTS, Step, Writer, everything, pauses_ms, transactions

Script = list[tuple[int, list[Step]]]
scripts = st.lists(st.tuples(pauses_ms, transactions), max_size=15)
KETTLE = ((("kettle",), ("ˢrun",)), (("red",), ("blue",)))


def a_pair(series: int = 0, vectors: bool = False) -> tuple[Writer, Writer]:
    """A reference and an SQLite store with clocks and ids of their own, alike."""
    first, second = FakeClock(), FakeClock()
    reference = ReferenceBackend(clock=first, new_id=SequentialIds(series))
    sqlite = SqliteBackend(":memory:", TextIndexer(), clock=second, new_id=SequentialIds(series))
    return Writer(reference, first, vectors=vectors), Writer(sqlite, second, vectors=vectors)


def play(writer: Writer, script: Sequence[tuple[int, list[Step]]]) -> list[object]:
    """Write all of a script; what each write returned, or the class of its refusal."""
    done: list[object] = []
    for pause_ms, transaction in script:
        writer.clock.advance(ms=pause_ms)
        done.append(alike(writer.write(transaction)))
    return done


def alike(written: list[Written] | type) -> object:
    """What a write returned, as backends can be compared."""
    return written if isinstance(written, type) else [plain(outcome) for outcome in written]


def plain(outcome: Written) -> Written:
    """An outcome without where its row begins, which depends on how a backend cuts rows for context."""
    return outcome._replace(standing=None if outcome.standing is None else outcome.standing._replace(live_from=0))


def skeleton(event: Event) -> Event:
    """An event without what chance put into it."""
    payload = None if event.payload is None else replace(event.payload, salt=b"")
    none = bytes(32)
    record = b"device" if event.op is Op.DEVICE else event.record
    return replace(event, device=b"", previous=none, commitment=None, hash=none, payload=payload, record=record)


def answers(backend: Backend, now_ms: int) -> dict[str, object]:
    """Everything a backend says about what stands, at every version."""
    # Who is linked may be said of more, such as of what never stood.
    shown = backend.select(everything)
    linked = {row.standing.record for row in shown if '"context":["' in row.body and '"content":' in row.body and has_neighbours(row.body)}
    assert linked <= set(backend.linked())
    mark = backend.mark()
    found: dict[str, object] = {"mark": mark._replace(epoch=0), "log": [skeleton(event) for event in backend.events()]}
    for version in [None, *range(mark.version + 2)]:
        seen = Selection(namespace=None, version=version, now_ms=now_ms)
        found[f"select {version}"] = [row._replace(doc=0) for row in backend.select(seen)]
        found[f"slices {version}"] = backend.slices(seen)
        found[f"corpus {version}"] = backend.corpus(seen)
        found[f"find {version}"] = sorted(backend.find(seen, KETTLE, match="all"))
        found[f"any {version}"] = sorted(backend.find(seen, KETTLE, match="any"))
        found[f"occurrences {version}"] = occurrences(backend, seen)
        found[f"counted {version}"] = [counted(backend, seen, lengths=lengths) for lengths in (False, True)]
        found[f"vectors {version}"] = backend.vectors(seen, [MODEL])
        found[f"size {version}"] = [backend.size(seen, most) for most in (0, 1, 99)]
        found[f"coded {version}"] = stored(backend, seen)
        found[f"embedded {version}"] = embedded(backend, seen)
        records = [row.standing.record for row in backend.select(replace(everything, version=version))]
        found[f"rows {version}"] = sorted(row._replace(doc=0) for row in backend.rows([*records, bytes(16)], version=version))
        found[f"position {version}"] = backend.position(version=version)._replace(epoch=0)
    return found


def counted(backend: Backend, seen: Selection, *, lengths: bool) -> object:
    """How often the words of ``KETTLE`` occur in what a selection takes, record by record."""
    found = backend.counted(seen, [["kettle", "ˢrun"], ["red"], ["blue"]], lengths=lengths)
    assert found is not None
    assert found.corpus == (backend.corpus(seen) if lengths else None)
    return sorted(zip(found.records, found.versions, zip(*found.counts, strict=True), found.lengths, strict=True))


def occurrences(backend: Backend, seen: Selection) -> list[tuple[bytes, int, list[int]]]:
    """How often the words of ``KETTLE`` occur in what a selection takes."""
    found = backend.occurrences([["kettle", "ˢrun"], ["red"], ["blue"]])
    counts = dict(zip(found.documents.tolist(), found.counts.T.tolist(), strict=True))
    assert list(counts) == sorted(counts)
    return sorted((place.record, place.version, counts[place.doc]) for place in backend.resolve(seen, list(counts)))


def stored(backend: Backend, selection: Selection) -> list[object]:
    """What is kept under the documents of a selection, by version, whatever numbers a backend gives them."""
    listed = backend.documents(selection)
    numbers = listed.docs.tolist()
    assert numbers == sorted(set(numbers))
    of_doc = dict(zip(numbers, listed.versions.tolist(), strict=True))
    found = sorted((of_doc[doc], there) for doc, there in by_document(backend.vector_chunks(listed.docs, [MODEL], 9)).items())
    about = sorted(zip(listed.versions.tolist(), listed.expires.tolist(), map(bytes, listed.records), strict=True))
    lengths = sorted(zip(listed.versions.tolist(), backend.lengths(listed.docs).tolist(), strict=True))
    return [found, about, lengths]


def by_document(chunks: Iterable[VectorChunk]) -> dict[int, list[tuple[str, bytes]]]:
    """The parts and vectors of each document, which is in one piece and there in one place."""
    found: dict[int, list[tuple[str, bytes]]] = {}
    for chunk in chunks:
        docs, parts = chunk.docs.tolist(), chunk.parts or [""] * len(chunk.docs)
        size = len(chunk.data) // max(1, len(docs))
        assert len(list(groupby(docs))) == len(set(docs))
        assert found.keys().isdisjoint(docs)
        for i, doc in enumerate(docs):
            found.setdefault(doc, []).append((parts[i], bytes(chunk.data[size * i : size * i + size])))
    return {doc: sorted(there) for doc, there in found.items()}


def embedded(backend: Backend, selection: Selection, models: Sequence[str] = (MODEL,)) -> object:
    """Every record of a selection with its vectors, whatever numbers a backend gives their documents."""
    documents, vectors, _ = backend.embedded(selection, models)
    found = by_document([vectors])
    assert found.keys() <= set(documents.docs.tolist())
    columns = (documents.versions.tolist(), documents.expires.tolist(), map(bytes, documents.records))
    return sorted(zip(*columns, (found.get(doc, []) for doc in documents.docs.tolist()), strict=True))


def paged(backend: Backend, now_ms: int) -> list[object]:
    """Answers to selections of every kind."""
    first = backend.select(everything)[:1]
    kinds = [
        everything,
        replace(everything, expiry="expired", now_ms=now_ms),
        replace(everything, namespace=("n",), prefix=True),
        replace(everything, namespace=("n",)),
        replace(everything, scope=ScopeFilter(user_id="u")),
        replace(everything, scope=ScopeFilter(UNSET, None, None, None)),
        replace(everything, keys=("a", "c")),
        replace(everything, parent="p"),
        replace(everything, hidden=True),
        replace(everything, every_version=True),
        replace(everything, hidden=True, expiry="live", now_ms=now_ms),
        replace(everything, records=tuple(row.standing.record for row in first)),
        replace(everything, order="updated", descending=True, limit=2, offset=1),
        replace(everything, limit=0),
        replace(everything, limit=2**70, offset=2**70),
    ]
    return [[row._replace(doc=0) for row in backend.select(selection)] for selection in kinds]


@given(scripts)
@example([(0, [Step(Op.REMEMBER, key="a", text="one"), Step(Op.PURGE, key="a"), Step(Op.REMEMBER, key="a", text="two")])])
def test_the_same_writes_give_the_same_answers(script: Script) -> None:
    """Results and refusals of every write, and everything read at every version, are equal."""
    reference, sqlite = a_pair(vectors=True)
    assert play(reference, script) == play(sqlite, script)
    now_ms = reference.clock.now_us() // 1000
    assert answers(reference.backend, now_ms) == answers(sqlite.backend, now_ms)
    assert paged(reference.backend, now_ms) == paged(sqlite.backend, now_ms)


@given(scripts)
def test_rows_kept_current_are_the_rows_of_the_definition(script: Script) -> None:
    """The views that SQLite keeps as it writes are those that the log gives anew: before a rebuild, and after it."""
    _, sqlite = a_pair(vectors=True)
    play(sqlite, script)
    assert sqlite.backend.verify().problems == ()
    now_ms = sqlite.clock.now_us() // 1000
    before = answers(sqlite.backend, now_ms)
    sqlite.backend.rebuild()
    assert answers(sqlite.backend, now_ms) == before
    assert sqlite.backend.verify().problems == ()


@given(scripts)
def test_a_repeated_write_is_recognised_after_a_rebuild(script: Script) -> None:
    """A rebuild forgets no idempotency key: what a retry returns is the same before and after."""
    reference, sqlite = a_pair()
    retry = [Step(Op.REMEMBER, slot=slot, text="again", idempotency_key="retry") for slot in range(len(SLOTS))]
    play(reference, script)
    play(sqlite, script)
    sqlite.backend.rebuild()
    assert alike(reference.write(retry)) == alike(sqlite.write(retry))


def a_device(number: int, script: Script) -> Writer:
    """A store that a device of this number has written."""
    clock = FakeClock()
    device = bytes([number]) * 16
    writer = Writer(ReferenceBackend(Medium(device=device), clock=clock, new_id=SequentialIds(number)), clock)
    play(writer, script)
    return writer


@given(scripts, scripts, st.lists(st.booleans(), max_size=60), scripts)
def test_imports_give_the_same_answers(first: Script, second: Script, order: list[bool], then: Script) -> None:
    """Two devices' logs, imported in any interleaving, stand alike in both; so do writes on top of them."""
    left, right = a_device(1, first), a_device(2, second)
    reference, sqlite = a_pair(3)
    events = interleaved(left.backend.events(), right.backend.events(), order)
    assert reference.backend.ingest(events) == sqlite.backend.ingest(events)
    assert reference.backend.ingest(events) == sqlite.backend.ingest(events)
    reference.seen = [row.standing.record for row in reference.backend.select(everything)]
    sqlite.seen = list(reference.seen)
    now_ms = max(writer.clock.now_us() for writer in (left, right)) // 1000
    assert play(reference, then) == play(sqlite, then)
    assert answers(reference.backend, now_ms) == answers(sqlite.backend, now_ms)
    assert sqlite.backend.verify().problems == reference.backend.verify().problems == ()


def interleaved(left: list[Event], right: list[Event], order: list[bool]) -> list[Event]:
    """Two logs in one, each in its own order."""
    left, right = list(left), list(right)
    mixed = [(left if take_left else right).pop(0) for take_left in order if left and right]
    return [*mixed, *left, *right]


@pytest.mark.parametrize("named", [True, False])
def test_vectors_are_read_in_pieces(named: bool) -> None:
    """All of some documents, those of each in one piece, however many are read at a time and whatever lies between them."""
    random = np.random.default_rng(0)
    for backend in both():
        Writer(backend, FakeClock()).write([Step(Op.REMEMBER, text=f"text {number}") for number in range(40)])
        kept = {
            doc: [(f"p{part}" if named else "", random.bytes(8)) for part in range(int(random.integers(0, 4)) if named else 1)]
            for doc in range(1, 41)
        }
        backend.put_vectors([(doc, PartVector(part, MODEL, data)) for doc, there in kept.items() for part, data in there])
        backend.put_vectors([(doc, PartVector("", "other", b"otherone")) for doc in kept])
        for some in (range(1, 41), range(1, 41, 3), [2, 3, 5, 7, 40], [9], [], [3, 77]):
            for rows in (1, 2, 7, 1000):
                found = by_document(backend.vector_chunks(np.array(some, np.int64), [MODEL], rows))
                assert found == {doc: kept[doc] for doc in some if kept.get(doc)}


def test_a_sqlite_that_joins_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bytes do not come out of a join as they went in, rows are read one by one."""
    backends = both()
    for backend in backends:
        Writer(backend, FakeClock()).write([Step(Op.REMEMBER, text=f"text {number}") for number in range(9)])
    for module in ("large", "vectors"):
        monkeypatch.setattr(f"indelible.backend.sqlite.{module}.joins_bytes", lambda: False)
    test_vectors_are_read_in_pieces(False)
    assert stored(backends[0], everything) == stored(backends[1], everything)


def both() -> list[Backend]:
    return [writer.backend for writer in a_pair()]


@pytest.mark.parametrize("backend", both(), ids=["reference", "sqlite"])
def test_vectors_follow_the_versions(backend: Backend) -> None:
    """A reindex replaces a model's vectors of living versions, and raises the epoch; nothing else changes."""
    Writer(backend, FakeClock(), vectors=True).write([Step(Op.REMEMBER, text="red kettle")])
    epoch = backend.mark().epoch
    backend.put_vectors([(1, PartVector("", "new", b"1234")), (9, PartVector("", "new", b"1234"))])
    assert backend.models() == ["model", "new"]
    backend.drop_vectors(everything, [MODEL, "unknown"])
    assert backend.vectors(everything, [MODEL]) == []
    assert [(row.version, row.data) for row in backend.vectors(everything, ["new", MODEL])] == [(1, b"1234")]
    record = backend.select(everything)[0].standing.record
    assert embedded(backend, everything) == [(1, FOREVER, record, [])]
    assert embedded(backend, everything, ["new", MODEL]) == [(1, FOREVER, record, [("", b"1234")])]
    assert not backend.embedded(everything, []).linked
    assert backend.unembedded(everything, ["new"]) == []
    assert [row.standing.version for row in backend.unembedded(everything, [MODEL])] == [1]
    assert backend.mark().epoch > epoch


@pytest.mark.parametrize("backend", both(), ids=["reference", "sqlite"])
def test_rows_of_any_number_of_records(backend: Backend) -> None:
    """Few ids or many, known or not, the same twice: each visible record once, as it stands or stood."""
    writer = Writer(backend, FakeClock())
    for number in range(100):
        writer.write([Step(Op.REMEMBER, slot=number % len(SLOTS), text=str(number))])
    records = [row.standing.record for row in backend.select(everything)]
    assert len(records) == 100
    for number in (0, 1, 10, 64, 65, 100):
        wanted = [*records[:number], bytes(16), *records[:1]][: number + 2 if number else 1]
        assert {row.standing.record for row in backend.rows(wanted)} == set(records[:number])
        assert len(backend.rows(wanted)) == number
    assert [row.standing.version for row in backend.rows(records, version=1)] == [1]
    writer.write([Step(Op.FORGET, pick=0)])
    assert len(backend.rows(records)) == 99
    assert len(backend.rows(records, version=100)) == 100


@pytest.mark.parametrize("backend", both(), ids=["reference", "sqlite"])
def test_scopes_are_compared_exactly(backend: Backend) -> None:
    """A field of a scope is a value, "not set", or any; an empty filter field never matches a value by chance."""
    writer = Writer(backend, FakeClock())
    for slot in range(len(SLOTS)):
        writer.write([Step(Op.REMEMBER, slot=slot, text=str(slot))])
    scopes = [ScopeFilter(), ScopeFilter("a"), ScopeFilter("A"), ScopeFilter(None), ScopeFilter(user_id="u"), ScopeFilter("a", "u", None)]
    assert [len(backend.select(replace(everything, scope=scope))) for scope in scopes] == [4, 1, 0, 3, 2, 1]
    assert backend.slices(replace(everything, scope=ANY_SCOPE)) == [
        ((), Scope(), 1),
        ((), Scope("a", "u"), 1),
        (("n",), Scope(), 1),
        (("n", "m"), Scope(user_id="u"), 1),
    ]


def test_settings_of_a_namespace_go_with_its_last_record() -> None:
    """Those of namespaces above one that still has a record stay, and a record that is forgotten is one."""
    for writer in a_pair():
        backend = writer.backend
        places = [("a",), ("a", "b"), ("c",), ()]
        keys = {place: Draft(Op.REMEMBER, place, key="k", fields={"content": '"x"'}) for place in (("a", "b"), ("c",))}
        written = backend.append(list(keys.values()))
        for place in places:
            assert backend.setting("mood", "good", namespace=place) == "good"
        backend.setting("mood", "fair")
        backend.append([Draft(Op.FORGET, ("a", "b"), record=written[0].record)])
        backend.append([Draft(Op.PURGE, ("c",), record=written[1].record)])
        assert [backend.setting("mood", namespace=place) for place in places] == ["good", "good", None, "good"]
        backend.append([Draft(Op.PURGE, ("a", "b"), record=written[0].record)])
        assert [backend.setting("mood", namespace=place) for place in places] == [None] * 4
        assert backend.setting("mood") == "fair"
