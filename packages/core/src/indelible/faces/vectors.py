"""The vectors of a slice as arrays: how they are laid down, what is nearest, and what a few changes make of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from indelible.backend.large import Documents, VectorChunk
from indelible.base.ids import ID_BYTES
from indelible.search.products import product

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from indelible.backend.large import Bytes

    Matrix = npt.NDArray[np.float32]
    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

Item = TypeVar("Item")
DECIMALS = 6
"""Of a cosine."""
NEVER = (1 << 63) - 1
_LEAST_ROOM = 64
_PIECE = 128
"""So many rows at a time stay in the cache of a processor while their lengths are measured."""
_UNIT_WITHIN = 1e-6
"""How far the length of a unit vector in float32 may be from 1."""


@dataclass(slots=True)
class Room:
    """An array with more rows than are used: a new one for every few records that are added would cost more than all else.

    Attributes:
        rows: the array.
        used: how many of its rows, from the first on.
    """

    rows: Matrix
    used: int


@dataclass(slots=True)
class Vectors:
    """The vectors of a slice, one row per part, rows of a record together.

    Attributes:
        rows: unit vectors.
        starts: for each record its first row.
        parts: name of each row's part.
        records, versions, expires: of each record; ``expires`` is UTC milliseconds, far away for never.
        lacking: records of the slice that have no vectors, as far as nobody has tried to make them since they were read.
        unchecked: whether vectors of contexts may be missing, as far as nobody has looked since then.
    """

    rows: Matrix
    starts: Integers
    parts: list[str]
    records: list[bytes]
    versions: Integers
    expires: Integers
    lacking: tuple[bytes, ...] = ()
    unchecked: bool = False
    by_version: Integers | None = None
    """Places in the order of versions, once somebody asks."""
    placed: tuple[Integers, Integers] | None = None
    """The versions that were looked for last, and where they are."""
    first_end: int | None = None
    """When the first record expires, once somebody asks."""
    estimated: tuple[Matrix, Matrix] | None = None
    """The last query, and what it was estimated to be like."""
    room: Room | None = None
    """Where ``rows`` lie, if there is room for more behind them."""

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes if self.room is None else self.room.rows.nbytes) + 300 * len(self.parts) + 2 * sum(map(len, self.parts))

    @property
    def is_due(self) -> bool:
        """Whether vectors are, or may be, missing that nobody has tried to make."""
        return bool(self.lacking) or self.unchecked

    @property
    def soonest(self) -> int:
        """When the first record expires."""
        if self.first_end is None:
            self.first_end = int(self.expires.min(initial=NEVER))
        return self.first_end

    def records_at(self, places: Integers) -> list[bytes]:
        """The records at some places."""
        return [self.records[place] for place in places.tolist()]

    def nearest(self, query: Matrix, *, most: int | None, least: float | None, wanted: Mask | None) -> tuple[Integers, Floats, Integers]:
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

        chosen = None if wanted is None else np.flatnonzero(wanted)
        number = len(self.versions) if chosen is None else len(chosen)
        if most is not None and number > 4 * most + 64:
            chosen = self._possible(query, chosen, most)
        elif chosen is None:
            chosen = np.arange(number)
        cosines, rows = self.cosines(query, chosen)
        if least is not None:
            near = cosines >= least
            chosen, cosines, rows = chosen[near], cosines[near], rows[near]
        order = np.lexsort((-self.versions[chosen], -cosines))[:most]
        return chosen[order], cosines[order], rows[order]

    def places(self, versions: Integers) -> Integers:
        """Where records in some versions stand among all; -1 for what has no vector."""
        import numpy as np

        if self.placed is not None and self.placed[0] is versions:  # the slice's words are the same again
            return self.placed[1]
        if not len(self.versions):
            return np.full(len(versions), -1)
        if self.by_version is None:
            self.by_version = np.argsort(self.versions)
        ordered = self.versions[self.by_version]
        at = np.minimum(np.searchsorted(ordered, versions), len(ordered) - 1)
        places = np.where(ordered[at] == versions, self.by_version[at], -1)
        self.placed = versions, places
        return places

    def estimates(self, query: Matrix) -> tuple[Matrix, float]:
        """The cosines of all records' best parts by a product that is many times faster than the exact one, and how far each may be off.

        Both err by at most n u for n numbers and the unit roundoff u of float32 (Higham, Accuracy and Stability of Numerical Algorithms,
        3.1), and the exact one is rounded to ``DECIMALS``.
        """
        import numpy as np

        last = self.estimated
        if last is not None and last[0] is query:  # hybrid recall asks twice
            best = last[1]
        else:
            scores = product(self.rows, query)
            best = scores if len(self.starts) == len(scores) else np.maximum.reduceat(scores, self.starts)
            self.estimated = query, best
        return best, 2.25 * len(query) * 2.0**-24 + 10.0**-DECIMALS

    def cosines(self, query: Matrix, chosen: Integers) -> tuple[Floats, Integers]:
        """For some records, in the order of their places, the cosine of the best part with a unit query, and that part's row.

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
        best, at = best_of_each(exact_cosines(self.rows[rows], query), firsts)
        return best, rows[at]

    def _possible(self, query: Matrix, chosen: Integers | None, most: int) -> Integers:
        """Those of some records, or of all, that may be among the nearest: what lies further below the last that is wanted than both may be
        off cannot come before it."""
        estimates, error = self.estimates(query)
        best = estimates if chosen is None else estimates[chosen]
        if not most:
            near = best > 2.0
        else:
            ordered = best.copy()
            ordered.partition(len(best) - most)
            near = best >= ordered[len(best) - most] - 2 * error
        possible: Integers = near.nonzero()[0] if chosen is None else chosen[near]
        return possible


