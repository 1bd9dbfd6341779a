"""Laws of votes, purges, files, copies and upkeep."""

from __future__ import annotations

from pathlib import Path

import pytest

from indelible.errors import IndelibleError, IntegrityFailure, InvalidInput, StoreClosed
from indelible.testing.contract.driver import Driver, Happened, Power
from indelible.testing.contract.law import needs

SECRET = "xylophone-471108152342-secret"


def everything(driver: Driver) -> tuple[list[tuple[str, str | None]], list[list[Happened]]]:
    """What a store says now and said, to be compared."""
    keys = driver.keys()
    histories = [driver.history(key) for key in keys] if Power.HISTORY in driver.powers else []
    return [(key, driver.get(key)) for key in keys], histories


def a_history(driver: Driver) -> None:
    """Some tellings, revisions and a forget."""
    for key, text in (("a", "one"), ("b", "two"), ("a", "three"), ("c", "four")):
        driver.remember(key, text)
    driver.forget("b")


def pass_on(giver: Driver, taker: Driver, path: Path) -> None:
    """Import all that one store has into another."""
    giver.export(path)
    taker.import_(path)


class VoteLaws:
    """What holds where memories can be voted on."""

    @needs(Power.VOTES)
    def test_a_vote_changes_no_memory(self, driver: Driver) -> None:
        """S35: neither its text nor its place in the list."""
        driver.remember("a", "one")
        driver.remember("b", "two")
        driver.vote("a", "down")
        assert everything(driver)[0] == [("a", "one"), ("b", "two")]

    @needs(Power.VOTES)
    def test_a_vote_never_revives(self, driver: Driver) -> None:
        """S35: not before a forget and not after it; what is forgotten is not found."""
        driver.remember("k", "one")
        driver.vote("k", "up")
        driver.forget("k")
        with pytest.raises(IndelibleError):
            driver.vote("k", "up")
        assert (driver.get("k"), driver.keys()) == (None, [])

    @needs(Power.VOTES, Power.HISTORY)
    def test_votes_are_in_the_history(self, driver: Driver) -> None:
        """S37: in order, with everything else."""
        driver.remember("k", "one")
        driver.vote("k", "up")
        driver.forget("k")
        assert [line.op for line in driver.history("k")] == ["remember", "vote", "forget"]

    @needs(Power.VOTES, Power.RECALL)
    def test_votes_do_not_rank_unless_asked(self, driver: Driver) -> None:
        """S35: ranking is unchanged."""
        driver.remember("a", "green tea")
        driver.remember("b", "green tea or coffee")
        before = driver.recall("green tea")
        for _ in range(3):
            driver.vote("b", "up")
            driver.vote("a", "down")
        assert driver.recall("green tea") == before


