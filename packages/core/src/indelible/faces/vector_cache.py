"""Vectors of slices, kept in this process and kept fresh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indelible.backend.interface import Backend, Mark, Selection, VectorRow
from indelible.faces.slice_cache import Key, SliceCache

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

MAX_BYTES = 256 << 20
NEVER = (1 << 63) - 1


@dataclass(slots=True)
class Vectors:
    """The vectors of a slice, one row per part, rows of a record together.

    Attributes:
        rows: unit vectors.
        starts: for each record its first row.
        parts: name of each row's part.
        records, versions, expires: of each record; ``expires`` is UTC milliseconds, far away for never.
    """

    rows: Matrix
    starts: Integers
    parts: list[str]
    records: list[bytes]
    versions: Integers
    expires: Integers
    source: list[VectorRow]

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes) * 2 + 200 * len(self.records)

    def best(self, query: Matrix) -> tuple[Floats, Integers]:
        """For each record the cosine of its best part with a unit query, and that part's row."""
        import numpy as np

        if not self.records:
            return np.zeros(0), np.zeros(0, np.int64)
        # Not a matrix product: there equal rows may differ in the last bits by where they stand, and ties would move. Rounded, so that what
        # differs by less than float32 can tell ties as well.
        cosines = np.round(np.clip(np.einsum("ij,j->i", self.rows, query), -1.0, 1.0).astype(np.float64), 6)
        if len(self.starts) == len(cosines):
            return cosines, self.starts
        best = np.maximum.reduceat(cosines, self.starts)
        owner = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(cosines)]))
        at_best = np.flatnonzero(cosines == best[owner])
        _, first = np.unique(owner[at_best], return_index=True)
        return best, at_best[first]


def arrange(found: list[VectorRow], dim: int) -> Vectors:
    """Rows of vectors, sorted by record and part, as arrays."""
    import numpy as np

    rows = np.frombuffer(b"".join(row.data for row in found), dtype="<f4").astype(np.float32).reshape(len(found), dim)
    # Squared in double precision: callers' vectors may be of any length, and in single they would overflow or vanish.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    np.divide(rows, np.where(lengths > 0, lengths, 1)[:, None], out=rows, casting="unsafe")
    starts = [index for index, row in enumerate(found) if index == 0 or row.record != found[index - 1].record]
    return Vectors(
        rows=rows,
        starts=np.array(starts, np.int64),
        parts=[row.part for row in found],
        records=[found[index].record for index in starts],
        versions=np.array([found[index].version for index in starts], np.int64),
        expires=np.array([NEVER if found[index].expires_at is None else found[index].expires_at for index in starts], np.int64),
        source=found,
    )


class VectorCache(SliceCache[Vectors]):
    """The vectors of slices, by the models that made them."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)

    def get(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> Vectors:
        """The vectors of a selection's slice as it stands, expired records included.

        Args:
            selection: its slice.
            models: whose vectors.
            dim: of the vectors.
            mark: where the store was before; what is read is as it was then, or later.
        """
        return self._current(_key(selection, dim), selection, (dim, *models), mark)

    def is_fresh(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> bool:
        """Whether nothing was written between the last read of this slice and a mark."""
        return self._is_fresh(_key(selection, dim), (dim, *models), mark)

    def _read(self, selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        dim, *models = made_for
        return arrange(self._backend.vectors(selection, models), dim)

    def _refresh(self, kept: Vectors, changed: set[bytes], selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        dim, *models = made_for
        fresh = self._backend.vectors(selection, models)
        left = [row for row in kept.source if row.record not in changed]
        if not fresh and len(left) == len(kept.source):
            return kept
        return arrange(sorted([*left, *fresh], key=lambda row: (row.record, row.part)), dim)

    def _nbytes(self, kept: Vectors) -> int:
        return kept.nbytes


def _key(selection: Selection, dim: int) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, dim)
