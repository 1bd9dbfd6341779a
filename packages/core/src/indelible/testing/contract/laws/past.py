"""Laws of the past and of expiry."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from indelible.base.clock import datetime_from_us
from indelible.errors import InvalidInput
from indelible.testing.contract.driver import Driver, Power
from indelible.testing.contract.law import needs


def now(driver: Driver) -> datetime:
    return datetime_from_us(driver.clock.now_us())


class PastLaws:
    """What holds where the past can be read."""

    @needs(Power.PAST)
    def test_each_version_reads_as_it_was(self, driver: Driver) -> None:
        """S9: before it existed, while it stood, while it was forgotten, and again after."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.forget("k")
        driver.remember("k", "three")
        assert [driver.at(version).get("k") for version in range(5)] == [None, "one", "two", None, "three"]

    @needs(Power.PAST)
    def test_keys_of_the_past(self, driver: Driver) -> None:
        """A view of the past lists the keys that stood then, in the order they had."""
        for key in ("b", "a"):
            driver.remember(key, "one")
        driver.forget("b")
        assert [driver.at(version).keys() for version in range(4)] == [[], ["b"], ["b", "a"], ["a"]]

    @needs(Power.PAST)
    def test_beyond_the_newest_is_now(self, driver: Driver) -> None:
        """S9: a version that is yet to come reads as the current one, however great."""
        driver.remember("k", "one")
        assert [driver.at(version).get("k") for version in (2, 99, 2**63, 2**70)] == ["one"] * 4

    @needs(Power.PAST)
    def test_before_the_first_there_is_nothing(self, driver: Driver) -> None:
        """S9: version zero and negative ones read as an empty store."""
        driver.remember("k", "one")
        assert [(driver.at(version).get("k"), driver.at(version).keys()) for version in (0, -1, -(2**70))] == [(None, [])] * 3

    @needs(Power.PAST)
    def test_a_point_in_the_past_is_a_number_or_a_time(self, driver: Driver) -> None:
        """S9: bool, float, text, None and a time without a timezone are InvalidInput."""
        driver.remember("k", "one")
        points: list[Any] = [True, 1.0, "1", None, datetime(2026, 1, 1)]
        for when in points:
            with pytest.raises(InvalidInput):
                driver.at(when).get("k")

    @needs(Power.PAST)
    def test_times_read_as_versions_do(self, driver: Driver) -> None:
        """A time shows what had arrived by then: nothing before the first write, everything after the last."""
        times = [now(driver)]
        for text in ("one", "two"):
            driver.advance_clock(1000)
            driver.remember("k", text)
            driver.advance_clock(1000)
            times.append(now(driver))
        assert [driver.at(time).get("k") for time in times] == [None, "one", "two"]

    @needs(Power.PAST)
    def test_the_past_does_not_change(self, driver: Driver) -> None:
        """Whatever is written later, a version reads as it did, also through a view opened before."""
        driver.remember("k", "one")
        view = driver.at(1)
        driver.remember("k", "two")
        driver.forget("k")
        driver.remember("new", "three")
        assert (view.get("k"), view.keys(), driver.at(1).keys()) == ("one", ["k"], ["k"])

    @needs(Power.PAST, Power.UNDO)
    def test_an_undo_does_not_change_the_past(self, driver: Driver) -> None:
        """The state that was undone still stands at its version."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.undo("k")
        assert [driver.at(version).get("k") for version in (1, 2, 3)] == ["one", "two", "one"]


class ExpiryLaws:
    """What holds where a time to live can be given."""

    @needs(Power.EXPIRY)
    def test_it_is_gone_at_its_instant(self, driver: Driver) -> None:
        """S70: there until now >= written + ttl, and not a millisecond longer."""
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(999)
        assert driver.get("k") == "short"
        driver.advance_clock(1)
        assert driver.get("k") is None

    @needs(Power.EXPIRY)
    def test_what_expired_is_not_listed(self, driver: Driver) -> None:
        """S71: absent from the list; the others stay; asked for explicitly it is still there."""
        driver.remember_for("k", "short", 1000)
        driver.remember("other", "long")
        driver.advance_clock(1000)
        assert (driver.keys(), driver.get_expired("k"), driver.get_expired("other")) == (["other"], "short", "long")

    @needs(Power.EXPIRY)
    def test_a_bad_time_to_live_is_refused(self, driver: Driver) -> None:
        """S70: 0, negative, float, text, bool and what ends after the year 9999 are InvalidInput; nothing is written."""
        ttls: list[Any] = [0, -1, 1.0, "1000", True, 10**18]
        for ttl_ms in ttls:
            with pytest.raises(InvalidInput):
                driver.remember_for("k", "text", ttl_ms)
        assert driver.keys() == []

    @needs(Power.EXPIRY)
    def test_telling_again_lifts_an_expiry(self, driver: Driver) -> None:
        """The newest telling decides: without a time to live it stays."""
        driver.remember_for("k", "short", 1000)
        driver.remember("k", "long")
        driver.advance_clock(1000)
        assert driver.get("k") == "long"

    @needs(Power.EXPIRY)
    def test_what_expired_can_be_told_again(self, driver: Driver) -> None:
        """An expired key is free."""
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(1000)
        driver.remember("k", "again")
        assert (driver.get("k"), driver.keys()) == ("again", ["k"])

    @needs(Power.EXPIRY, Power.HISTORY)
    def test_expiry_deletes_nothing(self, driver: Driver) -> None:
        """S71: nothing is written by it, and the text is still in the history."""
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(10**9)
        driver.get("k")
        assert [line.text for line in driver.history("k")] == ["short"]

    @needs(Power.EXPIRY, Power.PAST)
    def test_the_past_judges_expiry_by_its_own_time(self, driver: Driver) -> None:
        """S50: what had not expired then is there in a view of then, whatever time it is now."""
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(1000)
        driver.remember("other", "later")
        assert [driver.at(version).keys() for version in (1, 2)] == [["k"], ["other"]]

    @needs(Power.EXPIRY, Power.PAST)
    def test_a_time_in_the_past_judges_expiry(self, driver: Driver) -> None:
        """A view of a time shows what had expired by that time as expired."""
        start = driver.clock.now_us()
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(5000)
        times = [datetime_from_us(start + us) for us in (999_000, 1_000_000)]
        assert [driver.at(time).get("k") for time in times] == ["short", None]

    @needs(Power.EXPIRY, Power.UNDO)
    def test_an_undo_does_not_bring_back_the_dead(self, driver: Driver) -> None:
        """A restored state whose time has passed is really back, not expired at once."""
        driver.remember_for("k", "short", 1000)
        driver.remember("k", "long")
        driver.advance_clock(1000)
        driver.undo("k")
        assert driver.get("k") == "short"

    @needs(Power.SWEEP, Power.EXPIRY)
    def test_sweeping_takes_what_expired(self, driver: Driver) -> None:
        """S72: tombstones for what has expired and for nothing else; a second sweep finds nothing."""
        driver.remember_for("k", "short", 1000)
        driver.remember("other", "long")
        driver.advance_clock(1000)
        assert (driver.forget_expired(), driver.forget_expired()) == (1, 0)
        assert (driver.keys(), driver.get_expired("k")) == (["other"], None)

    @needs(Power.COMPARE_AND_SET, Power.EXPIRY)
    def test_what_expired_does_not_exist_to_a_compare(self, driver: Driver) -> None:
        """S33: expected version 0 means "must not exist", and an expired key does not."""
        driver.remember_for("k", "short", 1000)
        driver.advance_clock(1000)
        driver.compare_and_set("k", "new", 0)
        assert driver.get("k") == "new"
