"""S75, S82: readers and writers of one process and of several, and what a reader that takes its time does to upkeep."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.connection import MAX_IDLE_READERS, MEMORY
from indelible.errors import StoreUnavailable
from tests.crash.engine import SteppingClock, contents, open_engine, put


def test_a_snapshot_stands_still_while_others_write(backend: SqliteBackend) -> None:
    """S83: a read sees the store as it was when it began, and is in nobody's way."""
    backend.append([put("a", "one")])
    with backend._connections.read() as reader:
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (1,)
        backend.append([put("b", "two")])
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (1,)
    assert backend.mark().version == 2


def test_a_long_reader_makes_vacuum_busy(backend: SqliteBackend) -> None:
    """S75: reported, not raised; nothing is lost, and the same call succeeds when the reader is gone."""
    backend.append([put(f"k{number}", "x" * 1000) for number in range(200)])
    with backend._connections.read() as reader:
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (200,)
        backend.append([put("late", "x")])
        assert backend.vacuum().busy
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (200,)
    done = backend.vacuum()
    assert not done.busy
    assert done.bytes_after <= done.bytes_before
    assert len(contents(backend)) == 201
    assert backend.verify().ok


def test_vacuum_empties_the_log_and_changes_no_answer(path: Path, backend: SqliteBackend) -> None:
    """S75: physical only."""
    for number in range(50):
        backend.append([put("k", f"text {number}")])
    before = backend.events(), contents(backend), backend.mark()
    backend.vacuum()
    assert Path(f"{path}-wal").stat().st_size == 0
    assert (backend.events(), contents(backend), backend.mark()) == before


def test_reads_leave_no_cursor_behind(backend: SqliteBackend) -> None:
    """An unfinished cursor would hold up every checkpoint: after any read, vacuum is not busy."""
    backend.append([put(f"k{number}", "some words here") for number in range(20)])
    backend.mark()
    backend.events(limit=3)
    backend.position(version=5)
    backend.statistics()
    contents(backend)
    backend.verify()
    assert not backend.vacuum().busy


def test_many_threads_at_once_keep_few_connections(backend: SqliteBackend) -> None:
    """S15, S82: twenty threads read and write through one object; every write is its own event, few connections stay."""
    failures: list[BaseException] = []
    gate = threading.Barrier(20)

    def work(name: int) -> None:
        try:
            gate.wait()
            for number in range(10):
                backend.append([put(f"{name}.{number}", "x")])
                assert f"{name}.{number}" in contents(backend)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [event.version for event in backend.events()] == list(range(1, 201))
    assert len(backend._connections._idle) <= MAX_IDLE_READERS
    assert backend.verify().ok


def test_two_objects_on_one_file_are_two_writers(path: Path, backend: SqliteBackend) -> None:
    """Each sees at once what the other wrote, and their numbers interleave without a gap."""
    with closing(open_engine(path, clock=SteppingClock())) as other:
        for number in range(20):
            (backend, other)[number % 2].append([put(f"k{number}", "x")])
            assert backend.mark() == other.mark()
        assert [event.version for event in backend.events()] == list(range(1, 21))
        assert [event.seq for event in other.events()] == list(range(1, 21))
        assert backend.verify().ok


def test_a_writer_that_waits_too_long_is_told(path: Path, backend: SqliteBackend) -> None:
    """S83: beyond the deadline an error that says that trying again may help; reads go on meanwhile."""
    with closing(open_engine(path, timeout_s=0.05)) as impatient:
        with backend._connections.write():
            with pytest.raises(StoreUnavailable, match="another writer") as caught:
                impatient.append([put("b", "two")])
            assert caught.value.retryable
            assert impatient.mark().version == 0
        assert impatient.append([put("b", "two")])[0].version == 1


def test_a_store_in_memory_is_its_own(path: Path) -> None:
    """Two stores in memory have nothing to do with each other, and leave nothing on disk."""
    with closing(open_engine(MEMORY)) as one, closing(open_engine(MEMORY)) as other:
        one.append([put("a", "one")])
        assert set(contents(one)) == {"a"}
        assert not contents(other)
        assert one.verify().ok
        assert not one.vacuum().busy
    assert not list(path.parent.iterdir())
