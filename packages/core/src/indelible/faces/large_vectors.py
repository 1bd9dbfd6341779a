"""Which slices are large, and the cache of those."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indelible.backend.interface import Backend, Mark, Selection
from indelible.faces.coded_loading import load, refreshed
from indelible.faces.coded_vectors import CodedVectors
from indelible.faces.slice_cache import MAX_CHANGED, MAX_NOTED, Key, SliceCache
from indelible.search.codes import MAX_DIM

LARGE = 16_384
"""A slice of more records is coded: as it is, each of its vectors would take four times the memory, and the time to read it."""
MAX_BYTES = 384 << 20
"""A million vectors of 256 numbers and what is known of them take 312 million bytes."""
_CHANGED_SHARE = 10
_WHOLE_SHARE = 3
"""One in so many bytes of the bound may go to the very vectors of a slice: of some hundred thousand they spare reading the likeliest again,
which takes half as long as comparing all codes does."""


class LargeVectors(SliceCache[CodedVectors]):
    """The coded vectors of large slices, by the models that made them.

    Args:
        backend: what is read.
        max_bytes: of all entries together; the newest one is kept whatever its size.
    """

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)
        self.least = LARGE
        # Slices that were found to be large. One that shrinks stays so until this process ends: its answers are the same.
        self._large: dict[Key, None] = {}
        # How many records others had, and where the store was then.
        self._small: dict[Key, tuple[int, Mark]] = {}

    def forget(self) -> None:
        super().forget()
        self._large.clear()
        self._small.clear()

    def is_large(self, selection: Selection, dim: int, mark: Mark) -> bool:
        """Whether a slice has so many records that it is coded; asked before it is read."""
        key = _key(selection, dim)
        if key in self._large:
            return True
        # Every record has an event of its own.
        if mark.version <= self.least or dim > MAX_DIM:
            return False
        known = self._small.get(key)
        if known is not None and known[1].epoch == mark.epoch:
            # No event brings more than one record, and none changes the past.
            since = 0 if selection.version is not None else mark.version - known[1].version
            if known[0] + since <= self.least:
                return False
        size = self._backend.size(replace(selection, expiry="all"), self.least + 1)
        with self._lock:
            if size <= self.least:
                if len(self._small) >= MAX_NOTED:
                    self._small.clear()
                self._small[key] = size, mark
                return False
            if len(self._large) >= MAX_NOTED:
                self._large.clear()
            self._large[key] = None
        return True

    def get(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> CodedVectors:
        """The vectors of a slice as it stands, expired records included: see ``VectorCache.get``."""
        return self._current(_key(selection, dim), selection, (dim, *models), mark)

    def fresh(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> CodedVectors | None:
        """The vectors of a slice, if nothing was written between their last reading and a mark."""
        return self._fresh(_key(selection, dim), selection, (dim, *models), mark)

    def _max_changed(self, kept: CodedVectors) -> int:
        return max(MAX_CHANGED, len(kept.docs) // _CHANGED_SHARE)

    def _read(self, selection: Selection, made_for: Any) -> CodedVectors:
        dim, *models = made_for
        return load(self._backend, selection, models, dim, self._make_room, self._max_bytes // _WHOLE_SHARE)

    def _make_room(self, nbytes: int) -> None:
        """Let go of what was used least recently before another slice is read, so that they never lie in memory together."""
        while self._entries and self._held + nbytes > self._max_bytes:
            self._let_go(next(iter(self._entries)))

    def _refresh(self, kept: CodedVectors, changed: set[bytes], selection: Selection, made_for: Any) -> CodedVectors:
        found = refreshed(kept, changed, selection)
        if found is None:
            return self._read(replace(selection, records=None), made_for)
        return found

    def _nbytes(self, kept: CodedVectors) -> int:
        return kept.nbytes


def _key(selection: Selection, dim: int) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version, dim)
