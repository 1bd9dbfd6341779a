"""Fusion of several rankings into one. Only ranks are used: scores of different channels are on different scales."""

from __future__ import annotations

import math
from collections.abc import Sequence

from indelible.errors import InvalidInput
from indelible.search.arguments import check_count, check_number

MAX_WEIGHT = 1e6


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], *, k: int = 10, weights: Sequence[float] | None = None
) -> list[tuple[int, float]]:
    """Fuse rankings by the sum of ``weight / (k + rank)``, divided by what first place everywhere would get.

    So a score is above 0 and at most 1, and 1 means first place in every channel. The order of the channels changes nothing. Ties: the
    better best rank first, then the greater id, which is the newer document.

    Args:
        rankings: for each channel the ids of its hits, best first; an id that comes again counts once, at its best place.
        k: how flat the ranks are. 10 does better than the customary 60 where channels are few and their tops are good.
        weights: what each channel counts, 1 if not given; hits of a channel of weight 0 are left out.

    Returns:
        Every id of any counting channel with its score, best first.

    Raises:
        InvalidInput: ``k`` is no int of at least 0; not one weight for each channel, one out of range, or all 0.
    """
    check_count(k, "k")
    parts: dict[int, list[float]] = {}
    best: dict[int, int] = {}
    channels = list(zip(rankings, _checked_weights(weights, len(rankings)), strict=True))
    for ranking, weight in channels:
        for rank, document in enumerate(dict.fromkeys(ranking) if weight else (), 1):
            parts.setdefault(document, []).append(weight * ((k + 1) / (k + rank)))
            best[document] = min(best.get(document, rank), rank)
    # fsum is exact before it rounds, so that the order in which channels are added cannot show.
    whole = math.fsum(weight for _, weight in channels)
    fused = [(document, math.fsum(terms) / whole) for document, terms in parts.items()]
    return sorted(fused, key=lambda hit: (-hit[1], best[hit[0]], -hit[0]))


def _checked_weights(weights: Sequence[float] | None, channels: int) -> list[float]:
    if weights is None:
        return [1.0] * channels
    if len(weights) != channels:
        raise InvalidInput(f"there are {channels} rankings and {len(weights)} weights: give one for each")
    checked = [check_number(weight, "a weight", 0.0, MAX_WEIGHT) for weight in weights]
    if checked and not any(checked):
        raise InvalidInput("every weight is 0: at least one channel must count")
    return checked
