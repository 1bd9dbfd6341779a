"""Words and meaning joined: of all that either channel found only what can be among the hits is looked at one by one.

Most of a slice holds some word of a question. A product that is a little inexact, and many times faster than the exact one, says of each
how high its fused score can be at most; those that cannot come under the cut are let go before anything is counted exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from indelible.faces.coded_vectors import BlockScores, CodedVectors
from indelible.faces.vectors import Vectors
from indelible.faces.words import Shares
from indelible.search.floor import greatest
from indelible.search.fusion import fuse, fused_scores

if TYPE_CHECKING:
    from indelible.faces.vectors import Floats, Integers, Mask, Matrix

FEW = 100
"""So many more than are wanted are as well looked at one by one."""
MANY = 4096
"""Of more hits than this most are let go by their shares alone, before their vectors are looked for."""
_ROUNDING = 1e-12
"""More than double precision loses in a fused score."""


class Nearest(NamedTuple):
    """What the semantic channel found, nearest first: places among the vectors, cosines, and the rows of the parts that were nearest."""

    places: Integers
    cosines: Floats
    rows: Integers


class Joined(NamedTuple):
    """The hits of both channels, best first, and what is known of each.

    Attributes:
        ranked: versions with their scores.
        records: by version.
        cosines, parts: of those that have a vector.
        channels: that found each; whatever has a vector has been found by meaning, however few hits are asked for.
    """

    ranked: list[tuple[int, float]]
    records: dict[int, bytes]
    cosines: dict[int, float]
    parts: dict[int, str]
    channels: dict[int, tuple[str, ...]]


def join(
    words: Shares,
    vectors: Vectors | CodedVectors,
    query: Matrix,
    nearest: Nearest,
    *,
    balance: float,
    least: float | None,
    most: int | None,
) -> Joined:
    """Rank what words and meaning found.

    Args:
        words: what the keyword channel found.
        vectors: of the slice.
        query: a unit vector.
        nearest: what the semantic channel found; of what else has no word of the query nothing can be a hit.
        balance: how much meaning counts, see ``fuse``.
        least: hits of the keyword channel that have a smaller cosine are dropped.
        most: how many hits are needed; ``None`` for all.
    """
    import numpy as np

    versions, shares = words.versions[words.at], words.shares
    if most and least is None and balance < 1.0 and len(versions) > max(most, MANY):
        worth = _worth_a_look(versions, shares, vectors, query, nearest, balance, most)
        versions, shares = versions[worth], shares[worth]
        places = vectors.places(versions)
    else:
        places = vectors.places(words.versions)[words.at]
    if most is not None and least is None and len(versions) > most + FEW:
        # One more than there are places, for what has none.
        near_by = np.zeros(len(vectors.versions) + 1, bool)
        near_by[nearest.places] = True
        chosen = _possible(shares, places, vectors, query, balance, most) | near_by[places]
        versions, shares, places = versions[chosen], shares[chosen], places[chosen]
    order = places.argsort()
    versions, shares, places = versions[order], shares[order], places[order]
    there = places >= 0
    cosines, rows = vectors.cosines(query, places[there])
    known = dict(zip(versions[there].tolist(), zip(cosines.tolist(), rows.tolist(), strict=True), strict=True))
    held = dict(zip(versions.tolist(), shares.tolist(), strict=True))
    if least is not None:
        held = {version: share for version, share in held.items() if version not in known or known[version][0] >= least}
        known = {version: about for version, about in known.items() if version in held}
    near = vectors.versions[nearest.places].tolist()
    known.update(zip(near, zip(nearest.cosines.tolist(), nearest.rows.tolist(), strict=True), strict=True))
    ranked = fuse(held, {version: cosine for version, (cosine, _) in known.items()}, balance=balance)[:most]
    return _about(ranked, words, vectors, held, known, dict(zip(near, nearest.places.tolist(), strict=True)))


def _about(
    ranked: list[tuple[int, float]],
    words: Shares,
    vectors: Vectors | CodedVectors,
    held: Mapping[int, float],
    known: Mapping[int, tuple[float, int]],
    near: Mapping[int, int],
) -> Joined:
    """What is known of some hits: shares of those with words, cosines and rows of those with vectors, places of the nearest."""
    import numpy as np

    versions = [version for version, _ in ranked]
    wordless = [version for version in versions if version not in held]
    records = dict(zip(wordless, vectors.records_at(np.array([near[version] for version in wordless], np.int64)), strict=True))
    by_words, by_meaning = ("keyword",), ("semantic",)
    return Joined(
        ranked,
        {version: words.records[version] if version in held else records[version] for version in versions},
        {version: known[version][0] for version in versions if version in known},
        {version: vectors.parts[known[version][1]] for version in versions if version in known},
        {version: by_words * (version in held) + by_meaning * (version in known) for version in versions},
    )


def _possible(shares: Floats, places: Integers, vectors: Vectors | CodedVectors, query: Matrix, balance: float, most: int) -> Mask:
    """Those with words of a query that may be among the first, by cosines that may be a little off."""
    import numpy as np

    estimates, error = vectors.estimates(query)
    scores = fused_scores(shares, _cosines(estimates, places), balance=balance)
    last = np.partition(scores, len(scores) - most)[len(scores) - most] if most else np.inf
    # Half of a cosine counts, and both the last and what is compared with it may be off.
    return scores >= last - (balance * error + _ROUNDING)


def _worth_a_look(
    versions: Integers, shares: Floats, vectors: Vectors | CodedVectors, query: Matrix, nearest: Nearest, balance: float, most: int
) -> Integers:
    """Those of very many hits whose words are enough to come among the first, if each were as near as it can be.

    What is not among the nearest is no nearer than the last of them, and what has no vector counts as at a right angle. How high the last
    of the first scores is at least said by those with the greatest shares.
    """
    import numpy as np

    best = np.flatnonzero(shares >= greatest(shares, most))[: most + MANY]
    estimates, error = vectors.estimates(query)
    lows = _cosines(estimates, vectors.places(versions[best])) - error
    scores = fused_scores(shares[best], lows, balance=balance)
    last = float(np.partition(scores, len(scores) - most)[len(scores) - most])
    high = max(float(nearest.cosines[-1]), 0.0) if len(nearest.cosines) else 0.0
    least = (last - _ROUNDING - balance * (1.0 + high) / 2.0) / (1.0 - balance) - _ROUNDING
    near = np.isin(versions, vectors.versions[nearest.places], kind="sort") if len(nearest.places) else np.zeros(len(versions), bool)
    return np.flatnonzero((shares >= least) | near)


def _cosines(estimates: Matrix | BlockScores, places: Integers) -> Floats:
    """What is estimated of places; of what has no vector the cosine counts as 0."""
    import numpy as np

    if not len(estimates):
        return np.zeros(len(places))
    cosines = estimates[np.maximum(places, 0)].astype(np.float64)
    cosines[places < 0] = 0.0
    return cosines
