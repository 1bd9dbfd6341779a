"""Lines 1 to 8 of the semantics: keys, kinds and values of session and persistent memories."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indelible import IndelibleError, InvalidInput, Memory, PersistentMemory
from tests.unit.faces.strategies import KEYS, TEXTS, VALUES, same

KeyValue = Memory | PersistentMemory
NOT_TEXT = [None, 0, 1.5, True, b"a", ["a"], ("a",), object()]


@pytest.fixture(params=["session", "persistent"])
def memory(request: pytest.FixtureRequest) -> Iterator[KeyValue]:
    """Each kind of memory in turn, empty."""
    if request.param == "session":
        yield Memory()
    else:
        with PersistentMemory("memory", ":memory:") as opened:
            yield opened


def test_s01_unknown_and_forgotten_keys_give_none(memory: KeyValue) -> None:
    """S1: never an error, also before anything was remembered."""
    assert memory.recall("a") is None
    memory.remember("a", 1)
    memory.forget("a")
    assert memory.recall("a") is None


def test_s01_none_is_a_value(memory: KeyValue) -> None:
    """S1: remembering None gives None and lists the key."""
    memory.remember("a", None)
    assert (memory.recall("a"), memory.keys(), memory.items()) == (None, ["a"], [("a", None)])


@pytest.mark.parametrize("key", NOT_TEXT)
def test_s02_keys_must_be_text_in_every_verb(memory: KeyValue, key: Any) -> None:
    """S2: InvalidInput that names the type got, and nothing is written."""
    verbs: list[Callable[[], object]] = [lambda: memory.remember(key, 1), lambda: memory.recall(key), lambda: memory.forget(key)]
    if isinstance(memory, PersistentMemory):
        past = memory.at(0)
        verbs += [lambda: memory.history(key), lambda: memory.versions(key), lambda: memory.as_of(key, 1), lambda: past.recall(key)]
    for verb in verbs:
        with pytest.raises(InvalidInput, match=f"must be a str, got {type(key).__name__}"):
            verb()
    assert memory.keys() == []
    assert not isinstance(memory, PersistentMemory) or memory.version == 0


@pytest.mark.parametrize("key", ["\0", "a\0b", "\ud800", "a\udfff", "x" * 4097])
def test_s02_keys_that_cannot_be_kept_are_refused(memory: KeyValue, key: str) -> None:
    """S2: NUL and lone surrogates (and endless keys), in both kinds alike."""
    for verb in (lambda: memory.remember(key, 1), lambda: memory.recall(key), lambda: memory.forget(key)):
        with pytest.raises(InvalidInput):
            verb()
    assert memory.keys() == []


@given(st.lists(KEYS, unique=True, max_size=8))
@example(["", " a", "A", "a", "a ", "ä", "a\u0308"])
def test_s02_keys_are_compared_exactly(keys: list[str]) -> None:
    """S2: no two different keys are one, whatever their case, spaces or Unicode form."""
    with PersistentMemory("memory", ":memory:") as persistent:
        for memory in (Memory(), persistent):
            for number, key in enumerate(keys):
                memory.remember(key, number)
            assert memory.keys() == keys
            assert [memory.recall(key) for key in keys] == list(range(len(keys)))


def test_s02_a_text_subclass_is_kept_as_text() -> None:
    """S2: a key that is a str by inheritance is the same key."""

    class Name(str):
        __slots__ = ()

    with PersistentMemory("memory", ":memory:") as memory:
        memory.remember(Name("a"), 1)
        assert [type(key) for key, _ in memory.items()] == [str]
        assert memory.recall("a") == 1


def test_s03_forgetting_an_unknown_key_is_a_no_op_for_the_caller(memory: KeyValue) -> None:
    """S3: no error, and no key comes or goes."""
    memory.remember("a", 1)
    memory.forget("b")
    assert memory.items() == [("a", 1)]


def test_s03_the_attempt_is_in_the_history() -> None:
    """S3: in a persistent memory each attempt is an event of its own."""
    with PersistentMemory("memory", ":memory:") as memory:
        memory.forget("a")
        memory.forget("a")
        assert [(entry.version, entry.op) for entry in memory.versions("a")] == [(1, "forget"), (2, "forget")]
        memory.remember("a", 1)
        assert (memory.keys(), memory.as_of("a", 2), memory.as_of("a", 3)) == (["a"], None, 1)


STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "c", "d"])), max_size=12)


@given(STEPS)
def test_s04_keys_are_in_first_remembered_order(steps: list[tuple[bool, str]]) -> None:
    """S4: updates do not move a key, forgetting and remembering it does; session and persistent agree, before and after a rebuild."""
    session = Memory()
    expected: list[str] = []
    with PersistentMemory("memory", ":memory:") as persistent:
        for number, (remembers, key) in enumerate(steps):
            for memory in (session, persistent):
                _ = memory.remember(key, number) if remembers else memory.forget(key)
            if not remembers and key in expected:
                expected.remove(key)
            if remembers and key not in expected:
                expected.append(key)
            assert session.keys() == persistent.keys() == expected
        assert session.items() == persistent.items()


def test_s05_kind_is_free_text() -> None:
    """S5: None when omitted, and never validated."""
    assert [Memory().kind, Memory(kind="").kind, Memory(kind="no such kind").kind] == [None, "", "no such kind"]


def test_s05_each_has_only_its_own_attribute(memory: KeyValue) -> None:
    """S5: the other raises an error of the library that is an AttributeError too."""
    missing = "path" if isinstance(memory, Memory) else "kind"
    with pytest.raises(AttributeError, match=missing) as raised:
        getattr(memory, missing)
    assert isinstance(raised.value, IndelibleError)
    assert not hasattr(memory, missing)


def test_s06_session_memory_holds_by_reference() -> None:
    """S6: any object, the very one."""
    memory = Memory("m")
    things: list[Any] = [object(), {"a": 1}, [1], lambda: 1, math, float("nan")]
    for number, thing in enumerate(things):
        memory.remember(str(number), thing)
    assert all(memory.recall(str(number)) is thing for number, thing in enumerate(things))


def test_s06_a_second_memory_of_a_name_starts_empty() -> None:
    """S6: names are for people."""
    first, second = Memory("m"), Memory("m")
    first.remember("a", 1)
    assert (second.keys(), first.name, second.name) == ([], "m", "m")


@given(VALUES)
@example([1, 1.0, True, 2**100, -0.0, 0.0, 0, False, "1", None, [[]]])
@example([5e-324, 1.7976931348623157e308, 0.1, 1e16, 1e22])
def test_s07_values_round_trip_exactly(value: object) -> None:
    """S7: what is recalled, now, as of its version, from versions and from items, is equal type for type."""
    with PersistentMemory("memory", ":memory:") as memory:
        memory.remember("a", value)
        (version,) = memory.versions("a")
        ((_, listed),) = memory.items()
        assert all(same(found, value) for found in (memory.recall("a"), memory.as_of("a", 1), version.value, listed))


@pytest.mark.parametrize("digits", [4300, 4301, 6000, 20_000])
def test_s07_integers_have_any_size(digits: int) -> None:
    """S7: also those that the interpreter does not convert to text and back in one piece."""
    value = [10**digits, -(10**digits), [10**digits - 1, 7 * 10 ** (digits // 2)], 1.0]
    with PersistentMemory("memory", ":memory:") as memory:
        memory.remember("a", value)
        memory.remember("b", 10**digits + 1)
        assert same(memory.recall("a"), value)
        assert memory.recall("b") == 10**digits + 1
        assert len(memory.history("b")) == 1


class _Number(int):
    pass


def _nested(depth: int, inside: object) -> object:
    for _ in range(depth):
        inside = [inside]
    return inside


_CYCLE: list[object] = []
_CYCLE.append(_CYCLE)
REFUSED: dict[str, object] = {
    "a dict": {"a": 1}, "a tuple": (1,), "a set": {1}, "bytes": b"a", "NaN": math.nan, "infinity": math.inf, "minus infinity": -math.inf,
    "an object": object(), "a cycle": _CYCLE, "10,000 levels": _nested(10_000, 1), "a function": len, "a complex number": 1j,
    "a subclass of int": _Number(1), "a lone surrogate": "a\ud800", "a NUL": "a\0",
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_s07_everything_else_is_refused(what: str, depth: int) -> None:
    """S7: at ``remember``, also three levels down and beside good elements; nothing is written and no version is used up."""
    with PersistentMemory("memory", ":memory:") as memory:
        memory.remember("a", "before")
        with pytest.raises(InvalidInput):
            memory.remember("a", [1, _nested(depth - 1, REFUSED[what])] if depth else REFUSED[what])
        assert (memory.version, memory.recall("a"), len(memory.history("a"))) == (1, "before", 1)
        memory.remember("a", "after")
        assert memory.version == 2


@given(st.lists(TEXTS, max_size=3))
def test_s08_values_are_stored_by_value(value: list[str]) -> None:
    """S8: changing the list afterwards, or the one returned, changes nothing."""
    with PersistentMemory("memory", ":memory:") as memory:
        mine = [list(value)]
        memory.remember("a", mine)
        mine[0].append("changed")
        mine.append([])
        found = memory.recall("a")
        found[0].append("changed")
        assert memory.recall("a") == memory.as_of("a", 1) == memory.versions("a")[0].value == [value]