def exact_cosines(rows: Matrix, query: Matrix) -> Floats:
    """The cosines of unit vectors with another; the same to the last bit whichever rows stand together."""
    import numpy as np

    # Not a matrix product: there equal rows may differ in the last bits by where they stand, and ties would move. Rounded, so that what
    # differs by less than float32 can tell ties as well.
    cosines: Floats = np.maximum(np.minimum(np.einsum("ij,j->i", rows, query), 1.0), -1.0).astype(np.float64).round(DECIMALS)
    return cosines


def unit_rows(rows: Matrix) -> Matrix:
    """Vectors of any length as they are compared: brought to length 1 where they are not of it."""
    import numpy as np

    # Squared in double precision: callers' vectors may be of any length, and in single they would overflow or vanish.
    lengths = np.empty(len(rows))
    wide = np.empty((min(len(rows), _PIECE), rows.shape[1]))
    for start in range(0, len(rows), _PIECE):
        some = rows[start : start + _PIECE]
        part = wide[: len(some)]
        part[...] = some
        lengths[start : start + len(some)] = np.vecdot(part, part) if hasattr(np, "vecdot") else np.einsum("ij,ij->i", part, part)
    np.sqrt(lengths, out=lengths)
    # Models' vectors are of length 1 already, and copying costs more than reading. Each is judged by itself: what a record scores must
    # not depend on what others there are.
    off = np.flatnonzero((np.abs(lengths - 1.0) > _UNIT_WITHIN) & (lengths > 0))
    if len(off):
        rows = rows.copy()
        rows[off] = np.divide(rows[off], lengths[off, None]).astype(np.float32)
    return rows


def rows_of(found: VectorChunk, dim: int) -> Matrix:
    """Vectors as they are stored, a row each."""
    import numpy as np

    return np.frombuffer(found.data, "<f4").astype(np.float32, copy=False).reshape(len(found.docs), dim)


def in_order(owners: Integers, parts: Sequence[str] | None) -> Integers | None:
    """The order of rows by their owner and part; ``None`` if they are in it."""
    import numpy as np

    if (owners[1:] > owners[:-1]).all():
        return None
    if parts is None:
        return np.argsort(owners, kind="stable")
    rank = {part: number for number, part in enumerate(sorted(set(parts)))}
    order: Integers = np.lexsort((np.array([rank[part] for part in parts]), owners))
    return order


def first_rows(owners: Integers) -> Integers:
    """Where each owner's rows begin, given the owner of each row; those of one stand together."""
    import numpy as np

    return np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else np.zeros(0, np.int64)


