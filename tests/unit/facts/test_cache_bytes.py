"""How much memory of what was read is kept: chosen by whoever opens a store, and of no influence on any answer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import AsyncMemoryStore, IndelibleError, InvalidInput, MemoryStore
from indelible.faces.engine import CACHE_VARIABLE, DEFAULT_CACHE_BYTES, Engine
from indelible.faces.slice_cache import SliceCache
from indelible.testing import FakeClock, HashEmbedder
from tests.rerankers import Longest
from tests.unit.facts.stores import ids, open_store

USERS = tuple(f"u{number}" for number in range(6))
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"mode": "semantic"},
    {"mode": "keyword"},
    {"mode": "hybrid"},
    {"mode": "hybrid", "filters": {"even": True}},
    {"mode": "hybrid", "as_of": 20, "rerank": Longest()},
)


def caches(store: MemoryStore) -> dict[str, SliceCache[Any]]:
    engine = store._engine
    return {name: kept for name, kept in vars(engine).items() if isinstance(kept, SliceCache)}


def fill(store: MemoryStore, per_user: int = 8) -> None:
    for user in USERS:
        store.remember_many(
            [{"content": f"tea number {n} of {user}", "metadata": {"even": n % 2 == 0}} for n in range(per_user)], user_id=user
        )


def test_the_default_is_a_gibibyte_and_all_bounds_scale_together(clock: FakeClock) -> None:
    bounds = {name: kept._max_bytes for name, kept in caches(open_store(clock=clock)).items()}
    assert sum(bounds.values()) == DEFAULT_CACHE_BYTES == 1 << 30
    assert len(bounds) == 5
    for twice, once in ((2, 1), (1, 2), (3, 1)):
        scaled = caches(open_store(clock=clock, cache_bytes=DEFAULT_CACHE_BYTES * twice // once))
        assert {name: kept._max_bytes for name, kept in scaled.items()} == {name: most * twice // once for name, most in bounds.items()}


def asked(store: MemoryStore, twice: bool = True) -> list[Any]:
    """Every user's answers to every question: twice, since what is asked once is not worth keeping."""
    found: list[Any] = []
    for question in QUESTIONS:
        for user in USERS * (1 + twice):
            hits = store.recall("tea number 3", limit=5, user_id=user, **question)
            found.append([(hit.id, hit.score, hit.rank_score, hit.part, hit.why) for hit in hits])
    found += [ids(store.list({"even": False}, user_id=user)) for user in USERS]
    return found


def test_a_small_bound_evicts_and_answers_stay(tmp_path: Path, clock: FakeClock) -> None:
    """With room for all slices they stay, with room for some there are some, with room for none the last one alone."""
    with open_store(tmp_path / "memory.db", clock=clock) as large:
        fill(large)
        expected = asked(large)
        kept = {name: (len(cache._entries), cache._held) for name, cache in caches(large).items()}
        assert kept["vector_cache"][0] == len(USERS) * 2, "now and as it was"
        assert kept["word_cache"][0] >= len(USERS)
        of_one = max(held // number for number, held in kept.values() if number)
        for bound in (8 * of_one, 1):
            with open_store(tmp_path / "memory.db", clock=clock, cache_bytes=bound) as small:
                assert asked(small) == expected
                for name, cache in caches(small).items():
                    assert len(cache._entries) <= 1 or len(cache._entries) < kept[name][0], name
                    assert len(cache._entries) <= 1 or (bound > 1 and cache._held <= cache._max_bytes), name
        assert asked(large) == expected


@given(bound=st.integers(1, 1 << 16), order=st.lists(st.tuples(st.sampled_from(USERS), st.sampled_from(QUESTIONS)), max_size=12))
def test_no_bound_changes_an_answer(bound: int, order: list[tuple[str, dict[str, Any]]]) -> None:
    """In whatever order is asked, with writes in between."""
    clock = FakeClock()
    with open_store(clock=clock) as plain:
        fill(plain, 4)
        bounded = MemoryStore(":memory:", backend=plain._engine.backend, clock=clock, embedder=HashEmbedder(), cache_bytes=bound)
        for user, question in order:
            plain.remember(f"tea of {user}", user_id=user)
            assert bounded.recall("tea number 3", user_id=user, **question) == plain.recall("tea number 3", user_id=user, **question)


def test_threads_on_a_store_that_keeps_nothing(tmp_path: Path) -> None:
    """What one thread lets go of another may be reading: its answer is the same, and nothing is raised."""
    with open_store(tmp_path / "memory.db") as store:
        fill(store)
        expected = {(user, n): ids(store.recall("tea number 3", user_id=user, **q)) for user in USERS for n, q in enumerate(QUESTIONS)}
    wrong: list[Any] = []
    with open_store(tmp_path / "memory.db", cache_bytes=1) as store:

        def ask(start: int) -> None:
            try:
                for turn in range(30):
                    user, n = USERS[(start + turn) % len(USERS)], (start + 3 * turn) % len(QUESTIONS)
                    found = ids(store.recall("tea number 3", user_id=user, **QUESTIONS[n]))
                    if found != expected[user, n]:
                        wrong.append((user, n, found))
                    if turn % 10 == start:
                        store.remember("nobody asks for this", user_id="another")
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert wrong == []


@pytest.mark.parametrize("wrong", [0, -1, -(1 << 40), 1.5, "1", True, False, b"1"])
def test_what_is_no_number_of_bytes_is_refused(tmp_path: Path, wrong: Any) -> None:
    """Before anything is made."""
    with pytest.raises(InvalidInput, match="cache_bytes must be an int of at least 1, got"):
        MemoryStore(tmp_path / "memory.db", cache_bytes=wrong)
    assert not list(tmp_path.iterdir())


def test_the_environment_says_it_where_nobody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, expected in (("4096", 4096), (" 4096 ", 4096), ("", DEFAULT_CACHE_BYTES)):
        monkeypatch.setenv(CACHE_VARIABLE, text)
        with open_store() as store:
            assert store._engine.cache_bytes == expected
            assert store.health().settings.get(CACHE_VARIABLE) == text
        with open_store(cache_bytes=77) as store:
            assert store._engine.cache_bytes == 77
    for wrong in ("0", "-1", "1.5", "1 GiB", "1_000", "٣", "9" * 19, "9" * 5000):
        monkeypatch.setenv(CACHE_VARIABLE, wrong)
        with pytest.raises(InvalidInput, match=CACHE_VARIABLE) as refused:
            open_store()
        assert isinstance(refused.value, IndelibleError)
        assert len(str(refused.value)) < 200


async def test_every_way_to_open_a_store_takes_it(tmp_path: Path) -> None:
    engines: list[Engine] = []
    async with AsyncMemoryStore(tmp_path / "memory.db", embedder=HashEmbedder(), cache_bytes=99) as store:
        engines.append(store._face._engine)
        await store.remember("tea")
        await store.backup(tmp_path / "backup.db")
    with MemoryStore.restore_backup(tmp_path / "backup.db", tmp_path / "restored.db", embedder=HashEmbedder(), cache_bytes=99) as restored:
        engines += [restored._engine, restored.collection("own", model=HashEmbedder(8))._engine]
        engines.append(restored.collection("own", model=HashEmbedder(8))._indexing._engine)
    async with await AsyncMemoryStore.restore_backup(tmp_path / "backup.db", tmp_path / "again.db", cache_bytes=99) as again:
        engines.append(again._face._engine)
    assert [engine.cache_bytes for engine in engines] == [99] * 5
