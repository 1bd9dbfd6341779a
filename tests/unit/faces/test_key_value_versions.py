"""Lines 9 to 12 and 15 of the semantics: versions, history, the log beneath them, and many threads; and what is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, Memory, MemoryStore, PersistentMemory, UnsupportedOperation
from indelible.faces.persistent import MemoryVersion, PastMemory
from indelible.testing import FakeClock
from tests.unit.faces.strategies import KEYS, VALUES

START = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "c"])), max_size=10)
NOT_VERSIONS = [True, False, 1.0, "1", None, Decimal(1), [1], START]


@pytest.fixture
def memory() -> Iterator[PersistentMemory]:
    with PersistentMemory("memory", ":memory:", clock=FakeClock()) as opened:
        yield opened


@given(STEPS)
def test_s09_as_of_is_the_value_at_that_version(steps: list[tuple[bool, str]]) -> None:
    """S9: at every version every key has what a dict had after as many steps; ``at`` shows the whole memory then, keys in order."""
    states: list[dict[str, int]] = [{}]
    with PersistentMemory("memory", ":memory:") as memory:
        for number, (remembers, key) in enumerate(steps):
            state = dict(states[-1])
            if remembers:
                memory.remember(key, number)
                state[key] = number
            else:
                memory.forget(key)
                state.pop(key, None)
            states.append(state)
        for version, state in enumerate(states):
            assert [memory.as_of(key, version) for key in "abc"] == [state.get(key) for key in "abc"]
            assert memory.at(version).items() == list(state.items())
            assert memory.at(version).keys() == list(state)


@pytest.mark.parametrize("beyond", [3, 2**31, 2**63 - 1, 2**63, 2**70, 10**5000], ids=["3", "2^31", "2^63-1", "2^63", "2^70", "10^5000"])
def test_s09_beyond_the_newest_is_the_current_value(memory: PersistentMemory, beyond: int) -> None:
    """S9: however great the number."""
    memory.remember("a", 1)
    memory.remember("a", 2)
    assert (memory.as_of("a", beyond), memory.at(beyond).recall("a")) == (2, 2)


@pytest.mark.parametrize("version", [0, -1, -(2**63), -(2**70)])
def test_s09_zero_and_negative_versions_are_before_everything(memory: PersistentMemory, version: int) -> None:
    """S9: None, not an index from the end."""
    memory.remember("a", 1)
    assert (memory.as_of("a", version), memory.at(version).items()) == (None, [])


@pytest.mark.parametrize("version", NOT_VERSIONS)
def test_s09_a_version_is_a_plain_int(memory: PersistentMemory, version: Any) -> None:
    """S9: anything else, ``bool`` included, is InvalidInput that names the type got."""
    memory.remember("a", 1)
    with pytest.raises(InvalidInput, match=f"must be an int, got {type(version).__name__}"):
        memory.as_of("a", version)


def test_s09_a_version_counts_the_writes_of_every_key(memory: PersistentMemory) -> None:
    """S9: the position in the file's log: a, b, a gives a the versions 1 and 3."""
    for key in ("a", "b", "a"):
        memory.remember(key, key)
    assert [entry.version for entry in memory.versions("a")] == [1, 3]
    assert memory.version == 3


def test_s09_at_a_time(path: Path, clock: FakeClock) -> None:
    """S9: a time stands for the last version written by then; a past memory can only be read."""
    with PersistentMemory("memory", path, clock=clock) as memory:
        for value in ("one", "two"):
            memory.remember("a", value)
            clock.advance(ms=1000)
        found = [memory.at(START + timedelta(milliseconds=ms)).recall("a") for ms in (-1, 0, 999, 1000, 10**6)]
        assert found == [None, "one", "one", "two", "two"]
        assert not hasattr(PastMemory, "remember")
        assert not hasattr(PastMemory, "forget")


def test_s10_history_is_one_line_for_each_event_of_the_key(memory: PersistentMemory) -> None:
    """S10: both ops, in version order, with number, time and value; ``[]`` for an unknown key."""
    memory.remember("a", "ada")
    memory.remember("b", 1)
    memory.forget("a")
    memory.remember("a", [None, True, -0.0])
    assert memory.history("a") == [
        'v1 2026-01-01T00:00:00.000Z remember "ada"',
        "v3 2026-01-01T00:00:00.000Z forget",
        "v4 2026-01-01T00:00:00.000Z remember [null,true,-0.0]",
    ]
    assert memory.history("unknown") == []


@given(st.lists(st.one_of(VALUES, st.just("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029\x1b[2J\u202e")), min_size=1, max_size=4), KEYS)
def test_s10_a_line_stays_one_line(values: list[object], key: str) -> None:
    """S10: no value breaks a line, in the eyes of any program, or turns its direction; nothing of one shows in another's."""
    with PersistentMemory("memory", ":memory:") as memory:
        for value in values:
            memory.remember(key, value)
        lines = memory.history(key)
        assert len(lines) == len(values)
        assert all(line.splitlines() == [line] and line.isprintable() for line in lines)


def test_s10_versions_are_the_same_as_dataclasses(memory: PersistentMemory) -> None:
    """S10: with the value itself, and a time that knows its zone."""
    memory.remember("a", ["ada"])
    memory.forget("a")
    assert memory.versions("a") == [MemoryVersion(1, "remember", START, ["ada"]), MemoryVersion(2, "forget", memory.versions("a")[1].at)]
    assert [str(version) for version in memory.versions("a")] == memory.history("a")
    assert all(version.at.utcoffset() == timedelta(0) for version in memory.versions("a"))


