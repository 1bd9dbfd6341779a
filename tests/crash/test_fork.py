"""S82: a fork with stores open. Parent and child both go on, whatever either of them closes, and nobody releases the other's lock."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path

import pytest

from indelible import MemoryStore, PersistentMemory
from indelible.errors import StoreUnavailable
from tests.crash.checker import damage
from tests.crash.children import Say, hear, run, start
from tests.crash.engine import contents, open_engine, put

pytestmark = pytest.mark.usefixtures("_can_fork")


def open_files(path: Path) -> list[str]:
    """Which of the store's files this process has open."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            continue
        if target.startswith(str(path)):
            found.append(target.removeprefix(str(path)))
    return sorted(found)


def test_parent_and_child_both_go_on(tmp_path: Path) -> None:
    """One object, opened before the fork, written by both: every write is there, numbers gapless, one device."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])

        def child(say: Say) -> None:
            for number in range(50):
                backend.append([put(f"child-{number}", f"child-{number}")])
            say(str(len(contents(backend))))

        running = start(child)
        for number in range(50):
            backend.append([put(f"parent-{number}", f"parent-{number}")])
        running.wait()
        assert len(contents(backend)) == 101
        assert {event.device for event in backend.events()} == {backend.events()[0].device}
    wanted = {"before"} | {f"{who}-{number}" for who in ("child", "parent") for number in range(50)}
    assert not damage(path, wanted)


def test_a_child_outlives_the_close_of_its_parent(tmp_path: Path) -> None:
    """The parent closes its store, a third process opens and closes it, and the child's copy still writes safely."""
    path = tmp_path / "store.db"
    backend = open_engine(path)
    backend.append([put("before", "before")])
    told, tell = os.pipe()

    def child(say: Say) -> None:
        for number in range(3):
            backend.append([put(f"child-{number}", f"child-{number}")])
            say(f"wrote {number}")
            os.read(told, 1)

    def third(say: Say) -> None:
        with closing(open_engine(path)) as other:
            other.append([put("third", "third")])

    running = start(child)
    hear(running, 1)
    backend.append([put("parent", "parent")])
    backend.close()
    os.write(tell, b"x")
    run(third)
    os.write(tell, b"xx")
    running.wait()
    os.close(told)
    os.close(tell)
    assert not damage(path, {"before", "parent", "third", "child-0", "child-1", "child-2"})


def test_a_parent_outlives_the_end_of_its_child(tmp_path: Path) -> None:
    """The child closes its copy and ends; what the parent has open is not touched."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])

        def child(say: Say) -> None:
            backend.append([put("child", "child")])
            backend.close()

        run(child)
        backend.append([put("after", "after")])
        assert set(contents(backend)) == {"before", "child", "after"}
    assert not damage(path, {"before", "child", "after"})


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_child_is_born_without_open_files(tmp_path: Path) -> None:
    """SQLite must not carry a connection over a fork: the parent lets go before it, and both open anew when they need to."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])
        backend.mark()
        assert open_files(path).count("") == 2, "a writer and a reader"

        def child(say: Say) -> None:
            say(" ".join(open_files(path)) or "none")
            backend.mark()
            say(" ".join(name or "db" for name in open_files(path)))

        [[at_birth, later]] = run(child)
        assert at_birth == "none"
        assert "db" in later


def test_a_fork_waits_for_a_write_in_another_thread(tmp_path: Path) -> None:
    """No child is born in the middle of a transaction; the thread's write is committed and seen by both."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        inside, leave = threading.Event(), threading.Event()

        def slow_write() -> None:
            with backend._connections.write() as connection:
                connection.execute("INSERT INTO meta VALUES ('slow', 1)")
                inside.set()
                leave.wait(0.2)

        thread = threading.Thread(target=slow_write)
        thread.start()
        inside.wait()

        def child(say: Say) -> None:
            with backend._connections.read() as connection:
                say(str(connection.execute("SELECT count(*) FROM meta WHERE name = 'slow'").fetchone()[0]))
            backend.append([put("child", "child")])

        [[seen]] = run(child)
        thread.join()
        assert seen == "1"
        backend.append([put("parent", "parent")])
        assert set(contents(backend)) == {"child", "parent"}
    assert not damage(path, {"child", "parent"})


def test_a_fork_waits_for_a_read_in_another_thread(tmp_path: Path) -> None:
    """A reader of another thread ends before the fork, and goes on reading after it."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put(f"k{number}", f"k{number}") for number in range(100)])
        stop = threading.Event()
        series: list[list[int]] = [[], [], []]

        def keep_reading(counts: list[int]) -> None:
            while not stop.is_set():
                counts.append(len(contents(backend)))
            counts.append(len(contents(backend)))

        threads = [threading.Thread(target=keep_reading, args=(counts,)) for counts in series]
        for thread in threads:
            thread.start()
        for round_ in range(10):
            run(lambda say, name=f"child-{round_}": backend.append([put(name, name)]))  # type: ignore[misc]  # a default binds the loop's name
        stop.set()
        for thread in threads:
            thread.join()
        for counts in series:
            assert counts == sorted(counts)
            assert counts[-1] == 110
    assert not damage(path, {f"child-{number}" for number in range(10)})


def test_a_lock_is_released_only_by_its_taker(tmp_path: Path) -> None:
    """A child that is forked while its parent holds the writer lock, and ends, leaves it held."""
    path = tmp_path / "store.db"
    backend, other = open_engine(path), open_engine(path, timeout_s=0.05)
    with backend._connections.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('held', 1)")
        run(lambda say: say("alive"))
        run(lambda say: backend.close())
        with pytest.raises(StoreUnavailable, match="another writer"):
            other.append([put("other", "other")])
    other.append([put("other", "other")])
    backend.append([put("mine", "mine")])
    backend.close()
    other.close()
    assert not damage(path, {"other", "mine"})


def test_a_store_in_memory_is_copied_by_a_fork(tmp_path: Path) -> None:
    """It belongs to the process: each goes on with its own."""
    with PersistentMemory("scratch", path=":memory:") as memory:
        memory.remember("a", 1)

        def child(say: Say) -> None:
            memory.remember("b", 2)
            say(" ".join(memory.keys()))

        assert run(child) == [["a b"]]
        memory.remember("c", 3)
        assert memory.keys() == ["a", "c"]
        assert memory.verify().ok


def test_faces_survive_a_fork(tmp_path: Path) -> None:
    """The same through the public objects, in several children at once, each of which closes what it inherited."""
    with MemoryStore(tmp_path / "store.db") as store:
        notes, memory = store.collection("notes"), store.memory()
        notes.put("before", "before")

        def child(say: Say, name: str) -> None:
            for number in range(10):
                notes.put(f"{name}.{number}", f"text {name} {number}")
                memory.remember(f"{name}.{number}", number)
            assert len(notes.search(f"{name}", mode="keyword", limit=100)) == 10
            store.close()

        run(*[lambda say, name=f"child{number}": child(say, name) for number in range(4)])
        notes.put("after", "after")
        assert len(notes.list()) == 42
        assert len(memory.keys()) == 40
        assert store.version == 82
        assert store.verify().ok
