"""The verbs of a backend for selections that are too large to be read record by record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.selection import Selection

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    Bytes = npt.NDArray[np.uint8]


class Documents(NamedTuple):
    """The documents of a selection: under which numbers the vectors of its records are kept.

    Attributes:
        docs: ascending, each once.
        versions: which state each belongs to.
        expires: of each, UTC milliseconds; ``FOREVER`` for never.
        records: the id of the record of each, a row of 16 bytes.
    """

    docs: Integers
    versions: Integers
    expires: Integers
    records: Bytes

    def only(self, rows: Integers | Mask | slice) -> Documents:
        """Some of them."""
        return Documents(self.docs[rows], self.versions[rows], self.expires[rows], self.records[rows])

    def put(self, rows: slice, others: Documents) -> None:
        """Write others over some of them."""
        self.docs[rows], self.versions[rows], self.expires[rows] = others.docs, others.versions, others.expires
        self.records[rows] = others.records


class VectorChunk(NamedTuple):
    """Vectors of documents, those of one document together, documents in any order.

    Attributes:
        docs: of each vector.
        parts: the name of each one's part; ``None`` where all are ``""``.
        data: the vectors one after another.
    """

    docs: Integers
    parts: list[str] | None
    data: bytes | bytearray


class Embedded(NamedTuple):
    """The records of a selection with their vectors.

    Attributes:
        documents: of all of them, one each.
        vectors: of those that have any.
        linked: whether any record of the store is, or was, indexed together with the text of others.
    """

    documents: Documents
    vectors: VectorChunk
    linked: bool


class LargeReads(ABC):
    """Numbers as arrays, and vectors as one piece of memory for many."""

    @abstractmethod
    def size(self, selection: Selection, most: int) -> int:
        """How many records a selection has, counted no further than ``most``."""

    @abstractmethod
    def documents(self, selection: Selection) -> Documents:
        """The documents of a selection, whether they have vectors or not; its order and bounds are not looked at."""

    @abstractmethod
    def lengths(self, docs: Integers) -> Integers:
        """How many words the keyword index holds of each of some documents, which ascend; 0 for none."""

    @abstractmethod
    def vector_chunks(self, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
        """The vectors of documents made by any of some models, piece by piece, as they lie together in storage.

        Args:
            docs: ascending, each once; what has no vector, or is gone by now, is passed over.
            models: whose vectors.
            rows: about how many vectors make a piece. Each is a snapshot of its own, and has all vectors of its documents.
        """

    @abstractmethod
    def embedded(self, selection: Selection, models: Sequence[str]) -> Embedded:
        """Every record of a selection, as it stands at one version, with its vectors made by any of some models.

        The selection's order and bounds are not looked at, and ``every_version`` is not for it.
        """

    @abstractmethod
    def linked(self) -> list[bytes]:
        """Records that are, or were, indexed together with the text of others."""


def places_of(ascending: Integers, values: Integers) -> Integers:
    """Where each of some values stands among others that ascend, each once; -1 for what is not there."""
    import numpy as np

    if not len(ascending):
        return np.full(len(values), -1)
    first = ascending[0]
    if ascending[-1] - first == len(ascending) - 1:
        # One after the other, as the documents of a store that nobody has changed: nothing has to be looked for.
        at = values - first
        return np.where((at >= 0) & (at < len(ascending)), at, -1)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.where(ascending[at] == values, at, -1)
