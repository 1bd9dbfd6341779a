"""Time and identifiers."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.base.clock import (
    MAX_MS,
    SystemClock,
    datetime_from_ms,
    datetime_from_us,
    expiry_from_ttl,
    from_future,
    ms_from_datetime,
    tick,
)
from indelible.base.ids import id_bytes, id_text, uuid7
from indelible.errors import InvalidInput
from indelible.testing import FakeClock, SequentialIds

NOW_MS = 1_700_000_000_000
microseconds = st.integers(0, MAX_MS * 1000)


@given(st.lists(microseconds, min_size=1))
def test_the_hybrid_clock_only_rises(readings: list[int]) -> None:
    """Whatever the wall clock does, each value is greater than the one before, and never behind the wall."""
    last = 0
    for now in readings:
        value = tick(last, now)
        assert value > last or value == now == 0
        assert value >= now
        last = value


def test_a_clock_a_day_ahead_is_too_far() -> None:
    """Two honest clocks may differ by a day, not by more."""
    day = 86_400_000_000
    assert not from_future(5 + day, 5)
    assert from_future(6 + day, 5)


@given(st.integers(0, MAX_MS))
def test_milliseconds_survive_the_surface(ms: int) -> None:
    """int64 milliseconds inside, aware datetime outside, and back."""
    shown = datetime_from_ms(ms)
    assert shown.tzinfo is UTC
    assert ms_from_datetime(shown, "when") == ms
    assert ms_from_datetime(shown + timedelta(microseconds=999), "when") == ms


def test_a_timezone_is_honoured() -> None:
    """The instant counts, not the numbers on the dial."""
    there = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert ms_from_datetime(there, "when") == ms_from_datetime(datetime(2026, 1, 1, tzinfo=UTC), "when")
    assert datetime_from_us(1) == datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", [datetime(2026, 1, 1), "2026-01-01", 0, None])
def test_a_time_without_a_timezone_is_refused(value: object) -> None:
    """Which instant it means would be a guess."""
    with pytest.raises(InvalidInput, match="occurred_at"):
        ms_from_datetime(value, "occurred_at")


@pytest.mark.parametrize("ttl", [0, -1, 1.0, "1", True, MAX_MS - NOW_MS + 1, 10**5000, -(10**5000)], ids=lambda ttl: type(ttl).__name__)
def test_a_bad_time_to_live_is_refused(ttl: object) -> None:
    """S70: 0, negative, float, str, bool and overflow."""
    with pytest.raises(InvalidInput, match="ttl_ms"):
        expiry_from_ttl(ttl, NOW_MS)


def test_a_good_time_to_live_is_an_expiry() -> None:
    """S70: now + ttl, and None for never."""
    assert expiry_from_ttl(1, NOW_MS) == NOW_MS + 1
    assert expiry_from_ttl(MAX_MS - NOW_MS, NOW_MS) == MAX_MS
    assert expiry_from_ttl(None, NOW_MS) is None


def test_the_clocks_keep_time() -> None:
    """The machine's clock shows this century; a fake one moves only when told to."""
    assert 2024 <= datetime_from_us(SystemClock().now_us()).year < 2100
    clock = FakeClock(5_000)
    clock.advance(ms=2, us=1)
    assert clock.now_us() == clock.now_us() == 7_001


@given(st.lists(microseconds.filter(lambda us: us < 2**48 * 1000), min_size=2, unique=True))
def test_ids_sort_as_they_were_made(clocks: list[int]) -> None:
    """S32: ids of rising clocks rise, within a millisecond too, as bytes and as text."""
    ids = [uuid7(clock) for clock in sorted(clocks)]
    assert ids == sorted(ids)
    assert list(map(id_text, ids)) == sorted(map(id_text, ids))


@given(microseconds.filter(lambda us: us < 2**48 * 1000))
def test_ids_are_uuids_of_version_7(clock: int) -> None:
    """S32: RFC 9562, with the millisecond in front."""
    made = uuid.UUID(bytes=uuid7(clock))
    assert (made.version, made.variant, made.int >> 80) == (7, uuid.RFC_4122, clock // 1000)


def test_ids_of_one_instant_differ() -> None:
    """There are 62 random bits in each."""
    assert len({uuid7(1) for _ in range(100)}) == 100


@given(st.binary(min_size=16, max_size=16))
def test_the_text_of_an_id_reads_back(raw: bytes) -> None:
    """36 characters, as other libraries write it; any case is read."""
    assert id_text(raw) == str(uuid.UUID(bytes=raw))
    assert id_bytes(id_text(raw)) == id_bytes(id_text(raw).upper()) == id_bytes(raw.hex()) == raw


@pytest.mark.parametrize("text", ["", "x", "0" * 31, "0" * 33, "g" * 32, "０" * 32, "0x" + "0" * 30, " " + "0" * 31])
def test_text_that_is_no_id_is_no_id(text: str) -> None:
    """It names nothing, which is no error."""
    assert id_bytes(text) is None


def test_sequential_ids_count() -> None:
    """The same in every run, and another series never meets them."""
    ids, others = SequentialIds(), SequentialIds(1)
    made = [ids(0) for _ in range(300)]
    assert made == sorted(set(made))
    assert not set(made) & {others(0) for _ in range(300)}
    assert {uuid.UUID(bytes=raw).version for raw in made} == {7}
