"""Export and import (line 87 of the semantics): lossless, idempotent, in any order, and careful with files."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, Op, Part, PersistentMemory, StoreUnavailable
from indelible.backend.interface import Ingested
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder, ReferenceBackend
from tests.unit.faces.exports import HEADER, lines_of, write_lines


def open_store(path: Path | str = ":memory:", clock: FakeClock | None = None) -> MemoryStore:
    return MemoryStore(path, embedder=HashEmbedder(), clock=clock or FakeClock())


def fill(store: MemoryStore, clock: FakeClock) -> None:
    """Some of everything that a log can hold."""
    tea = store.remember("Ada likes green tea", user_id="ada", metadata={"n": 2**70, "f": -0.0}, source="letter", ttl_ms=60_000)
    store.edit(tea.id, "Ada likes black tea")
    store.feedback(tea.id, "up", note="quite so")
    store.forget(tea.id)
    store.undo(tea.id)
    secret = store.remember("the password is swordfish")
    store.purge(secret.id)
    store.remember("said again", key="k", idempotency_key="once", context=[tea.id])
    notes = store.collection("notes", "below", org_id="org", model="store")
    notes.put("a", "first", value=[1, {"x": None}], parts=[Part("p", "part text")], parent="doc")
    clock.advance(ms=1000)
    notes.delete("a")
    notes.put("b", "second", ttl_ms=60_000)
    memory = store.memory()
    memory.remember("key\n", [10**50, "\u2028"])
    memory.forget("key\n")
    memory.forget("never")
    store.memory("other").remember("", None)


def log_of(store: MemoryStore) -> list[tuple[object, ...]]:
    """The log without what belongs to the store: versions and arrival."""
    return [(e.device, e.seq, e.clock, e.op, e.record, e.commitment, e.expires_at, e.hash, e.payload) for e in store.iter_events()]


def state_of(store: MemoryStore) -> list[object]:
    """Everything that can be seen now, without versions."""
    facts = store.scope(namespace=())
    records = [*facts.list(include_expired=True), *store.collection("notes", org_id="org").list(prefix=True, include_expired=True)]
    seen: list[object] = [(r.id, r.key, r.content, r.value, r.metadata, r.created_at, r.updated_at, r.expires_at, r.parts) for r in records]
    return [*seen, store.memory().items(), store.memory("other").items(), store.collection().namespaces()]


def test_s87_an_import_is_lossless(tmp_path: Path, clock: FakeClock) -> None:
    """S87: log, states, histories, votes, vectors and answers are equal, and both verify; a purged secret is not in the file."""
    with open_store(tmp_path / "one.db", clock) as one, open_store(tmp_path / "two.db", clock) as two:
        fill(one, clock)
        count = one.export(tmp_path / "log.jsonl")
        assert two.import_(tmp_path / "log.jsonl") == Ingested(count, 0)
        assert count == one.version == two.version
        assert log_of(one) == log_of(two)
        assert state_of(one) == state_of(two)
        for record in one.list():
            assert [str(change) for change in one.history(record.id)] == [str(change) for change in two.history(record.id)]
        for mode in ("semantic", "keyword", "hybrid"):
            assert one.recall("black tea", mode=mode) == two.recall("black tea", mode=mode)
        assert one.verify() == two.verify()
        assert one.verify().ok
    assert b"swordfish" not in (tmp_path / "log.jsonl").read_bytes()


def test_s87_vectors_travel_with_their_texts(tmp_path: Path, clock: FakeClock) -> None:
    """S87: nothing is embedded again, so vectors that cannot be made again are not lost."""

    class Counting(HashEmbedder):
        made = 0

        def embed_documents(self, texts: Any) -> Any:
            Counting.made += len(texts)
            return super().embed_documents(texts)

    with open_store(clock=clock) as one, MemoryStore(":memory:", embedder=Counting(), clock=clock) as two:
        one.remember("Ada likes tea")
        one.collection("own").put("a", parts=[Part("p", "", (3.0, 4.0))])
        one.export(tmp_path / "log.jsonl")
        two.import_(tmp_path / "log.jsonl")
        Counting.made = 0
        assert two.recall("tea")[0].score == one.recall("tea")[0].score
        assert Counting.made == 1  # the query
        own = two.collection("own").get("a", with_vectors=True)
        assert own is not None
        assert own.vectors == {"p": (3.0, 4.0)}


@pytest.mark.parametrize("reference", [False, True], ids=["sqlite", "reference"])
def test_vectors_that_come_later_are_seen_at_once(tmp_path: Path, clock: FakeClock, reference: bool) -> None:
    """S48: an export of the same events, now with vectors, or with others, adds no event, and changes what a warm search answers."""
    path = tmp_path / "log.jsonl"
    with open_store(clock=clock) as one:
        one.collection("own").put("a", parts=[Part("p", "", (1.0, 0.0))])
        one.export(path)
    with_vectors = lines_of(path)
    without = [dumps({name: value for name, value in json.loads(line).items() if name != "vectors"}) for line in with_vectors]
    backend = ReferenceBackend(clock=clock) if reference else None
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock, backend=backend) as two:
        own = two.collection("own")
        write_lines(path, without)
        two.import_(path)
        own.put("b", parts=[Part("p", "", (0.0, 1.0))])
        assert [hit.score for hit in own.search(vector=(1.0, 0.0))] == [0.0]
        write_lines(path, with_vectors)
        for _ in range(2):
            assert two.import_(path) == Ingested(0, 1)
            assert [hit.score for hit in own.search(vector=(1.0, 0.0))] == [1.0, 0.0]
        epoch = two._engine.backend.mark().epoch
        two.import_(path)
        assert two._engine.backend.mark().epoch == epoch, "nothing came that was not there"


def test_s87_an_import_is_idempotent(tmp_path: Path, clock: FakeClock) -> None:
    """S87: what is here already is counted as known and changes nothing, also in the store that it came from."""
    with open_store(clock=clock) as one, open_store(clock=clock) as two:
        fill(one, clock)
        count = one.export(tmp_path / "log.jsonl")
        two.import_(tmp_path / "log.jsonl")
        before = [log_of(two), state_of(two)]
        assert [two.import_(tmp_path / "log.jsonl"), one.import_(tmp_path / "log.jsonl")] == [Ingested(0, count)] * 2
        assert [log_of(two), state_of(two)] == before
        one.remember("one more")
        one.export(tmp_path / "longer.jsonl")
        assert two.import_(tmp_path / "longer.jsonl") == Ingested(1, count)


def test_s87_a_cut_file_is_taken_as_far_as_it_goes(tmp_path: Path, clock: FakeClock) -> None:
    """S87: whole lines missing at the end are an older export; the rest comes with the next import."""
    with open_store(clock=clock) as one, open_store(clock=clock) as two:
        for number in range(6):
            one.remember(f"fact {number}")
        one.export(tmp_path / "log.jsonl")
        cut = write_lines(tmp_path / "cut.jsonl", lines_of(tmp_path / "log.jsonl")[:4])
        assert two.import_(cut) == Ingested(3, 0)
        assert two.import_(tmp_path / "log.jsonl") == Ingested(3, 3)
        assert log_of(one) == log_of(two)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_s87_imports_may_come_in_any_order(tmp_path: Path, clock: FakeClock, order: tuple[int, int]) -> None:
    """S87: of a key that two devices wrote the later write wins, whichever file comes first."""
    for number in range(2):
        with open_store(clock=clock) as store:
            store.memory().remember("shared", number)
            store.remember(f"fact of {number}", key="fact")
            clock.advance(ms=10)
            store.export(tmp_path / f"{number}.jsonl")
    with open_store(clock=clock) as store:
        for number in order:
            store.import_(tmp_path / f"{number}.jsonl")
        assert (store.memory().recall("shared"), [record.content for record in store.list()]) == (1, ["fact of 1"])
        assert store.verify().ok


def test_s87_a_copied_store_and_its_original_meet_again(tmp_path: Path, clock: FakeClock) -> None:
    """S87, the law: write to both, import each into the other: nothing refused, nothing lost, equal state."""
    with open_store(tmp_path / "one.db", clock) as one:
        fill(one, clock)
        one.backup(tmp_path / "backup.db")
        with MemoryStore.restore_backup(tmp_path / "backup.db", tmp_path / "two.db", embedder=HashEmbedder(), clock=clock) as two:
            clock.advance(ms=1000)
            for name, store in (("one", one), ("two", two)):
                store.remember(f"written in {name}")
                store.memory().remember("both", name)
                store.edit(store.list(key="k")[0].id, f"edited in {name}")
                clock.advance(ms=1000)
            for name, store in (("one", one), ("two", two)):
                store.export(tmp_path / f"{name}.jsonl")
            assert one.import_(tmp_path / "two.jsonl").added == 4  # three writes, and the event of the new device
            assert two.import_(tmp_path / "one.jsonl").added == 3
            assert state_of(one) == state_of(two)
            assert sorted(map(repr, log_of(one))) == sorted(map(repr, log_of(two)))
            assert one.memory().recall("both") == "two"
            assert one.verify().ok
            assert two.verify().ok
        assert [event.op for event in one.iter_events()].count(Op.DEVICE) == 1


def test_s87_what_was_purged_does_not_come_back(tmp_path: Path, clock: FakeClock) -> None:
    """S87: an export from before the purge is taken, and what it still says of the purged record is not."""
    with open_store(tmp_path / "one.db", clock) as store:
        secret = store.remember("the password is swordfish")
        store.remember("kept")
        store.export(tmp_path / "before.jsonl")
        store.purge(secret.id)
        assert store.import_(tmp_path / "before.jsonl") == Ingested(0, 2)
        assert [record.content for record in store.list()] == ["kept"]
        store.export(tmp_path / "after.jsonl")
    with open_store(clock=clock) as other:
        for name in ("before", "after"):
            other.import_(tmp_path / f"{name}.jsonl")
        assert [record.content for record in other.list()] == ["kept"]
        assert other.search("swordfish") == []
        assert other.verify().ok


def test_an_export_is_readable_by_its_owner_and_by_anybody_s_tools(tmp_path: Path, clock: FakeClock) -> None:
    """A header, then a JSON object a line in order of arrival, mode 0600; nothing else is left in the folder."""
    (tmp_path / "out").mkdir()
    with open_store(clock=clock) as store:
        fill(store, clock)
        store.export(tmp_path / "out" / "log.jsonl")
        header, *lines = lines_of(tmp_path / "out" / "log.jsonl")
        assert header == HEADER
        assert [bytes.fromhex(json.loads(line)["hash"]) for line in lines] == [event.hash for event in store.iter_events()]
    assert stat.S_IMODE((tmp_path / "out" / "log.jsonl").stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["log.jsonl"]


def test_an_empty_store_has_an_export(tmp_path: Path) -> None:
    """A header alone, which can be imported."""
    with open_store() as store:
        assert store.export(tmp_path / "log.jsonl") == 0
        assert lines_of(tmp_path / "log.jsonl") == [HEADER]
        assert store.import_(tmp_path / "log.jsonl") == Ingested(0, 0)


def a_file(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("make", [a_file, a_dangling_link, Path.mkdir])
@pytest.mark.parametrize("suffix", ["", ".partial"])
def test_an_export_overwrites_nothing(folder: Path, make: Callable[[Path], None], suffix: str) -> None:
    """Whatever stands under the name, or under the one it would have meanwhile, stays; InvalidInput names it."""
    taken = folder / f"log.jsonl{suffix}"
    make(taken)
    with open_store() as store, pytest.raises(InvalidInput, match=f"log.jsonl{suffix} exists"):
        store.export(folder / "log.jsonl")
    assert [file.name for file in folder.iterdir()] == [taken.name]
    assert not taken.is_file() or taken.read_text(encoding="utf-8") == "mine"


def test_an_export_that_fails_leaves_nothing(folder: Path, clock: FakeClock) -> None:
    """Neither a folder that is not there nor a store that breaks off half-way leaves half a file."""
    with open_store() as store, pytest.raises(StoreUnavailable, match="cannot write"):
        store.export(folder / "missing" / "log.jsonl")
    backend = SqliteBackend(":memory:", TextIndexer(), clock=clock)
    with MemoryStore(":memory:", backend=FlakyBackend(backend, [1], verbs=["events"]), embedder=HashEmbedder(), clock=clock) as store:
        store.remember("fact")
        with pytest.raises(StoreUnavailable, match="as the test asked"):
            store.export(folder / "log.jsonl")
        assert list(folder.iterdir()) == []
        assert store.export(folder / "log.jsonl") == 1


def test_an_import_reads_exports_only(tmp_path: Path, clock: FakeClock) -> None:
    """A file that is not there, or a folder, is StoreUnavailable; a store's own files are not opened, which would drop its locks."""
    with open_store(tmp_path / "one.db", clock) as store:
        store.remember("fact")
        for path in (tmp_path / "missing.jsonl", tmp_path):
            with pytest.raises(StoreUnavailable, match="cannot read"):
                store.import_(path)
        (tmp_path / "link.jsonl").symlink_to(tmp_path / "one.db")
        for name in ("one.db", "one.db-wal", "one.db-shm", "one.db.lock", "link.jsonl"):
            with pytest.raises(InvalidInput, match="belongs to this open store"):
                store.import_(tmp_path / name)
        assert store.verify().ok


def test_a_key_value_memory_travels_in_its_store(tmp_path: Path, clock: FakeClock) -> None:
    """The versions of a persistent memory come back as they were, in a file that a PersistentMemory opens."""
    with PersistentMemory("ledger", tmp_path / "one.db", clock=clock) as ledger:
        ledger.remember("name", "ada")
        ledger.remember("name", "ada lovelace")
        ledger.forget("name")
        history = ledger.history("name")
    with open_store(tmp_path / "one.db", clock) as one, open_store(tmp_path / "two.db", clock) as two:
        one.export(tmp_path / "log.jsonl")
        two.import_(tmp_path / "log.jsonl")
    with PersistentMemory("ledger", tmp_path / "two.db", clock=clock) as ledger:
        assert ledger.history("name") == history
