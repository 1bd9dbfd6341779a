"""Laws of keys, values, and of the log behind them."""

from __future__ import annotations

from typing import Any

import pytest

from indelible.errors import IndelibleError, InvalidInput
from indelible.testing.contract.driver import Driver, Power
from indelible.testing.contract.law import must_refuse, needs

STRANGE_KEYS = [" a", "a", "A", "a ", "ä", "a\u0308", "100%", "a_b", "x'--", '"', "[0]", "../x", "\u202eabc", "a\nb", "\U0001f600", "猫"]
REFUSED_KEYS = ["a\x00b", "\ud800", "x" * 5000]
SCALARS: list[Any] = [True, False, 0, 1, -1, 2**100, -(10**400), 1.0, -0.0, 5e-324, 1.7976931348623157e308, "", "1", "\U0001f600\n"]


def exact(value: Any) -> Any:
    """A value with its types spelled out: 1, 1.0 and True are equal, and are not the same."""
    return [exact(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


class KeyLaws:
    """What holds for every store."""

    def test_what_is_remembered_is_there(self, driver: Driver) -> None:
        """What was remembered under a key is what its reader gets."""
        driver.remember("k", "the kettle is green")
        assert driver.get("k") == "the kettle is green"
        assert driver.keys() == ["k"]

    def test_an_unknown_key_is_nothing(self, driver: Driver) -> None:
        """S1: a key that was never remembered reads as None, and is no error."""
        assert driver.get("unknown") is None
        assert driver.keys() == []

    def test_the_last_text_counts(self, driver: Driver) -> None:
        """Remembering a key again replaces what is current, and the key stays one key."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        assert (driver.get("k"), driver.keys()) == ("two", ["k"])

    def test_what_is_forgotten_is_gone(self, driver: Driver) -> None:
        """S1: a forgotten key reads as None and is not listed; the others stay."""
        driver.remember("k", "one")
        driver.remember("other", "two")
        driver.forget("k")
        assert (driver.get("k"), driver.get("other"), driver.keys()) == (None, "two", ["other"])

    def test_forgetting_nothing_is_no_error(self, driver: Driver) -> None:
        """S3, S34: forgetting a key that is unknown, or already forgotten, changes nothing."""
        driver.forget("unknown")
        driver.remember("k", "one")
        driver.forget("k")
        driver.forget("k")
        assert driver.keys() == []

    def test_a_forgotten_key_can_be_told_again(self, driver: Driver) -> None:
        """Forgetting is not for ever."""
        driver.remember("k", "one")
        driver.forget("k")
        driver.remember("k", "two")
        assert (driver.get("k"), driver.keys()) == ("two", ["k"])

    @needs(Power.ORDER)
    def test_keys_come_in_the_order_of_their_first_telling(self, driver: Driver) -> None:
        """S4: an update does not move a key; forgetting and telling again moves it to the end."""
        for key in ("c", "a", "b"):
            driver.remember(key, "one")
        driver.remember("c", "two")
        driver.forget("a")
        driver.remember("a", "three")
        assert driver.keys() == ["c", "b", "a"]

    def test_strange_keys_are_distinct(self, driver: Driver) -> None:
        """S2: keys are compared character by character; nothing is trimmed, folded or taken for syntax."""
        for key in STRANGE_KEYS:
            driver.remember(key, f"text of {key!r}")
        assert [driver.get(key) for key in STRANGE_KEYS] == [f"text of {key!r}" for key in STRANGE_KEYS]
        assert sorted(driver.keys()) == sorted(STRANGE_KEYS)

    def test_a_key_that_cannot_be_kept_is_refused(self, driver: Driver) -> None:
        """S2: NUL, lone surrogates and endless keys are InvalidInput, in every verb, and nothing is written."""
        for key in REFUSED_KEYS:
            for verb in (lambda key: driver.remember(key, "text"), driver.get):
                with pytest.raises(InvalidInput):
                    verb(key)
        assert driver.keys() == []

    def test_a_key_that_is_no_text_is_refused(self, driver: Driver) -> None:
        """S2: other types are InvalidInput, and nothing is written."""
        keys: list[Any] = [1, b"k", ("k",), 1.5, ["k"]]
        for key in keys:
            with pytest.raises(InvalidInput):
                driver.remember(key, "text")
            with pytest.raises(InvalidInput):
                driver.get(key)
        assert driver.keys() == []

    def test_text_in_any_script_comes_back(self, driver: Driver) -> None:
        """Text is kept character by character: scripts, combining marks, line breaks, quotes, and a lot of it."""
        texts = ["naïve e\u0301", "猫が好き", "שלום", "a\nb\r\n\tc", "'; DROP TABLE event; --", '{"a":1}', "\u200d\ufeff", "x" * 100_000]
        for number, text in enumerate(texts):
            driver.remember(f"k{number}", text)
        assert [driver.get(f"k{number}") for number in range(len(texts))] == texts

    def test_powers_that_are_not_declared_are_refused(self, driver: Driver) -> None:
        """What a store does not declare it refuses with UnsupportedOperation, and writes nothing."""
        must_refuse(driver, frozenset(Power) - driver.powers)
        assert driver.keys() == []


class ValueLaws:
    """What holds where any JSON value can be kept."""

    @needs(Power.VALUES)
    def test_values_come_back_exactly(self, driver: Driver) -> None:
        """S7: type, size and sign are kept: 1, 1.0 and True, 2**100, -0.0; alone and in lists."""
        for number, value in enumerate([*SCALARS, SCALARS, [[], [[SCALARS]]]]):
            driver.remember_value(f"k{number}", value)
            assert exact(driver.value(f"k{number}")) == exact(value)

    @needs(Power.VALUES)
    def test_none_is_a_value(self, driver: Driver) -> None:
        """S1: None can be remembered; it reads as None, and the key is listed."""
        driver.remember_value("k", None)
        assert (driver.value("k"), driver.keys()) == (None, ["k"])

    @needs(Power.VALUES)
    def test_values_are_kept_by_value(self, driver: Driver) -> None:
        """S8: changing the list afterwards, or the one returned, changes nothing."""
        items = ["a", ["b"]]
        driver.remember_value("k", items)
        items.append("c")
        driver.value("k")[1].append("d")
        assert driver.value("k") == ["a", ["b"]]

    @needs(Power.VALUES, Power.VERSION)
    def test_what_json_cannot_hold_is_refused(self, driver: Driver) -> None:
        """S7: tuples, sets, bytes, NaN, Infinity, objects and cycles, also three levels down; nothing is written."""
        cycle: list[Any] = []
        cycle.append(cycle)
        for value in ((1,), {1}, b"x", float("nan"), float("inf"), object(), cycle, [[[{1}]]], ["a\x00"], "\ud800"):
            with pytest.raises(InvalidInput):
                driver.remember_value("k", value)
        assert (driver.version(), driver.keys()) == (0, [])

    @needs(Power.VALUES, Power.VERSION)
    def test_endless_nesting_is_refused(self, driver: Driver) -> None:
        """S7: a list 10,000 deep is InvalidInput, not a crash."""
        value: list[Any] = []
        for _ in range(10_000):
            value = [value]
        with pytest.raises(InvalidInput):
            driver.remember_value("k", value)
        assert driver.version() == 0


class LogLaws:
    """What holds where there is a log."""

    @needs(Power.VERSION)
    def test_each_write_is_one_version(self, driver: Driver) -> None:
        """S9, S11, S12: versions count the events, from 1, without gaps; telling the same again is an event."""
        assert driver.version() == 0
        driver.remember("k", "same")
        driver.remember("k", "same")
        assert driver.version() == 2
        driver.forget("k")
        assert driver.version() == 3

    @needs(Power.VERSION)
    def test_reading_writes_nothing(self, driver: Driver) -> None:
        """A version is never taken by a reader."""
        driver.remember("k", "one")
        driver.get("k")
        driver.keys()
        driver.get("unknown")
        assert driver.version() == 1

    @needs(Power.HISTORY)
    def test_history_keeps_everything(self, driver: Driver) -> None:
        """S10: every event of a key in order, also once it is forgotten."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.forget("k")
        driver.remember("k", "three")
        assert [(line.op, line.text) for line in driver.history("k")] == [
            ("remember", "one"),
            ("remember", "two"),
            ("forget", None),
            ("remember", "three"),
        ]

    @needs(Power.HISTORY, Power.VERSION)
    def test_history_numbers_are_the_log_s(self, driver: Driver) -> None:
        """S9: one counter for all keys: writing a, b, a gives a the versions 1 and 3."""
        for key in ("a", "b", "a"):
            driver.remember(key, f"text {driver.version()}")
        assert [line.version for line in driver.history("a")] == [1, 3]
        assert [line.version for line in driver.history("b")] == [2]

    @needs(Power.HISTORY)
    def test_an_unknown_key_has_no_history(self, driver: Driver) -> None:
        """S10: the empty list, and no error."""
        assert driver.history("unknown") == []

    @needs(Power.HISTORY)
    def test_the_same_text_again_is_a_new_version(self, driver: Driver) -> None:
        """S11: telling is an event, whatever is told."""
        driver.remember("k", "same")
        driver.remember("k", "same")
        assert [line.text for line in driver.history("k")] == ["same", "same"]

    @needs(Power.UNDO)
    def test_undo_goes_back_one_step(self, driver: Driver) -> None:
        """S36: the state before the current one is current again; a forgotten key comes back."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.undo("k")
        assert driver.get("k") == "one"
        driver.forget("k")
        driver.undo("k")
        assert driver.get("k") == "one"

    @needs(Power.UNDO)
    def test_undoing_the_first_telling_leaves_nothing(self, driver: Driver) -> None:
        """S36: before it there was nothing."""
        driver.remember("k", "one")
        driver.undo("k")
        assert (driver.get("k"), driver.keys()) == (None, [])

    @needs(Power.UNDO, Power.HISTORY)
    def test_undo_is_an_event_and_can_be_undone(self, driver: Driver) -> None:
        """S36: it appends the old state as a new version; nothing is taken out of the history."""
        driver.remember("k", "one")
        driver.remember("k", "two")
        driver.undo("k")
        driver.undo("k")
        assert (driver.get("k"), [line.text for line in driver.history("k")]) == ("two", ["one", "two", "one", "two"])

    @needs(Power.RESTORE, Power.HISTORY)
    def test_any_version_can_be_restored(self, driver: Driver) -> None:
        """S36: the state of a version is current again, as a new version, also after a forget."""
        for text in ("one", "two", "three"):
            driver.remember("k", text)
        driver.forget("k")
        driver.restore("k", driver.history("k")[1].version)
        assert (driver.get("k"), len(driver.history("k"))) == ("two", 5)

    @needs(Power.RESTORE)
    def test_what_is_no_state_cannot_be_restored(self, driver: Driver) -> None:
        """S36: a version of another key, of a forget, or of nothing is refused, and nothing changes."""
        driver.remember("k", "one")
        driver.remember("other", "two")
        for key, version in (("k", 2), ("k", 99), ("unknown", 1)):
            with pytest.raises(IndelibleError):
                driver.restore(key, version)
        assert (driver.get("k"), driver.get("other")) == ("one", "two")
