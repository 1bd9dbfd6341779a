"""Vectors of slices, kept in this process and kept fresh.

An entry belongs to a slice and a vector space. It knows the version and projection epoch it was read at; each use compares them with the
store's, reads again only the records that later events are about, and starts over when the epoch rose.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indelible.backend.interface import Backend, Mark, Selection, VectorRow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

MAX_BYTES = 256 << 20
MAX_CHANGED = 2000
"""With more changed records than this, an entry is read anew."""
NEVER = (1 << 63) - 1
_caches: weakref.WeakSet[VectorCache] = weakref.WeakSet()


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


@dataclass(slots=True)
class _Entry:
    mark: Mark
    models: tuple[str, ...]
    vectors: Vectors


class VectorCache:
    """Least recently used slices, up to a bound of memory. Safe to use from several threads."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        self._backend = backend
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[object, ...], _Entry] = OrderedDict()
        self._lock = threading.RLock()
        _caches.add(self)

    def forget(self) -> None:
        """Drop everything, as a forked child must."""
        self._lock = threading.RLock()
        self._entries.clear()

    def get(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> Vectors:
        """The vectors of a selection's slice as it stands, expired records included.

        Args:
            selection: its slice.
            models: whose vectors.
            dim: of the vectors.
            mark: where the store was before; what is read is as it was then, or later.
        """
        key = (selection.namespace, selection.prefix, selection.scope, dim)
        wanted = replace(selection, expiry="all", now_ms=0)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.mark == mark and entry.models == tuple(models):
                self._entries.move_to_end(key)
                return entry.vectors
            if entry is None or entry.mark.epoch != mark.epoch or entry.models != tuple(models):
                entry = _Entry(mark, tuple(models), arrange(self._backend.vectors(wanted, models), dim))
            else:
                entry = _Entry(mark, entry.models, self._refreshed(entry, wanted, dim))
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > 1 and sum(item.vectors.nbytes for item in self._entries.values()) > self._max_bytes:
                self._entries.popitem(last=False)
            return entry.vectors

    def is_fresh(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> bool:
        """Whether nothing was written between the last read of this slice and a mark."""
        with self._lock:
            entry = self._entries.get((selection.namespace, selection.prefix, selection.scope, dim))
            return entry is not None and entry.models == tuple(models) and entry.mark == mark

    def _refreshed(self, entry: _Entry, selection: Selection, dim: int) -> Vectors:
        changed = self._backend.changed(entry.mark.version)
        if len(changed) > MAX_CHANGED:
            return arrange(self._backend.vectors(selection, entry.models), dim)
        fresh = self._backend.vectors(replace(selection, records=tuple(changed)), entry.models)
        kept = [row for row in entry.vectors.source if row.record not in changed]
        if not fresh and len(kept) == len(entry.vectors.source):
            return entry.vectors
        return arrange(sorted([*kept, *fresh], key=lambda row: (row.record, row.part)), dim)


def _forget_all() -> None:
    for cache in list(_caches):
        cache.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
