"""Selections of many records, whose vectors are coded: the same answers as from the vectors themselves, whoever writes."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore, Part
from indelible.backend.interface import Backend, Selection
from indelible.faces.coded_vectors import CodedVectors
from indelible.faces.engine import open_backend
from indelible.search.filters import Filter
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder, ReferenceBackend
from tests.unit.facts.random_facts import QUERIES, SCOPES, Life, Step, seen, steps
from tests.unit.facts.stores import contents, open_store, other_process
from tests.unit.facts.test_coded_vectors import small_blocks
from tests.unit.facts.test_slice_caches import OTHERS
from tests.unit.search.filter_strategies import FILTERS

EVERYTHING: dict[str, Any] = {}


def coding(store: MemoryStore, least: int = 0) -> MemoryStore:
    """Let a store take slices for large from so many records on."""
    store._engine.large_vectors.least = least
    return store


def beside(backend: Backend, clock: FakeClock) -> MemoryStore:
    """Another store on the same backend that has read nothing yet, and codes nothing."""
    return MemoryStore(":memory:", backend=backend, clock=clock, embedder=HashEmbedder())


def coded(store: MemoryStore) -> list[CodedVectors]:
    return [entry.kept for entry in store._engine.large_vectors._entries.values()]


@given(steps("purge", "beside", "beside", most=10), FILTERS, st.sampled_from([2, 64]))
def test_coded_answers_are_plain_answers(script: list[Step], filters: Filter, block: int) -> None:
    """After any writes, asked after each of them, in every slice, now and in the past, of everything and of what a filter leaves."""
    with Life() as life, small_blocks(block):
        coding(life.store)
        for step in script:
            life.take(step)
            version = life.store.version
            questions: list[dict[str, Any]] = [
                *({"mode": mode} for mode in ("semantic", "hybrid")),
                *({"mode": "hybrid", "as_of": at} for at in (1, max(version // 2, 1), version + 1)),
                {"limit": 2},
                {"limit": 1, "offset": 2, "min_score": 0.3},
                {"mode": "hybrid", "filters": filters, "limit": 3},
                {"filters": filters, "include_expired": True},
                {"filters": filters, "as_of": max(version // 2, 1)},
                {"feedback": True, "limit": 3},
            ]
            plain = beside(life.store._engine.backend, life.clock)
            for scope in SCOPES[0], SCOPES[3], EVERYTHING:
                for question in questions:
                    wanted = {"limit": 20, **question, **scope}
                    assert seen(life.store.recall(QUERIES[0], **wanted)) == seen(plain.recall(QUERIES[0], **wanted))
            assert version == 0 or coded(life.store)
            assert plain._engine.large_vectors._entries == {}


@pytest.mark.parametrize("program", OTHERS.values(), ids=list(OTHERS))
def test_fresh_after_another_process(kept: MemoryStore, path: Path, clock: FakeClock, tmp_path: Path, program: str) -> None:
    """What was read and coded answers as a new store, whatever another process did meanwhile."""
    with open_store(tmp_path / "elsewhere.db", clock=clock) as elsewhere:
        elsewhere.remember("imported milk")
        elsewhere.export(str(path) + ".export")
    kept.remember_many(["tea", "tea with milk", "milk"])
    coding(kept)
    assert len(kept.recall("milk tea")) == 3
    other_process(path, program)
    with open_store(path, clock=clock) as fresh:
        for mode in ("semantic", "hybrid"):
            assert seen(kept.recall("milk tea", mode=mode)) == seen(fresh.recall("milk tea", mode=mode))


@pytest.fixture
def counted(clock: FakeClock) -> tuple[MemoryStore, FlakyBackend]:
    """A store that codes slices of more than 20 records, and its backend that counts how they are read."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("documents", "unembedded", "embedded"))
    return coding(open_store(clock=clock, backend=backend), 20), backend


def reads(backend: FlakyBackend) -> list[str]:
    done = list(backend.calls)
    backend.calls.clear()
    return done


def test_what_is_written_is_appended(counted: tuple[MemoryStore, FlakyBackend], clock: FakeClock) -> None:
    """Records that come, change or go cost what they are, and a reader's view stays whole."""
    store, backend = counted
    store.remember_many([f"tea number {number}" for number in range(40)])
    store.recall("tea")
    assert reads(backend) == ["documents"]
    (before,) = coded(store)
    docs = before.docs.tolist()
    changed = store.list(limit=3)
    store.remember("tea with milk")
    store.edit(changed[0].id, content="milk")
    store.forget(changed[1].id)
    store.edit(changed[2].id, ttl_ms=50)
    store.feedback(changed[2].id, "up")
    assert contents(store.recall("tea with milk", limit=1)) == ["tea with milk"]
    assert reads(backend) == ["documents"] * 2
    (after,) = coded(store)
    assert after.store is before.store
    assert (before.docs.tolist(), before.alive) == (docs, None)
    assert after.alive is not None
    assert after.alive.tolist().count(False) == 3
    clock.advance(ms=50)
    assert seen(store.recall("tea", limit=99)) == seen(beside(backend, clock).recall("tea", limit=99))
    assert changed[2].id not in [hit.id for hit in store.recall("tea", limit=99)]


