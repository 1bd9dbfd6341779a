"""Diversity: maximal marginal relevance over vectors, and dropping texts that nearly repeat an earlier one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from indelible.errors import InvalidInput
from indelible.search.arguments import check_count, check_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]


def mmr(
    query_vector: npt.ArrayLike,
    vectors: npt.ArrayLike,
    *,
    limit: int,
    balance: float = 0.5,
    relevance: Sequence[float] | None = None,
) -> list[int]:
    """Choose vectors that are near the query and far from each other, one after the other.

    The first is the nearest. Each next one is the greatest by ``balance * cosine to the query - (1 - balance) * greatest cosine to one
    already chosen``. Ties go to the lower position. With ``balance=1`` the result is the plain order by cosine.

    Args:
        query_vector: the query, of any length but of the same dimension.
        vectors: one row for each candidate; a row of zeros has cosine 0 to everything.
        limit: how many to choose; all, if there are fewer.
        balance: 1 for relevance alone, 0 for diversity alone.
        relevance: what stands for the cosine to the query, one number for each row, where nearness is not all that made them candidates.

    Returns:
        Positions in ``vectors``, distinct, in order of choice.

    Raises:
        InvalidInput: ``limit`` or ``balance`` out of range; shapes that do not fit; a value that is not finite.
    """
    import numpy as np

    check_count(limit, "limit")
    check_number(balance, "balance", 0.0, 1.0)
    rows = _matrix(vectors)
    query = _matrix(query_vector)
    if rows.size == 0 or limit == 0:
        return []
    if rows.ndim != 2 or query.shape != rows.shape[1:]:
        raise InvalidInput(f"mmr needs a vector and a matrix of rows of its dimension, got shapes {query.shape} and {rows.shape}")
    rows = _unit(rows)
    wanted = _cosines(rows, _unit(query)) if relevance is None else _matrix(relevance)
    if wanted.shape != rows.shape[:1]:
        raise InvalidInput(f"mmr needs one relevance for each of {len(rows)} rows, got the shape {wanted.shape}")
    nearest_chosen = np.full(len(rows), -np.inf)
    left = np.ones(len(rows), dtype=bool)
    chosen = [int(np.argmax(wanted))]
    left[chosen[0]] = False
    while len(chosen) < min(limit, len(rows)):
        nearest_chosen = np.maximum(nearest_chosen, _cosines(rows, rows[chosen[-1]]))
        gain = np.where(left, balance * wanted - (1.0 - balance) * nearest_chosen, -np.inf)
        chosen.append(int(np.argmax(gain)))
        left[chosen[-1]] = False
    return chosen


def _matrix(values: npt.ArrayLike) -> Matrix:
    import numpy as np

    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"vectors must be numbers in rows of one length: {error}") from None
    if not np.isfinite(array).all():
        raise InvalidInput("a vector holds a value that is not finite")
    return array


def _unit(array: Matrix) -> Matrix:
    import numpy as np

    # Scaled by the greatest value first, so that squares neither overflow nor vanish.
    greatest = np.abs(array).max(axis=-1, keepdims=True)
    scaled = array / np.where(greatest > 0.0, greatest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))
    unit: Matrix = scaled / np.where(length > 0.0, length, 1.0)
    return unit


def _cosines(rows: Matrix, one: Matrix) -> Matrix:
    # Not a matrix product: there equal rows may differ in the last bit by where they stand, and ties would move.
    cosines: Matrix = (rows * one).sum(axis=-1)
    return cosines


def drop_near_duplicates(items: Sequence[tuple[int, Sequence[str]]], threshold: float = 0.9) -> list[int]:
    """Keep each text unless it nearly repeats one that was kept before it.

    Texts are compared as sets of tokens, by Jaccard similarity: shared tokens over all tokens of both. A text without tokens repeats
    nothing. Each text is compared only with those kept that share one of its rarest tokens (prefix filtering, after Chaudhuri, Ganti and
    Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", 2006), so that thousands are no trouble.

    Args:
        items: id and tokens of each text, best first.
        threshold: from which similarity on a text is dropped, above 0 and at most 1.

    Returns:
        The ids kept, in the same order.

    Raises:
        InvalidInput: a threshold out of range.
    """
    if check_number(threshold, "threshold", 0.0, 1.0) == 0.0:
        raise InvalidInput("threshold must be above 0: at 0 every text repeats every other")
    texts = [frozenset(words) for _, words in items]
    frequency = Counter(token for text in texts for token in text)
    kept: list[int] = []
    kept_with: dict[str, list[frozenset[str]]] = defaultdict(list)
    for (document, _), text in zip(items, texts, strict=True):
        # Texts that are alike share all but a few tokens, so of any few tokens and one more, in an order common to all, they share one.
        few = len(text) - math.ceil(threshold * len(text) - 1e-9)
        rarest = sorted(text, key=lambda token: (frequency[token], token))[: few + 1]
        if not any(_alike(text, other, threshold) for token in rarest for other in kept_with[token]):
            kept.append(document)
            for token in rarest:
                kept_with[token].append(text)
    return kept


def _alike(one: frozenset[str], other: frozenset[str], threshold: float) -> bool:
    small, great = sorted((len(one), len(other)))
    # However much they share, similarity is at most the ratio of the sizes: most pairs need no look inside.
    if small == 0 or small < threshold * great:
        return False
    shared = len(one & other)
    return shared >= threshold * (small + great - shared)
