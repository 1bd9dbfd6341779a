"""S87: copies of a store that went on apart, and meet again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

from indelible import MemoryStore
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend
from indelible.testing.reference_log import Medium
from tests.unit.facts.random_facts import Life, Step, steps
from tests.unit.facts.stores import open_store

SCRIPTS = steps("purge", "beside", "beside", most=6)


def state(store: MemoryStore) -> dict[str, Any]:
    """What must be the same in both: everything but versions, which say when each store learned of it."""
    found: dict[str, Any] = {"records": []}
    for record in store.list(include_expired=True):
        found["records"].append((record.id, record.content, record.metadata, record.created_at, record.updated_at, record.expires_at))
    for query in ("tea", "cafe", "茶"):
        found[f"search {query}"] = sorted((hit.id, hit.rank_score) for hit in store.search(query, limit=99))
        found[f"recall {query}"] = sorted((hit.id, hit.score) for hit in store.recall(query, limit=99))
    return found


@given(SCRIPTS, SCRIPTS, SCRIPTS)
def test_s87_copies_that_went_on_apart_agree_after_a_mutual_import(before: list[Step], here: list[Step], there: list[Step]) -> None:
    """Whatever each did to its own records and to those of the other: nothing refused, nothing lost, equal answers."""
    clock = FakeClock()
    with TemporaryDirectory() as name, ExitStack() as closing:
        folder = Path(name)
        mine = closing.enter_context(Life(open_store(folder / "mine.db", clock=clock), clock))
        mine.take(*before)
        mine.store.backup(folder / "backup.db")
        restored = MemoryStore.restore_backup(folder / "backup.db", folder / "theirs.db", clock=clock, embedder=HashEmbedder())
        theirs = closing.enter_context(Life(restored, clock))
        theirs.made = list(mine.made)
        for life, script in ((mine, here), (theirs, there)):
            for step in script:
                clock.advance(ms=1)
                life.take(step)
        mine.store.export(folder / "of-mine")
        theirs.store.export(folder / "of-theirs")
        mine.store.import_(folder / "of-theirs")
        theirs.store.import_(folder / "of-mine")
        for life in (mine, theirs):
            report = life.store.verify()
            assert report.ok, report.problems
            assert life.store.import_(folder / "of-mine").added == life.store.import_(folder / "of-theirs").added == 0
        assert state(mine.store) == state(theirs.store)
        events = [
            {(event.device, event.seq, event.hash, event.payload is None) for event in life.store.iter_events()} for life in (mine, theirs)
        ]
        assert events[0] == events[1], "nothing lost"


@pytest.fixture(params=["file", "reference"])
def devices(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[tuple[MemoryStore, MemoryStore]]:
    """Two stores that never met."""
    with ExitStack() as stack:
        yield tuple(  # type: ignore[misc]  # two
            stack.enter_context(
                open_store(tmp_path / f"{number}.db", clock=clock)
                if request.param == "file"
                else open_store(clock=clock, backend=ReferenceBackend(Medium(), TextIndexer(), clock=clock))
            )
            for number in range(2)
        )


@pytest.mark.parametrize("first", [0, 1])
def test_s32_one_idempotency_key_on_two_devices(devices: tuple[MemoryStore, MemoryStore], tmp_path: Path, first: int) -> None:
    """After a merge the write that was here first answers a retry; once it is purged, the other; and a rebuild changes nothing of that."""
    mine, theirs = devices
    made = [store.remember(text, idempotency_key="once") for store, text in ((mine, "here"), (theirs, "there"))]
    if first == 1:
        made.reverse()
        mine, theirs = theirs, mine
    theirs.export(tmp_path / "export")
    mine.import_(tmp_path / "export")

    def retried() -> list[str]:
        live = mine.remember("again", idempotency_key="once").id
        mine.rebuild()
        return [live, mine.remember("again", idempotency_key="once").id]

    assert retried() == [made[0].id] * 2
    mine.purge(made[0].id)
    assert retried() == [made[1].id] * 2
    mine.purge(made[1].id)
    last = retried()
    assert last[0] == last[1]
    assert last[0] not in [record.id for record in made]
    assert mine.verify().ok


def test_s32_a_purge_that_comes_by_import_frees_the_first(devices: tuple[MemoryStore, MemoryStore], tmp_path: Path) -> None:
    """Whatever way the first one goes."""
    mine, theirs = devices
    first = theirs.remember("there", idempotency_key="once")
    theirs.export(tmp_path / "export")
    second = mine.remember("here", idempotency_key="once")
    mine.import_(tmp_path / "export")
    mine.export(tmp_path / "back")
    theirs.import_(tmp_path / "back")
    assert theirs.remember("again", idempotency_key="once").id == first.id
    mine.purge(first.id)
    mine.export(tmp_path / "purged")
    theirs.import_(tmp_path / "purged")
    assert theirs.remember("again", idempotency_key="once").id == second.id
