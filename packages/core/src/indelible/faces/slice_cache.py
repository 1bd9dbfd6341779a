"""What was read of slices, kept in this process and kept fresh.

An entry knows the version and projection epoch it was read at; each use compares them with the store's, reads again only the records
that later events are about, and starts over when the epoch rose. How a slice stood in the past is kept likewise, and never read again
until then.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from indelible.backend.interface import Backend, Mark, Selection

MAX_CHANGED = 2000
"""With more changed records than this, a small entry is read anew."""
MAX_NOTED = 10_000
"""Of so many slices at most is noted that they were asked for."""
_ALONE = 4
_ENTRY_BYTES = 2000
"""What an entry takes beside what it keeps: a slice without records is one as well, and there may be any number of those."""
Kept = TypeVar("Kept")
Key = tuple[object, ...]
_caches: weakref.WeakSet[SliceCache[Any]] = weakref.WeakSet()


@dataclass(slots=True)
class Entry(Generic[Kept]):
    """What is kept of a slice.

    Attributes:
        mark: where the store was when it was read.
        made_for: what else it depends on; it is read anew when that is another.
        kept: what was read.
        nbytes: how much memory it was counted with.
    """

    mark: Mark
    made_for: object
    kept: Kept
    nbytes: int = 0


class SliceCache(ABC, Generic[Kept]):
    """Least recently used slices, up to a bound of memory. Safe to use from several threads.

    Args:
        backend: what is read.
        max_bytes: of all entries together; the newest one is kept whatever its size.
    """

    def __init__(self, backend: Backend, max_bytes: int) -> None:
        self._backend = backend
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Key, Entry[Kept]] = OrderedDict()
        # Of all entries together, kept along: adding up would cost every use as much as there are slices.
        self._held = 0
        self._lock = threading.RLock()
        _caches.add(self)

    def forget(self) -> None:
        """Drop everything, as a forked child must."""
        self._lock = threading.RLock()
        self._entries.clear()
        self._held = 0

    @abstractmethod
    def _read(self, selection: Selection, made_for: Any) -> Kept:
        """Read a slice whole."""

    @abstractmethod
    def _refresh(self, kept: Kept, changed: set[bytes], selection: Selection, made_for: Any) -> Kept:
        """Read some records of a slice again; what it had may be changed in place."""

    @abstractmethod
    def _nbytes(self, kept: Kept) -> int:
        """How much memory an entry takes."""

    def _counted(self, kept: Kept) -> int:
        return _ENTRY_BYTES + self._nbytes(kept)

    def _keep(self, key: Key, entry: Entry[Kept]) -> None:
        """Put an entry where the newest is, counted as it is now, and let go of the oldest ones."""
        self._let_go(key)
        entry.nbytes = self._counted(entry.kept)
        self._entries[key] = entry
        self._held += entry.nbytes
        while len(self._entries) > 1 and self._held > self._max_bytes:
            self._let_go(next(iter(self._entries)))

    def _let_go(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._held -= entry.nbytes

    def _current(self, key: Key, selection: Selection, made_for: object, mark: Mark) -> Kept:
        """What stands in a slice, expired records included.

        Args:
            key: of the entry.
            selection: the slice.
            made_for: what else the entry depends on.
            mark: where the store was before; what is read is as it was then, or later.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and _holds(entry, selection, made_for, mark):
                self._entries.move_to_end(key)
                return entry.kept
            wanted = replace(selection, expiry="all", now_ms=0)
            if entry is None or entry.mark.epoch != mark.epoch or entry.made_for != made_for:
                kept = self._read(wanted, made_for)
            else:
                # Until it is whole again, no other thread and no later call may take it for fresh.
                self._let_go(key)
                kept = self._again(entry, wanted)
            self._keep(key, Entry(mark, made_for, kept))
            return kept

    def _max_changed(self, kept: Kept) -> int:
        """With more changed records than this, an entry is read anew."""
        return MAX_CHANGED

    def _again(self, entry: Entry[Kept], wanted: Selection) -> Kept:
        changed = self._backend.changed(entry.mark.version)
        if len(changed) > self._max_changed(entry.kept):
            return self._read(wanted, entry.made_for)
        return self._refresh(entry.kept, changed, replace(wanted, records=tuple(changed)), entry.made_for)

    def _fresh(self, key: Key, selection: Selection, made_for: object, mark: Mark) -> Kept | None:
        """What is kept of a slice, if nothing that matters was written between its last reading and a mark."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not _holds(entry, selection, made_for, mark):
                return None
            self._entries.move_to_end(key)
            return entry.kept


def _holds(entry: Entry[Any], selection: Selection, made_for: object, mark: Mark) -> bool:
    if entry.made_for != made_for or entry.mark.epoch != mark.epoch:
        return False
    # What is past stays so, unless views are made anew; a version that is still to come is now.
    return entry.mark.version == mark.version or (selection.version is not None and selection.version <= entry.mark.version)


class PatientCache(SliceCache[Kept]):
    """Slices that were asked for more than once and are not too large: what asks once, such as a command, should not read one whole.

    Args:
        backend: what is read.
        max_bytes: of all entries together; a slice that takes several times as much by itself is left to the backend.
        max_records: a larger slice is left to the backend.
    """

    def __init__(self, backend: Backend, max_bytes: int, max_records: int) -> None:
        super().__init__(backend, max_bytes)
        self.max_records = max_records
        # Slices that were asked for, and whether it is worth while to read them; not if they are too large.
        self._asked: OrderedDict[Key, bool] = OrderedDict()

    def forget(self) -> None:
        super().forget()
        self._asked.clear()

    @abstractmethod
    def _empty(self) -> Kept:
        """An entry of no records."""

    @abstractmethod
    def _size(self, kept: Kept) -> int:
        """How many records an entry has."""

    def _read(self, selection: Selection, made_for: object) -> Kept:
        return self._refresh(self._empty(), set(), replace(selection, limit=self.max_records + 1), made_for)

    def _known(self, key: Key, selection: Selection, made_for: object, mark: Mark) -> Kept | None:
        """What stands in a slice; ``None`` where the backend has to say. Only to be used while the lock is held."""
        if key not in self._entries and not self._worth_reading(key):
            return None
        kept = self._current(key, selection, made_for, mark)
        if self._size(kept) <= self.max_records and self._nbytes(kept) <= _ALONE * self._max_bytes:
            return kept
        self._asked[key] = False
        self._let_go(key)
        return None

    def _worth_reading(self, key: Key) -> bool:
        if key in self._asked:
            self._asked.move_to_end(key)
            return self._asked[key]
        self._note(key, worth_reading=True)
        return False

    def _note(self, key: Key, *, worth_reading: bool) -> None:
        self._asked[key] = worth_reading
        while len(self._asked) > MAX_NOTED:
            self._asked.popitem(last=False)


def _forget_all() -> None:
    for cache in list(_caches):
        cache.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
