"""The vectors of a large selection: a byte a number in memory, and the very numbers read again of those few that may be the nearest.

A product of codes is many times faster than the exact one, and off by no more than a bound that is proven (``indelible.search.codes``).
Whatever cannot be among the nearest by that bound is let go, and of what is left the cosines are computed as ``Vectors`` computes them:
the answers are the same to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend
from indelible.backend.large import VectorChunk
from indelible.faces.coded_store import Block, CodedStore
from indelible.faces.vectors import DECIMALS, best_of_each, exact_cosines, first_rows, in_order, rows_of, unit_rows
from indelible.search.codes import CodedQuery
from indelible.search.floor import Floor, greatest

if TYPE_CHECKING:
    from indelible.backend.large import Bytes
    from indelible.faces.vectors import Floats, Integers, Mask, Matrix

READ_BYTES = 4 << 20
"""About so much of vectors is read at a time."""
_FIRST_LOOK = 16
"""So many more than are wanted are looked at exactly at first."""
_CLOSER = 4096
"""So many records at a time are looked at more closely, or exactly."""
_AT_ONCE = 512
"""So many are compared exactly without a closer look, where their vectors need not be read."""
_ROUNDING = 10.0**-DECIMALS


class PartNames:
    """Names of parts, each once; those that answers have named."""

    def __init__(self) -> None:
        self._names: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}
        self._lock = threading.Lock()

    def __getitem__(self, number: int) -> str:
        return self._names[number]

    def number(self, name: str) -> int:
        with self._lock:
            found = self._numbers.setdefault(name, len(self._names))
            if found == len(self._names):
                self._names.append(name)
            return found


class _Exact(NamedTuple):
    """Of some places the cosine of the best part, and the number of its name; ``there``: which still have vectors."""

    cosines: Floats
    parts: Integers
    there: Mask


@dataclass(frozen=True, slots=True)
class BlockScores:
    """A number of each record, block by block; read at places, as an array would be.

    Attributes:
        firsts: the place of each block's first record.
        scores: those of each block's records.
        scale: what each is multiplied with.
    """

    firsts: list[int]
    scores: list[Floats]
    scale: float

    def __len__(self) -> int:
        return sum(map(len, self.scores))

    def __getitem__(self, places: Integers) -> Floats:
        import numpy as np

        found = np.empty(len(places))
        for first, scores in zip(self.firsts, self.scores, strict=True):
            here = np.flatnonzero((places >= first) & (places < first + len(scores)))
            found[here] = scores[places[here] - first]
        return found * self.scale


class _Scan(NamedTuple):
    """The products of a question's code with those of all records, block by block, in units of the question's scale."""

    query: bytes
    scores: list[Floats]


@dataclass(slots=True)
class CodedVectors:
    """The vectors of a selection, coded; what ``Vectors`` is for a small one.

    Attributes:
        store: where they lie, with those that came later.
        blocks: those that are seen here.
        docs: the document of each record, in the order in which they were read.
        versions, expires: of each record; ``expires`` is UTC milliseconds, far away for never.
        records: the id of each, a row of bytes.
        errors: of each record the greatest of its rows' errors.
        soonest: none expires before.
        alive: which records are still part of the selection; ``None`` for all.
        missing: documents of the selection without vectors, and the record of each.
        lacking: records that have no vectors, or may have none of their context, as far as nobody has tried to make them since.
        unchecked: whether there may be such contexts.
        models: whose vectors they are.
        parts: the names of parts, by the numbers in answers.
        last: what the last question for the nearest found on its way, for one about all that follows it.
    """

    store: CodedStore
    backend: Backend
    models: tuple[str, ...]
    blocks: tuple[Block, ...]
    docs: Integers
    versions: Integers
    expires: Integers
    records: Bytes
    errors: Floats
    soonest: int
    alive: Mask | None
    missing: Mapping[int, bytes]
    lacking: tuple[bytes, ...] = ()
    unchecked: bool = False
    parts: PartNames = field(default_factory=PartNames)
    last: _Scan | None = None

    @property
    def nbytes(self) -> int:
        last = 8 * len(self.docs)
        return self.store.nbytes + (0 if self.alive is None else self.alive.nbytes) + last + 100 * len(self.missing)

    def records_at(self, places: Integers) -> list[bytes]:
        """The records at some places."""
        return [bytes(record) for record in self.records[places]]

    @property
    def is_due(self) -> bool:
        """Whether vectors are, or may be, missing that nobody has tried to make."""
        return bool(self.lacking)

    def nearest(
        self, query: Matrix, *, most: int | None, least: float | None, wanted: Mask | None = None
    ) -> tuple[Integers, Floats, Integers]:
        """The records nearest to a unit query, nearest first and the newer of equals first: see ``Vectors.nearest``.

        Returns:
            Places of records, the cosine of each one's best part, and the number of that part's name.
        """
        import numpy as np

        if self.alive is not None:
            wanted = self.alive if wanted is None else wanted & self.alive
        asked = CodedQuery(query, _ROUNDING)
        while True:
            places, highs = self._possible(asked, query, most, least, wanted)
            places, exact = self._exactly(query, places, highs, most, least)
            if exact.there.all():
                break
            # Somebody purged them since they were read; what comes after them was never looked for.
            wanted = np.ones(len(self.docs), bool) if wanted is None else wanted.copy()
            wanted[places[~exact.there]] = False
        cosines, parts = exact.cosines, exact.parts
        if least is not None:
            near = cosines >= least
            places, cosines, parts = places[near], cosines[near], parts[near]
        order = np.lexsort((-self.versions[places], -cosines))[:most]
        return places[order], cosines[order], parts[order]

    def cosines(self, query: Matrix, chosen: Integers) -> tuple[Floats, Integers]:
        """For some records the cosine of the best part with a unit query, and the number of that part's name: see ``Vectors.cosines``.

        Records that were purged meanwhile have the cosine -1.
        """
        exact = self._exact(query, chosen)
        return exact.cosines, exact.parts

    def places(self, versions: Integers) -> Integers:
        """Where records in some versions stand among all; -1 for what has no vector here."""
        found = self.store.versions.places(self.versions, versions)
        if self.alive is not None:
            found[(found >= 0) & ~self.alive[found]] = -1
        return found

    def estimates(self, query: Matrix) -> tuple[BlockScores, float]:
        """The cosines of all records' best parts by the codes alone, and how far each may be off; see ``Vectors.cosines``."""
        asked = CodedQuery(query, _ROUNDING)
        last = self.last
        if last is not None and last.query == query.tobytes() and len(last.scores) == len(self.blocks):
            scores = last.scores
        else:
            scores = [_scores(block, asked) for block in self.blocks]
            self.last = _Scan(query.tobytes(), scores)
        worst = max((block.worst for block in self.blocks), default=0.0)
        return BlockScores([block.first for block in self.blocks], scores, asked.scale), float(asked.within(worst))

    # What comes into question

    def _possible(
        self, asked: CodedQuery, query: Matrix, most: int | None, least: float | None, wanted: Mask | None
    ) -> tuple[Integers, Floats]:
        """Places, ascending, of all that may be among the nearest, and how high the cosine of each can be."""
        import numpy as np

        if most == 0 or (most is None and least is None):
            places = np.arange(len(self.docs)) if wanted is None else np.flatnonzero(wanted)
            places = places[:0] if most == 0 else places
            return places, np.full(len(places), np.inf)
        floor = Floor(most, least)
        scores = [_scores(block, asked) for block in self.blocks]
        self.last = _Scan(query.tobytes(), scores)
        found = [self._scan(block, of_block, asked, floor, most, wanted) for block, of_block in zip(self.blocks, scores, strict=True)]
        places = np.concatenate([places for places, _ in found]) if found else np.zeros(0, np.int64)
        highs = np.concatenate([highs for _, highs in found]) if found else np.zeros(0)
        near = highs >= floor.value
        places, highs = places[near], highs[near]
        if most is not None and len(places) > self._first_look(most):
            closer_scores, within = self._closer(asked, places)
            # A floor of its own: what was noted of these in the other would be counted twice.
            closer = Floor(most, floor.value)
            closer.take(closer_scores - within)
            near = closer_scores + within >= closer.value
            places, highs = places[near], (closer_scores + within)[near]
        return places, highs

    def _scan(
        self, block: Block, scores: Floats, asked: CodedQuery, floor: Floor, most: int | None, wanted: Mask | None
    ) -> tuple[Integers, Floats]:
        import numpy as np

        if wanted is not None:
            scores = np.where(wanted[block.first : block.first + block.records], scores, -np.inf)
        slack = asked.within(block.worst)
        if most is not None and floor.value == -np.inf:
            floor.raise_to(greatest(scores, most) * asked.scale - slack)
        low = (floor.value - slack) / asked.scale
        near = np.flatnonzero(scores >= low if np.isfinite(low) else scores > -np.inf)
        places = near + block.first
        found = scores[near] * asked.scale
        within = asked.within(self.errors[places])
        floor.take(found - within)
        return places, found + within

    def _closer(self, asked: CodedQuery, places: Integers) -> tuple[Floats, Floats]:
        """The product of some records' codes with the question itself, and how far each may be off."""
        import numpy as np

        scores = np.empty(len(places))
        for block in self.blocks:
            start, stop = np.searchsorted(places, (block.first, block.first + block.records)).tolist()
            for first in range(start, stop, _CLOSER):
                piece = slice(first, min(first + _CLOSER, stop))
                rows, firsts = block.rows_of(places[piece] - block.first)
                found = asked.closer_products(block.codes[rows]) * block.scales[rows]
                scores[piece] = found if firsts is None else np.maximum.reduceat(found, firsts)
        return scores, asked.closer_within(self.errors[places])

    # The very numbers

    def _exactly(self, query: Matrix, places: Integers, highs: Floats, most: int | None, least: float | None) -> tuple[Integers, _Exact]:
        """Exact cosines of those that may be the nearest, the likeliest first, until no other can be."""
        import numpy as np

        if most is None or len(places) <= self._first_look(most):
            return places, self._exact(query, places)
        left = np.argsort(-highs, kind="stable")
        floor, size = Floor(most, least), self._first_look(most)
        looked, found = [], []
        while len(left):
            chosen = np.sort(places[left[:size]])
            exact = self._exact(query, chosen)
            looked.append(chosen)
            found.append(exact)
            floor.take(exact.cosines[exact.there])
            left = left[size:]
            left = left[highs[left] >= floor.value]
            size = min(2 * size, _CLOSER)
        columns = (np.concatenate(column) for column in zip(*found, strict=True))
        return np.concatenate(looked), _Exact(*columns)

    def _first_look(self, most: int) -> int:
        """How many are looked at exactly at first."""
        return most + (_AT_ONCE if self._is_whole else _FIRST_LOOK)

    @property
    def _is_whole(self) -> bool:
        return all(block.vectors is not None for block in self.blocks)

    def _exact(self, query: Matrix, places: Integers) -> _Exact:
        import numpy as np

        if self._is_whole:
            cosines = exact_cosines(unit_rows(self._vectors(places)), query)
            return _Exact(cosines, np.zeros(len(places), np.int64), np.ones(len(places), bool))
        cosines, parts, there = np.full(len(places), -1.0), np.zeros(len(places), np.int64), np.zeros(len(places), bool)
        order = np.argsort(self.docs[places])
        docs = self.docs[places[order]]
        for chunk in self.backend.vector_chunks(docs, self.models, rows_at_a_time(self.store.dim)):
            of_docs, best, names = self._best(query, chunk)
            at = order[np.searchsorted(docs, of_docs)]
            cosines[at], parts[at], there[at] = best, names, True
        return _Exact(cosines, parts, there)

    def _vectors(self, places: Integers) -> Matrix:
        """The very vectors of some records, each of which has one, where they are kept."""
        import numpy as np

        found = np.empty((len(places), self.store.dim), np.float32)
        for block in self.blocks:
            here = (places >= block.first) & (places < block.first + block.records)
            if block.vectors is not None:
                found[here] = block.vectors[places[here] - block.first]
        return found

    def _best(self, query: Matrix, chunk: VectorChunk) -> tuple[Integers, Floats, Integers]:
        """Documents, the cosine of the best part of each, and the number of its name."""
        import numpy as np

        cosines = exact_cosines(unit_rows(rows_of(chunk, self.store.dim)), query)
        docs, rows = chunk.docs, np.arange(len(cosines))
        if len(first_rows(docs)) < len(docs):
            order = in_order(docs, chunk.parts)
            rows = rows if order is None else order
            starts = first_rows(docs[rows])
            docs = docs[rows][starts]
            cosines, best = best_of_each(cosines[rows], starts)
            rows = rows[best]
        if chunk.parts is None:
            return docs, cosines, np.zeros(len(docs), np.int64)
        return docs, cosines, np.array([self.parts.number(chunk.parts[row]) for row in rows.tolist()], np.int64)


def _scores(block: Block, asked: CodedQuery) -> Floats:
    """The product of a question's code with that of each record's best part, in units of the question's scale."""
    import numpy as np

    scores = asked.products(block.codes)
    # In place: new memory for so many would cost as much as a third of the product.
    scores *= block.scales
    return scores if block.starts is None else np.maximum.reduceat(scores, block.starts)


def rows_at_a_time(dim: int) -> int:
    """How many vectors are read at a time."""
    return max(16, min(_CLOSER, READ_BYTES // (4 * dim)))
