"""Priors: small, bounded shifts of scores by votes and by recency. They reorder what matched, and never admit or hide anything.

A shift is in units of the best score among the hits, so that a shift of 0.05 is 5 % of it, whatever the scale: a term frequency may be 1 or
50, and how high cosines and fused scores get depends on how well a question can be answered at all. See ``unit_of``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indelible.errors import InvalidInput
from indelible.search.arguments import check_count, check_number, shown

DEFAULT_BOOST = 0.05
DEFAULT_WINDOW = 3
MAX_WINDOW = 1000
# Beyond this many half-lives nothing is left that a float could hold.
_FADED = 1100


@dataclass(frozen=True, slots=True)
class FeedbackSettings:
    """How votes change the order.

    Attributes:
        boost: shift of one vote, 0 to 1.
        window: how many of the latest votes count; the whole shift is never beyond ``boost * window`` either way.

    Raises:
        InvalidInput: a value out of range or of another type.
    """

    boost: float = DEFAULT_BOOST
    window: int = DEFAULT_WINDOW

    def __post_init__(self) -> None:
        object.__setattr__(self, "boost", check_number(self.boost, "boost", 0.0, 1.0))
        if check_count(self.window, "window", least=1) > MAX_WINDOW:
            raise InvalidInput(f"window must be at most {MAX_WINDOW}, got {shown(self.window)}")


def parse_feedback(text: str | None) -> FeedbackSettings | None:
    """Read the value of ``MEMORY_FEEDBACK_RERANK``.

    ``1``, ``true``, ``yes`` or ``on`` are the defaults; ``boost=0.05,window=3``, or one of the two, sets them; unset, empty, ``0``,
    ``false``, ``no`` or ``off`` leave the order alone (``None``). Case and spaces around the parts do not matter.

    Raises:
        InvalidInput: anything else.
    """
    setting = "" if text is None else text.strip().lower()
    if setting in ("", "0", "false", "no", "off"):
        return None
    if setting in ("1", "true", "yes", "on"):
        return FeedbackSettings()
    given: dict[str, str] = {}
    for part in setting.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("boost", "window") or name in given:
            raise InvalidInput(f"MEMORY_FEEDBACK_RERANK is {shown(text)}: write 1, or boost=0.05,window=3, each at most once")
        given[name] = value
    try:
        return FeedbackSettings(float(given.get("boost", DEFAULT_BOOST)), int(given.get("window", DEFAULT_WINDOW)))
    except InvalidInput as error:
        raise InvalidInput(f"MEMORY_FEEDBACK_RERANK is {shown(text)}: {error}") from None
    except ValueError:
        raise InvalidInput(f"MEMORY_FEEDBACK_RERANK is {shown(text)}: boost takes a number, window a whole number") from None


def feedback_shift(votes: Sequence[int], settings: FeedbackSettings) -> float:
    """The shift that votes on a record give it.

    Args:
        votes: ``1`` for up and ``-1`` for down, oldest first; only the last ``settings.window`` count.
        settings: how much.

    Raises:
        InvalidInput: a vote that is neither.
    """
    counted = votes[-settings.window :]
    if any(vote not in (1, -1) for vote in counted):
        raise InvalidInput("a vote must be 1 or -1")
    # At most `window` votes of one each: the bound needs no clamp.
    return settings.boost * sum(counted)


def recency_shift(occurred_at_ms: int, now_ms: int, half_life_ms: int, weight: float) -> float:
    """The shift that recency gives a record: ``weight`` for what happens now, half of it after each half-life.

    Args:
        occurred_at_ms: when it happened, UTC milliseconds; a time in the future counts as now.
        now_ms: the time of the view, UTC milliseconds.
        half_life_ms: milliseconds, at least 1.
        weight: the greatest shift, 0 to 1.

    Returns:
        A shift from 0 to ``weight``.

    Raises:
        InvalidInput: a half-life or weight out of range.
    """
    check_count(half_life_ms, "half_life_ms", least=1)
    check_number(weight, "the weight of recency", 0.0, 1.0)
    age = max(now_ms - occurred_at_ms, 0)
    if age // half_life_ms >= _FADED:
        return 0.0
    return float(weight * 0.5 ** (age / half_life_ms))


def unit_of(scored: Sequence[tuple[int, float]]) -> float:
    """What a shift of 1 is worth among these hits: the best score; 1 where that is 0 or less."""
    best = max((score for _, score in scored), default=0.0)
    return best if best > 0.0 else 1.0


def apply_priors(scored: Sequence[tuple[int, float]], shifts: Mapping[int, float], *, unit: float = 1.0) -> list[tuple[int, float]]:
    """Reorder hits by ``score + shift * unit``.

    Apply it to every hit, before a limit cuts the list. Whatever the shifts, the ids that come out are those that went in. Ties keep the
    order they had.

    Args:
        scored: id and score of each hit, best first.
        shifts: by id; 0 where there is none, and ids that are no hits are ignored.
        unit: what a shift of 1 is worth, see ``unit_of``.

    Returns:
        Each id with its shifted score, best first.

    Raises:
        InvalidInput: a shift that is not a number from -1000 to 1000, or a negative unit.
    """
    check_number(unit, "unit", 0.0, 1e300)
    shifted = []
    for document, score in scored:
        shift = shifts.get(document, 0.0)
        shifted.append((document, score + check_number(shift, "a shift", -1000.0, 1000.0) * unit if shift else score))
    return sorted(shifted, key=lambda hit: -hit[1])
