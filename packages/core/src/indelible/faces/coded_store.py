"""The coded vectors of a large selection, as they lie in memory: blocks that are only ever appended to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.backend.large import Documents, places_of
from indelible.base.ids import ID_BYTES
from indelible.faces.vectors import NEVER, unit_rows
from indelible.search.codes import nearly_unit, quantise

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from indelible.faces.vectors import Floats, Integers, Matrix
    from indelible.search.codes import Codes

BLOCK_ROWS = 1 << 17
"""Rows of a block: what is computed of one stays in a processor's cache, and appending copies nothing."""


_UNSORTED = 1024
"""So many at the end of a column are sorted at each question."""
BYTES_BESIDE = 56
"""Of a record beside its codes: a scale, an error, and what is known of it."""


class Block(NamedTuple):
    """Some records' rows, those of a record together.

    Attributes:
        codes, scales: of each row.
        first: the place of its first record.
        records: how many it has.
        starts: for each record its first row; ``None`` where each has one.
        worst: the greatest of its records' errors.
        vectors: the very rows, as they were read; ``None`` where codes are all that is kept.
    """

    codes: Codes
    scales: Floats
    first: int
    records: int
    starts: Integers | None
    worst: float
    vectors: Matrix | None

    @property
    def nbytes(self) -> int:
        arrays = (self.codes, self.scales, self.starts, self.vectors)
        return sum(int(array.nbytes) for array in arrays if array is not None)

    def rows_of(self, records: Integers) -> tuple[Integers, Integers | None]:
        """The rows of some of its records, and for each record the first among these; ``None`` where each has one."""
        import numpy as np

        if self.starts is None:
            return records, None
        counts = (np.append(self.starts[1:], len(self.codes)) - self.starts)[records]
        firsts = np.cumsum(counts) - counts
        return np.arange(counts.sum()) + np.repeat(self.starts[records] - firsts, counts), firsts


@dataclass(slots=True)
class _Room:
    """A block that is being filled, and how far it is."""

    codes: Codes
    scales: Floats
    first: int
    vectors: Matrix | None
    rows: int = 0
    records: int = 0
    starts: Integers | None = None
    worst: float = 0.0

    def block(self) -> Block:
        vectors = None if self.vectors is None else self.vectors[: self.rows]
        return Block(self.codes[: self.rows], self.scales[: self.rows], self.first, self.records, self.starts, self.worst, vectors)


class Columns(NamedTuple):
    """Of each record, in the order in which they came: its document with what is known of it, and the greatest error of its rows."""

    documents: Documents
    errors: Floats


