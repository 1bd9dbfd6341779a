"""Vectors of slices, kept in this process and kept fresh."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

from indelible.backend.interface import Backend, Mark, Selection, VectorRow
from indelible.faces.slice_cache import Key, SliceCache
from indelible.search.products import product

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

Item = TypeVar("Item")
DECIMALS = 6
"""Of a cosine."""
MAX_BYTES = 256 << 20
NEVER = (1 << 63) - 1
_UNIT_WITHIN = 1e-6
"""How far the length of a unit vector in float32 may be from 1."""


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
        return int(self.rows.nbytes) * 2 + 300 * len(self.parts) + 2 * sum(map(len, self.parts))

    @property
    def soonest(self) -> int:
        """When the first record expires."""
        return int(self.expires.min(initial=NEVER))

    def records_at(self, places: Integers) -> list[bytes]:
        """The records at some places."""
        return [self.records[place] for place in places.tolist()]

    def nearest(
        self, query: Matrix, *, most: int | None, least: float | None, wanted: Mask | None = None
    ) -> tuple[Integers, Floats, Integers]:
        """The records nearest to a unit query, nearest first and the newer of equals first.

        Args:
            query: of float32.
            most: how many; ``None`` for all.
            least: the smallest cosine that counts.
            wanted: which records count; ``None`` for all.

        Returns:
            Positions of records, the cosine of each one's best part, and that part's row.
        """
        import numpy as np

        chosen = np.arange(len(self.records)) if wanted is None else np.flatnonzero(wanted)
        if most is not None and len(chosen) > 4 * most + 64:
            chosen = self._possible(query, chosen, most)
        cosines, rows = self.cosines(query, chosen)
        if least is not None:
            near = cosines >= least
            chosen, cosines, rows = chosen[near], cosines[near], rows[near]
        order = np.lexsort((-self.versions[chosen], -cosines))[:most]
        return chosen[order], cosines[order], rows[order]

    def cosines(self, query: Matrix, chosen: Integers) -> tuple[Floats, Integers]:
        """For some records the cosine of the best part with a unit query, and that part's row.

        The same to the last bit whichever records are asked for together.
        """
        import numpy as np

        if not len(chosen):
            return np.zeros(0), np.zeros(0, np.int64)
        if len(self.starts) == len(self.rows):
            return exact_cosines(self.rows if len(chosen) == len(self.rows) else self.rows[chosen], query), chosen
        ends = np.append(self.starts[1:], len(self.rows))
        counts = (ends - self.starts)[chosen]
        firsts = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) + np.repeat(self.starts[chosen] - firsts, counts)
        cosines = exact_cosines(self.rows[rows], query)
        best = np.maximum.reduceat(cosines, firsts)
        owner = np.repeat(np.arange(len(chosen)), counts)
        at_best = np.flatnonzero(cosines == best[owner])
        _, first = np.unique(owner[at_best], return_index=True)
        return best, rows[at_best[first]]

    def _possible(self, query: Matrix, chosen: Integers, most: int) -> Integers:
        """Those of some records that may be among the nearest, by a product that is many times faster than the exact one.

        Both err by at most n u for n numbers and the unit roundoff u of float32 (Higham, Accuracy and Stability of Numerical Algorithms,
        3.1), and the exact one is rounded to ``DECIMALS``. What lies further below the last that is wanted than that, four times over,
        cannot come before it.
        """
        import numpy as np

        scores = product(self.rows, query)
        best = scores if len(self.starts) == len(scores) else np.maximum.reduceat(scores, self.starts)
        best = best[chosen]
        last = np.partition(best, len(best) - most)[len(best) - most] if most else np.inf
        return chosen[best >= last - (4.5 * len(query) * 2.0**-24 + 2 * 10.0**-DECIMALS)]


def exact_cosines(rows: Matrix, query: Matrix) -> Floats:
    """The cosines of unit vectors with another; the same to the last bit whichever rows stand together."""
    import numpy as np

    # Not a matrix product: there equal rows may differ in the last bits by where they stand, and ties would move. Rounded, so that what
    # differs by less than float32 can tell ties as well.
    cosines: Floats = np.round(np.clip(np.einsum("ij,j->i", rows, query), -1.0, 1.0).astype(np.float64), DECIMALS)
    return cosines


def unit_rows(rows: Matrix) -> Matrix:
    """Vectors of any length as they are compared: brought to length 1 where they are not of it."""
    import numpy as np

    # Squared in double precision: callers' vectors may be of any length, and in single they would overflow or vanish.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    # Models' vectors are of length 1 already, and copying costs more than reading. Each is judged by itself: what a record scores must
    # not depend on what others there are.
    off = np.flatnonzero((np.abs(lengths - 1.0) > _UNIT_WITHIN) & (lengths > 0))
    if len(off):
        rows = rows.copy()
        rows[off] = np.divide(rows[off], lengths[off, None]).astype(np.float32)
    return rows


def arrange(found: list[VectorRow], dim: int) -> Vectors:
    """Rows of vectors, sorted by record and part, as arrays."""
    import numpy as np

    rows = np.frombuffer(b"".join(row.data for row in found), dtype="<f4").astype(np.float32, copy=False).reshape(len(found), dim)
    rows = unit_rows(rows)
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


def rearrange(kept: Vectors, changed: set[bytes], fresh: list[VectorRow]) -> Vectors:
    """What ``arrange`` would make of the rows of a slice, given how they were before some records changed.

    Args:
        kept: how they were.
        changed: records whose rows are no longer true.
        fresh: the rows of those that have any now, sorted by record and part.
    """
    import numpy as np

    places = ((bisect_left(kept.records, record), record) for record in changed)
    gone = [place for place, record in places if place < len(kept.records) and kept.records[place] == record]
    if not gone and not fresh:
        return kept
    stays = np.ones(len(kept.records), bool)
    stays[gone] = False
    counts = np.diff(np.append(kept.starts, len(kept.rows)))
    left = np.repeat(stays, counts) if gone else np.ones(len(kept.rows), bool)
    records = list(compress(kept.records, stays.tolist()))
    starts = np.append(0, np.cumsum(counts[stays]))
    new = arrange(fresh, kept.rows.shape[1])
    at = np.array([bisect_left(records, record) for record in new.records], np.int64)
    new_counts = np.diff(np.append(new.starts, len(new.rows)))
    row_at = np.repeat(starts[at], new_counts)
    all_counts = np.insert(counts[stays], at, new_counts)
    return Vectors(
        rows=np.insert(kept.rows[left] if gone else kept.rows, row_at, new.rows, axis=0),
        starts=np.cumsum(all_counts) - all_counts,
        parts=_spliced(list(compress(kept.parts, left.tolist())), row_at.tolist(), new.parts),
        records=_spliced(records, at.tolist(), new.records),
        versions=np.insert(kept.versions[stays], at, new.versions),
        expires=np.insert(kept.expires[stays], at, new.expires),
        source=_spliced(list(compress(kept.source, left.tolist())), row_at.tolist(), new.source),
    )


def _spliced(items: list[Item], at: list[int], more: list[Item]) -> list[Item]:
    """A list with further items before given places of it, which ascend."""
    found: list[Item] = []
    last = 0
    for place, item in zip(at, more, strict=True):
        found += items[last:place]
        found.append(item)
        last = place
    return found + items[last:]


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
        return self._is_fresh(_key(selection, dim), selection, (dim, *models), mark)

    def is_of_epoch(self, selection: Selection, models: list[str], dim: int, epoch: int) -> bool:
        """Whether this slice was read since views were last made anew."""
        return self._is_of_epoch(_key(selection, dim), (dim, *models), epoch)

    def _read(self, selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        dim, *models = made_for
        return arrange(self._backend.vectors(selection, models), dim)

    def _refresh(self, kept: Vectors, changed: set[bytes], selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        _, *models = made_for
        fresh = self._backend.vectors(selection, models)
        return rearrange(kept, changed, fresh)

    def _nbytes(self, kept: Vectors) -> int:
        return kept.nbytes


def _key(selection: Selection, dim: int) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version, dim)