class PurgeLaws:
    """What holds where memories can be destroyed."""

    @needs(Power.PURGE)
    def test_a_purged_memory_is_gone(self, driver: Driver) -> None:
        """S74: and the others stay; a second purge finds nothing."""
        driver.remember("k", "one")
        driver.remember("other", "two")
        assert (driver.purge("k"), driver.purge("k"), driver.purge("unknown")) == (1, 0, 0)
        assert everything(driver)[0] == [("other", "two")]

    @needs(Power.PURGE, Power.PAST)
    def test_a_purged_memory_never_was(self, driver: Driver) -> None:
        """S74: at no version can it be read; what stood beside it can."""
        driver.remember("k", "one")
        driver.remember("other", "two")
        driver.remember("k", "three")
        driver.purge("k")
        assert [driver.at(version).keys() for version in range(5)] == [[], [], ["other"], ["other"], ["other"]]

    @needs(Power.PURGE, Power.UNDO)
    def test_a_purged_memory_cannot_come_back(self, driver: Driver) -> None:
        """S74: no undo reaches it."""
        driver.remember("k", "one")
        driver.purge("k")
        with pytest.raises(IndelibleError):
            driver.undo("k")
        assert driver.get("k") is None

    @needs(Power.PURGE)
    def test_a_purged_key_starts_anew(self, driver: Driver) -> None:
        """S74: with nothing of what it was."""
        driver.remember("k", "one")
        driver.purge("k")
        driver.remember("k", "two")
        assert driver.get("k") == "two"

    @needs(Power.PURGE, Power.VERSION, Power.VERIFY)
    def test_a_purge_leaves_the_log_whole(self, driver: Driver) -> None:
        """S74: numbering is unbroken, verification passes, and views made anew say the same."""
        a_history(driver)
        driver.purge("a")
        version = driver.version()
        assert (version, list(driver.problems())) == (6, [])
        driver.rebuild()
        assert (driver.version(), everything(driver)[0], list(driver.problems())) == (version, [("c", "four")], [])

    @needs(Power.PURGE, Power.SEARCH, Power.RECALL)
    def test_a_purged_memory_is_not_found(self, driver: Driver) -> None:
        """S74: neither by words nor by meaning, now or in the past."""
        driver.remember("k", "secret tea")
        driver.remember("other", "coffee")
        driver.recall("secret tea")
        driver.purge("k")
        assert driver.search("secret") == []
        assert [match.key for match in driver.recall("secret tea")] == ["other"]
        assert driver.at(1).search("secret") == []

    @needs(Power.PURGE, Power.BACK_DOOR)
    def test_purged_text_is_not_in_the_bytes(self, driver: Driver) -> None:
        """S74: wherever it stood: text of every version, key, index; what is beside it stays."""
        driver.remember(f"key {SECRET}", f"first {SECRET}")
        driver.remember(f"key {SECRET}", f"second {SECRET}")
        driver.remember("beside", "plain-words-8080")
        driver.purge(f"key {SECRET}")
        door = driver.back_door()
        assert (door.holds(SECRET), door.holds("471108152342"), door.holds("plain-words-8080")) == (False, False, True)

    @needs(Power.PURGE, Power.BACK_DOOR, Power.VACUUM, Power.FILTERS)
    def test_purged_metadata_is_not_in_the_bytes(self, driver: Driver) -> None:
        """S74: after a vacuum too, nor is what was forgotten before it was purged."""
        driver.remember_with("k", "text", {SECRET: [SECRET]})
        driver.forget("k")
        driver.purge("k")
        driver.vacuum()
        assert not driver.back_door().holds(SECRET)

    @needs(Power.PURGE, Power.TRANSFER)
    def test_purged_text_is_not_exported(self, driver: Driver, tmp_path: Path) -> None:
        """S74: an export made after the purge does not hold it, and can be imported all the same."""
        driver.remember("k", SECRET)
        driver.remember("beside", "text")
        driver.purge("k")
        driver.export(tmp_path / "log")
        assert SECRET.encode() not in (tmp_path / "log").read_bytes()
        driver.import_(tmp_path / "log")


class FileLaws:
    """What holds where a store outlives its object."""

    @needs(Power.REOPEN)
    def test_what_was_written_is_there_after_opening_again(self, driver: Driver) -> None:
        """S11, S80: every acknowledged write, with its history."""
        a_history(driver)
        before = everything(driver)
        driver.reopen()
        assert everything(driver) == before

    @needs(Power.REOPEN, Power.VERSION)
    def test_versions_go_on_after_opening_again(self, driver: Driver) -> None:
        """S11: no number is used twice."""
        a_history(driver)
        driver.reopen()
        driver.remember("d", "five")
        assert driver.version() == 6

    @needs(Power.REOPEN)
    def test_a_closed_store_says_so(self, driver: Driver) -> None:
        """Every verb of a closed store is StoreClosed; closing again is fine."""
        driver.close()
        driver.close()
        for verb in (driver.keys, lambda: driver.get("k"), lambda: driver.remember("k", "text")):
            with pytest.raises(StoreClosed):
                verb()

    @needs(Power.BACK_DOOR, Power.VERSION)
    def test_the_medium_holds_every_event(self, driver: Driver) -> None:
        """S12: as many as there were writes, the text of revised and forgotten ones among them."""
        a_history(driver)
        assert driver.version() == 5
        door = driver.back_door()
        assert (door.events(), [door.holds(text) for text in ("one", "two", "three", "four")]) == (5, [True] * 4)

    @needs(Power.EXPIRY, Power.BACK_DOOR)
    def test_the_medium_holds_what_expired(self, driver: Driver) -> None:
        """S71: nothing automatic ever deletes it."""
        driver.remember_for("k", "short-lived-text", 1)
        driver.advance_clock(10**10)
        assert driver.keys() == []
        assert driver.back_door().holds("short-lived-text")

    @needs(Power.VERIFY)
    def test_views_made_anew_say_the_same(self, driver: Driver) -> None:
        """S88: verification finds nothing wrong, before and after, and no answer changes."""
        a_history(driver)
        before = everything(driver)
        assert list(driver.problems()) == []
        driver.rebuild()
        assert (everything(driver), list(driver.problems())) == (before, [])

    @needs(Power.VERIFY, Power.SEARCH, Power.RECALL)
    def test_searches_say_the_same_after_a_rebuild(self, driver: Driver) -> None:
        """S47, S88: hits, order and scores."""
        for key, text in (("a", "green tea"), ("b", "tea"), ("c", "tea tea")):
            driver.remember(key, text)
        before = driver.search("tea"), driver.recall("green tea")
        driver.rebuild()
        assert (driver.search("tea"), driver.recall("green tea")) == before

    @needs(Power.VACUUM, Power.VERSION)
    def test_a_vacuum_changes_no_answer(self, driver: Driver) -> None:
        """S75: nor a version, nor a history."""
        a_history(driver)
        before = everything(driver), driver.version()
        driver.vacuum()
        assert (everything(driver), driver.version()) == before


