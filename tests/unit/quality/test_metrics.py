"""The measures of the quality benchmark, and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality.metrics import DEPTH, NAMES, bootstrap, measures, paired

IDS = st.sampled_from([f"d{number}" for number in range(30)])
RANKINGS = st.lists(IDS, max_size=40)
RELEVANT = st.dictionaries(IDS, st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=6)
VALUES = st.lists(st.sampled_from([0.0, 25.0, 50.0, 100.0]), min_size=1, max_size=30)


def test_by_hand() -> None:
    """Two of three at ranks 2 and 6."""
    found = measures(["x1", "a", "x2", "x3", "x4", "b"], {"a": 1.0, "b": 1.0, "c": 1.0})
    assert [found[f"any@{k}"] for k in (1, 5, 10)] == [0, 1, 1]
    assert [found[f"all@{k}"] for k in (1, 5, 10)] == [0, 0, 0]
    assert [found[f"recall@{k}"] for k in (1, 5, 10, 20)] == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3])
    assert found["MRR"] == 0.5
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert found["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)


def test_grades_count_in_the_gain_alone() -> None:
    relevant = {"best": 3.0, "good": 1.0}
    right, wrong = measures(["best", "good"], relevant), measures(["good", "best"], relevant)
    assert right["nDCG@10"] == 1 > wrong["nDCG@10"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert {name: value for name, value in right.items() if name != "nDCG@10"} == {
        name: value for name, value in wrong.items() if name != "nDCG@10"
    }


def test_nothing_found_is_nothing() -> None:
    assert set(measures([], {"a": 1.0}).values()) == {0.0}
    assert measures([*(f"x{number}" for number in range(DEPTH)), "a"], {"a": 1.0})["MRR"] == 0


@pytest.mark.parametrize("relevant", [{}, {"a": 0.0}, {"a": 1.0, "b": -1.0}])
def test_a_question_without_answers_is_none(relevant: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="relevant"):
        measures(["a"], relevant)


@given(RANKINGS, RELEVANT)
def test_measures_are_bounded_and_agree(ranking: list[str], relevant: dict[str, float]) -> None:
    """From 0 to 1, never less for a deeper cut, any at least recall at least all; repeats in a ranking count once."""
    found = measures(ranking, relevant)
    assert tuple(found) == NAMES
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    for k in (1, 5, 10):
        assert found[f"any@{k}"] >= found[f"recall@{k}"] >= found[f"all@{k}"]
    for kind in ("any", "all", "recall"):
        assert found[f"{kind}@1"] <= found[f"{kind}@5"] <= found[f"{kind}@10"]
    assert (found["MRR"] == 1) == (found["any@1"] == 1)
    assert found == measures(list(dict.fromkeys(ranking)), relevant)


@given(RELEVANT, st.integers(0, 5))
def test_the_best_order_has_the_whole_gain(relevant: dict[str, float], more: int) -> None:
    ranking = [*sorted(relevant, key=lambda document: -relevant[document]), *(f"x{number}" for number in range(more))]
    assert measures(ranking, relevant)["nDCG@10"] == pytest.approx(1)


@given(RANKINGS, RELEVANT)
def test_a_relevant_document_in_front_never_hurts(ranking: list[str], relevant: dict[str, float]) -> None:
    before, after = measures(ranking, relevant), measures([max(relevant, key=lambda d: relevant[d]), *ranking], relevant)
    assert after["any@1"] == after["MRR"] == 1
    assert after["MRR"] >= before["MRR"]
    assert after["recall@1"] >= before["recall@1"]


@given(VALUES)
def test_an_interval_holds_its_mean_and_its_values(values: list[float]) -> None:
    interval = bootstrap(values, resamples=200)
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert interval.mean == pytest.approx(sum(values) / len(values))
    assert bootstrap(values, resamples=200) == interval


def test_an_interval_is_as_wide_as_theory_says() -> None:
    """Of 400 coins: 1.96 standard errors to both sides, within a tenth."""
    values = [0.0, 100.0] * 200
    interval = bootstrap(values)
    assert interval.mean == 50
    assert (interval.high - interval.low) / 2 == pytest.approx(1.96 * 50 / math.sqrt(400), rel=0.1)


def test_pairs_take_out_what_questions_have_in_common() -> None:
    """One point better on each of very different questions is one point, surely; two ways alike differ by nothing."""
    hard_and_easy = np.linspace(0, 90, 50)
    better = paired(hard_and_easy + 1, hard_and_easy)
    assert better == pytest.approx((1, 1, 1))
    assert paired(hard_and_easy, hard_and_easy) == (0, 0, 0)
    there, back = paired([1.0, 2.0, 4.0], [0.0, 5.0, 1.0]), paired([0.0, 5.0, 1.0], [1.0, 2.0, 4.0])
    assert there == pytest.approx((-back.mean, -back.high, -back.low))


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="same questions"):
        paired([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="at least one"):
        bootstrap([])
