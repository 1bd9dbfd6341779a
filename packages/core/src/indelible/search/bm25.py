"""Okapi BM25 over the documents of one slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

UNSEEN: Final = 0.5
"""How much a word that no document of the slice holds counts in what a query asks for. Fixed together with the constants of ``fusion``."""


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """What bm25 knows about a whole slice.

    Attributes:
        n: documents.
        average_length: mean number of words.
        document_frequencies: for each term of the query, how many documents it occurs in.
    """

    n: int
    average_length: float
    document_frequencies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bm25:
    """Okapi BM25 with the idf ``ln(1 + (n - df + 0.5) / (df + 0.5))``, which is positive even for a word of every document.

    That keeps the hits those of term frequency: a score is above zero exactly where a term occurs.

    Attributes:
        n: documents of the slice.
        average_length: mean number of words in them.
        document_frequencies: for each term, how many of them it occurs in.
        k1: how soon more occurrences stop mattering.
        b: how much long documents are held back, 0 to 1.
    """

    n: int
    average_length: float
    document_frequencies: tuple[int, ...]
    k1: float = 1.2
    b: float = 0.75
    idf: tuple[float, ...] = field(init=False, repr=False, compare=False)
    whole: float = field(init=False, repr=False, compare=False)
    """What a document would score that held every term beyond number; a term that no document holds counts for ``UNSEEN`` of its idf.

    So a query of which the slice knows little gives small shares of it, and one that no document could answer in full large ones.
    """

    def __post_init__(self) -> None:
        frequencies = self.document_frequencies
        idf = tuple(math.log1p((max(self.n, df) - df + 0.5) / (df + 0.5)) for df in frequencies)
        held = sum((weight if df else UNSEEN * weight for weight, df in zip(idf, frequencies, strict=True)), start=0.0)
        object.__setattr__(self, "idf", idf)
        object.__setattr__(self, "whole", (self.k1 + 1.0) * held)

    def score(self, counts: Sequence[int], length: int) -> float:
        """The score of one document.

        Args:
            counts: occurrences of each term.
            length: words of the document.
        """
        relative = length / self.average_length if self.average_length > 0 else 1.0
        held_back = self.k1 * (1.0 - self.b + self.b * relative)
        most = self.k1 + 1.0
        score = 0.0
        for idf, count in zip(self.idf, counts, strict=True):
            if count:
                score += idf * count * most / (count + held_back)
        return score

    def held_back(self, lengths: Floats) -> Floats:
        """How much documents of these lengths are held back, step by step as in ``score``."""
        relative = lengths / self.average_length if self.average_length > 0 else lengths * 0.0 + 1.0
        return self.k1 * (1.0 - self.b + self.b * relative)

    def parts(self, number: int, counts: Floats, held_back: Floats) -> Floats:
        """What the term of a number adds to the scores of documents that hold it so often, step by step as in ``score``."""
        return self.idf[number] * counts * (self.k1 + 1.0) / (counts + held_back)

    def shares(self, scores: Floats) -> Floats:
        """As ``share``, of many."""
        if self.whole <= 0:
            return scores * 0.0
        shares = scores / self.whole
        shares[shares > 1.0] = 1.0
        return shares

    def share(self, score: float) -> float:
        """A score as a share of ``whole``, 0 to 1."""
        return min(score / self.whole, 1.0) if self.whole > 0 else 0.0
