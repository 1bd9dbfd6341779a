"""Embedders that remember: a text that several stores hold is embedded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from indelible.embed.protocol import Embedder, Reading

Matrix = npt.NDArray[np.float32]


class Remembering:
    """An embedder in front of another, with the vectors it has made.

    Args:
        inner: makes the vectors.
        kept: a file to begin with and to write to by ``save``; ``None`` for none.
        windows: whether long texts are cut; without, the model reads their beginning.
    """

    def __init__(self, inner: Embedder, kept: Path | None = None, *, windows: bool = True) -> None:
        self._inner = inner
        self._kept = kept
        self._windows = windows
        self._vectors: dict[str, Matrix] = {}
        if kept is not None and kept.is_file():
            with np.load(kept) as file:
                self._vectors = dict(zip(file["keys"].tolist(), file["vectors"], strict=True))

    @property
    def id(self) -> str:
        """As of the model itself."""
        return self._inner.id

    @property
    def dim(self) -> int:
        """As of the model itself."""
        return self._inner.dim

    @property
    def space(self) -> str:
        """As of the model itself."""
        return self._inner.space

    def without_windows(self) -> Remembering:
        """The same vectors, for stores that do not cut long texts."""
        other = Remembering(self._inner, windows=False)
        other._vectors = self._vectors
        return other

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Make what is not known."""
        keys = [_key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if missing:
            self._vectors.update(zip(missing, self._inner.embed_documents(list(missing.values())), strict=True))
        return np.stack([self._vectors[key] for key in keys]) if keys else np.zeros((0, self.dim), np.float32)

    def embed_query(self, text: str) -> Matrix:
        """The same for a query: neither model reads it otherwise."""
        vector: Matrix = self.embed_documents([text])[0]
        return vector

    def windows(self, text: str) -> list[str]:
        """As the model, or the whole."""
        return self._inner.windows(text) if self._windows else [text]

    def coverage(self, text: str) -> float:
        """As of the model itself."""
        return self._inner.coverage(text) if isinstance(self._inner, Reading) else 1.0

    def save(self) -> None:
        """Write the vectors to the file."""
        if self._kept is not None and self._vectors:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._kept, keys=np.array(list(self._vectors)), vectors=np.stack(list(self._vectors.values())))


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
