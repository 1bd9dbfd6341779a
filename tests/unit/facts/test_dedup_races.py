"""S32: ``dedup`` is settled under the write lock. What another program does between the look and the write is taken into account."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indelible import MemoryStore
from indelible.backend.interface import Backend, Row, Selection
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import Before, contents, ids, open_store


def test_another_adds_the_same(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before) -> None:
    """One memory is there afterwards, and both got it."""
    store, rival = pair
    before_the_write(lambda: rival.remember("tea", dedup=True))
    mine = store.remember("tea", dedup=True)
    assert store.list() == [mine]
    assert store.version == 1


@pytest.mark.parametrize("text", ["tea", "!?", "京都の 紅茶", "a" * 3000, "tea " * 500, '"content":"tea"'])
def test_whatever_it_says(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before, text: str) -> None:
    """Without words, in any script, long, or like a payload; and only the very same."""
    store, rival = pair
    rival.remember_many([text + " ", text + "s", "milk"])
    rival.remember(text, user_id="other")
    before_the_write(lambda: rival.remember(text, metadata={"content": text}, context=["2025-06-01"]))
    mine = store.remember(text, dedup=True)
    assert mine.metadata == {"content": text}
    assert store.remember(text, dedup=True) == mine
    assert store.count(user_id="default") == 4


TAKES_AWAY: dict[str, Callable[[MemoryStore, str], object]] = {
    "forgets": lambda rival, id: rival.forget(id),
    "purges": lambda rival, id: rival.purge(id),
    "edits": lambda rival, id: rival.edit(id, content="milk"),
    "lets expire": lambda rival, id: rival.edit(id, ttl_ms=1),
}


@pytest.mark.parametrize("act", TAKES_AWAY)
@pytest.mark.parametrize("many", [False, True])
def test_another_takes_it_away(
    pair: tuple[MemoryStore, MemoryStore], before_the_write: Before, clock: FakeClock, act: str, many: bool
) -> None:
    """It is added after all, with its vectors."""
    store, rival = pair
    old = rival.remember("tea")
    before_the_write(lambda: TAKES_AWAY[act](rival, old.id))
    before_the_write(lambda: clock.advance(ms=1))
    mine = store.remember_many(["coffee", "tea", "tea"], dedup=True)[1] if many else store.remember("tea", dedup=True)
    assert mine.id != old.id
    assert contents(store.list()).count("tea") == 1
    found = store.get(mine.id, with_vectors=True)
    assert found is not None
    assert (found.vectors or {})[""] == pytest.approx(HashEmbedder().embed_documents(["tea"])[0].tolist(), abs=1e-6)


BRINGS_BACK: dict[str, Callable[[MemoryStore, str], object]] = {
    "restores": lambda rival, id: rival.restore(id, 1),
    "edits": lambda rival, id: (rival.undo(id), rival.edit(id, content="tea")),
}


@pytest.mark.parametrize("act", BRINGS_BACK)
def test_another_brings_it_back(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before, act: str) -> None:
    store, rival = pair
    old = rival.remember("tea")
    rival.forget(old.id)
    before_the_write(lambda: BRINGS_BACK[act](rival, old.id))
    assert store.remember("tea", dedup=True).id == old.id
    assert store.count() == 1


def test_another_makes_an_expired_one_last(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before, clock: FakeClock) -> None:
    """A new life of it is a new state, under its key."""
    store, rival = pair
    old = rival.remember("tea", key="k", ttl_ms=1)
    clock.advance(ms=1)
    before_the_write(lambda: rival.remember("tea", key="k"))
    assert store.remember("tea", dedup=True).id == old.id


def test_an_import_brings_it(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before, tmp_path: Path, clock: FakeClock) -> None:
    store, rival = pair
    with open_store(clock=clock) as elsewhere:
        there = elsewhere.remember("tea")
        elsewhere.export(tmp_path / "export")
    before_the_write(lambda: rival.import_(tmp_path / "export"))
    assert store.remember("tea", dedup=True) == there


def test_turns_name_the_one_that_they_repeat(pair: tuple[MemoryStore, MemoryStore], before_the_write: Before) -> None:
    store, rival = pair
    before_the_write(lambda: rival.remember("okay"))
    made = store.remember_turns([("user", "okay"), ("user", "okay"), ("user", "bye")], dedup=True)
    assert made[0].id == made[1].id == store.list()[0].id
    assert contents(store.list()) == ["okay", "bye"]


def test_a_retry_of_other_content_is_no_twin(pair: tuple[MemoryStore, MemoryStore]) -> None:
    """What an idempotency key brought back says something else, so the text that must not repeat is not there yet."""
    store, _ = pair
    store.remember("milk", idempotency_key="once")
    made = store.remember_many([{"content": "tea", "idempotency_key": "once"}, {"content": "tea", "dedup": True}])
    assert contents(made) == ["milk", "tea"]
    assert len(store.recall("tea", min_score=0.9)) == 1


def test_no_look_reads_the_whole_scope(pair: tuple[MemoryStore, MemoryStore], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost does not follow the number of memories: the keyword index finds those with the same words."""
    store, _ = pair
    store.remember_many([f"note {number}" for number in range(50)])
    backend: Backend = store._engine.backend
    select, asked = backend.select, list[Selection]()

    def recorded(selection: Selection) -> list[Row]:
        asked.append(selection)
        return select(selection)

    monkeypatch.setattr(backend, "select", recorded)
    assert store.remember("note 7", dedup=True).version == 8
    assert [len(selection.records or ()) for selection in asked] == [1]
    asked.clear()
    store.remember("note 70", dedup=True)
    assert asked == []


PROGRAM = """
import sys
from indelible import MemoryStore
from indelible.testing import HashEmbedder
with MemoryStore(sys.argv[1], embedder=HashEmbedder()) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(60):
        print(store.remember(f"note {number}", dedup=True).id)
"""


def test_two_programs_at_one_moment(path: Path) -> None:
    """Each text is there once, and both programs name the same memory."""
    with open_store(path) as store:
        store.remember("first")
        programs = [
            subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for program in programs:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
        for program in programs:
            _go(program)
        said: list[Any] = [program.communicate(timeout=120)[0].split() for program in programs]
        assert [program.returncode for program in programs] == [0, 0]
        assert said[0] == said[1] == ids(store.list())[1:]


def _go(program: subprocess.Popen[str]) -> None:
    assert program.stdin is not None
    program.stdin.write("go\n")
    program.stdin.flush()
