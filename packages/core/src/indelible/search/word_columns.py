"""The words of documents that are read together: for each word the documents that hold it, made in a few steps for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

PAIR_BYTES = 16
"""Of a word in a document: its place and number."""
WORD_BYTES = 150
"""Of a word, whatever holds it."""


class WordColumns:
    """For each word the places of the texts that hold it, ascending, and how often each does.

    Args:
        texts: words joined by single spaces; the place of each is its number here.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        split = " ".join(texts).split(" ")
        self.lengths = [text.count(" ") + 1 for text in texts]
        self._numbers = {word: number for number, word in enumerate(dict.fromkeys(split))}
        size = len(texts)
        keys = np.fromiter(map(self._numbers.__getitem__, split), np.int64, len(split)) * size + np.repeat(np.arange(size), self.lengths)
        keys.sort()
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        pairs = keys[starts]
        self._ends = np.searchsorted(pairs, np.arange(1, len(self._numbers) + 1) * size)
        self._places: Integers = pairs % size
        self._counts: Integers = np.diff(np.append(starts, len(keys)))

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    @property
    def nbytes(self) -> int:
        """How much memory all this takes, about."""
        return PAIR_BYTES * len(self._places) + WORD_BYTES * len(self._numbers)

    def column(self, word: str) -> tuple[Integers, Integers]:
        """The places that hold a word, and how often each does."""
        number = self._numbers[word]
        span = slice(int(self._ends[number - 1]) if number else 0, int(self._ends[number]))
        return self._places[span], self._counts[span]

    def holders(self, word: str) -> dict[int, int]:
        """The same by place."""
        places, counts = self.column(word)
        return dict(zip(places.tolist(), counts.tolist(), strict=True))

    def take(self, word: str) -> dict[int, int]:
        """The same, for whoever goes on with it: the word is no longer here."""
        holders = self.holders(word)
        del self._numbers[word]
        return holders
