"""S36, S37: what happened to a record, and going back."""

from __future__ import annotations

from pathlib import Path

import pytest

from indelible import InvalidInput, MemoryStore, Record, RecordNotFound
from indelible.testing import FakeClock
from tests.unit.facts.stores import contents, ids, open_store


def ops(store: MemoryStore, record: Record) -> list[str]:
    return [str(change.op) for change in store.history(record.id)]


def test_s36_undo_brings_back_the_state_before(store: MemoryStore, clock: FakeClock) -> None:
    first = store.remember("tea", metadata={"a": 1}, source="me")
    clock.advance(ms=1000)
    store.edit(first.id, content="coffee", metadata={"b": 2}, source="you")
    undone = store.undo(first.id)
    assert undone is not None
    assert (undone.content, undone.metadata, undone.source, undone.version) == ("tea", {"a": 1}, "me", 3)
    assert (undone.id, undone.created_at) == (first.id, first.created_at)
    assert undone.updated_at > first.updated_at
    assert ops(store, first) == ["remember", "revise", "restore"]
    again = store.undo(first.id)
    assert again is not None
    assert again.content == "coffee", "undoing an undo"


def test_s36_undo_of_a_forget_is_a_memory_again(store: MemoryStore) -> None:
    record = store.remember("tea")
    store.forget(record.id)
    back = store.undo(record.id)
    assert back is not None
    for found in (store.list(), store.recall("tea"), store.search("tea")):
        assert ids(found) == [record.id]


def test_s36_undo_of_the_first_state_is_forgetting(store: MemoryStore) -> None:
    record = store.remember("tea")
    assert store.undo(record.id) is None
    assert store.list() == []
    assert ops(store, record) == ["remember", "forget"]


def test_s36_votes_are_not_undone(store: MemoryStore) -> None:
    """They are no state; undo goes to the state before the current one."""
    record = store.remember("tea")
    store.edit(record.id, content="coffee")
    store.feedback(record.id, "up")
    undone = store.undo(record.id)
    assert undone is not None
    assert undone.content == "tea"


def test_s36_restore_brings_back_any_state(store: MemoryStore) -> None:
    record = store.remember("one")
    for text in ("two", "three"):
        store.edit(record.id, content=text)
    store.forget(record.id)
    restored = store.restore(record.id, 2)
    assert (restored.content, restored.version, restored.id) == ("two", 5, record.id)
    assert contents(store.search("two")) == contents(store.recall("two")) == ["two"]
    assert store.search("three") == []


def test_s36_only_versions_that_are_states_of_it_can_be_restored(store: MemoryStore) -> None:
    record, other = store.remember("one"), store.remember("other")
    store.feedback(record.id, "up")
    store.forget(record.id)
    for version in (2, 3, 4, 5, 99):
        with pytest.raises(InvalidInput, match="not a state"):
            store.restore(record.id, version)
    assert store.version == 4
    assert contents(store.list()) == [other.content]


def test_s36_what_had_expired_comes_back_without_its_expiry(store: MemoryStore, clock: FakeClock) -> None:
    """Else it would be gone the moment it is back; an end that lies ahead stays."""
    record = store.remember("tea", ttl_ms=1000)
    edited = store.edit(record.id, content="coffee", ttl_ms=5000)
    clock.advance(ms=2000)
    assert store.restore(record.id, 1).expires_at is None
    assert store.restore(record.id, 2).expires_at == edited.expires_at


def test_s36_a_key_comes_back_with_its_record(store: MemoryStore) -> None:
    record = store.remember("one", key="k")
    store.forget(record.id)
    store.undo(record.id)
    assert store.remember("two", key="k").id == record.id
    assert store.count() == 1


# Withdrawing a source


def test_s36_withdraw_takes_what_a_source_wrote_and_nothing_else(store: MemoryStore) -> None:
    poisoned = store.remember_many(["one", "two"], source="https://bad.example")
    fine = store.remember("three", source="https://good.example")
    unsaid = store.remember("four")
    revised = store.remember("five", source="https://bad.example")
    store.edit(revised.id, content="five, corrected", source="editor")
    assert store.withdraw("https://bad.example") == 2
    assert ids(store.list()) == ids([fine, unsaid, revised])
    assert store.withdraw("https://bad.example") == store.withdraw("unknown") == 0
    assert ops(store, poisoned[0]) == ["remember", "forget"]


def test_s36_withdraw_takes_all_or_nothing_at_once(store: MemoryStore) -> None:
    store.remember_many(["one", "two", "three"], source="x")
    store.withdraw("x")
    assert [store.count(as_of=version) for version in (3, 4, 5, 6)] == [3, 3, 3, 0]


def test_s36_withdraw_is_reversible(store: MemoryStore) -> None:
    records = store.remember_many(["one", "two"], source="x", metadata={"a": 1})
    store.withdraw("x")
    for record in records:
        store.undo(record.id)
    assert [(record.content, record.metadata, record.source) for record in store.list()] == [("one", {"a": 1}, "x"), ("two", {"a": 1}, "x")]


