"""Priors reorder within what matched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.priors import FeedbackSettings, apply_priors, feedback_shift, parse_feedback, recency_shift, unit_of

SCORED = st.lists(
    st.tuples(st.integers(1, 30), st.sampled_from([0.0, 0.1, 0.5, 0.55, 1.0, 3.0, -0.2])), max_size=10, unique_by=lambda hit: hit[0]
).map(lambda hits: sorted(hits, key=lambda hit: -hit[1]))
SHIFTS = st.dictionaries(st.integers(1, 40), st.floats(-1, 1))
VOTES = st.lists(st.sampled_from([1, -1]))
SETTINGS = st.builds(FeedbackSettings, st.floats(0, 1), st.integers(1, 10))


@given(SCORED, SHIFTS, st.sampled_from([0.0, 1.0, 7.5]))
def test_a_permutation(scored: list[tuple[int, float]], shifts: dict[int, float], unit: float) -> None:
    """S43: nothing is admitted or hidden, and the result is in falling order."""
    shifted = apply_priors(scored, shifts, unit=unit)
    assert sorted(document for document, _ in shifted) == sorted(document for document, _ in scored)
    assert [score for _, score in shifted] == sorted((score for _, score in shifted), reverse=True)
    assert dict(shifted) == pytest.approx({document: score + shifts.get(document, 0.0) * unit for document, score in scored})


@given(SCORED, st.floats(-1, 1))
def test_ties_are_stable(scored: list[tuple[int, float]], shift: float) -> None:
    """Without shifts, or with one shift for all, the order stays."""
    assert apply_priors(scored, {}) == scored
    assert apply_priors(scored, {99: 1.0}) == scored
    level = [(document, 0.5) for document, _ in scored]
    assert [document for document, _ in apply_priors(level, {document: shift for document, _ in scored})] == [
        document for document, _ in scored
    ]


@given(SCORED, st.data())
def test_an_upvote_never_lowers(scored: list[tuple[int, float]], data: st.DataObject) -> None:
    """A positive shift moves a hit up or leaves it, a negative one down or leaves it."""
    if not scored:
        return
    order = [document for document, _ in scored]
    chosen = data.draw(st.sampled_from(order))
    for shift in (0.15, -0.15):
        place = [document for document, _ in apply_priors(scored, {chosen: shift})].index(chosen)
        assert (place - order.index(chosen)) * shift <= 0


@given(SCORED)
def test_units(scored: list[tuple[int, float]]) -> None:
    """A shift is a share of the best score, so a gap wider than that share is never closed."""
    best = max((score for _, score in scored), default=0.0)
    assert unit_of(scored) == (best if best > 0 else 1.0)


def test_where_nothing_has_a_score_a_shift_is_itself() -> None:
    """Fused scores are 0 where no word was found and meaning said nothing, cosines may all be below: votes still order them."""
    assert unit_of([]) == unit_of([(1, 0.0), (2, 0.0)]) == unit_of([(1, -0.2), (2, -0.5)]) == 1.0


def test_votes_on_term_frequencies() -> None:
    """40 against 39 occurrences is a near tie that votes may turn, 40 against 20 is not."""
    scored = [(1, 40.0), (2, 39.0), (3, 20.0)]
    shifts = {2: 0.05, 3: 0.15}
    assert [document for document, _ in apply_priors(scored, shifts, unit=unit_of(scored))] == [2, 1, 3]
    assert apply_priors([], shifts, unit=unit_of([])) == []


@given(VOTES, SETTINGS)
def test_feedback_is_bounded(votes: list[int], settings: FeedbackSettings) -> None:
    """S35: only the last `window` votes count, and never beyond boost * window."""
    shift = feedback_shift(votes, settings)
    assert abs(shift) <= settings.boost * settings.window
    assert shift == feedback_shift(votes[-settings.window :], settings)
    assert feedback_shift([-vote for vote in votes], settings) == -shift


def test_feedback_by_hand() -> None:
    """S35: one step for each vote of the last three."""
    settings = FeedbackSettings()
    assert feedback_shift([], settings) == 0
    assert feedback_shift([1], settings) == 0.05
    assert feedback_shift([1, 1, 1, 1, 1], settings) == pytest.approx(0.15)
    assert feedback_shift([1, 1, 1, -1], settings) == pytest.approx(0.05)
    for wrong in ([0], [2], [1, None]):
        with pytest.raises(InvalidInput, match="1 or -1"):
            feedback_shift(wrong, settings)  # type: ignore[arg-type]  # wrong votes are the point


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, None), ("", None), ("0", None), ("false", None), (" Off ", None), ("no", None),
        ("1", FeedbackSettings()), ("TRUE", FeedbackSettings()), ("on", FeedbackSettings()), ("yes", FeedbackSettings()),
        ("boost=0.1,window=5", FeedbackSettings(0.1, 5)), (" window = 2 , boost = 1e-3 ", FeedbackSettings(0.001, 2)),
        ("boost=0.2", FeedbackSettings(0.2, 3)), ("window=9", FeedbackSettings(0.05, 9)),
    ],
)  # fmt: skip
def test_settings(text: str | None, wanted: FeedbackSettings | None) -> None:
    """S35: off unless asked for."""
    assert parse_feedback(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "2", "maybe", "boost", "boost=", "boost=x", "boost=-1", "boost=2", "boost=nan", "boost=inf", "window=0", "window=1.5", "window=-3",
        "window=1001", "window=" + "9" * 5000, "boost=0.1,boost=0.2", "boost=0.1;window=3", "size=3", "boost=0.1,", ",", "=",
    ],
)  # fmt: skip
def test_bad_settings(text: str) -> None:
    """S35: a clear error, which names the variable."""
    with pytest.raises(InvalidInput, match="MEMORY_FEEDBACK_RERANK"):
        parse_feedback(text)


@pytest.mark.parametrize(("boost", "window"), [(-0.1, 3), (1.5, 3), (True, 3), ("0.1", 3), (0.1, 0), (0.1, True), (0.1, 2.0), (0.1, None)])
def test_bad_feedback_settings(boost: Any, window: Any) -> None:
    """The same in code."""
    with pytest.raises(InvalidInput):
        FeedbackSettings(boost, window)


@given(st.integers(-(2**63), 2**63), st.integers(-(2**63), 2**63), st.integers(1, 2**63), st.floats(0, 1))
def test_recency_is_bounded(occurred: int, now: int, half_life: int, weight: float) -> None:
    """S43: from 0 to the weight, falling with age, and the future is now."""
    shift = recency_shift(occurred, now, half_life, weight)
    assert 0 <= shift <= weight
    assert recency_shift(occurred - half_life, now, half_life, weight) <= shift
    if occurred >= now:
        assert shift == weight


def test_recency_by_hand() -> None:
    """S43: half after one half-life, a quarter after two, nothing after an age."""
    assert [recency_shift(1000 - age, 1000, 10, 0.2) for age in (0, 10, 20)] == pytest.approx([0.2, 0.1, 0.05])
    assert recency_shift(0, 10**30, 1, 0.2) == 0


@pytest.mark.parametrize(
    ("half_life", "weight"), [(0, 0.1), (-1, 0.1), (1.5, 0.1), (True, 0.1), (10, -0.1), (10, 1.1), (10, "x"), (10, float("nan"))]
)
def test_bad_recency(half_life: Any, weight: Any) -> None:
    """Refused by name."""
    with pytest.raises(InvalidInput):
        recency_shift(0, 0, half_life, weight)


@pytest.mark.parametrize("shift", [float("nan"), float("inf"), "x", 1001])
def test_bad_shifts(shift: Any) -> None:
    """A shift that is no number would make the order undefined."""
    with pytest.raises(InvalidInput, match="shift"):
        apply_priors([(1, 1.0)], {1: shift})
    with pytest.raises(InvalidInput, match="unit"):
        apply_priors([(1, 1.0)], {1: 0.1}, unit=-1)
