"""The in-process caches of vectors and words: read once, and never stale, whoever writes."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from indelible import MemoryStore, StoreUnavailable
from indelible.backend.interface import Backend, Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.base.record import ScopeFilter
from indelible.faces.engine import open_backend
from indelible.faces.indexing import Space
from indelible.faces.slice_cache import MAX_CHANGED
from indelible.faces.vector_cache import VectorCache
from indelible.search.filters import Filter
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder
from tests.crash import children
from tests.unit.facts.random_facts import QUERIES, SCOPES, Life, Step, seen, steps
from tests.unit.facts.stores import contents, ids, open_store, other_process
from tests.unit.search.filter_strategies import FILTERS

EVERYTHING: dict[str, Any] = {}


@pytest.fixture
def counted(clock: FakeClock) -> tuple[MemoryStore, FlakyBackend]:
    """A store, and its backend that counts how often vectors are read."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("vectors", "embedded"))
    return open_store(clock=clock, backend=backend), backend


def reads(backend: FlakyBackend) -> int:
    done = len(backend.calls)
    backend.calls.clear()
    return done


def test_vectors_are_read_once_per_slice(counted: tuple[MemoryStore, FlakyBackend]) -> None:
    store, backend = counted
    store.remember("tea", user_id="u")
    store.remember("tea", user_id="v")
    for _ in range(3):
        store.recall("tea")
        store.recall("tea", user_id="u")
        store.scope(user_id="u").recall("tea", filters={"a": 1})
    assert reads(backend) == 2
    store.feedback(store.list()[0].id, "up")
    store.recall("tea")
    assert reads(backend) == 1, "only of what an event was about"
    store.recall("tea", as_of=1)
    store.recall("tea", as_of=1)
    assert reads(backend) == 1, "the past stays as it was"
    store.remember("milk")
    store.recall("tea", as_of=1)
    assert reads(backend) == 0, "whatever is written later"
    store.recall("tea", as_of=99)
    store.remember("tea")
    assert len(store.recall("tea", as_of=99, limit=9)) == 4, "what is still to come is now"


def test_after_a_write_only_changed_records_are_read(clock: FakeClock) -> None:
    asked: list[Selection] = []

    class Watched(FlakyBackend):
        def embedded(self, selection: Selection, models: Any) -> Any:
            asked.append(selection)
            return self.inner.embedded(selection, models)

    with open_store(clock=clock, backend=Watched(open_backend(":memory:", clock))) as store:
        store.remember_many(["tea"] * 10)
        store.recall("tea")
        record = store.remember("milk")
        assert store.recall("milk", limit=1)[0].id == record.id
        assert [None if selection.records is None else len(selection.records) for selection in asked] == [None, 1]
        store.remember_many(["tea"] * (MAX_CHANGED + 1))
        assert len(store.recall("tea", limit=10_000)) == MAX_CHANGED + 12
        assert [None if selection.records is None else len(selection.records) for selection in asked] == [None, 1, None]


def test_a_failing_read_keeps_nothing_wrong(counted: tuple[MemoryStore, FlakyBackend]) -> None:
    store, backend = counted
    store.remember("tea")
    backend._fail_on = frozenset({1, 3})
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.recall("tea")
        assert contents(store.recall("tea")) == [record.content for record in store.list()]
        store.remember("tea again")


def test_the_cache_is_bounded(clock: FakeClock) -> None:
    """Least recently used slices go first; one alone may be larger than the bound."""
    inner = open_backend(":memory:", clock)
    backend = FlakyBackend(inner, verbs=("vectors", "embedded"))
    with open_store(clock=clock, backend=backend) as store:
        for user in "abc":
            store.remember_many(["tea"] * 20, user_id=user)
        space = Space("hash-64", 64)
        models = [space.model("hash-64")]

        def use(cache: VectorCache, user: str) -> int:
            reads(backend)
            selection = Selection(scope=ScopeFilter(user_id=user))
            assert len(cache.get(selection, models, 64, backend.mark()).records) == 20
            return reads(backend)

        of_one = VectorCache(backend)
        use(of_one, "a")
        size = of_one._held
        two = VectorCache(backend, max_bytes=2 * size)
        assert [use(two, user) for user in "abab"] == [1, 1, 0, 0]
        assert [use(two, user) for user in "cbac"] == [1, 0, 1, 1], "c pushed out a, then a pushed out c"
        assert two._held == sum(entry.nbytes for entry in two._entries.values()) <= 2 * size
        none = VectorCache(backend, max_bytes=1)
        assert [use(none, user) for user in "aab"] == [1, 0, 1]


def test_slices_without_records_are_bounded_too(clock: FakeClock) -> None:
    """Whoever asks for one user after another must not fill the memory with what is not there."""
    with open_store(clock=clock) as store:
        engine = store._engine
        caches = engine.vector_cache, engine.word_cache, engine.filter_cache
        for cache in caches:
            cache._max_bytes = 20_000
        for number in range(40):
            for _ in range(2):
                assert store.recall("tea", mode="hybrid", filters={"a": 1}, user_id=f"u{number}") == []
        assert all(0 < len(cache._entries) <= 10 for cache in caches)


