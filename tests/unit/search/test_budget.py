"""Budgets of lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.search.budget import approximate_tokens, fit

LINES = st.lists(st.text(max_size=20), max_size=8)


@given(LINES, st.integers(0, 60))
def test_the_longest_prefix_that_fits(lines: list[str], budget: int) -> None:
    """What fits stays within the budget, and one line more would not."""
    fitting = fit(lines, budget)
    costs = [approximate_tokens(line + "\n") for line in lines]
    assert sum(costs[:fitting]) <= budget
    assert fitting == len(lines) or sum(costs[: fitting + 1]) > budget


@given(LINES)
def test_no_limit(lines: list[str]) -> None:
    """S24: without a budget everything goes in."""
    assert fit(lines, None) == fit(lines, 10**9) == len(lines)


def test_a_counter_of_ones_own() -> None:
    """The counter sees each line with its break, in order, and no further than it must."""
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return 10

    assert fit(["a", "b", "c", "d"], 25, count) == 2
    assert seen == ["a\n", "b\n", "c\n"]


def test_a_long_line_ends_the_list() -> None:
    """Rank order is not broken to fill the rest."""
    assert fit(["a" * 7, "b" * 400, "c"], 10) == 1
    assert fit(["a"], 0) == 0
    assert fit([""], 0, len) == 0
    assert fit(["", ""], 0, lambda text: 0) == 2


@pytest.mark.parametrize(
    ("text", "wanted"), [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2), ("学习", 2), ("学习 ab", 3), ("한국어", 3), ("éé", 1)]
)
def test_approximate_tokens(text: str, wanted: int) -> None:
    """Four characters a token, one each in scripts without spaces."""
    assert approximate_tokens(text) == wanted


@pytest.mark.parametrize("budget", [-1, True, 1.5, "10"])
def test_faulty_budgets(budget: Any) -> None:
    """Refused by name."""
    with pytest.raises(InvalidInput, match="max_tokens"):
        fit([], budget)


@pytest.mark.parametrize("answer", [-1, None, 1.5, True, "3"])
def test_faulty_counters(answer: Any) -> None:
    """A counter that does not count is named, not trusted."""
    with pytest.raises(InvalidInput, match="token counter"):
        fit(["a"], 10, lambda text: answer)


def test_a_failing_counter() -> None:
    """What it raises is kept as the cause."""
    with pytest.raises(InvalidInput, match="ZeroDivisionError") as caught:
        fit(["a"], 10, lambda text: 1 // 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
