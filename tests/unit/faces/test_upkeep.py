"""Health and advice (lines 75 and 76 of the semantics), the log as events, and key/value memories inside a store."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, Op, PersistentMemory, StoreClosed, UnsupportedOperation
from indelible.backend.interface import Vacuumed
from indelible.faces import upkeep
from indelible.testing import FakeClock, HashEmbedder


def fill(store: MemoryStore, clock: FakeClock) -> None:
    """Two live records, one expired, two forgotten, one purged."""
    store.remember("secret live one")
    store.remember("secret expired", ttl_ms=1000)
    store.forget(store.remember("secret forgotten").id)
    store.purge(store.remember("secret purged").id)
    store.memory().remember("secret key", "secret value")
    store.memory().forget("secret never")
    clock.advance(ms=1000)


def test_s76_health_counts(store: MemoryStore, clock: FakeClock, path: Path) -> None:
    """S76: totals over all namespaces, size, version, and vectors by model; nothing expires by being counted."""
    fill(store, clock)
    health = store.health()
    assert (health.ok, health.path, health.version) == (True, str(path), 8)
    assert (health.live, health.expired, health.forgotten, health.purged) == (2, 1, 2, 1)
    assert health.bytes >= path.stat().st_size > 0
    ((model, vectors),) = health.vectors.items()
    assert ("hash-64" in model, vectors) == (True, 3)
    assert store.version == 8


def test_s76_health_of_an_empty_store(clock: FakeClock) -> None:
    """S76: zeros, also for one in memory."""
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as store:
        health = store.health()
    assert (health.ok, health.path, health.version, health.live, health.expired) == (True, ":memory:", 0, 0, 0)
    assert (health.forgotten, health.purged, health.bytes, health.vectors) == (0, 0, 0, {})


def test_s76_health_and_doctor_show_no_content(store: MemoryStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """S76: no text, key or value of anybody; settings are those of this library alone."""
    fill(store, clock)
    monkeypatch.setenv("MEMORY_FTS5_BM25", "1")
    monkeypatch.setenv("AWS_SECRET", "secret of another program")
    assert store.health().settings == {"MEMORY_FTS5_BM25": "1"}
    assert "secret" not in repr(asdict(store.health())) + repr(asdict(store.doctor()))


def test_s76_doctor_reads_the_settings_back(store: MemoryStore) -> None:
    """S76: engine and pragmas as they are, not as they were meant."""
    found = store.doctor()
    assert found.engine == f"SQLite {sqlite3.sqlite_version}"
    pragmas = {name: found.pragmas[name] for name in ("journal_mode", "synchronous", "secure_delete", "trusted_schema")}
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "trusted_schema": 0}


@pytest.mark.parametrize(
    ("engine", "risky"),
    [((3, 40, 1), True), ((3, 44, 5), True), ((3, 44, 6), False), ((3, 45, 0), True), ((3, 50, 6), True), ((3, 50, 7), False),
     ((3, 51, 2), True), ((3, 51, 3), False), ((3, 52, 0), False), ((4, 0, 0), False)],
)  # fmt: skip
def test_s76_doctor_knows_risky_engines(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, engine: tuple[int, ...], risky: bool) -> None:
    """S76: releases with the WAL-reset bug; a later one within a minor release may be mended."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", engine)
    assert any("WAL-reset" in risk for risk in store.doctor().risks) is risky