@given(steps("purge", "beside", "beside", most=10), FILTERS)
def test_cached_answers_are_uncached_answers(script: list[Step], filters: Filter) -> None:
    """After any writes, asked after each of them, in every slice, now and in the past, of everything and of what a filter leaves."""
    with Life() as life:
        for step in script:
            life.take(step)
            with_none = MemoryStore(":memory:", backend=life.store._engine.backend, clock=life.clock, embedder=HashEmbedder())
            for cache in (with_none._engine.word_cache, with_none._engine.filter_cache):
                cache.max_records = -1
            questions: list[dict[str, Any]] = [
                *({"mode": mode} for mode in ("semantic", "hybrid")),
                *({"mode": "hybrid", "as_of": at} for at in (1, max(life.store.version // 2, 1), life.store.version + 1)),
                {"mode": "hybrid", "filters": filters},
                {"mode": "semantic", "filters": filters, "include_expired": True},
                {"mode": "semantic", "filters": filters, "as_of": max(life.store.version // 2, 1)},
            ]
            for scope in SCOPES[0], SCOPES[3], EVERYTHING:
                for question in questions:
                    cached = seen(life.store.recall(QUERIES[0], limit=20, **question, **scope))
                    assert cached == seen(with_none.recall(QUERIES[0], limit=20, **question, **scope))
                for match in ("all", "any"):
                    cached = seen(life.store.search(QUERIES[0], match=match, limit=20, **scope))
                    assert cached == seen(with_none.search(QUERIES[0], match=match, limit=20, **scope))


def test_two_handles_in_one_process(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as second:
        record = kept.remember("tea")
        assert ids(second.recall("tea")) == [record.id]
        second.edit(record.id, content="milk")
        assert contents(kept.recall("milk")) == ["milk"]
        kept.forget(record.id)
        assert second.recall("milk") == []
        second.undo(record.id)
        assert contents(kept.recall("milk")) == ["milk"]
        second.purge(record.id)
        assert kept.recall("milk") == []


OTHERS = {
    "a write": 'store.remember("milk")',
    "an edit": 'store.edit(store.list()[0].id, content="milk")',
    "a forget": "store.forget(store.list()[0].id)",
    "a purge": "store.purge(store.list()[0].id)",
    "a reindex": "store.reindex()",
    "a rebuild": "store.rebuild()",
    "an import": 'store.import_(sys.argv[1] + ".export")',
    "a prune": "store.prune(user_id='default', dry_run=False, confirm=True)",
}


@pytest.mark.parametrize("program", OTHERS.values(), ids=list(OTHERS))
def test_fresh_after_another_process(kept: MemoryStore, path: Path, clock: FakeClock, tmp_path: Path, program: str) -> None:
    """A cache that was warm answers as a new one, whatever another process did meanwhile."""
    with open_store(tmp_path / "elsewhere.db", clock=clock) as elsewhere:
        elsewhere.remember("imported milk")
        elsewhere.export(str(path) + ".export")
    kept.remember_many(["tea", "tea with milk"])
    for _ in range(2):  # words are kept from the second time on
        assert len(kept.recall("milk tea", mode="hybrid")) == 2
    other_process(path, program)
    with open_store(path, clock=clock) as fresh:
        assert seen(kept.recall("milk tea")) == seen(fresh.recall("milk tea"))
        assert seen(kept.recall("milk", mode="hybrid")) == seen(fresh.recall("milk", mode="hybrid"))
        assert seen(kept.search("milk")) == seen(fresh.search("milk"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_child_has_a_cache_of_its_own(kept: MemoryStore) -> None:
    """It drops what it inherited, sees the parent's later writes, and the parent sees its."""
    kept.remember("tea")
    assert len(kept.recall("tea")) == 1

    def child(say: children.Say) -> None:
        say(str(len(kept._engine.vector_cache._entries)))
        say(" ".join(contents(kept.recall("tea"))))
        kept.remember("childs")
        say(" ".join(contents(kept.recall("childs", limit=1))))

    assert children.run(child) == [["0", "tea", "childs"]]
    assert contents(kept.recall("childs", limit=1)) == ["childs"]
    assert len(kept.list()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_fork_while_the_cache_is_locked_is_no_deadlock(kept: MemoryStore) -> None:
    """The lock may be held by a thread that the child does not have."""
    kept.remember("tea")
    kept.recall("tea")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with kept._engine.vector_cache._lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(30)
        assert children.run(lambda say: say(" ".join(contents(kept.recall("tea"))))) == [["tea"]]
    finally:
        done.set()
        thread.join()


def test_many_threads_read_while_one_writes(kept: MemoryStore) -> None:
    """No answer is torn: each has the texts that were there at some moment, and the last has all."""
    kept.remember("tea 0")
    problems: list[object] = []
    stop = threading.Event()

    def read() -> None:
        most = 1
        while not stop.is_set():
            try:
                found = contents(kept.recall("tea", limit=1000))
                if len(set(found)) != len(found) or len(found) < most:
                    problems.append(found)
                most = len(found)
            except BaseException as error:
                problems.append(error)
                raise

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 30):
        kept.remember(f"tea {number}")
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(kept.recall("tea", limit=1000)) == 30


def test_backends_are_told_apart(clock: FakeClock) -> None:
    """Two stores in one process share no vectors, even of the same slice."""
    backends: list[Backend] = [open_backend(":memory:", clock) for _ in range(2)]
    one, two = (MemoryStore(":memory:", backend=backend, clock=clock, embedder=HashEmbedder()) for backend in backends)
    one.remember("tea")
    assert contents(one.recall("tea")) == ["tea"]
    assert two.recall("tea") == []


def test_names_of_slices_are_bounded(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may have a slice for each user; the last ones are remembered, and the others looked up again."""
    monkeypatch.setattr("indelible.backend.sqlite.transaction.MAX_NAMES", 3)
    backend = open_backend(":memory:", clock)
    assert isinstance(backend, SqliteBackend)
    with open_store(clock=clock, backend=backend) as store:
        for round_ in range(2):
            for number in range(5):
                store.remember(f"tea {round_}", user_id=f"u{number}")
        assert [record.scope.user_id for record in store.list()] == [f"u{number}" for number in range(5)] * 2
        assert len(backend._names._known) <= 3
        assert backend._known is not None
        assert len(backend._known.transaction._slices) <= 3
        assert store.verify().ok
