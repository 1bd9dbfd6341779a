"""Laws of search by words and recall by meaning."""

from __future__ import annotations

from typing import Any

import pytest

from indelible.errors import InvalidInput
from indelible.testing.contract.driver import Driver, Power
from indelible.testing.contract.law import needs

HOSTILE = ['"', "'", "*", "AND", "OR NOT", "NEAR(a b)", "-kettle", "a:b", "C++", "user@example.com", "100%", "\U0001f600", "(", "words : x"]


def found(matches: Any) -> list[str]:
    return [match.key for match in matches]


class SearchLaws:
    """What holds where words can be searched."""

    @needs(Power.SEARCH)
    def test_words_are_found(self, driver: Driver) -> None:
        """S41: whole words, whatever their case and accents; every word must occur."""
        driver.remember("a", "The green Kettle of Zoë")
        driver.remember("b", "a kettledrum")
        assert [found(driver.search(words)) for words in ("KETTLE", "zoe green", "kettle drum", "nothing")] == [["a"], ["a"], [], []]

    @needs(Power.SEARCH)
    def test_more_occurrences_come_first(self, driver: Driver) -> None:
        """S41: the score is the frequency of the words; of equals, the newer comes first."""
        for key, text in (("a", "tea"), ("b", "tea and tea"), ("c", "tea")):
            driver.remember(key, text)
        assert found(driver.search("tea")) == ["b", "c", "a"]

    @needs(Power.SEARCH)
    def test_scripts_without_spaces_are_searched(self, driver: Driver) -> None:
        """S42: Han, kana, Hangul and Thai text is found by one or two of its characters, and by longer runs."""
        for key, text in (("a", "私は猫が好きです"), ("b", "고양이를 좋아해요"), ("c", "ฉันชอบแมว")):
            driver.remember(key, text)
        assert [found(driver.search(words)) for words in ("猫", "猫が", "好きです", "고양", "แมว")] == [["a"], ["a"], ["a"], ["b"], ["c"]]

    @needs(Power.SEARCH)
    def test_old_words_no_longer_hit(self, driver: Driver) -> None:
        """S33, S34: a revision, and a forget, take the old words out of the search at once."""
        driver.remember("k", "green kettle")
        driver.remember("k", "red kettle")
        assert (found(driver.search("green")), found(driver.search("red"))) == ([], ["k"])
        driver.forget("k")
        assert found(driver.search("red")) == []

    @needs(Power.SEARCH)
    def test_no_character_of_a_query_is_syntax(self, driver: Driver) -> None:
        """S45: quotes, operators, wildcards, columns: a defined answer, never an exception of the engine."""
        driver.remember("k", "plain words and a kettle")
        for query in [*HOSTILE, "kettle " * 20_000]:
            assert set(found(driver.search(query))) <= {"k"}
        assert [found(driver.search(query)) for query in ("kettle*", '"kettle', "(kettle)", "ket*")] == [["k"], ["k"], ["k"], []]

    @needs(Power.SEARCH)
    def test_an_empty_query_is_refused(self, driver: Driver) -> None:
        """S45: there is nothing to look for."""
        queries: list[Any] = ["", "  \n", 5]
        for query in queries:
            with pytest.raises(InvalidInput):
                driver.search(query)

    @needs(Power.SEARCH)
    def test_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46: 0 gives nothing, a huge one everything, the best come first; others are InvalidInput."""
        for key in ("a", "b", "c"):
            driver.remember(key, "tea")
        assert [len(driver.search("tea", limit)) for limit in (0, 1, 2, 2**70)] == [0, 1, 2, 3]
        limits: list[Any] = [-1, True, "1", 1.0]
        for limit in limits:
            with pytest.raises(InvalidInput):
                driver.search("tea", limit)

    @needs(Power.SEARCH, Power.SCOPES)
    def test_strangers_never_change_a_score(self, driver: Driver) -> None:
        """S41: hits, order and scores in one scope are the same whatever stands in another."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("a", "green tea")
        ada.remember("b", "green green kettle")
        before = ada.search("green")
        for number in range(20):
            bob.remember(f"k{number}", "green kettle green tea")
        assert ada.search("green") == before

    @needs(Power.SEARCH, Power.PAST)
    def test_the_past_is_searched_as_it_was(self, driver: Driver) -> None:
        """S50: hits, order and scores at a version are those a search gave then."""
        answers = [driver.at(0).search("tea")]
        for key, text in (("a", "tea"), ("b", "tea tea"), ("a", "coffee"), ("c", "tea")):
            driver.remember(key, text)
            answers.append(driver.search("tea"))
        assert [driver.at(version).search("tea") for version in range(5)] == answers

    @needs(Power.SEARCH, Power.EXPIRY)
    def test_what_expired_is_not_found(self, driver: Driver) -> None:
        """S44, S71: expiry is applied before the limit."""
        driver.remember("old", "tea")
        for number in range(5):
            driver.remember_for(f"k{number}", "tea tea", 1000)
        driver.advance_clock(1000)
        assert found(driver.search("tea", 1)) == ["old"]