def best_of_each(cosines: Floats, starts: Integers) -> tuple[Floats, Integers]:
    """Of each owner's rows the greatest cosine, and the first row that has it."""
    import numpy as np

    best = np.maximum.reduceat(cosines, starts)
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(cosines))))
    at_best = np.flatnonzero(cosines == best[owner])
    _, first = np.unique(owner[at_best], return_index=True)
    return best, at_best[first]


def _by_record(records: Bytes) -> Integers:
    """The order of ids."""
    import numpy as np

    # Numbers of 64 bits are many times faster to sort than bytes.
    high, low = np.ascontiguousarray(records).view(">u8").astype(np.uint64).T
    if ((high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] > low[:-1]))).all():
        # As they were made, and not changed since.
        return np.arange(len(high))
    order: Integers = np.lexsort((low, high))
    return order


def arrange(documents: Documents, found: VectorChunk, dim: int) -> Vectors:
    """Vectors by record and part.

    Args:
        documents: of each record one; those without vectors are passed over.
        found: vectors of these and of no others.
        dim: of the vectors.
    """
    import numpy as np

    by_record = _by_record(documents.records)
    rank = np.empty(len(by_record), np.int64)
    rank[by_record] = np.arange(len(by_record))
    owners = rank[np.searchsorted(documents.docs, found.docs)]
    rows, parts = rows_of(found, dim), [""] * len(owners) if found.parts is None else found.parts
    order = in_order(owners, found.parts)
    if order is not None:
        # Storage keeps those together that were written together.
        owners, rows = owners[order], rows[order]
        parts = parts if found.parts is None else [parts[row] for row in order.tolist()]
    starts = first_rows(owners)
    there = documents.only(by_record[owners[starts]])
    ids = there.records.tobytes()
    return Vectors(
        rows=unit_rows(rows),
        starts=starts,
        parts=parts,
        records=[ids[at : at + ID_BYTES] for at in range(0, len(ids), ID_BYTES)],
        versions=there.versions,
        expires=there.expires,
    )


def rearrange(kept: Vectors, changed: set[bytes], documents: Documents, fresh: VectorChunk) -> Vectors:
    """What ``arrange`` would make of the rows of a slice, given how they were before some records changed.

    Args:
        kept: how they were.
        changed: records whose rows are no longer true.
        documents: of those that there are now.
        fresh: the vectors of these.
    """
    import numpy as np

    places = ((bisect_left(kept.records, record), record) for record in changed)
    gone = [place for place, record in places if place < len(kept.records) and kept.records[place] == record]
    if not gone and not len(fresh.docs):
        return kept
    new = arrange(documents, fresh, kept.rows.shape[1])
    if not gone and (not kept.records or kept.records[-1] < new.records[0]):
        return _continued(kept, new)
    stays = np.ones(len(kept.records), bool)
    stays[gone] = False
    counts = np.diff(np.append(kept.starts, len(kept.rows)))
    left = np.repeat(stays, counts) if gone else np.ones(len(kept.rows), bool)
    records = list(compress(kept.records, stays.tolist()))
    starts = np.append(0, np.cumsum(counts[stays]))
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
    )


def _continued(kept: Vectors, new: Vectors) -> Vectors:
    """One after the other: new records' ids are greater than all before them, unless they come from elsewhere."""
    import numpy as np

    start, end = len(kept.rows), len(kept.rows) + len(new.rows)
    room = kept.room
    if room is None or room.used != start or end > len(room.rows):
        room = Room(np.empty((end + end // 8 + _LEAST_ROOM, kept.rows.shape[1]), np.float32), start)
        room.rows[:start] = kept.rows
    # Whoever goes on reading what there was does not see these rows.
    room.rows[start:end] = new.rows
    room.used = end
    return Vectors(
        rows=room.rows[:end],
        starts=np.concatenate((kept.starts, new.starts + len(kept.rows))),
        parts=kept.parts + new.parts,
        records=kept.records + new.records,
        versions=np.concatenate((kept.versions, new.versions)),
        expires=np.concatenate((kept.expires, new.expires)),
        room=room,
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
