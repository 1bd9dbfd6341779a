"""The context of a memory: neighbours and dates whose text is indexed with it, derived anew whenever a neighbour changes, never copied."""

from __future__ import annotations

import functools
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from indelible import MemoryStore, Record
from indelible.embed import OnnxEmbedder, resolve
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import contents, ids, near, open_store, other_process

DAY = datetime(2025, 6, 1, 23, 30, tzinfo=UTC)


def hits(store: Any, query: str) -> list[str]:
    return sorted(contents(store.search(query)))


@pytest.fixture
def pair(store: MemoryStore) -> tuple[Record, Record]:
    """A memory, and one that is only understood beside it."""
    first = store.remember("zebra questions")
    return first, store.remember("plain reply", context=[first.id, "2025-06-01"])


def test_a_memory_is_found_by_its_context_and_returned_without_it(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    first, second = pair
    assert hits(store, "zebra") == ["plain reply", "zebra questions"]
    assert hits(store, "zebra reply") == ["plain reply"]
    assert hits(store, "2025") == hits(store, "2025-06-01") == ["plain reply"]
    hit = store.recall("zebra questions 2025-06-01 plain reply", limit=1)[0]
    assert (hit.id, hit.part, hit.content) == (second.id, "context", "plain reply")
    assert hit.record.context == (first.id, "2025-06-01")
    assert store.recall("plain reply", limit=1)[0].part is None, "and by its own words alone"


def test_neighbours_may_be_records_ids_and_dates(store: MemoryStore) -> None:
    first = store.remember("zebra")
    for context in (first, first.id, first.id.upper(), [first], (first.id.replace("-", ""),)):
        assert store.remember("x", context=context).context == (first.id,)
    assert store.remember("x", context=DAY).context == ("2025-06-01",)
    assert store.remember("x", context=[first, DAY, "2024-02-29"]).context == (first.id, "2025-06-01", "2024-02-29")
    assert store.remember("x", context=[]).context == ()


def test_an_edited_neighbour_is_seen_in_the_same_transaction(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    """The old words are gone and the new ones there at the very version of the edit, and the past keeps the old."""
    first, second = pair
    before = near(store, "okapi answers", second)
    edited = store.edit(first.id, content="okapi answers")
    assert hits(store, "zebra") == []
    assert hits(store, "okapi") == ["okapi answers", "plain reply"]
    assert hits(store.at(edited.version), "okapi") == ["okapi answers", "plain reply"]
    assert hits(store.at(edited.version - 1), "zebra") == ["plain reply", "zebra questions"]
    assert hits(store.at(edited.version - 1), "okapi") == []
    assert near(store, "okapi answers", second) > before + 0.2
    assert near(store.at(edited.version - 1), "okapi answers", second) == before
    assert store.get(second.id) == second, "the dependent itself did not change"
    assert store.version == 3
    assert store.verify().ok


def test_a_forgotten_neighbour_is_gone_and_comes_back(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    first, second = pair
    with_it = near(store, "zebra questions", second)
    store.forget(first.id)
    assert hits(store, "zebra") == []
    assert hits(store, "2025 reply") == ["plain reply"]
    without = near(store, "zebra questions", second)
    assert without < with_it - 0.1
    assert near(store.at(2), "zebra questions", second) == with_it
    store.undo(first.id)
    assert hits(store, "zebra") == ["plain reply", "zebra questions"]
    assert near(store, "zebra questions", second) == with_it
    assert hits(store.at(3), "zebra") == []


def test_a_purged_neighbour_is_gone_from_the_past_as_well(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    """Its words, and every vector that was made with them; what remains of the context is indexed again."""
    first, second = pair
    store.edit(first.id, content="okapi answers")
    alone = HashEmbedder().embed_documents(["2025-06-01\nplain reply"])[0]
    store.purge(first.id)
    for reads in (store, *map(store.at, range(store.version))):
        assert hits(reads, "zebra") == hits(reads, "okapi") == []
    for found in (store.get(second.id, with_vectors=True), *(store.at(version).get(second.id, with_vectors=True) for version in (2, 3, 4))):
        assert found is not None
        assert set(found.vectors or {}) == {"", "context"}
        assert (found.vectors or {})["context"] == pytest.approx(alone.tolist(), abs=1e-6)
    assert hits(store, "2025 reply") == ["plain reply"]
    assert store.verify().ok


@pytest.mark.parametrize("hard", [False, True])
def test_housekeeping_on_neighbours(store: MemoryStore, clock: FakeClock, hard: bool) -> None:
    """Pruning, withdrawing, erasing and forgetting what expired take the words away like forgetting by hand."""
    everything: dict[str, Any] = {"dry_run": False, "confirm": True, "hard": hard, "yes_i_really_want_to_delete": hard}
    for remove in (
        lambda: store.prune(keywords="zebra questions", **everything),
        lambda: store.withdraw("chat"),
        lambda: store.prune(before=datetime(2030, 1, 1, tzinfo=UTC), workspace_id="w", **everything),
        store.forget_expired,
    ):
        first = store.remember("zebra questions", source="chat", ttl_ms=5000, workspace_id="w")
        store.remember("plain reply", context=first, workspace_id="w", key="reply")
        assert hits(store, "zebra") == ["plain reply", "zebra questions"]
        clock.advance(ms=5000)
        assert hits(store, "zebra") == ["plain reply"], "time alone changes no index"
        remove()
        assert hits(store, "zebra") == []
    assert store.verify().ok


def test_erasing_a_scope_takes_neighbours_and_dependents(store: MemoryStore) -> None:
    first = store.remember("zebra questions", user_id="u")
    store.remember("plain reply", context=first, user_id="u")
    store.remember("zebra elsewhere", user_id="v", context=first)
    assert store.erase(user_id="u", confirm=True).count == 2
    assert hits(store, "zebra") == ["zebra elsewhere"]
    assert store.verify().ok


def test_context_does_not_reach_further_than_one_step(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    """A neighbour lends its own text, not what it was lent."""
    _, second = pair
    store.remember("third", context=second)
    assert hits(store, "reply third") == ["third"]
    assert hits(store, "zebra third") == []


def test_memories_may_be_each_others_context(store: MemoryStore) -> None:
    one = store.remember("zebra", key="one")
    two = store.remember("okapi", context=one)
    store.remember("zebra", key="one", context=two)
    assert hits(store, "zebra okapi") == ["okapi", "zebra"]
    store.edit(two.id, content="tapir")
    assert hits(store, "okapi") == []
    assert hits(store, "zebra tapir") == ["tapir", "zebra"]
    store.purge(two.id)
    assert hits(store, "tapir") == []
    assert store.verify().ok


def test_a_memory_keeps_its_context_over_edits_and_restores(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    first, second = pair
    edited = store.edit(second.id, content="edited reply")
    assert edited.context == second.context
    assert hits(store, "zebra edited") == ["edited reply"]
    store.edit(first.id, content="okapi questions")
    restored = store.restore(second.id, 2)
    assert restored.context == second.context
    assert hits(store, "okapi plain") == ["plain reply"]
    assert hits(store, "zebra") == []
    assert near(store, "okapi questions 2025-06-01 plain reply", second) == pytest.approx(1.0, abs=1e-5)


def test_an_edit_of_metadata_alone_keeps_both_vectors(store: MemoryStore, pair: tuple[Record, Record]) -> None:
    first, second = pair
    store.edit(first.id, content="okapi questions")
    before = store.get(second.id, with_vectors=True)
    store.edit(second.id, metadata={"a": 1})
    after = store.get(second.id, with_vectors=True)
    assert before is not None
    assert after is not None
    assert before.vectors == after.vectors
    assert hits(store, "okapi plain") == ["plain reply"]


def test_a_key_written_again_is_a_change_of_the_neighbour(store: MemoryStore) -> None:
    first = store.remember("zebra", key="k")
    second = store.remember("plain reply", context=first)
    store.remember("okapi", key="k")
    assert hits(store, "zebra") == []
    assert hits(store, "okapi plain") == ["plain reply"]
    assert near(store, "okapi\nplain reply", second) == pytest.approx(1.0, abs=1e-5)


def test_a_neighbour_that_is_written_later_in_the_same_batch(store: MemoryStore) -> None:
    """A turn and the one before it come in one transaction."""
    store.remember_turns([("user", "zebra"), ("assistant", "okapi"), ("user", "tapir")])
    assert hits(store, "zebra") == ["okapi", "zebra"]
    assert hits(store, "okapi") == ["okapi", "tapir"]


def test_unknown_and_foreign_neighbours_lend_nothing(store: MemoryStore) -> None:
    """S62: only records of the very same scope and namespace do, whatever else may be named."""
    others = [
        store.remember("zebra", user_id="you"), store.remember("zebra", workspace_id="w"), store.remember("zebra", agent_id="b"),
        store.collection("c", agent_id="default", user_id="default").put("k", "zebra"),
    ]  # fmt: skip
    mine = store.remember("plain reply", context=[*ids(others), "00000000-0000-7000-8000-000000000000"])
    assert hits(store, "plain zebra") == []
    for other in others[:3]:
        store.edit(other.id, content="zebra okapi")
    assert hits(store, "plain okapi") == hits(store, "plain zebra") == []
    assert near(store, "plain reply", mine) == 1.0


def test_a_neighbour_that_comes_after_is_taken_in_when_it_comes(store: MemoryStore, tmp_path: Path, clock: FakeClock) -> None:
    """By an import, say: until then it is unknown."""
    with open_store(clock=clock) as elsewhere:
        first = elsewhere.remember("zebra")
        elsewhere.export(tmp_path / "export")
    store.remember("plain reply", context=[first.id])
    assert hits(store, "zebra") == []
    store.import_(tmp_path / "export")
    assert hits(store, "zebra") == ["plain reply", "zebra"]
    assert store.verify().ok


def test_an_import_changes_neighbours_as_a_write_does(kept: MemoryStore, tmp_path: Path, clock: FakeClock) -> None:
    """Keyword index and vectors, here and in a store that gets everything by import."""
    first = kept.remember("zebra questions")
    second = kept.remember("plain reply", context=first)
    kept.backup(tmp_path / "copy.db")
    with open_store(tmp_path / "copy.db", clock=clock) as copy:
        clock.advance(ms=1)
        copy.edit(first.id, content="okapi answers")
        copy.export(tmp_path / "export")
    kept.import_(tmp_path / "export")
    assert hits(kept, "zebra") == []
    assert hits(kept, "okapi") == ["okapi answers", "plain reply"]
    with open_store(clock=clock) as third:
        third.import_(tmp_path / "export")
        assert hits(third, "okapi") == ["okapi answers", "plain reply"]
        for store in (kept, third):
            assert near(store, "okapi answers\nplain reply", second) == pytest.approx(1.0, abs=1e-5)
            assert store.verify().ok


def test_another_process_edits_a_neighbour(kept: MemoryStore, path: Path) -> None:
    first = kept.remember("zebra questions")
    second = kept.remember("plain reply", context=first)
    near(kept, "zebra questions", second)
    other_process(path, f'store.edit("{first.id}", content="okapi answers")')
    assert hits(kept, "okapi") == ["okapi answers", "plain reply"]
    assert near(kept, "okapi answers\nplain reply", second) == pytest.approx(1.0, abs=1e-5)


def test_many_dependents_of_one(store: MemoryStore) -> None:
    first = store.remember("zebra")
    store.remember_many([f"reply {number}" for number in range(300)], context=first)
    store.edit(first.id, content="okapi")
    assert len(store.search("okapi", limit=1000)) == 301
    assert store.search("zebra") == []
    store.forget(first.id)
    assert store.search("okapi") == []
    assert store.verify().ok


def test_restoring_takes_no_vector_of_the_old_context_along(store: MemoryStore) -> None:
    """However many windows the context had when the state was written."""
    first = store.remember("zebra questions " * 300)
    second = store.remember("plain reply", context=first)
    found = store.get(second.id, with_vectors=True)
    assert found is not None
    assert "context#2" in (found.vectors or {})
    store.edit(first.id, content="okapi")
    store.edit(second.id, content="other reply")
    store.restore(second.id, 2)
    found = store.get(second.id, with_vectors=True)
    assert found is not None
    assert set(found.vectors or {}) == {"", "context"}
    assert near(store, "zebra questions", second) < 0.5


def test_metadata_named_context_is_metadata(store: MemoryStore, clock: FakeClock, tmp_path: Path) -> None:
    """A payload may say the word without having one."""
    record = store.remember("tea", metadata={"context": ["2025-06-01"], "a": {"context": 1}})
    store.edit(record.id, content="coffee")
    store.undo(record.id)
    assert hits(store, "2025") == []
    assert near(store, "tea", record) == 1.0
    store.export(tmp_path / "export")
    with open_store(clock=clock) as other:
        other.import_(tmp_path / "export")
        assert hits(other, "tea") == ["tea"]
        assert near(other, "tea", record) == 1.0
        assert other.reindex() == 0
        assert other.verify().ok


def test_an_import_into_a_store_of_another_model_is_taken_all_the_same(store: MemoryStore, clock: FakeClock, tmp_path: Path) -> None:
    """Whoever recalls is told; the texts are there, with their contexts."""
    first = store.remember("zebra")
    store.remember("plain reply", context=first)
    store.edit(first.id, content="okapi")
    store.export(tmp_path / "export")
    with open_store(clock=clock, embedder=HashEmbedder(16)) as other:
        other.remember("tapir")
        assert other.import_(tmp_path / "export").added == 3
        assert hits(other, "okapi") == ["okapi", "plain reply"]


def test_what_was_written_before_there_was_a_model_gets_every_vector(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if its neighbour is edited between: its own words are embedded as well as those with context."""
    with MemoryStore(":memory:", clock=clock) as store:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "onnxruntime", None)
            patch.setattr(resolve, "_onnx", functools.cache(OnnxEmbedder))
            first = store.remember("Which animal has stripes?")
            second = store.remember("The striped one is in the zoo", context=first)
            store.edit(first.id, content="Which bird can talk?")
        store._engine._embedder = None  # what had no model is not asked again
        store.edit(first.id, content="Which fish can fly?")
        assert len(store.recall("anything")) == 2
        found = store.get(second.id, with_vectors=True)
        assert found is not None
        assert set(found.vectors or {}) == {"", "context"}