class RecallLaws:
    """What holds where meaning can be recalled."""

    @needs(Power.RECALL)
    def test_the_nearest_comes_first(self, driver: Driver) -> None:
        """S40: by cosine, descending, within [-1, 1]; everything in the slice has a score."""
        for key, text in (("a", "an old song"), ("b", "green tea"), ("c", "green tea in the kettle")):
            driver.remember(key, text)
        matches = driver.recall("green tea")
        scores = [match.score or 0.0 for match in matches]
        assert found(matches)[:2] == ["b", "c"]
        assert scores == sorted(scores, reverse=True)
        assert -1 <= scores[-1] <= scores[0] <= 1

    @needs(Power.RECALL)
    def test_a_write_is_recalled_at_once(self, driver: Driver) -> None:
        """S48: what was remembered is found by the next recall."""
        for number in range(3):
            driver.remember(f"k{number}", f"word{number} alone")
            assert found(driver.recall(f"word{number} alone"))[0] == f"k{number}"

    @needs(Power.RECALL)
    def test_the_vector_follows_the_text(self, driver: Driver) -> None:
        """S33: after a revision the old meaning is gone; after a forget the record is."""
        driver.remember("k", "green tea")
        before = driver.recall("green tea")[0].score
        driver.remember("k", "an old song")
        after = driver.recall("green tea")[0].score
        assert before == pytest.approx(1)
        assert (after or 0) < 0.9
        driver.forget("k")
        assert driver.recall("green tea") == []

    @needs(Power.RECALL, Power.UNDO)
    def test_the_vector_follows_an_undo(self, driver: Driver) -> None:
        """S36: what is back means what it meant."""
        driver.remember("k", "green tea")
        driver.remember("k", "an old song")
        driver.undo("k")
        assert driver.recall("green tea")[0].score == pytest.approx(1)

    @needs(Power.RECALL)
    def test_recall_limits_are_whole_numbers(self, driver: Driver) -> None:
        """S46: as for search; an empty query is refused."""
        for key in ("a", "b", "c"):
            driver.remember(key, f"tea {key}")
        assert [len(driver.recall("tea", limit)) for limit in (0, 1, 2, 2**70)] == [0, 1, 2, 3]
        limits: list[Any] = [-1, True, "1", 1.0]
        for limit in limits:
            with pytest.raises(InvalidInput):
                driver.recall("tea", limit)
        with pytest.raises(InvalidInput):
            driver.recall(" ")

    @needs(Power.RECALL, Power.SCOPES)
    def test_one_among_many_strangers_is_found(self, driver: Driver) -> None:
        """S44: the scope is applied before the limit, however near the others are."""
        ada, bob = driver.within("ada"), driver.within("bob")
        ada.remember("mine", "something about tea and more")
        for number in range(30):
            bob.remember(f"k{number}", "green tea")
        assert found(ada.recall("green tea", 5)) == ["mine"]

    @needs(Power.RECALL, Power.EXPIRY)
    def test_expired_neighbours_do_not_shrink_the_answer(self, driver: Driver) -> None:
        """S44: five nearest that have expired leave room for the next."""
        driver.remember("k", "something about tea")
        for number in range(5):
            driver.remember_for(f"k{number}", "green tea", 1000)
        driver.advance_clock(1000)
        assert found(driver.recall("green tea", 1)) == ["k"]

    @needs(Power.RECALL, Power.PAST)
    def test_the_past_is_recalled_as_it_was(self, driver: Driver) -> None:
        """S50: ids, order and scores at a version are those a recall gave then."""
        answers = [driver.at(0).recall("green tea")]
        for key, text in (("a", "green tea"), ("b", "tea"), ("a", "coffee"), ("c", "green")):
            driver.remember(key, text)
            answers.append(driver.recall("green tea"))
        assert [driver.at(version).recall("green tea") for version in range(5)] == answers

    @needs(Power.RECALL, Power.REOPEN)
    def test_ties_have_one_order(self, driver: Driver) -> None:
        """S47: equal scores come in a fixed order, the same after the store was opened anew."""
        for key in ("c", "a", "b"):
            driver.remember(key, "tea")
        before = driver.recall("tea")
        driver.reopen()
        assert driver.recall("tea") == before

    @needs(Power.RECALL, Power.SHARE)
    def test_another_object_s_write_is_recalled(self, driver: Driver) -> None:
        """S48: no cache of one object hides what another wrote, changed or forgot."""
        other = driver.another()
        driver.remember("a", "green tea")
        assert found(other.recall("green tea")) == ["a"]
        driver.remember("a", "an old song")
        driver.remember("b", "green tea")
        assert found(other.recall("green tea")) == ["b", "a"]
        driver.forget("b")
        assert found(other.recall("green tea")) == ["a"]
        other.close()


