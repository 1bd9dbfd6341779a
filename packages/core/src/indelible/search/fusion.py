"""Fusion of words and meaning into one ranking, by their scores.

Both channels are brought to a scale on which 1 is the best that could be: words to the share of what the query asks for that a document
holds (``keyword.Bm25.share``), meaning to half of one plus the cosine. A fused score is a convex combination of the two, so it says the
same whichever other documents are ranked beside it. How much meaning counts is read off the question, in two ways. The model says how much
of it its vocabulary covers: a question that it cannot read is one of words alone. And where the nearest documents stand out from the crowd
the model has understood it, and where ten are about as near as one it has not.

The constants were fixed on one set, the probing questions of MemoryBank, and are the same for all; ``benchmarks/README.md`` tells how, and
what they do there and on other sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from indelible.search.arguments import check_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

CROWD: Final = 10
"""The rank that the nearest document is compared with."""
CLEAR: Final = 0.2
"""The lead in cosine over the crowd that makes cosines count as much as words."""
MOST: Final = 1.5
"""The most that cosines ever count, in units of what words do. Where a slice has few documents, any lead is large."""
DEFAULT_BALANCE_MOST: Final = 2 * MOST / (1 + 2 * MOST)
"""The greatest answer of ``clear_balance``."""


def clear_balance(cosines: Sequence[float], coverage: float = 1.0) -> float:
    """How much meaning should count against words, by how clearly it answers and how much of the question the model can read.

    Args:
        cosines: of the documents nearest to the question among all of the slice, nearest first; more than ``CROWD`` tell no more.
        coverage: how much of the question the model's vocabulary covers, 0 to 1.

    Returns:
        From 0, words alone, to ``DEFAULT_BALANCE_MOST``; it never falls when the nearest document comes nearer or more is
        covered. 0 without documents, and where nothing is covered.
    """
    if not cosines:
        return 0.0
    lead = cosines[0] - cosines[min(CROWD, len(cosines)) - 1]
    # Half of one plus the cosine moves half as fast as the cosine itself.
    weight = 2.0 * min(MOST, max(0.0, lead) / CLEAR)
    return coverage * weight / (1.0 + weight)


def fuse(shares: Mapping[int, float], cosines: Mapping[int, float], *, balance: float) -> list[tuple[int, float]]:
    """Rank every document of either channel by ``(1 - balance) * share + balance * (1 + cosine) / 2``.

    The score is from 0 to 1, rises with the share and with the cosine, and depends on nothing else. A document that holds no word of the
    query has the share 0; one that has no vector, the cosine 0. Ties: the greater cosine first, then the greater id, which is the newer
    document.

    Args:
        shares: by document, how much of what the query asks for it holds, 0 to 1.
        cosines: by document, its cosine to the query; what lies beyond -1 and 1 counts as that.
        balance: 0 for words alone, 1 for meaning alone.

    Returns:
        Every document of either channel with its score, best first.

    Raises:
        InvalidInput: ``balance`` is no number from 0 to 1.
    """
    meaning = check_number(balance, "balance", 0.0, 1.0)
    fused = []
    for document in shares.keys() | cosines.keys():
        cosine = cosines.get(document, 0.0)
        if not -1.0 <= cosine <= 1.0:
            cosine = min(1.0, max(-1.0, cosine))
        share = shares.get(document, 0.0)
        if not 0.0 <= share <= 1.0:
            share = min(1.0, max(0.0, share))
        fused.append(((1.0 - meaning) * share + meaning * ((1.0 + cosine) / 2.0), cosine, document))
    fused.sort(reverse=True)
    return [(document, score) for score, _, document in fused]


def fused_scores(shares: Floats, cosines: Floats, *, balance: float) -> Floats:
    """The scores that ``fuse`` gives, of many documents in one step.

    Args:
        shares: of each, from 0 to 1.
        cosines: of each; what lies beyond -1 and 1 counts as that.
        balance: as for ``fuse``.
    """
    import numpy as np

    return (1.0 - balance) * shares + balance * ((1.0 + np.maximum(np.minimum(cosines, 1.0), -1.0)) / 2.0)