def test_s11_the_same_value_again_is_a_new_version(memory: PersistentMemory) -> None:
    """S11: nothing is thought away."""
    for _ in range(3):
        memory.remember("a", 1)
    assert [entry.version for entry in memory.versions("a")] == [1, 2, 3]


def test_s11_versions_go_on_after_reopening(path: Path) -> None:
    """S11: never used twice, also when the last thing was a forget."""
    for _ in range(3):
        with PersistentMemory("memory", path) as memory:
            memory.remember("a", memory.version)
            memory.forget("a")
    with PersistentMemory("memory", path) as memory:
        assert [entry.version for entry in memory.versions("a")] == [1, 2, 3, 4, 5, 6]
        assert [entry.value for entry in memory.versions("a")] == [0, None, 2, None, 4, None]


def test_s11_versions_go_on_when_the_clock_runs_back(path: Path, clock: FakeClock) -> None:
    """S11: order is that of writing, whatever the clock says."""
    with PersistentMemory("memory", path, clock=clock) as memory:
        for value in range(3):
            memory.remember("a", value)
            memory.remember(f"b{value}", value)
            clock.advance(ms=-60_000)
        assert (memory.recall("a"), memory.keys()) == (2, ["a", "b0", "b1", "b2"])
        assert memory.at(START - timedelta(seconds=1)).keys() == []


@pytest.fixture
def written(path: Path) -> Iterator[sqlite3.Connection]:
    """The file of a memory with three remembers and two forgets, one of them of nothing, opened without the library."""
    with PersistentMemory("memory", path) as memory:
        for key in ("a", "a", "b"):
            memory.remember(key, key)
        for key in ("a", "never"):
            memory.forget(key)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def test_s12_one_event_for_each_write(written: sqlite3.Connection) -> None:
    """S12: events = remembers + forgets."""
    counted = written.execute("SELECT op, count(*) FROM event GROUP BY op ORDER BY op").fetchall()
    assert counted == [("forget", 2), ("remember", 2), ("revise", 1)]


@pytest.mark.parametrize("statement", ["UPDATE event SET op = 'forget'", "DELETE FROM event", "DELETE FROM event WHERE version = 5"])
def test_s12_triggers_abort_update_and_delete(written: sqlite3.Connection, statement: str) -> None:
    """S12: also from outside the library."""
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        written.execute(statement)
    assert written.execute("SELECT count(*) FROM event").fetchone() == (5,)


def test_s12_the_log_of_a_memory_verifies(path: Path) -> None:
    """S12: the chain of hashes and every view agree with what was written."""
    with PersistentMemory("memory", path) as memory:
        for number in range(5):
            memory.remember(f"k{number % 2}", number)
            memory.forget(f"k{number % 3}")
        report = memory.verify()
    assert (report.ok, report.events, report.problems) == (True, 10, ())


@pytest.mark.parametrize("objects", [1, 4])
def test_s15_every_write_of_every_thread_lands(path: Path, objects: int) -> None:
    """S15: eight threads, on one object or on four of the same file: versions gapless, an event for each write, never "locked"."""
    threads, each = 8, 12
    memories = [PersistentMemory("memory", path) for _ in range(objects)]

    def work(number: int) -> list[object]:
        memory = memories[number % objects]
        seen = []
        for count in range(each):
            memory.remember("shared", [number, count])
            memory.remember(f"own{number}", count)
            seen.append(memory.recall(f"own{number}"))
        return seen

    with ThreadPoolExecutor(threads) as pool:
        seen = list(pool.map(work, range(threads)))
    shared = memories[0].versions("shared")
    owned = [entry.version for number in range(threads) for entry in memories[0].versions(f"own{number}")]
    for memory in memories:
        assert memory.version == threads * each * 2
        assert memory.verify().ok
        memory.close()
    assert seen == [list(range(each))] * threads
    assert sorted(owned + [entry.version for entry in shared]) == list(range(1, threads * each * 2 + 1))
    assert sorted(entry.value for entry in shared) == [[number, count] for number in range(threads) for count in range(each)]


REFUSALS: dict[str, Callable[[PersistentMemory], object]] = {
    "ttl_ms": lambda memory: memory.remember("a", 2, ttl_ms=1000),
    "edit": lambda memory: memory.edit("a", 2),
    "prune": lambda memory: memory.prune(before=START, confirm=True, dry_run=False),
    "purge": lambda memory: memory.purge("a"),
    "forget_expired": lambda memory: memory.forget_expired(),
    "vacuum": lambda memory: memory.vacuum(),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_an_append_only_memory_refuses(memory: PersistentMemory, what: str) -> None:
    """UnsupportedOperation that names the verb and says what offers it; nothing changes."""
    memory.remember("a", 1)
    with pytest.raises(UnsupportedOperation, match=f"no {what}.*MemoryStore"):
        REFUSALS[what](memory)
    assert (memory.version, memory.recall("a")) == (1, 1)


def test_an_empty_memory_is_true_and_has_a_length(memory: PersistentMemory) -> None:
    """``if memory:`` asks whether there is one; ``len`` counts its keys."""
    assert [bool(memory), bool(Memory()), len(memory), len(Memory())] == [True, True, 0, 0]
    memory.remember("a", 1)
    assert (len(memory), len(memory.at(0))) == (1, 0)


def test_a_store_on_the_same_file_shares_it(path: Path) -> None:
    """Both kinds of file have one schema: the store's unnamed memory is the file's; a named one is another."""
    with PersistentMemory("ledger", path) as ledger:
        ledger.remember("a", 1)
        with MemoryStore(path) as store:
            store.memory().remember("b", 2)
            store.memory("other").remember("a", 3)
            assert store.memory("other").items() == [("a", 3)]
            assert store.list() == []
        assert (ledger.items(), ledger.version) == ([("a", 1), ("b", 2)], 3)
