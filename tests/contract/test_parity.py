"""Two of a kind say the same: backends under one face, the face of coroutines and the plain one, and stores that met."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import AsyncMemoryStore, MemoryStore
from indelible.backend.interface import Backend
from indelible.backend.sqlite import SqliteBackend
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend, SequentialIds
from indelible.testing.contract.drivers.facts import Blocking, contract_loop
from tests.unit.facts.random_facts import Life, Step, answers, steps

Backends = Callable[[FakeClock, SequentialIds], Backend]


def on_sqlite(clock: FakeClock, ids: SequentialIds) -> Backend:
    return SqliteBackend(":memory:", TextIndexer(), clock=clock, new_id=ids)


def on_reference(clock: FakeClock, ids: SequentialIds) -> Backend:
    return ReferenceBackend(clock=clock, new_id=ids)


def a_life(backend: Backends, series: int = 0) -> Life:
    """A store on a backend, to be lived."""
    clock = FakeClock()
    return Life(MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock, backend=backend(clock, SequentialIds(series))), clock)


def an_async_life() -> Life:
    """The same behind coroutines."""
    clock = FakeClock()
    store = AsyncMemoryStore(":memory:", embedder=HashEmbedder(), clock=clock, backend=on_sqlite(clock, SequentialIds()))
    return Life(cast(MemoryStore, Blocking(store, contract_loop())), clock)


everything = steps("beside", "beside", "purge", most=10)


def everything_said(life: Life) -> list[Any]:
    """All answers, now and at every version, and all histories."""
    histories = [[str(change) for change in life.store.history(id)] for id in life.made]
    views = [answers(life.store.at(version), life.made) for version in range(life.store.version + 1)]
    return [answers(life.store, life.made), histories, views, life.store.health().live, life.store.verify().ok]


@given(everything)
def test_facts_are_the_same_on_both_backends(script: list[Step]) -> None:
    """Ids, order, scores, histories and every version's answers: what SQLite says, the specification says."""
    lives = [a_life(on_sqlite), a_life(on_reference)]
    for life in lives:
        for step in script:
            life.take(step)
    assert everything_said(lives[0]) == everything_said(lives[1])


@given(everything)
def test_facts_are_the_same_behind_coroutines(script: list[Step]) -> None:
    """What is awaited is what a plain call returns."""
    lives = [a_life(on_sqlite), an_async_life()]
    for life in lives:
        for step in script:
            life.take(step)
    assert everything_said(lives[0]) == everything_said(lives[1])
    lives[1].store.close()


@given(everything)
def test_views_made_anew_answer_alike(script: list[Step]) -> None:
    """S88: after a rebuild every answer, now and in the past, is the one before it."""
    life = a_life(on_sqlite)
    for step in script:
        life.take(step)
    before = everything_said(life)
    life.store.rebuild()
    assert everything_said(life) == before


def told(life: Life) -> list[Any]:
    """What must be equal in two stores that have the same events, in whatever order they came."""
    listed = [
        (record.id, record.content, record.metadata, record.created_at, record.updated_at, record.expires_at, record.scope, record.key)
        for record in life.store.list(include_expired=True)
    ]
    words = [
        {(hit.id, hit.content, hit.rank_score) for hit in life.store.search(query, match="any", limit=100)}
        for query in ("tea cafe", "茶 runs")
    ]
    meant = {(hit.id, hit.score) for hit in life.store.recall("tea", limit=100)}
    return [listed, words, meant, life.store.count(), life.store.verify().problems]


@given(everything, everything, everything, st.booleans())
@pytest.mark.parametrize("backend", [on_sqlite, on_reference])
def test_stores_that_met_say_the_same(backend: Backends, common: list[Step], here: list[Step], there: list[Step], once_more: bool) -> None:
    """S87: one log, continued by two devices, each importing the other's: nothing refused, nothing lost, equal current state."""
    first, second = a_life(backend, 1), a_life(backend, 2)
    with tempfile.TemporaryDirectory() as folder:
        for step in common:
            first.take(step)
        pass_on(first, second, Path(folder) / "common")
        second.made = list(first.made)
        second.clock.advance(us=first.clock.now_us() - second.clock.now_us() + 7)
        for life, script in ((first, here), (second, there)):
            for step in script:
                life.take(step)
        later = max(first.clock.now_us(), second.clock.now_us())
        for life in (first, second):
            life.clock.advance(us=later - life.clock.now_us())
        pass_on(first, second, Path(folder) / "first")
        pass_on(second, first, Path(folder) / "second")
        if once_more:
            pass_on(first, second, Path(folder) / "again")
    assert told(first) == told(second)
    assert first.store.version == second.store.version


def pass_on(giver: Life, taker: Life, path: Path) -> None:
    giver.store.export(path)
    taker.store.import_(path)