def test_read_anew_when_much_is_gone(counted: tuple[MemoryStore, FlakyBackend], clock: FakeClock) -> None:
    store, backend = counted
    store.remember_many([f"tea number {number}" for number in range(40)])
    store.recall("tea")
    for record in store.list(limit=9):
        store.forget(record.id)
    assert len(store.recall("tea", limit=99)) == 31
    (after,) = coded(store)
    assert after.alive is None
    assert len(after.docs) == 31
    assert seen(store.recall("tea 9", limit=99)) == seen(beside(backend, clock).recall("tea 9", limit=99))


def test_what_lacks_vectors_is_embedded(counted: tuple[MemoryStore, FlakyBackend], clock: FakeClock) -> None:
    """Vectors that are missing are made once; what has no text is not looked through again and again."""
    store, backend = counted
    store.remember_many([f"tea number {number}" for number in range(40)])
    first = store.list(limit=1)[0]
    only = Selection(namespace=None, records=(uuid.UUID(first.id).bytes,))
    backend.drop_vectors(only, store._indexing.space().models(store._engine))
    assert contents(store.recall(first.content, limit=1)) == [first.content]
    assert "unembedded" in reads(backend)
    (vectors,) = coded(store)
    assert vectors.missing == {}
    store.remember("milk")
    store.recall("milk")
    assert reads(backend) == ["documents"] * 2


def test_a_small_slice_beside_a_large_one(counted: tuple[MemoryStore, FlakyBackend]) -> None:
    """Each user's few records are kept as they are; all together are coded, and neither pushes the other out."""
    store, backend = counted
    for user in "abc":
        store.remember_many(["tea"] * 15, user_id=user)
    for _ in range(3):
        assert len(store.recall("tea", limit=99)) == 45
        assert len(store.recall("tea", limit=99, user_id="a")) == 15
    assert reads(backend).count("embedded") == 1
    assert len(coded(store)) == 1


def test_the_cache_is_bounded(counted: tuple[MemoryStore, FlakyBackend]) -> None:
    """What was used least recently goes before another slice is read; one alone may be larger than the bound."""
    store, backend = counted
    cache = store._engine.large_vectors
    for user in "abc":
        store.remember_many(["tea"] * 30, user_id=user)

    def use(user: str) -> int:
        reads(backend)
        assert len(store.recall("tea", limit=99, user_id=user)) == 30
        return reads(backend).count("documents")

    use("a")
    cache._max_bytes = 2 * cache._held + 30 * 150
    assert [use(user) for user in "abab"] == [0, 1, 0, 0]
    assert [use(user) for user in "cbac"] == [1, 0, 1, 1], "c pushed out a, then a pushed out c"
    cache._max_bytes = 1
    assert [use(user) for user in "aba"] == [0, 1, 1]
    assert len(coded(store)) == 1
    assert cache._held == sum(entry.nbytes for entry in cache._entries.values())


@pytest.mark.parametrize("kind", ["sqlite", "reference"])
def test_parts_with_vectors_of_callers(kind: str, clock: FakeClock) -> None:
    """Several parts a record, of any length: the best one is named, as from the vectors themselves."""
    backend = open_backend(":memory:", clock) if kind == "sqlite" else ReferenceBackend(clock=clock)
    store = coding(open_store(clock=clock, backend=backend))
    box, plain = store.collection("box"), beside(backend, clock).collection("box")
    for number in range(30):
        numbers = [(number * 7 + i * i) % 11 - 5.0 or 0.5 for i in range(9)]
        scale = 10.0 ** (number % 9 - 4)
        parts = [Part(f"p{i}", f"part {i}", vector=tuple(scale * x for x in numbers[i * 3 : i * 3 + 3])) for i in range(1 + number % 3)]
        box.put(f"k{number}", "", parts=parts)
    for vector in ([1.0, 0.2, -0.3], [0.0, 0.0, -2.0], [-5.0, 4.0, 1.0]):
        for limit in (3, 30):
            ours, theirs = box.search(vector=vector, limit=limit), plain.search(vector=vector, limit=limit)
            assert [(hit.id, hit.score, hit.part) for hit in ours] == [(hit.id, hit.score, hit.part) for hit in theirs]
            assert limit == 3 or len({hit.part for hit in ours}) > 1
    assert coded(store)


def test_many_threads_read_while_one_writes(kept: MemoryStore) -> None:
    """No answer is torn: each has the texts that were there at some moment, and the last has all."""
    coding(kept).remember("tea 0")
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
    with small_blocks(7):
        for number in range(1, 30):
            kept.remember(f"tea {number}")
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(kept.recall("tea", limit=1000)) == 30


def test_a_small_slice_is_not_counted_again_before_it_may_be_large(clock: FakeClock) -> None:
    """What is past never is; and what is written since could not have made it large yet."""
    backend = FlakyBackend(open_backend(":memory:", clock), verbs=("size",))
    with open_store(clock=clock, backend=backend) as store:
        coding(store, 6)
        store.remember_many([f"tea {number}" for number in range(3)], user_id="u")
        store.remember_many([f"tea {number}" for number in range(5)], user_id="v")
        for _ in range(3):
            assert len(store.recall("tea", user_id="u")) == len(store.recall("tea", user_id="u", as_of=3)) == 3
        assert backend.calls == ["size"] * 2, "once now and once for the past"
        for number in range(5):
            store.remember(f"more tea {number}", user_id="u")
            assert len(store.recall("tea", user_id="u", limit=20)) == 4 + number
            assert len(store.recall("tea", user_id="u", as_of=3)) == 3
        assert backend.calls == ["size"] * 3, "when there may be seven"
        assert len(coded(store)) == 1
