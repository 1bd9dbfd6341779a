"""Measures of one ranking, and what they are worth over many questions. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

CUTS = (1, 5, 10)
DEPTH = 20
"""How deep rankings are asked for: recall@20 is the deepest measure."""
RESAMPLES = 4000
NAMES = (
    *(f"any@{k}" for k in CUTS),
    *(f"all@{k}" for k in CUTS),
    *(f"recall@{k}" for k in (*CUTS, DEPTH)),
    "MRR",
    "nDCG@10",
)
"""Of the measures, in the order of the tables."""


class Interval(NamedTuple):
    """A mean, and where it lies in 95 of 100 samples of as many questions."""

    mean: float
    low: float
    high: float


def measures(ranking: Sequence[str], relevant: Mapping[str, float]) -> dict[str, float]:
    """Every measure of one answer, from 0 to 1.

    ``any@k`` is 1 if one of the first k is relevant, ``all@k`` if every relevant document is among them, ``recall@k`` the share of those
    that are. MRR is one over the rank of the first relevant one, within ``DEPTH``. nDCG@10 is the discounted gain, with
    ``1 / log2(rank + 1)``, over that of the best order there could be (Järvelin and Kekäläinen, 2002).

    Args:
        ranking: documents, best first; one that comes again counts at its best place.
        relevant: gain of each relevant document, above 0; at least one.
    """
    if not relevant or min(relevant.values()) <= 0:
        raise ValueError("a question needs relevant documents, with gains above 0")
    order = list(dict.fromkeys(ranking))[:DEPTH]
    found: dict[str, float] = {}
    for k in (*CUTS, DEPTH):
        hits = sum(document in relevant for document in order[:k])
        found |= {f"any@{k}": float(hits > 0), f"all@{k}": float(hits == len(relevant)), f"recall@{k}": hits / len(relevant)}
    first = next((rank for rank, document in enumerate(order, 1) if document in relevant), 0)
    found["MRR"] = 1 / first if first else 0.0
    ideal = _gain(sorted(relevant.values(), reverse=True)[:10])
    found["nDCG@10"] = _gain([relevant.get(document, 0.0) for document in order[:10]]) / ideal
    return {name: found[name] for name in NAMES}


def _gain(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def bootstrap(values: Sequence[float] | Values, *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """The mean of some values with its percentile bootstrap interval (Efron and Tibshirani, 1993); for a paired comparison of two ways,
    of the differences question by question.

    Args:
        values: one for each question, at least one.
        resamples: how many samples are drawn.
        seed: of the draws: the same values have the same interval.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError("a mean needs at least one value")
    drawn = np.random.default_rng(seed).integers(0, len(numbers), (resamples, len(numbers)))
    low, high = np.quantile(numbers[drawn].mean(axis=1), (0.025, 0.975))
    return Interval(float(numbers.mean()), float(low), float(high))


def paired(one: Sequence[float] | Values, other: Sequence[float] | Values, *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """How much better one way is than another, on the same questions in the same order."""
    left, right = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if left.shape != right.shape:
        raise ValueError(f"a paired comparison needs the same questions, got {left.shape} and {right.shape}")
    return bootstrap(left - right, resamples=resamples, seed=seed)
