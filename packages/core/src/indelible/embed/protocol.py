"""What an embedder is: the one interface between text and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # numpy is loaded by the first call that makes vectors, not by importing this package
    import numpy as np
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"  # (texts, dim), every row of unit length
Vector: TypeAlias = "npt.NDArray[np.float32]"  # (dim,), of unit length


class Embedder(Protocol):
    """Turns text into vectors of unit length, so that a dot product is a cosine.

    Implementations are safe to call from several threads, never look at a text's neighbours when making its vector, and open
    no socket unless the caller's own model does.
    """

    @property
    def id(self) -> str:
        """Which model makes the document vectors; recorded with each of them. Another model has another id."""

    @property
    def dim(self) -> int:
        """Numbers in a vector."""

    @property
    def space(self) -> str:
        """Name of the vector space. Vectors of two models may be compared exactly when their spaces have the same name."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make the vectors of texts to be found, one row per text in the same order.

        Raises:
            InvalidInput: something in ``texts`` is not a ``str`` that can be written as UTF-8.
            MissingExtra: the model's packages are not installed.
            ModelNotFound: its weights are not where they should be.
            IntegrityFailure: its weights are not those of the manifest.
            ModelError: the model failed, or returned something that is no vector.
        """

    def embed_query(self, text: str) -> Vector:
        """Make the vector to search with. Raises what ``embed_documents`` raises."""

    def windows(self, text: str) -> list[str]:
        """Cut a long text into overlapping pieces that the model can read whole; a short one is the only piece.

        The pieces are in order, each is a part of ``text``, and together they hold every character of it. A record is
        embedded as the vectors of its pieces, and search takes the best one.
        """


@runtime_checkable
class Reading(Protocol):
    """What an embedder may have besides ``Embedder``: a word about how well it reads a text. One that has it not reads everything."""

    def coverage(self, text: str) -> float:
        """Say how much of a text the model's vocabulary covers, from 0 to 1.

        Hybrid recall listens to meaning by this factor: a question in a script that the model never learnt is answered by its words.
        It is asked once for each question, so it must cost little beside a vector.

        Raises:
            InvalidInput: the text is not a ``str`` that can be written as UTF-8.
            MissingExtra, ModelNotFound, IntegrityFailure, ModelError: as ``Embedder.embed_documents``.
        """
