"""S15: many processes and threads write one file at once. Nothing is lost, doubled or refused, and every writer's order is kept."""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from indelible import Collection, MemoryStore, PersistentMemory, VersionConflict
from tests.crash.children import Say, Work, run
from tests.crash.engine import open_engine

pytestmark = pytest.mark.usefixtures("_can_fork")
COUNTER_STEPS = 10
"""How often each process raises the counter."""


def raise_counter(notes: Collection) -> int:
    """Add one to a shared counter by compare-and-set; how many tries it took."""
    tries = 0
    while True:
        tries += 1
        record = notes.get("counter")
        value, version = (0, 0) if record is None else (record.value, record.version)
        try:
            notes.put("counter", value=value + 1, expected_version=version)
        except VersionConflict as conflict:
            if conflict.expected != version or conflict.actual == version:
                raise
            continue
        return tries


def write_notes(notes: Collection, name: str, count: int) -> None:
    """Keys of this writer's own, and one that all share."""
    for number in range(count):
        key = "shared" if number % 5 == 0 else f"{name}.{number}"
        notes.put(key, f"{name} wrote {number}", metadata={"by": name, "number": number})


def write_memory(memory: PersistentMemory, name: str, count: int) -> None:
    """Every write to the same key."""
    for number in range(count):
        memory.remember("shared", [name, number])


def process(path: Path, name: str, count: int) -> Work:
    """Half of the processes use the key/value memory, half a collection; all raise the counter."""

    def work(say: Say) -> None:
        with MemoryStore(path) as store, PersistentMemory("log", path=path) as memory:
            notes = store.collection("notes")
            if int(name.removeprefix("p")) % 2:
                write_memory(memory, name, count)
            else:
                write_notes(notes, name, count)
            say(str(sum(raise_counter(notes) for _ in range(COUNTER_STEPS))))

    return work


def storm(path: Path, processes: int, threads: int, count: int) -> int:
    """Let it blow and examine what is left; how many tries the counter took in all."""
    failures: list[BaseException] = []
    with MemoryStore(path) as store:
        notes = store.collection("notes")

        def work(name: str) -> None:
            try:
                write_notes(notes, name, count)
                for _ in range(COUNTER_STEPS):
                    raise_counter(notes)
            except BaseException as error:
                failures.append(error)

        running = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(threads)]
        for thread in running:
            thread.start()
        said = run(*[process(path, f"p{number}", count) for number in range(processes)])
        for thread in running:
            thread.join()
        assert not failures
        counter = notes.get("counter")
        assert counter is not None
        assert counter.value == COUNTER_STEPS * (processes + threads)
    writers = {f"p{number}" for number in range(processes)} | {f"t{number}" for number in range(threads)}
    examine(path, writers, count)
    return sum(int(line) for lines in said for line in lines)


def examine(path: Path, writers: set[str], count: int) -> None:
    """Every write of every writer is there once, in its writer's order; versions have no gap; views equal the log."""
    orders: dict[str, list[int]] = defaultdict(list)
    with closing(open_engine(path)) as backend:
        assert backend.verify().ok
        events = backend.events()
        for event in events:
            assert event.payload is not None
            fields = event.payload.fields
            if fields["key"] == "counter":
                continue
            by = (fields["metadata"]["by"], fields["metadata"]["number"]) if "metadata" in fields else fields["value"]
            orders[by[0]].append(by[1])
    assert [event.version for event in events] == list(range(1, len(events) + 1))
    assert dict(orders) == {writer: list(range(count)) for writer in writers}
    assert len(events) == (count + COUNTER_STEPS) * len(writers)


@pytest.mark.slow
def test_a_storm_of_processes_and_threads(tmp_path: Path) -> None:
    """S15: eight processes with 500 writes each and eight threads on one file."""
    tries = storm(tmp_path / "store.db", processes=8, threads=8, count=500)
    assert tries >= 8 * COUNTER_STEPS


@pytest.mark.torture
@pytest.mark.parametrize("processes", [2, 16, 32])
def test_a_longer_storm(tmp_path: Path, processes: int) -> None:
    """S15: fewer and more writers than a usual machine has."""
    storm(tmp_path / "store.db", processes=processes, threads=processes, count=1000)