class Lookup:
    """Finds numbers, each there once and in any order, in a column that is only ever appended to, for whoever sees any length of it."""

    def __init__(self) -> None:
        import numpy as np

        # Those of some length sorted, and where they stand; ``None`` where they are sorted there.
        self._known: tuple[Integers, Integers | None] = np.zeros(0, np.int64), None

    def places(self, column: Integers, values: Integers) -> Integers:
        """Where values stand in a column; -1 for what is not there."""
        import numpy as np

        known = self._known
        if len(column) > len(known[0]) + max(_UNSORTED, len(known[0]) // 8):
            known = self._known = _sorted(column)
        found = _found(known, values)
        done = len(known[0])
        if done > len(column):
            # Somebody sees more of it.
            found[found >= len(column)] = -1
        elif done < len(column):
            later = _found(_sorted(column[done:]), values)
            found = np.where(later >= 0, later + done, found)
        return found

    @property
    def nbytes(self) -> int:
        numbers, places = self._known
        return 0 if places is None else int(numbers.nbytes + places.nbytes)


def _sorted(column: Integers) -> tuple[Integers, Integers | None]:
    import numpy as np

    if (column[1:] > column[:-1]).all():
        return column, None
    places = np.argsort(column)
    return column[places], places


def _found(known: tuple[Integers, Integers | None], values: Integers) -> Integers:
    import numpy as np

    numbers, places = known
    at = places_of(numbers, values)
    return at if places is None else np.where(at >= 0, places[at], -1)


class CodedStore:
    """Rows of vectors, coded. Readers hold blocks and columns as they were; appending writes behind what they see.

    Args:
        dim: of the vectors.
        most_whole: of so many records, and fewer, the very vectors are kept beside their codes, as long as each has one without a name.
        expected: how many records will be added at first.
    """

    def __init__(self, dim: int, most_whole: int = 0, expected: int = 0) -> None:
        self.dim = dim
        self._most_whole = most_whole
        self._expected = expected
        self.count = 0
        """How many records it has."""
        self.soonest = NEVER
        """When the first of them expires, or earlier."""
        self.docs = Lookup()
        self.versions = Lookup()
        self._rooms: list[_Room] = []
        self._columns = _columns(0)

    def blocks(self) -> tuple[Block, ...]:
        return tuple(room.block() for room in self._rooms)

    def columns(self) -> Columns:
        """What is known of the records that are there now."""
        return Columns(self._columns.documents.only(slice(self.count)), self._columns.errors[: self.count])

    @property
    def nbytes(self) -> int:
        """What is written to; room for more takes no memory yet."""
        rooms = sum(room.block().nbytes for room in self._rooms)
        documents, errors = self.columns()
        lookups = self.docs.nbytes + self.versions.nbytes
        return int(rooms + errors.nbytes + sum(column.nbytes for column in documents) + lookups)

    def append(self, found: Documents, starts: Integers, rows: Matrix, *, named: bool = False) -> None:
        """Add records behind those that are there.

        Args:
            found: of each record its document, in any order, and what is known of it.
            starts: for each record its first row.
            rows: of float32, those of a record together.
            named: whether any of them is of a part with a name.
        """
        import numpy as np

        count = len(found.docs)
        if named or len(starts) < len(rows) or self.count + count > self._most_whole:
            self._keep_codes_alone()
        self.reserve(count)
        self.soonest = min(self.soonest, int(found.expires.min(initial=NEVER)))
        self._columns.documents.put(slice(self.count, self.count + count), found)
        ends = np.append(starts[1:], len(rows))
        done = 0
        while done < count:
            room = self._room(int(ends[done] - starts[done]))
            left = len(room.codes) - room.rows
            stop = int(np.searchsorted(ends, starts[done] + left, side="right"))
            errors = self._fill(room, starts[done:stop] - starts[done], rows[starts[done] : ends[stop - 1]])
            self._columns.errors[self.count : self.count + stop - done] = errors
            self.count += stop - done
            done = stop

    def set_expires(self, places: Integers, expires: Integers) -> None:
        """Change when some records expire, for those who ask from now on."""
        changed = self._columns.documents.expires.copy()
        changed[places] = expires
        self.soonest = min(self.soonest, int(expires.min(initial=NEVER)))
        self._columns = self._columns._replace(documents=self._columns.documents._replace(expires=changed))

    def reserve(self, more: int) -> None:
        """Make room for so many further records; what is not written to takes no memory."""
        needed, room = self.count + more, len(self._columns.errors)
        if needed > room:
            grown, old = _columns(max(needed, room + room // 4, 1024)), self.columns()
            grown.documents.put(slice(self.count), old.documents)
            grown.errors[: self.count] = old.errors
            self._columns = grown

    def _keep_codes_alone(self) -> None:
        """From now on, and of what is there; who is reading it keeps what he has."""
        self._most_whole = 0
        for room in self._rooms:
            room.vectors = None

    def _room(self, rows: int) -> _Room:
        """Where a record of so many rows goes."""
        import numpy as np

        if self._rooms and len(self._rooms[-1].codes) - self._rooms[-1].rows >= rows:
            return self._rooms[-1]
        due = self._expected - self.count
        # What comes later may be little: memory that nobody writes to is not taken then.
        size, memory = (max(min(due, BLOCK_ROWS), rows), taken) if due > 0 else (max(BLOCK_ROWS, rows), np.empty)
        vectors = memory((size, self.dim), np.float32) if self._most_whole else None
        room = _Room(memory((size, self.dim), np.int8), memory((size,), np.float64), self.count, vectors)
        self._rooms.append(room)
        return room

    def _fill(self, room: _Room, starts: Integers, rows: Matrix) -> Floats:
        """Code the rows of records; answers the greatest error of each record's."""
        import numpy as np

        here = slice(room.rows, room.rows + len(rows))
        errors = coded(rows, room.codes[here], room.scales[here])
        if room.vectors is not None:
            room.vectors[here] = rows
        if len(starts) < len(rows) or room.starts is not None:
            before = np.arange(room.rows) if room.starts is None else room.starts
            room.starts = np.append(before, starts + room.rows)
            errors = np.maximum.reduceat(errors, starts)
        room.rows += len(rows)
        room.records += len(starts)
        room.worst = max(room.worst, float(errors.max()))
        return errors


def taken(shape: tuple[int, ...], kind: type[np.generic]) -> npt.NDArray[Any]:
    """An array in memory that is taken at once where the system can do that: page by page, as it is written to, may take five times as long
    as writing does."""
    import mmap

    import numpy as np

    size = math.prod(shape) * np.dtype(kind).itemsize
    if not size or not hasattr(mmap, "MAP_POPULATE"):
        return np.empty(shape, kind)
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    except OSError:
        return np.empty(shape, kind)  # which says itself what is the matter
    return np.frombuffer(memory, kind).reshape(shape)


def _columns(size: int) -> Columns:
    import numpy as np

    docs, versions, expires = np.empty((3, size), np.int64)
    return Columns(Documents(docs, versions, expires, np.empty((size, ID_BYTES), np.uint8)), np.empty(size))


def coded(rows: Matrix, codes: Codes, scales: Floats) -> Floats:
    """Code rows of any length as the unit vectors that they are compared as.

    Args:
        rows: of float32.
        codes, scales: where they go.

    Returns:
        How far the unit vector of each may be from its code.
    """
    near, lost = nearly_unit(rows)
    off = _flat(~near)
    if len(off):
        rows = rows.copy()
        rows[off] = unit_rows(rows[off])
    errors = quantise(rows, codes, scales)
    # Which of those that are nearly of length 1 are brought to it is decided more finely elsewhere: it is within this.
    errors += lost
    return errors


def _flat(mask: npt.NDArray[np.bool_]) -> Integers:
    import numpy as np

    return np.flatnonzero(mask)
