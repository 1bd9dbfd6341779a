"""The default embedder: bge-256, run by onnxruntime on the processor."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from indelible.embed.bundle import Bundle
from indelible.embed.checks import checked_text, checked_texts
from indelible.embed.extra import needs_embed_extra
from indelible.embed.once import OncePerProcess
from indelible.embed.sessions import checked_workers, open_session, run_each
from indelible.embed.word_pieces import WordPieces, short
from indelible.errors import ModelError

if TYPE_CHECKING:
    from indelible.embed.protocol import Vector, Vectors


class OnnxEmbedder:
    """bge-small-en-v1.5 in int8, projected to 256 dimensions: English, 34.9 MB, about 5 ms for a short text.

    Nothing is loaded before the first call that makes a vector. Each text is run alone and without padding: int8 scales are
    measured per run, so in a padded batch a vector would depend on its neighbours. Several texts use several threads instead.

    Attributes:
        id: ``"bge-256"``.
        dim: 256.
        space: ``"bge-256"``, shared with the static embedder.
    """

    id = "bge-256"
    dim = 256
    space = "bge-256"

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, workers: int | None = None) -> None:
        """Name the model; load nothing.

        Args:
            folder: where the weights, the tokenizer and their manifest lie; the installed package ``indelible_models`` when omitted.
            workers: most texts embedded at the same time; as many as the process has processors, at most 4, when omitted.

        Raises:
            InvalidInput: ``workers`` is not a positive int.
        """
        self._workers = checked_workers(workers)
        bundle = Bundle(folder)
        self._pieces = OncePerProcess(lambda: WordPieces(bundle.file("tokenizer.json")))
        self._session = OncePerProcess(lambda: _session(bundle))

    def __repr__(self) -> str:
        return f"OnnxEmbedder({self.id!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make one vector per text, of its first 256 word pieces: cut a longer one with ``windows``. See ``Embedder``."""
        texts = checked_texts(texts)
        with needs_embed_extra("numpy"):
            import numpy as np
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        pieces, session = self._pieces.get(), self._session.get()

        def one(text: str) -> Vector:
            ids = np.array([pieces.ids(text)], dtype=np.int64)
            try:
                output = session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            except Exception as error:  # onnxruntime has no common root for its errors
                raise ModelError(f"the model {self.id} failed on a text of {len(text)} characters: {error}") from error
            vector: Vector = output[0][0]
            return vector

        return np.stack(run_each(one, texts, min(self._workers, len(texts))))

    def embed_query(self, text: str) -> Vector:
        """Make the vector of a query, the same as of a document: this model wants no instruction in front. See ``Embedder``."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def windows(self, text: str) -> list[str]:
        """Cut into windows of at most 254 word pieces that overlap by up to 32, at most 1,200 of them. See ``Embedder``."""
        return [text] if short(checked_text(text)) else self._pieces.get().windows(text)

    def coverage(self, text: str) -> float:
        """Say how much of a text is in word pieces that the model has learnt: 1 for English, 0 for Korean or Chinese. See ``Reading``."""
        return self._pieces.get().coverage(checked_text(text))


def _session(bundle: Bundle) -> Any:
    return open_session(bundle.file(f"{OnnxEmbedder.id}.onnx"), needs_embed_extra)
