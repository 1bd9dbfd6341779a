"""Laws of scopes, races, batches and several writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from indelible.errors import IndelibleError, InvalidInput, VersionConflict
from indelible.testing.contract.driver import Driver, Power
from indelible.testing.contract.law import needs


class ScopeLaws:
    """What holds where one store keeps several people's memory apart."""

    @needs(Power.SCOPES)
    def test_one_key_in_two_scopes_is_two_memories(self, driver: Driver) -> None:
        """S60: neither sees nor changes the other."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("k", "ada's")
        bob.remember("k", "bob's")
        bob.forget("k")
        assert (ada.get("k"), ada.keys(), bob.get("k"), bob.keys()) == ("ada's", ["k"], None, [])

    @needs(Power.SCOPES)
    def test_scopes_are_compared_exactly(self, driver: Driver) -> None:
        """S60: case counts, and neither a prefix nor a pattern opens another's memory."""
        driver.within("ada_1").remember("k", "text")
        others = ["ada", "ada_", "Ada_1", "ada%", "adaX1", "ada_1 ", "*", "'ada_1'"]
        assert [driver.within(whose).keys() for whose in others] == [[]] * len(others)
        assert driver.within("ada_1").keys() == ["k"]

    @needs(Power.SCOPES, Power.HISTORY)
    def test_another_s_history_is_not_shown(self, driver: Driver) -> None:
        """S62: a view sees no event outside it."""
        driver.within("ada").remember("k", "ada's")
        bob = driver.within("bob")
        assert bob.history("k") == []
        bob.remember("k", "bob's")
        assert [line.text for line in bob.history("k")] == ["bob's"]

    @needs(Power.SCOPES, Power.PAST)
    def test_another_s_past_is_not_shown(self, driver: Driver) -> None:
        """S62: nor in the past."""
        driver.within("ada").remember("k", "ada's")
        bob = driver.within("bob")
        bob.remember("other", "bob's")
        assert [bob.at(version).keys() for version in (1, 2)] == [[], ["other"]]

    @needs(Power.SCOPES, Power.SEARCH, Power.RECALL)
    def test_another_s_memory_is_not_found(self, driver: Driver) -> None:
        """S62: by words or by meaning."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("k", "secret tea")
        bob.remember("other", "plain coffee")
        assert bob.search("secret") == []
        assert [match.key for match in bob.recall("secret tea")] == ["other"]

    @needs(Power.SCOPES, Power.PURGE)
    def test_another_s_memory_cannot_be_purged(self, driver: Driver) -> None:
        """S62: what a view does not see it cannot destroy."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("k", "ada's")
        assert (bob.purge("k"), ada.get("k")) == (0, "ada's")

    @needs(Power.SCOPES, Power.RETRY)
    def test_another_s_retry_is_not_mine(self, driver: Driver) -> None:
        """S32: an idempotency key is unique within a scope."""
        ada, bob = driver.within("ada"), driver.within("bob")
        assert ada.remember_once("text", "once") != bob.remember_once("text", "once")

    @needs(Power.SCOPES, Power.UNDO)
    def test_another_s_memory_cannot_be_undone(self, driver: Driver) -> None:
        """S62: another scope's key looks unknown."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("k", "one")
        ada.remember("k", "two")
        with pytest.raises(IndelibleError):
            bob.undo("k")
        assert ada.get("k") == "two"


class RaceLaws:
    """What holds where writes can be conditional, repeated or many at once."""

    @needs(Power.COMPARE_AND_SET, Power.VERSION)
    def test_a_compare_that_holds_writes(self, driver: Driver) -> None:
        """S33: 0 for what must not exist, else the version it has."""
        driver.compare_and_set("k", "one", 0)
        driver.remember("other", "text")
        driver.compare_and_set("k", "two", 1)
        assert driver.get("k") == "two"

    @needs(Power.COMPARE_AND_SET, Power.VERSION)
    def test_a_compare_that_fails_says_why(self, driver: Driver) -> None:
        """S33: VersionConflict with what was expected and what is there; nothing is written."""
        driver.remember("k", "one")
        for expected in (0, 2, 99):
            with pytest.raises(VersionConflict) as caught:
                driver.compare_and_set("k", "two", expected)
            assert (caught.value.expected, caught.value.actual) == (expected, 1)
        assert (driver.get("k"), driver.version()) == ("one", 1)

    @needs(Power.COMPARE_AND_SET)
    def test_what_is_forgotten_does_not_exist_to_a_compare(self, driver: Driver) -> None:
        """S33: its version is 0 again."""
        driver.remember("k", "one")
        driver.forget("k")
        with pytest.raises(VersionConflict) as caught:
            driver.compare_and_set("k", "two", 1)
        assert caught.value.actual == 0
        driver.compare_and_set("k", "two", 0)
        assert driver.get("k") == "two"

    @needs(Power.RETRY, Power.VERSION)
    def test_a_retry_writes_once(self, driver: Driver) -> None:
        """S32: the same idempotency key returns what the first call made, also after a forget elsewhere."""
        first = driver.remember_once("text", "once")
        assert (driver.remember_once("other text", "once"), driver.version()) == (first, 1)
        assert driver.remember_once("text", "another") != first

    @needs(Power.BATCH, Power.VERSION)
    def test_a_batch_is_written_whole(self, driver: Driver) -> None:
        """S83: every item, in order."""
        driver.remember_all([("a", "one"), ("b", "two"), ("c", "three")])
        assert (driver.keys(), driver.version()) == (["a", "b", "c"], 3)

    @needs(Power.BATCH, Power.VERSION)
    def test_a_bad_item_stops_the_batch(self, driver: Driver) -> None:
        """S83: all or nothing: the store is as it was."""
        driver.remember("a", "before")
        for bad in (("b", "\ud800"), ("\x00", "text")):
            with pytest.raises(InvalidInput):
                driver.remember_all([("a", "after"), bad, ("c", "three")])
        assert (driver.get("a"), driver.keys(), driver.version()) == ("before", ["a"], 1)

    @needs(Power.BATCH, Power.PAST, Power.VERSION)
    def test_half_a_batch_is_never_seen(self, driver: Driver) -> None:
        """S83: at no version is there a part of it."""
        driver.remember("first", "text")
        driver.remember_all([("a", "one"), ("b", "two"), ("c", "three")])
        assert [driver.at(version).keys() for version in range(5)] == [[], ["first"], ["first"], ["first"], ["first", "a", "b", "c"]]

    @needs(Power.VERSION)
    def test_threads_do_not_lose_a_write(self, driver: Driver) -> None:
        """S15: every write of every thread is an event of its own; no version is missing, none is given twice."""
        with ThreadPoolExecutor(4) as threads:
            writes = [threads.submit(driver.remember, f"k{number}", "text") for number in range(20)]
            for write in writes:
                write.result()
        assert (driver.version(), len(driver.keys())) == (20, 20)

    @needs(Power.SHARE)
    def test_another_object_sees_each_write(self, driver: Driver) -> None:
        """S48: two objects on one store are one store, whoever writes."""
        other = driver.another()
        assert (other.get("k"), other.keys()) == (None, [])
        driver.remember("k", "one")
        assert (other.get("k"), driver.get("k")) == ("one", "one")
        other.remember("k", "two")
        other.remember("l", "three")
        assert (driver.get("k"), driver.keys(), other.keys()) == ("two", ["k", "l"], ["k", "l"])
        other.close()

    @needs(Power.PROCESSES)
    def test_another_process_s_write_is_seen(self, driver: Driver) -> None:
        """S15, S48: what another process wrote is there at once, also between writes of this one."""
        driver.remember("a", "one")
        assert (driver.keys(), driver.get("b")) == (["a"], None)
        driver.elsewhere("b", "two")
        assert (driver.keys(), driver.get("b")) == (["a", "b"], "two")
        driver.remember("c", "three")
        assert driver.keys() == ["a", "b", "c"]

    @needs(Power.PROCESSES, Power.RECALL, Power.SEARCH)
    def test_another_process_s_write_is_recalled(self, driver: Driver) -> None:
        """S48: no cache of this process hides it."""
        driver.remember("a", "coffee")
        driver.recall("green tea")
        driver.elsewhere("b", "green tea")
        assert ([m.key for m in driver.recall("green tea")], [m.key for m in driver.search("green tea")]) == (["b", "a"], ["b"])