class MergeLaws:
    """What holds where logs can be exchanged."""

    @needs(Power.TRANSFER, Power.VERSION)
    def test_an_import_of_one_s_own_is_nothing_new(self, driver: Driver, tmp_path: Path) -> None:
        """S87: idempotent: nothing is refused and no event is written."""
        a_history(driver)
        before = everything(driver), driver.version()
        driver.export(tmp_path / "log")
        driver.import_(tmp_path / "log")
        assert (everything(driver), driver.version()) == before

    @needs(Power.TRANSFER, Power.VERSION)
    def test_a_broken_export_is_refused(self, driver: Driver, tmp_path: Path) -> None:
        """S84, S87: a gap, a changed number, a repeated key, no export at all: nothing is imported."""
        driver.remember("k", "text")
        driver.export(tmp_path / "log")
        head, line = (tmp_path / "log").read_text(encoding="utf-8").splitlines(keepends=True)
        gap, next_one = line.replace('"seq":1', '"seq":9'), line.replace('"seq":1', '"seq":2')
        for number, text in enumerate((head + gap, head + next_one, head + '{"seq":1,"seq":2}\n', "{}\n", "\x00")):
            (tmp_path / str(number)).write_text(text, encoding="utf-8")
            with pytest.raises((InvalidInput, IntegrityFailure)):
                driver.import_(tmp_path / str(number))
        assert driver.version() == 1

    @needs(Power.COPY, Power.TRANSFER, Power.VERSION)
    def test_changed_text_is_refused(self, driver: Driver, tmp_path: Path) -> None:
        """S87: what was not written cannot be imported, and what was then can."""
        driver.remember("k", "text")
        copy = driver.copied()
        copy.remember("l", "green tea")
        copy.export(tmp_path / "log")
        text = (tmp_path / "log").read_text(encoding="utf-8").replace("green tea", "black tea")
        (tmp_path / "changed").write_text(text, encoding="utf-8")
        with pytest.raises(IntegrityFailure):
            driver.import_(tmp_path / "changed")
        driver.import_(tmp_path / "log")
        assert (driver.version(), driver.get("l")) == (3, "green tea")
        copy.close()

    @needs(Power.COPY, Power.TRANSFER)
    def test_a_copy_that_went_its_own_way_can_be_merged(self, driver: Driver, tmp_path: Path) -> None:
        """S87: copy a store, write to both, import each into the other: nothing refused, nothing lost, equal current state."""
        a_history(driver)
        copy = driver.copied()
        for number, store in enumerate((driver, copy)):
            store.advance_clock(1000)
            store.remember("a", f"revised by {number}")
            store.remember(f"new {number}", "text")
        pass_on(driver, copy, tmp_path / "one")
        pass_on(copy, driver, tmp_path / "two")
        assert sorted(everything(driver)[0]) == sorted(everything(copy)[0])
        assert (driver.get("a"), sorted(driver.keys())) == ("revised by 1", ["a", "c", "new 0", "new 1"])
        copy.close()

    @needs(Power.COPY, Power.VERSION)
    def test_reading_a_copy_writes_nothing(self, driver: Driver) -> None:
        """S87: a copy takes its own identity when it first writes, by an event, and not before."""
        driver.remember("k", "one")
        copy = driver.copied()
        assert (copy.get("k"), copy.version()) == ("one", 1)
        copy.remember("k", "two")
        assert (copy.get("k"), copy.version(), driver.get("k")) == ("two", 3, "one")
        copy.close()

    @needs(Power.COPY, Power.TRANSFER, Power.PURGE)
    def test_a_purge_reaches_a_copy(self, driver: Driver, tmp_path: Path) -> None:
        """S87: purge beats everything: it destroys what the other has, and what the other wrote since cannot bring it back."""
        driver.remember("k", SECRET)
        copy = driver.copied()
        copy.remember("k", "another text")
        driver.purge("k")
        pass_on(driver, copy, tmp_path / "one")
        pass_on(copy, driver, tmp_path / "two")
        assert (driver.keys(), copy.keys()) == ([], [])
        copy.close()
