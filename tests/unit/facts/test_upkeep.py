"""S75, S76, S85, S88: space, numbers, places, and views that can be made anew."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from indelible import MemoryStore
from indelible.testing import FakeClock
from tests.unit.facts.random_facts import Life, Step, answers, steps
from tests.unit.facts.stores import open_store

# S75


@given(steps("purge", "beside", "beside", most=10))
def test_s75_s88_vacuum_rebuild_and_reindex_change_no_answer(script: list[Step]) -> None:
    """Not now, not in the past, no history, no version."""
    with Life() as life:
        life.take(*script)
        store = life.store
        middle = store.version // 2

        def everything() -> list[Any]:
            history = [list(map(str, store.history(id))) for id in life.made]
            return [answers(store, life.made), answers(store.at(middle), life.made), history, store.version, store.scopes()]

        before = everything()
        for change in (store.vacuum, store.rebuild, store.reindex, store.rebuild):
            change()
            assert everything() == before, change.__name__
            report = store.verify()
            assert report.ok, report.problems
            assert report.events == store.version


def test_s75_a_busy_reader_is_said_and_not_raised(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    kept.remember_many(["tea"] * 100)
    with open_store(path, clock=clock) as other:
        with other._engine.backend._connections.read() as reading:  # type: ignore[attr-defined]  # what a slow reader holds
            assert reading.execute("SELECT count(*) FROM event").fetchone()
            kept.remember("milk")
            busy = kept.vacuum()
        assert busy.busy
    assert not kept.vacuum().busy
    assert kept.count() == 101


def test_s75_a_store_in_memory_has_nothing_to_checkpoint(store: MemoryStore) -> None:
    store.purge(store.remember("tea").id)
    done = store.vacuum()
    assert (done.busy, done.bytes_before, done.bytes_after) == (False, 0, 0)


# S76


def test_s76_health_counts(kept: MemoryStore, path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    records = kept.remember_many([f"secretive {number}" for number in range(6)], user_id="ursula", metadata={"mm": "mmm"}, ttl_ms=1000)
    for record in records[:4]:
        kept.edit(record.id, ttl_ms=None)
    kept.forget(records[0].id)
    kept.purge(records[1].id)
    kept.collection("namespaced").put("keyed", "valued")
    clock.advance(ms=1000)
    monkeypatch.setenv("MEMORY_FTS5_BM25", "1")
    health = kept.health()
    assert (health.ok, health.version) == (True, kept.version)
    assert (health.live, health.expired, health.forgotten, health.purged) == (3, 2, 1, 1)
    assert Path(health.path) == path
    assert health.bytes == sum(os.stat(str(path) + suffix).st_size for suffix in ("", "-wal"))
    assert sum(health.vectors.values()) >= 5
    assert all("hash-64" in name for name in health.vectors)
    assert health.settings == {"MEMORY_FTS5_BM25": "1"}
    assert not re.search("secretive|ursula|mmm|namespaced|keyed|valued", str(health) + str(kept.doctor()))


def test_s76_doctor_reads_back_what_is_set_and_warns(kept: MemoryStore, path: Path) -> None:
    found = kept.doctor()
    assert found.pragmas["journal_mode"] == "wal"
    assert found.pragmas["synchronous"] == 2
    assert found.pragmas["secure_delete"] == 1
    assert found.engine.startswith("SQLite 3.")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found.release)
    assert not any("chmod" in risk for risk in found.risks)
    path.chmod(0o644)
    assert any("chmod 600" in risk for risk in kept.doctor().risks)


def test_s76_an_empty_store_is_healthy(store: MemoryStore) -> None:
    health = store.health()
    assert (health.ok, health.version, health.live, health.expired, health.forgotten, health.purged) == (True, 0, 0, 0, 0, 0)
    assert store.verify().ok
    assert store.verify().heads == {}


# S85


def test_s85_an_argument_beats_the_variable_and_an_empty_variable_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_DB_PATH", str(tmp_path / "by-variable.db"))
    monkeypatch.setenv("SENSE_MEMORY_DIR", str(tmp_path / "not-for-stores"))
    with MemoryStore(tmp_path / "by-argument.db") as store:
        assert store.path == str(tmp_path / "by-argument.db")
    with MemoryStore() as store:
        assert store.path == str(tmp_path / "by-variable.db")
    monkeypatch.setenv("MEMORY_DB_PATH", "")
    with MemoryStore() as store:
        assert store.path == str(tmp_path / "home" / ".memory" / "default.db")
    assert not (tmp_path / "not-for-stores").exists()


def test_s85_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_DB_PATH", "~/a/b/c.db")
    for argument in (None, "~/d/e.db"):
        with MemoryStore(argument) as store:
            store.remember_turns([])
    assert {str(file.relative_to(tmp_path / "home")) for file in (tmp_path / "home").rglob("*.db")} == {"a/b/c.db", "d/e.db"}
    assert (tmp_path / "home" / "a" / "b").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home" / "a" / "b" / "c.db").stat().st_mode & 0o777 == 0o600


def test_s85_a_relative_path_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with open_store("here.db") as store:
        store.remember("one")
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.remember("two")
        assert len(store.recall("one")) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


# S88


def test_s88_verify_reports_events_and_the_ends_of_chains(kept: MemoryStore) -> None:
    kept.remember_many(["tea", "milk"])
    first = kept.verify()
    assert (first.ok, first.events, first.problems) == (True, 2, ())
    (device,) = first.heads
    assert first.heads[device][0] == 2
    kept.remember("water")
    second = kept.verify()
    assert second.heads[device][0] == 3
    assert second.heads[device][1] != first.heads[device][1]


def test_s88_events_can_be_followed(store: MemoryStore) -> None:
    store.remember("tea")
    store.feedback(store.list()[0].id, "up")
    seen = [(event.version, str(event.op)) for event in store.iter_events()]
    assert seen == [(1, "remember"), (2, "vote")]
    assert [event.version for event in store.iter_events(after=1)] == [2]
    assert list(store.iter_events(after=2**70)) == []
    following = store.iter_events(after=2)
    store.remember("milk")
    assert next(following).version == 3
