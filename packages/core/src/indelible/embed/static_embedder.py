"""The instant embedder: a table of one vector per word piece, in the vector space of bge-256."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from indelible.embed.bundle import Bundle
from indelible.embed.checks import checked_text, checked_texts
from indelible.embed.extra import needs_embed_extra
from indelible.embed.once import OncePerProcess
from indelible.embed.onnx_embedder import OnnxEmbedder
from indelible.embed.word_pieces import WordPieces, short
from indelible.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from indelible.embed.protocol import Vector, Vectors


class StaticEmbedder:
    """Mean of token vectors distilled from bge-256: English, 7.9 MB, no onnxruntime, some hundred times faster and less exact.

    A text's vector is the normalised sum of its word pieces' rows; the row of [CLS] acts as a bias, [SEP] is left out.

    Attributes:
        id: ``"static-bge-256"``.
        dim: 256.
        space: ``"bge-256"``: its vectors may be compared with those of ``OnnxEmbedder``.
    """

    id = "static-bge-256"
    dim = 256
    space = "bge-256"

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Name the model; load nothing.

        Args:
            folder: where the table, the tokenizer and their manifest lie; the installed package ``indelible_models`` when omitted.
        """
        bundle = Bundle(folder)
        self._pieces = OncePerProcess(lambda: WordPieces(bundle.file("tokenizer.json")))
        self._table = OncePerProcess(lambda: _Table(bundle.file(f"{StaticEmbedder.id}.npz")))

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.id!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make one vector per text, of its first 256 word pieces: cut a longer one with ``windows``. See ``Embedder``."""
        texts = checked_texts(texts)
        pieces, table = self._pieces.get(), self._table.get()
        return table.vectors([pieces.ids(text)[:-1] for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Make the vector of a query, the same as of a document. See ``Embedder``."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def windows(self, text: str) -> list[str]:
        """Cut into the same windows as ``OnnxEmbedder``, so that ``reindex`` between the two keeps the parts. See ``Embedder``."""
        return [text] if short(checked_text(text)) else self._pieces.get().windows(text)

    def coverage(self, text: str) -> float:
        """Say how much of a text is in word pieces that the model has learnt: 1 for English, 0 for Korean or Chinese. See ``Reading``."""
        return self._pieces.get().coverage(checked_text(text))


class _Table:
    """One int8 row and one scale per word piece."""

    def __init__(self, path: Path) -> None:
        with needs_embed_extra("numpy"):
            import numpy as np
        try:
            with np.load(path, allow_pickle=False) as arrays:
                self._rows: npt.NDArray[np.int8] = arrays["q"]
                self._scales: npt.NDArray[np.float32] = arrays["scale"].astype(np.float32)
        except Exception as error:  # zipfile, numpy and the file system each have their own
            raise ModelError(f"numpy cannot load the table in {path}: {error}") from error

    def vectors(self, texts: Sequence[list[int]]) -> Vectors:
        """Sum and normalise the rows of each text's ids."""
        import numpy as np

        sums = np.zeros((len(texts), self._rows.shape[1]), dtype=np.float32)
        for place, ids in enumerate(texts):
            sums[place] = self._scales[ids] @ self._rows[ids].astype(np.float32)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)  # never zero: every sum holds the row of [CLS]
        return sums


class StaticQueryEmbedder:
    """Documents by bge-256, queries by the static table: writes keep their quality, a search needs no onnxruntime.

    Mean nDCG@10 over eight retrieval sets is 57.3, against 61.9 with bge-256 on both sides and 51.7 with the table on both.

    Attributes:
        id: ``"bge-256"``, the model that makes the stored vectors: a store of that model opens with this one, and the reverse.
        dim: 256.
        space: ``"bge-256"``.
    """

    id = OnnxEmbedder.id
    dim = OnnxEmbedder.dim
    space = OnnxEmbedder.space

    def __init__(self, documents: OnnxEmbedder | None = None, queries: StaticEmbedder | None = None) -> None:
        """Name the models; load nothing. Omitted ones are made from the installed package."""
        self._documents = documents or OnnxEmbedder()
        self._queries = queries or StaticEmbedder()

    def __repr__(self) -> str:
        return f"StaticQueryEmbedder(documents={self._documents!r}, queries={self._queries!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make one vector per text with bge-256. See ``Embedder``."""
        return self._documents.embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        """Make the vector of a query with the static table. See ``Embedder``."""
        return self._queries.embed_query(text)

    def windows(self, text: str) -> list[str]:
        """Cut a document as ``OnnxEmbedder`` does. See ``Embedder``."""
        return self._documents.windows(text)

    def coverage(self, text: str) -> float:
        """Say how much of a query is in word pieces that the table has. See ``Reading``."""
        return self._queries.coverage(text)
