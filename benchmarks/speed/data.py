"""What is stored and what is asked: the same in every process, made piece by piece, so that a million records need no memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

DIM = 256
PIECE = 1000
"""Records that are made, and remembered, at a time."""
CLUSTERS = 256
SPREAD = 0.8
"""Length of the noise around a cluster's centre, which has length 1."""
WORDS = 17
COMMON_SHARE = 0.3
"""Of all texts that have the commonest word of a question."""
FILTERS = {"random_1": 0.01, "random_50": 0.5, "far_1": 0.01, "far_50": 0.5}
"""Metadata fields that are 1 in so large a share of the records, else 0: drawn by lot, or those farthest from the question."""
_SAMPLE = 20
_ROWS, _QUESTIONS, _WORLD = 0, 1, 2


def _vocabulary() -> list[str]:
    # No word that an English stemmer would change: peers with and without one see the same words.
    consonants, vowels, ends = "bdfgklmnprstvz", "aou", "kmbg"
    words = [f"{a}{b}{c}{d}{e}" for a in consonants for b in vowels for c in consonants for d in vowels for e in ends]
    return [words[number] for number in np.random.default_rng([_WORLD]).permutation(len(words))[:5000]]


VOCABULARY = _vocabulary()
_CHANCES = np.cumsum(1 / np.arange(1, len(VOCABULARY) + 1))
_CHANCES /= _CHANCES[-1]


def share_of(rank: int) -> float:
    """Share of the texts that have the word of this rank (0 is the commonest)."""
    chance = float(_CHANCES[rank] - (_CHANCES[rank - 1] if rank else 0.0))
    return 1 - (1 - chance) ** WORDS


def rank_of(share: float) -> int:
    """The rank of the word that is in about such a share of the texts."""
    return min(range(100), key=lambda rank: abs(share_of(rank) - share))


def unit(rows: npt.NDArray[np.float64]) -> Matrix:
    """Rows of length 1."""
    made: Matrix = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return made


@dataclass(frozen=True, slots=True)
class Rows:
    """Records, field by field.

    Attributes:
        numbers: which records of the corpus.
        texts: about 100 characters each.
        users: whose each is.
        metadata: the fields of ``FILTERS``.
        vectors: a row each, of unit length.
    """

    numbers: range
    texts: list[str]
    users: list[str]
    metadata: list[dict[str, int]]
    vectors: Matrix

    def part(self, start: int, stop: int) -> Rows:
        """Some of them."""
        cut = slice(start, stop)
        return Rows(self.numbers[cut], self.texts[cut], self.users[cut], self.metadata[cut], self.vectors[cut])


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        user: whose memories.
        words: three, the first in ``COMMON_SHARE`` of the texts.
        vector: of unit length.
        numbers: the same as a list, for those who take one.
    """

    user: str
    words: str
    vector: Matrix
    numbers: list[float]


class Corpus:
    """Records of many users, who wrote theirs in turn, so that no slice lies in one piece.

    Args:
        size: how many records there are; more can be made, to be added.
        users: how many users.
        seed: another seed, another corpus.
    """

    def __init__(self, size: int, users: int, seed: int = 0) -> None:
        self.size, self.users, self._seed = size, users, seed
        chance = np.random.default_rng([seed, _WORLD])
        self._centres = unit(chance.normal(size=(CLUSTERS, DIM)))
        self._far = self._centres[0]

    def digest(self) -> str:
        """Of the first records: with another way of making them it is another."""
        rows = self.piece(0).part(0, 100)
        known = json.dumps([self.size, self.users, rows.texts, rows.users, rows.metadata, np.round(rows.vectors, 4).tolist()])
        return sha256(known.encode()).hexdigest()

    def pieces(self) -> Iterator[Rows]:
        """All records, ``PIECE`` at a time."""
        for number in range(-(-self.size // PIECE)):
            yield self.piece(number).part(0, self.size - number * PIECE)

    def fresh(self, number: int) -> Rows:
        """Records that ``pieces`` does not have: the piece of this number beyond them."""
        return self.piece(-(-self.size // PIECE) + number)

    def piece(self, number: int) -> Rows:
        """One piece of the endless row of records."""
        chance = np.random.default_rng([self._seed, _ROWS, number])
        vectors = self._vectors(chance, PIECE)
        drawn = np.minimum(np.searchsorted(_CHANCES, chance.random((PIECE, WORDS)), side="right"), len(VOCABULARY) - 1)
        lot = chance.random((PIECE, 2))
        near = vectors @ self._far
        marks = np.stack([lot[:, 0] < 0.01, lot[:, 1] < 0.5, near <= self._limits[0], near <= self._limits[1]], axis=1).astype(int).tolist()
        numbers = range(number * PIECE, (number + 1) * PIECE)
        return Rows(
            numbers,
            [" ".join(VOCABULARY[rank] for rank in ranks) for ranks in drawn.tolist()],
            [f"user {number % self.users}" for number in numbers],
            [dict(zip(FILTERS, mark, strict=True)) for mark in marks],
            vectors,
        )

    def question(self, number: int) -> Question:
        """A question about no record in particular, from the clusters of the records; users are drawn uniformly."""
        chance = np.random.default_rng([self._seed, _QUESTIONS, number])
        ranks = [rank_of(COMMON_SHARE), *chance.integers(30, 3000, 2).tolist()]
        vector = self._vectors(chance, 1)[0]
        return Question(
            f"user {chance.integers(self.users)}", " ".join(VOCABULARY[rank] for rank in ranks), vector, [float(x) for x in vector]
        )

    def far_question(self, number: int) -> Question:
        """A question from which the records with ``far_1`` and ``far_50`` are the farthest."""
        asked = self.question(number)
        vector = unit(self._far + 0.1 * asked.vector.astype(np.float64))
        return Question(asked.user, asked.words, vector, [float(x) for x in vector])

    def _vectors(self, chance: np.random.Generator, number: int) -> Matrix:
        noise = chance.normal(size=(number, DIM)) * (SPREAD / DIM**0.5)
        return unit(self._centres[chance.integers(CLUSTERS, size=number)] + noise)

    @cached_property
    def _limits(self) -> tuple[float, float]:
        vectors = self._vectors(np.random.default_rng([self._seed, _WORLD, 1]), _SAMPLE * PIECE)
        low, middle = np.quantile(vectors @ self._far, [FILTERS["far_1"], FILTERS["far_50"]])
        return float(low), float(middle)