class FilterLaws:
    """What holds where metadata can be filtered."""

    @needs(Power.FILTERS)
    def test_conditions_are_met_exactly(self, driver: Driver) -> None:
        """S49: a missing key matches nothing but "not"; kinds are never mixed up."""
        for key, metadata in (("a", {"n": 1}), ("b", {"n": "1"}), ("c", {"n": True}), ("d", {}), ("e", {"n": 2**53 + 1})):
            driver.remember_with(key, "text", metadata)
        conditions = [("eq", 1), ("eq", "1"), ("ne", 1), ("gt", 1), ("gte", 2**53 + 1), ("exists", False)]
        answers = [driver.keys_where({"path": ["n"], "op": op, "value": value}) for op, value in conditions]
        assert answers == [["a"], ["b"], ["b", "c", "d", "e"], ["e"], ["e"], ["d"]]

    @needs(Power.FILTERS)
    def test_names_and_values_are_never_syntax(self, driver: Driver) -> None:
        """S49: quotes, dots and brackets in a key or a value are themselves."""
        strange = ["a.b", "a'b", 'a"b', "$", "a[0]", "", "%", "ä"]
        for name in strange:
            driver.remember_with(name or "empty", "text", {name: name})
        assert [driver.keys_where({"path": [name], "op": "eq", "value": name}) for name in strange] == [
            [name or "empty"] for name in strange
        ]

    @needs(Power.FILTERS)
    def test_bad_metadata_is_refused(self, driver: Driver) -> None:
        """S31: what is no JSON object, holds NaN, NUL or a lone surrogate, or is too deep or too large: nothing is written."""
        deep: dict[str, Any] = {}
        for _ in range(40):
            deep = {"a": deep}
        bad: list[Any] = [{"a": float("nan")}, {"a": "\x00"}, {"a": "\ud800"}, {1: 2}, {"a": {1}}, deep, {"a": "x" * 70_000}]
        for metadata in bad:
            with pytest.raises(InvalidInput):
                driver.remember_with("k", "text", metadata)
        assert driver.keys() == []
