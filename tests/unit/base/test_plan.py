"""The planner: which drafts become which events, and that the rows it opens are those of the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.base.canonical import dumps
from indelible.base.draft import Draft, Head, Planned
from indelible.base.event import Op, Payload
from indelible.base.plan import Planner
from indelible.base.record import NO_SCOPE, Scope, ScopeFilter
from indelible.base.standing import FOREVER, Arrival, Standing, standings
from indelible.errors import IndelibleError, InvalidInput, RecordNotFound, VersionConflict
from indelible.testing import FakeClock, Medium, ReferenceBackend, SequentialIds
from indelible.testing.reference_view import View
from tests.unit.base.random_log import Step, Writer, pauses_ms, transactions

OTHER = Scope("someone")


class Log:
    """A reference backend with short words for drafts."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.backend = ReferenceBackend(clock=self.clock, new_id=SequentialIds())

    def write(self, op: Op, content: str | None = None, **more: Any) -> Any:
        fields = {} if content is None else {"content": dumps(content)}
        return self.backend.append([Draft(op, fields=fields, **more)])[0]

    @property
    def ops(self) -> list[Op]:
        return [event.op for event in self.backend.events()]

    @property
    def now_ms(self) -> int:
        return self.clock.now_us() // 1000


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_key_that_is_there_is_revised(log: Log) -> None:
    """One record while it lives; after a forget, or once expired, a new life of the same record."""
    first = log.write(Op.REMEMBER, "one", key="k", expires_at=log.now_ms + 10)
    assert log.write(Op.REMEMBER, "two", key="k", expires_at=log.now_ms + 10).record == first.record
    log.clock.advance(ms=10)
    assert log.write(Op.REMEMBER, "three", key="k").record == first.record
    log.write(Op.FORGET, key="k")
    again = log.write(Op.REMEMBER, "four", key="k")
    assert log.ops == [Op.REMEMBER, Op.REVISE, Op.REMEMBER, Op.FORGET, Op.REMEMBER]
    assert again.standing.created == again.standing.updated


def test_without_a_key_each_is_new(log: Log) -> None:
    """S32: the same content twice gives two records."""
    assert log.write(Op.REMEMBER, "same").record != log.write(Op.REMEMBER, "same").record


def test_a_key_of_another_scope_is_another_record(log: Log) -> None:
    """Nor may a draft that reaches only one scope touch a record of another."""
    mine = log.write(Op.REMEMBER, "mine", key="k")
    assert log.write(Op.REMEMBER, "yours", key="k", scope=OTHER).record != mine.record
    for op in (Op.REVISE, Op.RESTORE, Op.FORGET, Op.VOTE):
        with pytest.raises(RecordNotFound):
            log.write(op, "x", record=mine.record, within=ScopeFilter(*OTHER))
    assert not log.write(Op.PURGE, record=mine.record, within=ScopeFilter(*OTHER)).changed
    assert log.ops == [Op.REMEMBER, Op.REMEMBER]


@pytest.mark.parametrize(("expected", "actual"), [(0, 1), (2, 1)])
def test_a_lost_race_is_a_conflict(log: Log, expected: int, actual: int) -> None:
    """S33: the error says what was expected and what is there; nothing is written."""
    first = log.write(Op.REMEMBER, "one", key="k")
    for op in (Op.REMEMBER, Op.FORGET):
        with pytest.raises(VersionConflict) as caught:
            log.write(op, key="k", expected_version=expected)
        assert (caught.value.expected, caught.value.actual) == (expected, actual)
    with pytest.raises(VersionConflict):
        log.write(Op.REVISE, "two", record=first.record, expected_version=expected)
    assert log.ops == [Op.REMEMBER]


def test_what_must_not_exist(log: Log) -> None:
    """Version 0 means "must not exist": never written, forgotten and expired are all that."""
    log.write(Op.REMEMBER, "one", key="k", expected_version=0)
    log.write(Op.FORGET, key="k", expected_version=1)
    log.write(Op.REMEMBER, "two", key="k", expected_version=0, expires_at=log.now_ms + 1)
    log.clock.advance(ms=1)
    assert log.write(Op.REMEMBER, "three", key="k", expected_version=0).version == 4


