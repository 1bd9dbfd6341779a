"""Budgets: how much of a list of lines goes into a prompt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from indelible.errors import InvalidInput
from indelible.search.arguments import check_count, shown
from indelible.search.normalise import count_unspaced

CHARACTERS_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """About how many tokens a language model counts in a text, without its tokenizer.

    One for each character of a script without spaces between words (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar), and one for each four
    of the other characters, rounded up. An estimate: where a limit is hard, pass the model's own counter.
    """
    single = count_unspaced(text)
    return single + math.ceil((len(text) - single) / CHARACTERS_PER_TOKEN)


def fit(lines: Sequence[str], max_tokens: int | None, count: Callable[[str], int] = approximate_tokens) -> int:
    """How many leading lines fit into a budget.

    Each line is counted with the line break that follows it. The first line that does not fit ends the list, even if a later one would:
    the lines are in rank order.

    Args:
        lines: without line breaks at their ends.
        max_tokens: the budget; ``None`` for no limit.
        count: tokens of a text.

    Raises:
        InvalidInput: ``max_tokens`` is no int of at least 0; the counter fails or gives anything but such an int.
    """
    if max_tokens is None:
        return len(lines)
    left = check_count(max_tokens, "max_tokens")
    for fitting, line in enumerate(lines):
        left -= _count(count, line + "\n")
        if left < 0:
            return fitting
    return len(lines)


def _count(count: Callable[[str], int], text: str) -> int:
    try:
        counted = count(text)
    except Exception as error:
        raise InvalidInput(f"the token counter failed with {type(error).__name__}: {error}") from error
    if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
        raise InvalidInput(f"the token counter must give an int of at least 0, got {shown(counted)}")
    return counted
