"""How often words occur in each of some documents, by the rows of the packed index and by what waits to be packed.

In two ways with one answer: by numpy where a program has loaded it, and without, for a command that asks once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any

from indelible.backend.sqlite.postings import BEYOND, CHUNK_BITS, CHUNK_MASK, entries_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

LOOKED_UP = 12
"""Looking a number up in a row takes about as long as going past so many."""
FEW = 300
"""Looking up so many takes no longer than making a table of a chunk."""
Terms = Sequence[Sequence[str]]
Rows = Iterable[tuple[str, int, bytes]]
Columns = tuple[list[int], Any]
"""Places, and counts for each term: lists, or an array."""
Late = Mapping[str, Mapping[int, int]]


def columns_by_hand(terms: Terms, docs: Sequence[int], rows: Rows, late: Late) -> Columns:
    """How often the words of terms occur in some documents.

    Args:
        terms: of each the words and marked stems that count.
        docs: the documents, each once.
        rows: name, chunk and data of rows of the packed index, all those of the names in which a document may be.
        late: for names in which documents that wait to be packed each occurs how often.

    Returns:
        The places among ``docs`` of those in which any term occurs, ascending, and for each term how often it does in each of them.
    """
    among: dict[int, list[int]] = {}
    for doc in sorted(docs):
        among.setdefault(doc >> CHUNK_BITS, []).append(doc & CHUNK_MASK)
    counts: dict[str, Counter[int]] = {name: Counter(held) for name, held in late.items()}
    for name, chunk, data in rows:
        lows = among.get(chunk)
        if lows is None:
            continue
        entries, base = entries_of(name, data), chunk << CHUNK_BITS
        if name.endswith(BEYOND):
            beyond = dict(zip(entries[::2], entries[1::2], strict=True))
            held = {base + low: beyond[low] for low in lows if low in beyond}
        else:
            held = {base + low: count for low, count in Counter(_shared(entries, lows)).items()}
        counts.setdefault(name.removesuffix(BEYOND), Counter()).update(held)
    columns: list[Counter[int]] = []
    for term in terms:
        column: Counter[int] = Counter()
        for name in dict.fromkeys(term):
            column.update(counts.get(name, {}))
        columns.append(column)
    holding: set[int] = set().union(*columns)
    places = [place for place, doc in enumerate(docs) if doc in holding]
    hits = [docs[place] for place in places]
    return places, [list(map(column.get, hits, repeat(0))) for column in columns]


def _shared(entries: array[int], lows: list[int]) -> Iterable[int]:
    """Those of some numbers that a row lists, as often as it does; both ascend."""
    # What was written together lies together.
    entries = entries[bisect_left(entries, lows[0]) : bisect_right(entries, lows[-1])]
    if len(entries) <= LOOKED_UP * len(lows):
        return filter(set(lows).__contains__, entries)
    found, size = [], len(entries)
    for low, at in zip(lows, map(bisect_left, repeat(entries), lows), strict=True):
        end = at
        while end < size and entries[end] == low:
            found.append(low)
            end += 1
    return found


def columns_in_steps(terms: Terms, docs: Sequence[int], rows: Rows, late: Late) -> Columns:
    """The same, with a few steps of numpy for each row."""
    import numpy as np

    numbers = np.array(docs, np.int64)
    order = numbers.argsort(kind="stable")
    known = numbers[order]
    found = np.zeros((len(terms), len(known)), np.int64)
    terms_of: dict[str, list[int]] = {}
    for number, term in enumerate(terms):
        for name in dict.fromkeys(term):
            terms_of.setdefault(name, []).append(number)
    # What comes one by one is added together at the end.
    singly = _Singly()
    parts = _parts(known)
    for name, chunk, data in rows:
        part = parts.get(chunk)
        if part is None:
            continue
        for number in terms_of[name.removesuffix(BEYOND)]:
            if name.endswith(BEYOND):
                beyond = np.frombuffer(data, "<u4").astype(np.int64)
                singly.add(number, (beyond[::2] + (chunk << CHUNK_BITS)).tolist(), beyond[1::2].tolist())
            else:
                found[number, part.start : part.end] += part.counts(np.frombuffer(data, "<u2"))
    for name, held in late.items():
        for number in terms_of[name]:
            singly.add(number, held, held.values())
    singly.add_to(found, known)
    of_docs = np.empty_like(found)
    of_docs[:, order] = found
    places = np.flatnonzero(of_docs.any(axis=0))
    return places.tolist(), of_docs[:, places]


class _Part:
    """Those of some documents, in order, that lie in one chunk.

    Args:
        start, end: which of them.
        lows: the low bits of each.
    """

    def __init__(self, start: int, end: int, lows: npt.NDArray[np.uint16]) -> None:
        self.start, self.end = start, end
        self._lows = lows
        self._places: npt.NDArray[np.uint16] | None = None

    def counts(self, entries: npt.NDArray[np.uint16]) -> Integers:
        """How often a row lists each."""
        import numpy as np

        lows, size = self._lows, len(self._lows)
        if size <= FEW or len(entries) > LOOKED_UP * size:
            return np.searchsorted(entries, lows, "right") - np.searchsorted(entries, lows)
        if self._places is None:
            self._places = np.full(CHUNK_MASK + 1, size, np.uint16)
            self._places[lows] = np.arange(size, dtype=np.uint16)
        return np.bincount(self._places[entries], minlength=size + 1)[:size]


def _parts(known: Integers) -> dict[int, _Part]:
    """Some documents, in order, by their chunks."""
    import numpy as np

    chunks, lows = known >> CHUNK_BITS, (known & CHUNK_MASK).astype(np.uint16)
    starts = [0, *(np.flatnonzero(np.diff(chunks)) + 1).tolist(), len(known)]
    return {int(chunks[start]): _Part(start, end, lows[start:end]) for start, end in pairwise(starts) if start < end}


class _Singly:
    """Counts of single documents for terms."""

    def __init__(self) -> None:
        self._terms: list[int] = []
        self._docs: list[int] = []
        self._counts: list[int] = []

    def add(self, term: int, docs: Collection[int], counts: Iterable[int]) -> None:
        """Note how often a term, by its number, occurs in some documents."""
        self._terms += [term] * len(docs)
        self._docs += docs
        self._counts += counts

    def add_to(self, found: Integers, known: Integers) -> None:
        """Add them to the counts of documents that are known, in order; others do not matter."""
        import numpy as np

        if not self._docs or not len(known):
            return
        docs = np.array(self._docs, np.int64)
        at = np.minimum(np.searchsorted(known, docs), len(known) - 1)
        there = known[at] == docs
        np.add.at(found, (np.array(self._terms)[there], at[there]), np.array(self._counts, np.int64)[there])