def test_a_revision_changes_what_it_names(log: Log) -> None:
    """S33: an omitted field, and an omitted expiry, stay; a null takes a field away."""
    first = log.write(Op.REMEMBER, "one", key="k", expires_at=log.now_ms + 5)
    kept = log.backend.append([Draft(Op.REVISE, record=first.record, fields={"source": dumps("me")})])[0]
    assert Payload(b"", kept.body or "").fields == {"content": "one", "key": "k", "source": "me"}
    assert kept.standing is not None
    assert kept.standing.expires_at == log.now_ms + 5
    gone = log.backend.append([Draft(Op.REVISE, record=first.record, fields={"source": "null"}, expires_at=None)])[0]
    assert Payload(b"", gone.body or "").fields == {"content": "one", "key": "k"}
    assert gone.standing is not None
    assert gone.standing.expires_at is None


@pytest.mark.parametrize("op", [Op.REVISE, Op.VOTE])
def test_what_is_hidden_cannot_be_changed(log: Log, op: Op) -> None:
    """S34, S35: a forgotten or expired record is not found, and a vote never revives one."""
    first = log.write(Op.REMEMBER, "one", expires_at=log.now_ms + 1)
    log.clock.advance(ms=1)
    with pytest.raises(RecordNotFound):
        log.write(op, "x", record=first.record)
    log.write(Op.FORGET, record=first.record)
    with pytest.raises(RecordNotFound):
        log.write(op, "x", record=first.record)


def test_forgetting_nothing(log: Log) -> None:
    """S3, S34: an error, a no-op, or an event all the same, as the draft says; a second forget is a no-op."""
    with pytest.raises(RecordNotFound):
        log.write(Op.FORGET, key="k")
    assert not log.write(Op.FORGET, key="k", if_missing="ignore").changed
    assert log.write(Op.FORGET, key="k", if_missing="record").changed
    assert not log.write(Op.FORGET, key="k").changed
    assert log.ops == [Op.FORGET]


def test_undo_goes_back_one_state(log: Log) -> None:
    """S36: a forgotten record comes back, a revision is taken back, and before the first state there was nothing."""
    first = log.write(Op.REMEMBER, "one")
    log.write(Op.REVISE, "two", record=first.record)
    log.write(Op.FORGET, record=first.record)
    assert Payload(b"", log.write(Op.RESTORE, record=first.record).body).fields == {"content": "two"}
    assert log.write(Op.RESTORE, record=first.record).standing.visible is False
    other = log.write(Op.REMEMBER, "only")
    assert log.write(Op.RESTORE, record=other.record).standing.visible is False
    assert log.ops[3:] == [Op.RESTORE, Op.FORGET, Op.REMEMBER, Op.FORGET]


def test_restore_names_a_state(log: Log) -> None:
    """S36: a version that is no state of the record is refused; an expiry that has passed is not brought back."""
    first = log.write(Op.REMEMBER, "one", expires_at=log.now_ms + 1)
    log.write(Op.REVISE, "two", record=first.record, expires_at=None)
    log.write(Op.VOTE, "up", record=first.record)
    log.clock.advance(ms=1)
    for version in (0, 3, 4, 2**70):
        with pytest.raises(InvalidInput):
            log.write(Op.RESTORE, record=first.record, restore_version=version)
    back = log.write(Op.RESTORE, record=first.record, restore_version=1)
    assert (Payload(b"", back.body).fields, back.standing.expires_at) == ({"content": "one"}, None)


def test_a_touch_is_worth_an_event_or_not(log: Log) -> None:
    """At most one per record and tenth of the time to live; from and to "never" always."""
    first = log.write(Op.REMEMBER, "one", expires_at=log.now_ms + 100)
    moves = [(109, 100), (110, 100), (110, 100), (None, 100), (None, None), (50, 50)]
    written = [log.write(Op.TOUCH, record=first.record, expires_at=to and log.now_ms + to, touch_ttl=ttl).changed for to, ttl in moves]
    assert written == [False, True, False, True, False, True]
    assert log.backend.events()[-1].commitment is None


def test_a_retry_returns_the_first(log: Log) -> None:
    """S32: an idempotency key is unique within its scope; a retry writes nothing, in the same transaction too."""
    draft = Draft(Op.REMEMBER, fields={"content": dumps("one")}, idempotency_key="once")
    first, second = log.backend.append([draft, draft])
    assert (first.record, first.changed, second.record, second.changed) == (second.record, True, first.record, False)
    assert log.write(Op.REMEMBER, "one", idempotency_key="once", scope=OTHER).changed
    assert log.ops == [Op.REMEMBER, Op.REMEMBER]