def test_s76_doctor_says_what_to_do(store: MemoryStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S76: a file that others may read, and a write-ahead log that has grown; each risk goes with its cause."""
    store.remember("fact")
    before = set(store.doctor().risks)
    path.chmod(0o644)
    assert [risk for risk in store.doctor().risks if risk not in before] == [f"others may read {path}: chmod 600 it"]
    path.chmod(0o600)
    monkeypatch.setattr(upkeep, "LARGE_WAL", 1)
    assert ["vacuum() is due" in risk for risk in store.doctor().risks if risk not in before] == [True]
    store.vacuum()
    assert set(store.doctor().risks) == before


@pytest.mark.parametrize("name", ["Dropbox", "OneDrive", "Google Drive"])
def test_s76_doctor_warns_of_folders_that_a_client_replaces(folder: Path, name: str) -> None:
    """S76: a synchronised folder is no place for an open database."""
    with MemoryStore(folder / name / "store.db", embedder=HashEmbedder()) as store:
        assert any("cloud client" in risk for risk in store.doctor().risks)


def test_s75_vacuum_changes_no_answer(store: MemoryStore, clock: FakeClock) -> None:
    """S75: events, history and answers are identical before and after; it says what it gained."""
    fill(store, clock)
    store.remember_many([f"fact number {number}" for number in range(300)])
    record = store.list()[0]
    before = (list(store.iter_events()), store.history(record.id), store.recall("fact 7"), store.search("number"), store.memory().items())
    done = store.vacuum()
    assert isinstance(done, Vacuumed)
    assert 0 < done.bytes_after <= done.bytes_before
    assert not done.busy
    after = (list(store.iter_events()), store.history(record.id), store.recall("fact 7"), store.search("number"), store.memory().items())
    assert after == before


def test_iter_events_gives_the_whole_log_in_order(store: MemoryStore) -> None:
    """Over any number of pages, from any version on."""
    store.remember_many([f"fact {number}" for number in range(2100)])
    assert [event.version for event in store.iter_events()] == list(range(1, 2101))
    assert [event.version for event in store.iter_events(after=1999)] == list(range(2000, 2101))
    assert list(store.iter_events(after=2100)) == list(store.iter_events(after=2**70)) == []


@pytest.mark.parametrize("after", [-1, True, 1.0, "1", None])
def test_iter_events_starts_after_a_version(store: MemoryStore, after: Any) -> None:
    """InvalidInput for anything but a whole number."""
    with pytest.raises(InvalidInput, match="after must be an int"):
        list(store.iter_events(after))


def test_iter_events_gives_what_arrives_meanwhile(store: MemoryStore) -> None:
    """A reader that keeps up sees the log grow."""
    store.remember("one")
    seen = []
    for event in store.iter_events():
        seen.append(event.op)
        if len(seen) < 3:
            store.memory().forget("a")
    assert seen == [Op.REMEMBER, Op.FORGET, Op.FORGET]


def test_a_memory_inside_a_store(store: MemoryStore, path: Path) -> None:
    """Each name is a memory of its own; all count the versions of the one file; facts and collections are apart."""
    plain, one, two = store.memory(), store.memory("one"), store.memory("two")
    for number, memory in enumerate((plain, one, two)):
        memory.remember("a", number)
    assert [memory.recall("a") for memory in (plain, one, two)] == [0, 1, 2]
    assert [memory.name for memory in (plain, one, two)] == ["memory", "one", "two"]
    assert {memory.path for memory in (plain, one, two)} == {str(path)}
    assert [memory.versions("a")[0].version for memory in (plain, one, two)] == [1, 2, 3]
    assert one.version == store.version == 3
    assert store.memory("one").items() == [("a", 1)]
    assert store.list() == store.collection("one").list() == []
    with pytest.raises(UnsupportedOperation, match="MemoryStore"):
        one.purge("a")


@pytest.mark.parametrize("name", ["", "9", "a b", "../a", "a" * 65, 5])
def test_a_memory_inside_a_store_has_a_good_name(store: MemoryStore, name: Any) -> None:
    """The rule is the same as for one with a file of its own."""
    with pytest.raises(InvalidInput, match="a memory's name"):
        store.memory(name)


def test_the_store_closes_its_memories(store: MemoryStore) -> None:
    """Closing the memory leaves the store open; closing the store closes both, and closing twice is fine."""
    with store.memory("one") as memory:
        memory.remember("a", 1)
    assert isinstance(memory, PersistentMemory)
    assert memory.recall("a") == store.memory("one").recall("a") == 1
    store.close()
    store.close()
    for verb in (store.list, lambda: store.version, store.verify, store.health, memory.keys, lambda: memory.remember("a", 2)):
        with pytest.raises(StoreClosed, match="closed"):
            verb()
