"""Time. Inside, instants are int64 UTC milliseconds; at the surface they are timezone-aware ``datetime``.

The hybrid logical clock that orders events across devices is one integer, in microseconds: the wall clock, or one more than the
greatest value seen, whichever is larger (after Kulkarni et al., "Logical Physical Clocks", 2014, with the counter folded into the
microseconds). It never stands still and never runs back, and it reads as a time.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from indelible.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_MS = 253_402_300_799_999
"""The last millisecond a ``datetime`` can show, the end of year 9999."""
MIN_MS = -62_135_596_800_000
"""The first one, the beginning of year 1."""
_DAY_US = 86_400_000_000


class Clock(Protocol):
    """A source of wall-clock time; tests give their own."""

    def now_us(self) -> int:
        """Microseconds since 1970 UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def __repr__(self) -> str:
        return "SystemClock()"


def tick(last: int, now_us: int) -> int:
    """The next value of the hybrid clock after ``last``."""
    return now_us if now_us > last else last + 1


def from_future(clock: int, now_us: int) -> bool:
    """Whether a foreign clock value is further ahead than two honest clocks differ (one day)."""
    return clock > now_us + _DAY_US


def datetime_from_ms(ms: int) -> datetime:
    """Milliseconds since 1970 as an aware UTC ``datetime``."""
    return EPOCH + timedelta(0, 0, 0, ms)


def datetime_from_us(us: int) -> datetime:
    """Microseconds since 1970 as an aware UTC ``datetime``."""
    return EPOCH + timedelta(0, 0, us)


def ms_from_datetime(value: object, what: str) -> int:
    """An aware ``datetime`` as milliseconds since 1970, rounded down.

    Raises:
        InvalidInput: not a ``datetime``, one without a timezone (which instant it means would be a guess), or one that in UTC lies
            outside the years 1 to 9999 and so could not be shown again.
    """
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a timezone-aware datetime, got {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(f"{what} is a datetime without a timezone: add one, for example datetime.now(UTC)")
    ms = (value - EPOCH) // timedelta(milliseconds=1)
    if not MIN_MS <= ms <= MAX_MS:
        raise InvalidInput(f"{what} is {value.isoformat()}, which in UTC lies outside the years 1 to 9999")
    return ms


def expiry_from_ttl(ttl_ms: object, now_ms: int) -> int | None:
    """When something written at ``now_ms`` with this time to live ends; ``None`` never.

    Raises:
        InvalidInput: not a positive plain ``int``, or an end after the year 9999.
    """
    if ttl_ms is None:
        return None
    if type(ttl_ms) is not int or ttl_ms <= 0:
        # No int in the message: one that is long enough cannot even be written.
        given = "an int that is not" if type(ttl_ms) is int else type(ttl_ms).__name__
        raise InvalidInput(f"ttl_ms must be a positive int of milliseconds or None, got {given}")
    if now_ms + ttl_ms > MAX_MS:
        raise InvalidInput("ttl_ms ends after the year 9999: use None for 'never'")
    return now_ms + ttl_ms
