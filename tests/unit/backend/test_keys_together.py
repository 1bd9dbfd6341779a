"""The keys of many drafts are looked up together: the answers are those of looking up one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Delete, InvalidInput, MemoryStore, Put, VersionConflict
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.base.draft import Draft
from indelible.base.event import Op
from indelible.base.record import Scope
from indelible.base.standing import Slot
from indelible.testing import FakeClock, HashEmbedder, SequentialIds
from tests.crash.engine import SteppingClock, open_engine

KEYS = ["a", "b", " a", "A", "", "'", "1", "1.0", "null", "ä", "a\u0308", '"', "\\u0061", "🗝", "\n"]
SLOTS = st.builds(
    Slot,
    st.sampled_from([(), ("n",), ("n", "m")]),
    st.builds(Scope, st.sampled_from([None, "a"]), st.sampled_from([None, "u", "%"])),
    st.sampled_from(KEYS),
)


@given(written=st.lists(st.tuples(SLOTS, st.sampled_from([Op.REMEMBER, Op.FORGET])), max_size=30), asked=st.lists(SLOTS, max_size=20))
def test_many_keys_are_looked_up_as_each_alone(written: list[tuple[Slot, Op]], asked: list[Slot]) -> None:
    backend = open_engine(":memory:", clock=SteppingClock())
    try:
        for slot, op in written:
            backend.append([Draft(op, *slot[:2], key=slot.key, fields={"content": dumps(slot.key)}, if_missing="record")])
        with backend._connections.write() as connection:
            transaction = backend._transaction(connection)
            alone = [transaction.claimants(slot) for slot in asked]
            transaction.look_ahead(asked)
            assert [transaction.claimants(slot) for slot in asked] == alone
            assert [transaction.holder(slot) for slot in asked] == [found[0] if found else None for found in alone]
            transaction.forget_keys()
            assert [transaction.claimants(slot) for slot in asked] == alone
    finally:
        backend.close()


def test_two_devices_records_under_one_key_are_both_found(path: Path, tmp_path: Path, backend: SqliteBackend) -> None:
    slot = Slot((), Scope("a", "u"), "k")
    rival = open_engine(tmp_path / "rival.db", clock=SteppingClock())
    for each in (rival, backend):
        each.append([Draft(Op.REMEMBER, *slot[:2], key="k", fields={"content": '"x"'})])
    backend.ingest(rival.events())
    rival.close()
    with backend._connections.write() as connection:
        transaction = backend._transaction(connection)
        alone, holder = transaction.claimants(slot), transaction.holder(slot)
        assert len(alone) == 2
        transaction.look_ahead([slot] * 9)
        assert (transaction.claimants(slot), transaction.holder(slot)) == (alone, holder)


def test_a_batch_over_keys_that_are_there_revises_them(path: Path) -> None:
    with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(), new_id=SequentialIds()) as store:
        collection = store.collection("c")
        first = collection.batch([Put(f"k{number}", f"text {number}") for number in range(20)])
        second = collection.batch([*(Put(f"k{number}", "new") for number in range(0, 20, 2)), *(Delete(f"k{n}") for n in range(1, 20, 2))])
        assert [record.id for record in second[:10]] == [record.id for record in first[::2]]
        assert second[10:] == [True] * 10
        with pytest.raises(VersionConflict):
            collection.batch([*(Put(f"k{number}", "x") for number in range(10)), Put("k0 ", "x", expected_version=5)])
        assert collection.batch([Put(f"k{number}", "x") for number in range(10)])[1].id == first[1].id
        # Of one key several times in one transaction the later ones revise what the first made.
        facts = store.remember_many([{"content": str(number), "key": "same"} for number in range(12)])
        assert len({record.id for record in facts}) == 1
        with pytest.raises(InvalidInput):
            collection.batch([Put(f"k{number}", "\0") for number in range(10)])
        assert store.verify().ok