def test_s36_withdraw_since_a_version_or_a_time(store: MemoryStore, clock: FakeClock) -> None:
    records = []
    for text in ("one", "two", "three"):
        records.append(store.remember(text, source="x"))
        clock.advance(ms=1000)
    assert store.withdraw("x", since=records[2].updated_at) == 1
    assert store.withdraw("x", since=2) == 1
    assert contents(store.list()) == ["one"]
    assert store.withdraw("x", since=-1) == 1


def test_s36_withdraw_with_what_was_derived(store: MemoryStore) -> None:
    """What names one of them, or the source, as parent, and what names that, and so on."""
    root = store.remember("root", source="x")
    child = store.remember("child", source="summary", parent=root.id)
    grandchild = store.remember("grandchild", parent=child.id)
    of_source = store.remember("of the source", parent="x")
    other = store.remember("other", parent="elsewhere")
    assert store.withdraw("x", derived=True) == 4
    assert ids(store.list()) == [other.id]
    for record in (root, child, grandchild, of_source):
        store.undo(record.id)
    assert store.withdraw("x") == 1


def test_s36_parents_may_go_round_in_circles(store: MemoryStore) -> None:
    one = store.remember("one", source="x", key="one")
    two = store.remember("two", parent=one.id)
    store.remember("one", source="x", key="one", parent=two.id)
    assert store.withdraw("x", derived=True) == 2
    assert store.list() == []


def test_s36_withdraw_takes_what_has_expired_as_well(store: MemoryStore, clock: FakeClock) -> None:
    """It would still be shown where expired memories are asked for."""
    record = store.remember("tea", source="x", ttl_ms=1000)
    clock.advance(ms=1000)
    assert store.withdraw("x") == 1
    assert store.get(record.id, include_expired=True) is None


def test_s36_withdraw_stays_in_its_view(store: MemoryStore) -> None:
    mine, theirs = store.remember("a", source="x", user_id="me"), store.remember("b", source="x", user_id="you", parent="x")
    assert store.scope(user_id="me").withdraw("x", derived=True) == 1
    assert ids(store.list()) == [theirs.id]
    with pytest.raises(RecordNotFound):
        store.scope(user_id="you").undo(mine.id)


# History


def test_s37_history_shows_everything_in_order(store: MemoryStore, clock: FakeClock) -> None:
    record = store.remember("tea", ttl_ms=60_000, source="chat")
    clock.advance(ms=1)
    store.edit(record.id, content="green tea\nwith lemon")
    store.feedback(record.id, "up", note="right")
    store.forget(record.id)
    store.undo(record.id)
    lines = [str(change) for change in store.history(record.id)]
    assert lines == [
        'v1 2026-01-01T00:00:00.000Z created "tea" (expires 2026-01-01T00:01:00Z)',
        'v2 2026-01-01T00:00:00.001Z revised "green tea\\nwith lemon" (expires 2026-01-01T00:01:00Z)',
        'v3 2026-01-01T00:00:00.001Z voted up "right"',
        "v4 2026-01-01T00:00:00.001Z forgotten",
        'v5 2026-01-01T00:00:00.001Z restored "green tea\\nwith lemon" (expires 2026-01-01T00:01:00Z)',
    ]
    changes = store.history(record.id)
    assert [change.version for change in changes] == [1, 2, 3, 4, 5]
    assert changes[0].record == record
    assert changes[0].source == "chat"
    assert changes[4].record == store.get(record.id)


def test_s37_a_line_of_history_is_one_line(store: MemoryStore) -> None:
    record = store.remember("one\ntwo\r\u2028three\u202e\x1b[31m\U000e0041")
    line = str(store.history(record.id)[0])
    assert line.isprintable()
    assert len(line.splitlines()) == 1


def test_s37_of_a_purged_record_only_the_fact_remains(store: MemoryStore) -> None:
    record = store.remember("secret", source="me")
    store.edit(record.id, content="more secret")
    store.feedback(record.id, "up", note="secret note")
    store.purge(record.id, reason="secret")
    changes = store.history(record.id)
    assert [(change.version, change.purged, change.record, change.note, change.source) for change in changes[:3]] == [
        (version, True, None, None, None) for version in (1, 2, 3)
    ]
    lines = [str(change) for change in changes]
    assert lines[3].split(" ")[0::2] == ["v4", "purged"]
    assert "secret" not in " ".join(lines[:3])
    with pytest.raises(RecordNotFound):
        store.undo(record.id)


def test_s37_what_lost_a_merge_is_said_to_be_superseded(path: Path, clock: FakeClock, tmp_path: Path) -> None:
    with open_store(path, clock=clock) as mine:
        record = mine.remember("together")
        mine.backup(tmp_path / "copy.db")
        with open_store(tmp_path / "copy.db", clock=clock) as theirs:
            theirs.edit(record.id, content="earlier, there")
            clock.advance(ms=1000)
            mine.edit(record.id, content="later, here")
            theirs.export(tmp_path / "theirs")
        mine.import_(tmp_path / "theirs")
        found = mine.get(record.id)
        assert found is not None
        assert found.content == "later, here"
        lost = [change for change in mine.history(record.id) if change.superseded]
        assert [change.record.content for change in lost if change.record] == ["earlier, there"]
        assert str(lost[0]).endswith("(superseded)")
