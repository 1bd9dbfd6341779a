"""What a record is at each version: the definition, rule by rule, and the rules that hold for every log."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from indelible.base.event import STATE_OPS, Op
from indelible.base.record import Scope
from indelible.base.standing import FOREVER, Arrival, Standing, standings, winners

A, B = b"A", b"B"
ONE, TWO = b"1", b"2"


def event(
    version: int,
    op: Op,
    record: bytes = ONE,
    clock: int | None = None,
    device: bytes = A,
    expires_at: int | None = None,
    key: str | None = None,
) -> Arrival:
    """An event that arrived as this version, written at a clock (by default in order of arrival)."""
    return Arrival(version, op, record, (version * 10 if clock is None else clock, device, version), expires_at, key=key)


def shown(rows: Sequence[Standing], record: bytes = ONE) -> list[tuple[int, int, int, bool]]:
    """Of each row of a record: from and to which version it holds, the winner, and whether it can be seen."""
    return [(row.live_from, row.live_to, row.version, row.visible) for row in rows if row.record == record]


def test_each_state_holds_until_the_next() -> None:
    """Intervals are half open and the last one is open."""
    rows = standings([event(1, Op.REMEMBER), event(2, Op.REVISE), event(3, Op.FORGET), event(5, Op.RESTORE)])
    assert shown(rows) == [(1, 2, 1, True), (2, 3, 2, True), (3, 5, 3, False), (5, FOREVER, 5, True)]


def test_a_late_arrival_that_lost_changes_nothing() -> None:
    """The greatest (clock, device, seq) wins, whatever the order of arrival."""
    rows = standings([event(1, Op.REMEMBER), event(2, Op.REVISE, clock=90), event(3, Op.REVISE, clock=50, device=B)])
    assert shown(rows) == [(1, 2, 1, True), (2, FOREVER, 2, True)]


def test_a_tie_of_clocks_is_broken_by_device() -> None:
    """Every store decides it alike."""
    first, second = event(1, Op.REMEMBER, clock=7, device=A), event(2, Op.REVISE, clock=7, device=B)
    assert shown(standings([first, second]))[-1] == (2, FOREVER, 2, True)
    assert shown(standings([second._replace(version=1), first._replace(version=2)])) == [(1, FOREVER, 1, True)]


def test_votes_never_decide() -> None:
    """A vote after a forget revives nothing, and before one it makes no row."""
    rows = standings([event(1, Op.REMEMBER), event(2, Op.VOTE), event(3, Op.FORGET), event(4, Op.VOTE)])
    assert shown(rows) == [(1, 3, 1, True), (3, FOREVER, 3, False)]


def test_a_touch_moves_the_expiry_only() -> None:
    """The greatest touch after the winner counts; one before the winner does not."""
    rows = standings(
        [
            event(1, Op.REMEMBER, expires_at=100),
            event(2, Op.TOUCH, expires_at=200),
            event(3, Op.TOUCH, clock=15, device=B, expires_at=999),
            event(4, Op.REVISE, expires_at=50),
        ]
    )
    assert [(row.version, row.expires_at) for row in rows] == [(1, 100), (1, 200), (4, 50)]


def test_a_life_begins_with_a_remember() -> None:
    """Creation is that of the latest remember up to the winner, so what was forgotten and told again is new."""
    rows = standings([event(1, Op.REMEMBER), event(2, Op.FORGET), event(3, Op.REMEMBER), event(4, Op.REVISE)])
    assert [(row.created, row.updated) for row in rows] == [(10, 10), (10, 20), (30, 30), (30, 40)]


def test_a_key_belongs_to_one_record() -> None:
    """Of two records that two devices made under one key, the one with the greater winner is seen."""
    events = [
        event(1, Op.REMEMBER, ONE, 50, A, key="k"),
        event(2, Op.REMEMBER, TWO, 40, B, key="k"),
        event(3, Op.REVISE, TWO, 60, B, key="k"),
    ]
    rows = standings(events)
    assert shown(rows, ONE) == [(1, 3, 1, True), (3, FOREVER, 1, False)]
    assert shown(rows, TWO) == [(2, 3, 2, False), (3, FOREVER, 3, True)]


def test_one_key_in_two_scopes_is_two_records() -> None:
    """Neither hides the other."""
    other = event(2, Op.REMEMBER, TWO, key="k")._replace(scope=Scope("a"))
    assert all(row.visible for row in standings([event(1, Op.REMEMBER, key="k"), other]))


def test_a_purged_record_never_stood() -> None:
    """At no version, and what another record under its key was is worked out without it."""
    events = [event(1, Op.REMEMBER, ONE, key="k"), event(2, Op.REMEMBER, TWO, key="k")]
    assert shown(standings(events, {TWO})) == [(1, FOREVER, 1, True)]
    assert shown(standings(events, {TWO}), TWO) == []


def test_who_had_the_last_word() -> None:
    """The events that lost a merge are the others."""
    events = [event(1, Op.REMEMBER), event(2, Op.REVISE, clock=90), event(3, Op.REVISE, clock=50, device=B), event(4, Op.VOTE, clock=99)]
    assert winners(events) == {1, 2}


def test_expiry_is_reached_at_its_instant() -> None:
    """S70: expired when now >= expires_at, and live at every version of its interval before that."""
    row = standings([event(1, Op.REMEMBER, expires_at=100), event(4, Op.FORGET)])[0]
    assert [row.live_at(1, 99), row.live_at(1, 100), row.live_at(3, 99), row.live_at(4, 99), row.live_at(0, 99)] == [
        True,
        False,
        True,
        False,
        False,
    ]


@st.composite
def logs(draw: st.DrawFn) -> list[list[Arrival]]:
    """Logs of up to three devices, each with rising clocks, about a few records of which some share keys."""
    found = []
    for device in (A, B, b"C"):
        clocks = draw(st.lists(st.integers(0, 20), max_size=6, unique=True).map(sorted))
        found.append([_random_event(draw, device, seq, clock) for seq, clock in enumerate(clocks, 1)])
    return found


def _random_event(draw: st.DrawFn, device: bytes, seq: int, clock: int) -> Arrival:
    record = draw(st.sampled_from([ONE, TWO, b"3"]))
    op = draw(st.sampled_from([Op.REMEMBER, Op.REVISE, Op.FORGET, Op.RESTORE, Op.TOUCH, Op.VOTE]))
    expires_at = draw(st.none() | st.integers(0, 100))
    key = {ONE: "k", TWO: "k", b"3": None}[record]
    return Arrival(0, op, record, (clock, device, seq), expires_at, key=key if op in STATE_OPS else None)


def arrived(logs: list[list[Arrival]], order: Sequence[int]) -> list[Arrival]:
    """The logs in one, in an order of devices; each log in its own order."""
    pending = [list(log) for log in logs]
    mixed = [pending[device].pop(0) for device in order if pending[device]]
    mixed += [event for log in pending for event in log]
    return [event._replace(version=version) for version, event in enumerate(mixed, 1)]


def current(events: list[Arrival]) -> set[tuple[object, ...]]:
    """How every record stands at the end, without what depends on the order of arrival."""
    order = {event.version: event.order for event in events}
    return {
        (row.record, order[row.version], row.key, row.visible, row.created, row.updated, row.expires_at)
        for row in standings(events)
        if row.live_to == FOREVER
    }


orders = st.lists(st.integers(0, 2), max_size=18)


@given(logs(), orders, orders)
def test_any_order_of_arrival_ends_alike(logs: list[list[Arrival]], one: list[int], other: list[int]) -> None:
    """S87: whichever way events come in, as long as each device's own order is kept, the current state is equal."""
    assert current(arrived(logs, one)) == current(arrived(logs, other))


@given(logs(), orders)
def test_intervals_have_no_gap_and_no_overlap(logs: list[list[Arrival]], order: list[int]) -> None:
    """From its first event on, a record stands in exactly one way at each version; no key has two visible records."""
    rows = standings(arrived(logs, order))
    for record in {row.record for row in rows}:
        own = [row for row in rows if row.record == record]
        assert [row.live_to for row in own] == [*[row.live_from for row in own[1:]], FOREVER]
    for version in range(20):
        seen = [row.slot for row in rows if row.key is not None and row.live_at(version, -1)]
        assert len(seen) == len(set(seen))


@given(logs(), orders, st.integers(0, 18))
def test_the_past_is_what_the_first_events_gave(logs: list[list[Arrival]], order: list[int], version: int) -> None:
    """S50: at version n stands what would stand had only the first n events arrived."""
    events = arrived(logs, order)
    assume(events)
    then = {row._replace(live_to=0) for row in standings(events[:version]) if row.live_to == FOREVER}
    now = {row._replace(live_to=0) for row in standings(events) if row.live_from <= version < row.live_to}
    assert now == then
