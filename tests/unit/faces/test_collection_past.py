"""The past of a collection: history, time travel, undo and restore, and purge, which ends it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import Collection, InvalidInput, MemoryStore, Op, Put, RecordNotFound, UnsupportedOperation
from indelible.base.event import PurgeReason
from indelible.testing import FakeClock, HashEmbedder

START = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", None])), max_size=8)


@pytest.fixture
def notes(store: MemoryStore) -> Collection:
    found: Collection = store.collection("notes")
    return found


def content(collection: Collection, key: str) -> str | None:
    found = collection.get(key)
    return None if found is None else found.content


def test_history_tells_everything_that_happened_to_a_key(notes: Collection, clock: FakeClock) -> None:
    """Created, revised with its expiry, expiry moved, forgotten, restored; each with version and time, oldest first."""
    notes.put("k", "one")
    notes.put("other", "x")
    notes.put("k", "two", ttl_ms=10_000)
    clock.advance(ms=5000)
    notes.touch(["k"], 10_000)
    notes.delete("k")
    notes.undo("k")
    assert [str(change) for change in notes.history("k")] == [
        'v1 2026-01-01T00:00:00.000Z created "one"',
        'v3 2026-01-01T00:00:00.000Z revised "two" (expires 2026-01-01T00:00:10Z)',
        "v4 2026-01-01T00:00:05.000Z expiry moved (expires 2026-01-01T00:00:15Z)",
        "v5 2026-01-01T00:00:05.000Z forgotten",
        'v6 2026-01-01T00:00:05.000Z restored "two" (expires 2026-01-01T00:00:10Z)',
    ]
    assert [change.op for change in notes.history("k")] == [Op.REMEMBER, Op.REVISE, Op.TOUCH, Op.FORGET, Op.RESTORE]
    states = [change.record for change in notes.history("k")]
    assert [state and state.content for state in states] == ["one", "two", None, None, "two"]
    assert notes.history("never") == []


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.sampled_from(["", "\n\u2028\x1b[2J\u202e"]))
def test_a_line_of_history_is_one_line(text: str, hostile: str) -> None:
    """Whatever content, value and source hold."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        notes = store.collection("notes")
        notes.put("k", text + hostile, source=(text + hostile)[:100] or "x")
        notes.put("k", value=text + hostile)
        lines = [str(change) for change in notes.history("k")]
        assert all(line.splitlines() == [line] for line in lines)
        assert not [c for line in lines for c in line if not c.isprintable() and unicodedata.category(c) != "Zs"]


@given(STEPS)
def test_at_is_the_collection_as_it_was(steps: list[tuple[str, str | None]]) -> None:
    """At every version keys, contents and histories are those of then; ``as_of`` says the same as ``at``."""
    states: list[dict[str, str]] = [{}]
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        notes = store.collection("notes")
        for key, text in steps:
            state = dict(states[-1])
            if text is None:
                if not notes.delete(key):
                    continue
                del state[key]
            else:
                notes.put(key, text)
                state[key] = text
            states.append(state)
        assert store.version == len(states) - 1
        for version, state in enumerate(states):
            past = notes.at(version)
            assert {record.key: record.content for record in past.list()} == state
            assert {record.key: record.content for record in notes.list(as_of=version)} == state
            for key in "ab":
                assert content(past, key) == state.get(key)
                assert notes.get(key, as_of=version) == past.get(key)
                assert past.history(key) == [change for change in notes.history(key) if change.version <= version]
            assert past.namespaces() == ([("notes",)] if state else [])


def test_at_takes_a_time_or_a_version(notes: Collection, clock: FakeClock) -> None:
    """A time is that of arrival; versions outside the log are its ends."""
    notes.put("k", "one")
    clock.advance(ms=1000)
    notes.put("k", "two")
    seconds = [content(notes.at(START + timedelta(milliseconds=ms)), "k") for ms in (-1, 0, 999, 1000, 10**9)]
    assert seconds == [None, "one", "one", "two", "two"]
    assert [content(notes.at(version), "k") for version in (-(2**70), -1, 0, 1, 2, 3, 2**70)] == [
        None,
        None,
        None,
        "one",
        "two",
        "two",
        "two",
    ]
    assert content(notes.at(1).at(2), "k") == "two"


@pytest.mark.parametrize("when", [True, 1.0, "1", None, datetime(2026, 1, 1)])
def test_at_takes_nothing_else(notes: Collection, when: Any) -> None:
    """InvalidInput, also for a time without a zone, which would be a guess."""
    with pytest.raises(InvalidInput, match="when"):
        notes.at(when)


