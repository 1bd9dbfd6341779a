"""A cheap, deterministic embedder for tests: no model, no weights, texts that share words are near."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from indelible.embed.checks import checked_text, checked_texts, unit_vectors
from indelible.embed.windows import cut_by_bytes
from indelible.errors import InvalidInput

if TYPE_CHECKING:
    from indelible.embed.protocol import Vector, Vectors

_KNOWN_NUMBERS = 1 << 20
_SUMMED_TOGETHER = 64
_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Sums one pseudo-random vector per word: the cosine of two texts is about the share of words they have in common.

    Words are compared after NFKC and casefold. A text without any word is hashed as a whole. Unrelated words have a cosine of
    about 0 with a standard deviation of ``1/sqrt(dim)``. The same text gives the same vector on every machine.

    Attributes:
        id: ``"hash-64"``, or ``"hash-64-7"`` with seed 7.
        dim: numbers in a vector.
        space: the same as ``id``.
    """

    def __init__(self, dim: int = 64, *, seed: int = 0) -> None:
        """Choose the size.

        Args:
            dim: numbers in a vector, at least 2.
            seed: another seed is another model: its vectors have nothing to do with those of the first.

        Raises:
            InvalidInput: ``dim`` is not an int of at least 2.
        """
        if type(dim) is not int or dim < 2:
            raise InvalidInput(f"dim must be an int of at least 2, not {dim!r}")
        self.dim = dim
        self.id = self.space = f"hash-{dim}" if seed == 0 else f"hash-{dim}-{seed}"
        # The vectors of the last words, as bytes of float64: texts repeat them, and hashing is most of the work.
        self._known: dict[str, bytes] = {}
        self._most_known = max(_KNOWN_NUMBERS // dim, 1)

    def __repr__(self) -> str:
        return f"HashEmbedder({self.id!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make one vector per text."""
        import numpy as np

        texts = checked_texts(texts)
        rows = np.zeros((len(texts), self.dim))
        for row, text in zip(rows, texts, strict=True):
            words = _words(text)
            # Sums of whole numbers are exact in any order, and many rows are added up at once in the time of a few one by one.
            for start in range(0, len(words), _SUMMED_TOGETHER):
                some = b"".join(map(self._vector, words[start : start + _SUMMED_TOGETHER]))
                row += np.add.reduce(np.frombuffer(some).reshape(-1, self.dim), axis=0)
        return unit_vectors(rows, count=len(rows), dim=self.dim, name=self.id)

    def embed_query(self, text: str) -> Vector:
        """Make the vector of a query, the same as of a document."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def windows(self, text: str) -> list[str]:
        """Cut a long text into windows of at most 1,024 UTF-8 bytes."""
        return cut_by_bytes(checked_text(text))

    def _vector(self, word: str) -> bytes:
        known = self._known.get(word)
        if known is None:
            import numpy as np

            if len(self._known) >= self._most_known:
                self._known.clear()
            bits = hashlib.shake_256(f"{self.id}\0{word}".encode()).digest(4 * self.dim)
            known = self._known[word] = np.frombuffer(bits, dtype="<i4").astype(np.float64).tobytes()
        return known


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(plain) or [plain]