def test_a_purge_ends_a_record(log: Log) -> None:
    """Its key starts anew with another record, a second purge finds nothing, and neither does anything else."""
    first = log.write(Op.REMEMBER, "one", key="k", idempotency_key="once")
    assert log.write(Op.PURGE, key="k").changed
    assert not log.write(Op.PURGE, record=first.record).changed
    with pytest.raises(RecordNotFound):
        log.write(Op.RESTORE, record=first.record)
    assert log.write(Op.REMEMBER, "one", key="k", idempotency_key="once").record != first.record


def test_a_refused_draft_leaves_none(log: Log) -> None:
    """S83: all drafts of a transaction or no event at all."""
    good = Draft(Op.REMEMBER, key="k", fields={"content": dumps("one")})
    with pytest.raises(VersionConflict):
        log.backend.append([good, Draft(Op.REMEMBER, key="k", expected_version=0)])
    assert log.ops == []
    assert [written.version for written in log.backend.append([good, good])] == [1, 2]
    assert {event.txn for event in log.backend.events()} == {2}


def test_time_set_back_keeps_order(log: Log) -> None:
    """S33: updated_at is strictly later after each write, and arrival never runs back."""
    first = log.write(Op.REMEMBER, "one", key="k")
    log.clock.advance(ms=-1000)
    second = log.write(Op.REMEMBER, "two", key="k")
    assert second.standing.updated == first.standing.updated + 1
    assert [event.recorded_at for event in log.backend.events()] == [log.now_ms + 1000] * 2


def followed(rows: dict[bytes, list[Standing]], planned: Sequence[Planned]) -> None:
    """What a backend does with planned events: close the open row of each record, open the new one, drop what is purged."""
    for event in planned:
        for standing in event.opens:
            own = rows.setdefault(standing.record, [])
            if own and own[-1].live_to == FOREVER:
                own[-1] = own[-1]._replace(live_to=event.version)
            own.append(standing)
        if event.op is Op.PURGE:
            rows.pop(event.record, None)


class Followed(ReferenceBackend):
    """A reference that also follows its planner row by row."""

    def __init__(self, clock: FakeClock, medium: Medium) -> None:
        super().__init__(medium, clock=clock, new_id=SequentialIds())
        self.clock = clock
        self.followed_rows: dict[bytes, list[Standing]] = {}
        for row in View(medium.log).rows:
            self.followed_rows.setdefault(row.record, []).append(row)

    def _write(self, planner: Planner, head: Head) -> None:
        super()._write(planner, head)
        followed(self.followed_rows, planner.planned)


Script = list[tuple[int, list[Step]]]
scripts = st.lists(st.tuples(pauses_ms, transactions), max_size=12)


def played(script: Script, writer: Writer) -> None:
    for pause_ms, transaction in script:
        writer.clock.advance(ms=pause_ms)
        writer.write(transaction)


@given(scripts, scripts, scripts)
def test_the_rows_a_planner_opens_are_those_of_the_definition(here: Script, there: Script, then: Script) -> None:
    """Kept current row by row, on an empty log or on one merged of two devices, the view equals ``standings`` of the whole log."""
    clock, medium = FakeClock(), Medium(device=b"1" * 16)
    played(here, Writer(ReferenceBackend(medium, clock=clock, new_id=SequentialIds(1)), clock))
    other = ReferenceBackend(Medium(device=b"2" * 16), clock=FakeClock(), new_id=SequentialIds(2))
    played(there, Writer(other, FakeClock()))
    backend = Followed(clock, medium)
    backend.ingest(other.events())
    backend = Followed(clock, medium)
    played(then, Writer(backend, clock, seen=[row.record for row in backend.medium.view().rows]))
    assert {row for own in backend.followed_rows.values() for row in own} == set(backend.medium.view().rows)


def test_the_definition_needs_nothing_of_the_planner() -> None:
    """An event without a payload, as after a purge, and a log of nothing are no trouble."""
    assert standings([]) == []
    lone = Arrival(1, Op.FORGET, b"r", (1, b"d", 1), None, (), NO_SCOPE)
    assert [row.visible for row in standings([lone])] == [False]


def test_errors_of_the_planner_are_of_the_library(log: Log) -> None:
    """A caller that catches the root catches them all."""
    with pytest.raises(IndelibleError):
        log.write(Op.REVISE, "x", key="nothing")
