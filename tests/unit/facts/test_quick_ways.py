"""What a write does in a quicker way than the plain one comes to the same: records, bulk writes, what is remembered of a settled space."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import EmbedderMismatch, InvalidInput, MemoryStore, ModelError, Part
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps, loads
from indelible.base.clock import datetime_from_us
from indelible.base.event import Op, compose_body
from indelible.base.ids import uuid7
from indelible.base.payload_fields import slot_fields
from indelible.base.plan import Draft, Setting
from indelible.base.record import Record, Scope
from indelible.base.standing import FOREVER, Standing
from indelible.embed.checks import unit_vectors
from indelible.faces.engine import TextIndexer
from indelible.faces.fields import record_from_fields, record_of, state_fields, without_nulls
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend, SequentialIds
from tests.unit.faces.strategies import JSON, TEXTS, same
from tests.unit.facts.stores import open_store

NAMES = TEXTS.filter(bool)
TIMES = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))
INSTANTS = st.integers(0, 253_402_300_799_999)
PARTS = st.lists(st.builds(Part, NAMES, TEXTS), max_size=3, unique_by=lambda part: part.name)
CONTEXTS = st.lists(st.one_of(TIMES, st.just("00000000-0000-0000-0000-000000000007")), max_size=3)


@st.composite
def states(draw: st.DrawFn) -> tuple[Standing, str, dict[str, str]]:
    """A state, its text, and the payload fields that a face makes of what was asked for."""
    content = draw(TEXTS)
    fields = state_fields(
        content=content,
        metadata=draw(st.one_of(st.none(), st.dictionaries(TEXTS, JSON, max_size=3))),
        value=draw(JSON),
        parts=tuple(draw(PARTS)),
        parent=draw(st.none() | NAMES),
        source=draw(st.none() | NAMES),
        occurred_at=draw(st.none() | TIMES),
        context=draw(CONTEXTS) or None,
    )
    whole = without_nulls(fields)
    began = draw(INSTANTS) * 1000 + draw(st.integers(0, 999))
    updated = draw(st.sampled_from([began, began + 1]))
    standing = Standing(
        uuid7(began),
        draw(st.integers(1, 10**9)),
        1,
        FOREVER,
        draw(st.sampled_from([(), ("a", "b")])),
        draw(st.builds(Scope, *[st.none() | NAMES] * 4)),
        draw(st.none() | TEXTS),
        loads(whole["parent"]) if "parent" in whole else None,
        True,
        began,
        updated,
        draw(st.none() | INSTANTS),
    )
    return standing, content, whole


def alike(one: Record, other: Record) -> bool:
    return all(same(getattr(one, name), getattr(other, name)) for name in Record.__slots__)


@given(state=states())
def test_a_record_made_from_its_fields_is_the_one_read_from_the_payload(state: tuple[Standing, str, dict[str, str]]) -> None:
    standing, content, fields = state
    body = compose_body({**slot_fields(standing.namespace, standing.scope, standing.key), **fields})
    assert alike(record_from_fields(standing, content, fields), record_of(standing, body))


@given(names=st.dictionaries(st.sampled_from("content value metadata key agent_id user_id parts source".split()), JSON, max_size=8))
def test_a_body_is_the_canonical_text_of_its_fields(names: dict[str, Any]) -> None:
    assert compose_body({name: dumps(value) for name, value in names.items()}) == dumps(names)


@given(us=st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_an_instant_is_that_many_microseconds_after_1970(us: int) -> None:
    assert datetime_from_us(us) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)


COMMON = st.fixed_dictionaries(
    {},
    optional={
        "user_id": NAMES,
        "metadata": st.none() | st.dictionaries(TEXTS, JSON, max_size=2),
        "ttl_ms": st.none() | st.integers(1, 10**6),
        "source": NAMES,
        "occurred_at": TIMES,
        "dedup": st.booleans(),
        "parent": NAMES,
    },
)
WORDS = st.lists(st.sampled_from(["tea", "milk", "green tea", "ünï", "x" * 300]), min_size=1, max_size=8)


@given(texts=WORDS, common=COMMON)
def test_texts_written_together_are_what_each_alone_would_be(texts: list[str], common: dict[str, Any]) -> None:
    """S83: as bare texts, as mappings that say everything, and one call after the other."""

    def fresh() -> MemoryStore:
        return open_store(clock=FakeClock(), new_id=SequentialIds())

    with fresh() as bare, fresh() as full, fresh() as single:
        many = bare.remember_many(texts, **common)
        assert [r.content for r in many] == texts
        assert many == full.remember_many([{**common, "content": text} for text in texts])
        one_by_one = [single.remember(text, **common) for text in texts]
        untimed = [(r.content, r.metadata, r.scope, r.source, r.parent, r.expires_at) for r in many]
        assert untimed == [(r.content, r.metadata, r.scope, r.source, r.parent, r.expires_at) for r in one_by_one]
        for store in (bare, full, single):
            listed = {r.id: r for r in store.list(limit=100)}
            assert {r.id: r for r in (many if store is not single else one_by_one)} == listed
            assert store.verify().ok


def test_records_written_together_do_not_share_what_can_be_changed(store: MemoryStore) -> None:
    made = store.remember_many(["a", "b", "c"], metadata={"list": []})
    made[1].metadata["list"].append(1)
    assert [record.metadata for record in made] == [{"list": []}, {"list": [1]}, {"list": []}]
    kept = store.get(made[1].id)
    assert kept is not None
    assert kept.metadata == {"list": []}


@pytest.mark.parametrize("bad", ["", " ", "a\0b", "\ud800", 5, None])
def test_a_refused_text_is_named_also_after_good_ones(store: MemoryStore, bad: object) -> None:
    with pytest.raises(InvalidInput, match=r"^item 2: "):
        store.remember_many(["tea", "milk", bad])  # type: ignore[list-item]  # that is the test
    assert store.version == 0


@given(
    table=st.lists(st.lists(st.floats(-1e30, 1e30).filter(lambda number: number == 0 or abs(number) > 1e-30), min_size=3, max_size=3),
                   min_size=1, max_size=5).filter(lambda rows: all(map(any, rows)))
)  # fmt: skip
def test_vectors_are_brought_to_unit_length_as_numpys_norm_does(table: list[list[float]]) -> None:
    rows = np.array(table)
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    expected = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    assert unit_vectors(table, count=len(table), dim=3, name="test").tobytes() == expected.tobytes()
    made = unit_vectors(np.array(table), count=len(table), dim=3, name="test")
    assert made.tobytes() == expected.tobytes()
    again = unit_vectors(made, count=len(table), dim=3, name="test")
    assert np.abs(np.linalg.norm(again.astype(np.float64), axis=1) - 1).max() < 3e-7
    assert np.abs(again - made).max() < 2e-7


def test_vectors_of_unit_length_are_taken_as_they_are_but_not_shared() -> None:
    theirs = unit_vectors(np.random.default_rng(1).normal(size=(300, 384)), count=300, dim=384, name="test")
    ours = unit_vectors(theirs, count=300, dim=384, name="test")
    assert ours.tobytes() == theirs.tobytes()
    theirs[:] = 0
    assert ours.any(axis=1).all()


@pytest.mark.parametrize("number", [0.0, float("nan"), float("inf"), 1.00001])
def test_vectors_of_any_other_length_are_not(number: float) -> None:
    table = np.array([[1.0, 0.0], [number, 0.0]], dtype=np.float32)
    if number == 1.00001:
        assert unit_vectors(table, count=2, dim=2, name="test").tolist() == [[1.0, 0.0], [1.0, 0.0]]
    else:
        with pytest.raises(ModelError, match="for text 1 of 2"):
            unit_vectors(table, count=2, dim=2, name="test")


# What a process remembers of the settings of its file


def test_a_setting_of_another_program_is_seen_at_once(path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as store:
        store.remember("tea")
        backend = store._engine.backend
        for value in ("one", "two"):
            assert backend.setting("mood") == (None if value == "one" else "one")
            assert backend.setting("mood") == backend.setting("mood")
            with open_store(path, clock=clock) as rival:
                rival._engine.backend.setting("mood", value)
            assert backend.setting("mood") == value
            store.remember("milk")
            assert backend.setting("mood") == value


def test_our_own_setting_is_seen_at_once(path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as store:
        backend = store._engine.backend
        store.remember("tea")
        assert backend.setting("mood") is None
        backend.setting("mood", "one")
        assert backend.setting("mood") == "one"
        backend.setting("mood", "two")
        assert backend.setting("mood") == "two"


def test_a_purge_takes_a_setting_with_its_namespace(path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as store:
        backend = store._engine.backend
        collection = store.collection("secret")
        collection.put("k", "text")
        backend.setting("mood", "dark", namespace=("secret",))
        assert backend.setting("mood", namespace=("secret",)) == "dark"
        collection.purge("k")
        assert backend.setting("mood", namespace=("secret",)) is None


def test_a_setting_is_read_while_another_thread_writes(path: Path, clock: FakeClock) -> None:
    """S15: a read never waits for a writer."""
    with open_store(path, clock=clock) as store, ThreadPoolExecutor(1) as another:
        store.remember("tea")
        backend = store._engine.backend
        backend.setting("mood", "dark")
        with backend._connections.write():  # type: ignore[attr-defined]  # the engine's own
            assert another.submit(backend.setting, "mood").result(timeout=20) == "dark"
            assert backend.setting("mood") == "dark"


@pytest.mark.parametrize("in_a_file", [True, False])
def test_nothing_is_written_that_requires_another_setting(path: Path, clock: FakeClock, in_a_file: bool) -> None:
    backend = SqliteBackend(str(path), TextIndexer(), clock=clock) if in_a_file else ReferenceBackend(clock=clock)
    backend.setting("mood", "dark", namespace=("a",))
    for wrong in (Setting("mood", ("a",), "light"), Setting("mood", None, "dark"), Setting("other", ("a",), "dark")):
        assert backend.append([Draft(Op.REMEMBER, ("a",), key="x"), Draft(Op.REMEMBER, ("a",), key="y", requires=wrong)]) == []
        assert backend.mark().version == 0
    assert len(backend.append([Draft(Op.REMEMBER, ("a",), key="x", requires=Setting("mood", ("a",), "dark"))])) == 1
    backend.close()


def test_a_fact_is_not_written_into_a_space_that_was_exchanged_meanwhile(path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as store:
        store.remember("tea")
        with open_store(path, clock=clock, embedder=HashEmbedder(seed=7)) as rival:
            rival.reindex()
        version = store.version
        for _ in range(2):
            with pytest.raises(EmbedderMismatch):
                store.remember("milk")
        assert store.version == version
        with open_store(path, clock=clock) as rival:
            rival.reindex()
        assert store.remember("milk").content == "milk"


@given(numbers=st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=300).filter(any), small=st.booleans())
def test_a_vector_alone_becomes_what_it_becomes_among_others(numbers: list[float], small: bool) -> None:
    table = np.array([numbers, numbers], dtype=np.float32 if small else np.float64)
    if table.any():
        both = unit_vectors(table, count=2, dim=None, name="test")
        assert unit_vectors(table[:1], count=1, dim=None, name="test").tobytes() == both[:1].tobytes()