WRITES: dict[str, Callable[[Collection], object]] = {
    "put": lambda past: past.put("k", "new"),
    "delete": lambda past: past.delete("k"),
    "batch": lambda past: past.batch([Put("k", "new")]),
    "undo": lambda past: past.undo("k"),
    "restore": lambda past: past.restore("k", 1),
    "touch": lambda past: past.touch(["k"], 1000),
    "purge": lambda past: past.purge("k"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_the_past_cannot_be_changed(notes: Collection, verb: str) -> None:
    """UnsupportedOperation, and nothing is written."""
    notes.put("k", "one", ttl_ms=10**9)
    notes.put("k", "two", ttl_ms=10**9)
    for past in (notes.at(1), notes.at(START), notes.at(99)):
        with pytest.raises(UnsupportedOperation, match="past"):
            WRITES[verb](past)
    assert (content(notes, "k"), len(notes.history("k"))) == ("two", 2)


# Undo and restore


def test_undo_brings_back_the_state_before(notes: Collection) -> None:
    """As a new version; undoing that again goes back to where one was."""
    notes.put("k", "one", metadata={"a": 1}, value=[1])
    notes.put("k", "two")
    undone = notes.undo("k")
    assert undone is not None
    assert (undone.content, undone.metadata, undone.value, undone.version) == ("one", {"a": 1}, [1], 3)
    assert undone == notes.get("k")
    again = notes.undo("k")
    assert again is not None
    assert (again.content, again.version) == ("two", 4)


def test_undo_of_a_beginning_is_forgetting(notes: Collection) -> None:
    """What came before was nothing; undoing a delete brings the key back."""
    notes.put("k", "one")
    assert (notes.undo("k"), notes.get("k")) == (None, None)
    assert notes.undo("k") == notes.get("k")
    assert content(notes, "k") == "one"
    notes.delete("k")
    brought_back = notes.undo("k")
    assert brought_back is not None
    assert brought_back.content == "one"
    assert [change.op for change in notes.history("k")] == [Op.REMEMBER, Op.FORGET, Op.RESTORE, Op.FORGET, Op.RESTORE]


def test_restore_brings_back_any_state(notes: Collection) -> None:
    """By its version, as a new one, also of a deleted key."""
    for text in ("one", "two", "three"):
        notes.put("k", text)
    assert [notes.restore("k", version).content for version in (1, 2, 3, 1)] == ["one", "two", "three", "one"]
    notes.delete("k")
    restored = notes.restore("k", 5)  # itself a restore
    assert (restored.content, restored.version, content(notes, "k")) == ("two", 9, "two")


def test_a_restored_state_that_would_be_expired_does_not_expire(notes: Collection, clock: FakeClock) -> None:
    """Else it would not be back; one whose time is still to come keeps it."""
    first = notes.put("k", "short", ttl_ms=1000)
    notes.put("k", "long", ttl_ms=5000)
    assert notes.restore("k", 1).expires_at == first.expires_at
    clock.advance(ms=1000)
    assert notes.restore("k", 1).expires_at is None
    assert content(notes, "k") == "short"


NO_STATES: dict[str, Any] = {
    "of another key": 2, "a tombstone": 3, "to come": 4, "2^62": 2**62, "2^63": 2**63, "2^70": 2**70, "10^5000": 10**5000, "zero": 0,
    "negative": -1, "minus 10^5000": -(10**5000), "true": True, "a fraction": 1.0, "text": "1", "none": None,
}  # fmt: skip


@pytest.mark.parametrize("which", NO_STATES)
def test_restore_needs_a_state_of_the_key(notes: Collection, which: str) -> None:
    """InvalidInput for anything else, and nothing is written."""
    notes.put("k", "one")
    notes.put("other", "x")
    notes.delete("k")
    with pytest.raises(InvalidInput, match="version"):
        notes.restore("k", NO_STATES[which])
    assert (notes.get("k"), len(notes.history("k"))) == (None, 2)


def test_what_was_never_here_cannot_be_brought_back(store: MemoryStore, notes: Collection) -> None:
    """RecordNotFound, the same for an unknown key and for one of another scope."""
    store.collection("notes", user_id="ada").put("k", "hers")
    with pytest.raises(RecordNotFound, match="key 'k'"):
        notes.undo("k")
    with pytest.raises(RecordNotFound, match="key 'k'"):
        notes.restore("k", 1)
    assert store.version == 1


# Purge


def test_purge_ends_a_key(store: MemoryStore, notes: Collection) -> None:
    """Every version of it is gone, now and at every version; the numbering and everything else stay; the log verifies."""
    notes.put("k", "secret one", value="secret", metadata={"secret": 1})
    notes.put("other", "untouched")
    notes.put("k", "secret two")
    notes.delete("k")
    assert [notes.purge("k"), notes.purge("k"), notes.purge("never")] == [1, 0, 0]
    assert [notes.at(version).get("k") for version in range(6)] == [None] * 6
    assert (notes.history("k"), [record.content for record in notes.list()]) == ([], ["untouched"])
    assert notes.search("secret", mode="keyword") == []
    events = list(store.iter_events())
    assert [event.version for event in events] == [1, 2, 3, 4, 5]
    assert [event.payload is None for event in events] == [True, False, True, True, False]
    assert "secret" not in repr(events)
    assert store.verify().ok
    with pytest.raises(RecordNotFound):
        notes.undo("k")


def test_a_key_may_be_put_again_after_a_purge(notes: Collection) -> None:
    """It is another record: nothing of the old one, its id included, comes back."""
    old = notes.put("k", "old")
    notes.purge("k")
    new = notes.put("k", "new", expected_version=0)
    assert new.id != old.id
    assert [change.op for change in notes.history("k")] == [Op.REMEMBER]


@pytest.mark.parametrize("reason", list(PurgeReason))
def test_a_purge_has_a_reason_code(store: MemoryStore, notes: Collection, reason: str) -> None:
    """A code that stays in the log, so that no text can tell what it was."""
    notes.put("k", "old")
    assert notes.purge("k", reason) == 1
    payload = list(store.iter_events())[-1].payload
    assert payload is not None
    assert payload.fields == {"reason": reason}


@pytest.mark.parametrize("reason", ["", "because of Ada", "REQUEST", None, 5])
def test_a_purge_takes_no_other_reason(notes: Collection, reason: Any) -> None:
    """InvalidInput, and the key is still there."""
    notes.put("k", "old")
    with pytest.raises(InvalidInput, match="reason must be one of"):
        notes.purge("k", reason)
    assert content(notes, "k") == "old"
