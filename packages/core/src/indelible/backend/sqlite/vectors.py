"""Reading vectors as they lie in the file: most in packs, some in rows of their own. Neither sorted nor row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING

from indelible.backend.interface import Selection
from indelible.backend.large import VectorChunk, places_of
from indelible.backend.sqlite import packs as packing
from indelible.backend.sqlite.selection import OF_MODELS, slice_conditions

if TYPE_CHECKING:
    from indelible.backend.large import Integers, Mask

    Reads = Callable[[], AbstractContextManager[sqlite3.Connection]]

Pack = tuple[int, bytes, str | None, bytes]
"""Number, documents, parts and data."""
DENSE = 4
"""Documents are read along the table where at least one in so many numbers is wanted."""
_FEW = 1000
"""So few documents are looked up one by one without asking how many there are."""
_IN_ORDER = "v.id"
_DOC = "v.id >> 20"
_BETWEEN = "v.id BETWEEN ? * 1048576 AND ? * 1048576 + 1048575"
_OF_LISTED = "v.id BETWEEN j.value * 1048576 AND j.value * 1048576 + 1048575"
_JOINED = f"""
SELECT count(*), ifnull(max(part), ''), ifnull(min(length(data)), 0), ifnull(max(length(data)), 0), group_concat(doc),
  CAST(group_concat(data, '') AS BLOB)
FROM (SELECT {_DOC} AS doc, v.part, v.data FROM vector v WHERE {_BETWEEN} AND {OF_MODELS} ORDER BY {_IN_ORDER} LIMIT ?)
"""
_BETWEEN_ROWS = f"SELECT {_DOC}, v.part, v.data FROM vector v WHERE {_BETWEEN} AND {OF_MODELS} ORDER BY {_IN_ORDER}"
_LISTED_ROWS = f"SELECT {_DOC}, v.part, v.data FROM json_each(?) j CROSS JOIN vector v ON {_OF_LISTED} WHERE {OF_MODELS}"
_PACKS = "SELECT v.id, v.docs, v.parts, v.data FROM pack v"
_PACKS_AFTER = f"{_PACKS} WHERE v.id > ? AND {OF_MODELS} ORDER BY v.id LIMIT ?"
_PACKS_OF_LISTED = f"{_PACKS} WHERE v.id IN (SELECT k.pack FROM json_each(?) j CROSS JOIN packed k ON k.doc = j.value) AND {OF_MODELS}"
_OF_SLICES = "v.slice IN (SELECT id FROM slice WHERE {where})"
_EMPTY = b""
_PICKED = 32
"""Of so many documents, and fewer, each vector is taken out of its pack by the query that reads it."""


def chunks(read: Reads, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
    """The vectors of documents, piece by piece, each piece a snapshot of its own."""
    import numpy as np

    names = json.dumps(list(models))
    there = np.zeros(len(docs), bool)
    scanned = None
    # With several models a document may lie in a pack and beside it.
    if len(models) == 1 and _is_much(read, len(docs)):
        scanned, step = 0, max(1, rows // packing.PACK)
        while True:
            with read() as connection:
                found = connection.execute(_PACKS_AFTER, (scanned, names, step)).fetchall()
            if not found:
                break
            scanned = found[-1][0]
            yield from _wanted(found, docs, there)
    elif len(models) == 1 and 0 < len(docs) <= _PICKED:
        # Most often that is all.
        picked = _picked(read, docs, names)
        there[places_of(docs, picked.docs)] = True
        if len(picked.docs):
            yield picked
    step, places = max(1, rows), np.flatnonzero(~there)
    while len(places):
        some = places[:step]
        with read() as connection:
            if len(models) > 1:
                several = list(_listed(connection, docs[some], names, several=True))
                there[some] = True
            else:
                # What waited may have been packed meanwhile, into a pack that comes after all that were there.
                query, values = (
                    (_PACKS_AFTER, (scanned, names, -1)) if scanned is not None else (_PACKS_OF_LISTED, (_json(docs[some]), names))
                )
                found = connection.execute(query, values).fetchall()
                several = _wanted(found, docs, there)
                left = some[~there[some]]
                waiting = _waiting(connection, docs[left], names, 2 * rows + 1)
                if waiting is not None:
                    several += waiting
                    there[some] = True
                else:
                    # They have many parts each.
                    step = max(1, len(left) // 2)
                if scanned is not None and found:
                    scanned = found[-1][0]
        yield from several
        places = places[~there[places]]


def _picked(read: Reads, docs: Integers, names: str) -> VectorChunk:
    """Of a few documents the vectors of those that are found at once where they lie in packs, each pack's other vectors left alone."""
    import numpy as np

    keys = docs.astype(">i8").tobytes()
    values: list[int | bytes | None] = []
    for place, doc in enumerate(docs.tolist()):
        values += (doc, keys[place * 8 : place * 8 + 8])
    pairs = -(-len(docs) // 8) * 8
    values += [None] * (2 * pairs - len(values))
    with read() as connection:
        rows = connection.execute(_pick(pairs), (*values, names)).fetchall()
    # A pack may hold those eight bytes across two of its numbers first.
    found = [row for row in rows if row[1] % 8 == 1 and len(row[2]) == len(rows[0][2])]
    return VectorChunk(np.array([row[0] for row in found], np.int64), None, _EMPTY.join([row[2] for row in found]))


@cache
def _pick(pairs: int) -> str:
    """The query for so many documents, or fewer."""
    return f"""
WITH j(doc, bytes) AS (VALUES {", ".join(["(?, ?)"] * pairs)})
SELECT j.doc, instr(v.docs, j.bytes),
  substr(v.data, (instr(v.docs, j.bytes) - 1) / 8 * (8 * length(v.data) / length(v.docs)) + 1, 8 * length(v.data) / length(v.docs))
FROM j CROSS JOIN packed k ON k.doc = j.doc CROSS JOIN pack v ON v.id = k.pack WHERE v.parts IS NULL AND {OF_MODELS}
"""


def _is_much(read: Reads, number: int) -> bool:
    """Whether documents are so many that every pack there is may as well be read."""
    if number < _FEW:
        return False
    with read() as connection:
        last = connection.execute("SELECT max(id) FROM pack").fetchone()[0]
    return last is not None and number * DENSE >= last * packing.PACK


def vectors_of(connection: sqlite3.Connection, selection: Selection, docs: Integers, models: Sequence[str]) -> VectorChunk:
    """The vectors of the documents of a selection, in one piece."""
    import numpy as np

    names = json.dumps(list(models))
    there = np.zeros(len(docs), bool)
    found = []
    if len(models) == 1 and (number := _packs_of_slices(connection, selection, len(docs))):
        slices = slice_conditions(selection)
        sql = f"{_PACKS} WHERE {_OF_SLICES.format(where=slices.sql)} AND {OF_MODELS}"
        # One by one: so many at once would all have to be new memory, and to be copied once more.
        rows = connection.execute(sql, (*slices.values, names))
        found = _wanted(rows, docs, there, max(number * packing.PACK, len(docs)))
    if not there.all():
        found += _listed(connection, docs[~there], names, several=len(models) > 1)
    return _one(found)


def _packs_of_slices(connection: sqlite3.Connection, selection: Selection, docs: int) -> int:
    """How many packs the slices of a selection have, if most of what is in them is of the selection; else 0."""
    if selection.records is not None or selection.keys is not None or selection.parent is not None or selection.equals:
        return 0
    slices = slice_conditions(selection)
    sql = f"SELECT count(*) FROM pack v WHERE {_OF_SLICES.format(where=slices.sql)}"
    number = int(connection.execute(sql, slices.values).fetchone()[0])
    return number if number * packing.PACK <= DENSE * docs else 0


def _listed(connection: sqlite3.Connection, docs: Integers, names: str, *, several: bool) -> list[VectorChunk]:
    """The vectors of some documents, wherever they lie.

    Args:
        connection: with the snapshot that is read.
        docs: ascending.
        names: the models, as a JSON array.
        several: they are several: a document may lie in a pack and beside it, and its vectors are to stand together.
    """
    import numpy as np

    listed = _json(docs)
    found = _by_length(connection.execute(_LISTED_ROWS, (listed, names)).fetchall())
    there = np.zeros(len(docs), bool)
    if not several:
        for chunk in found:
            there[places_of(docs, chunk.docs)] = True
        if there.all():
            return found
    found += _wanted(connection.execute(_PACKS_OF_LISTED, (listed, names)).fetchall(), docs, there)
    return found if not several else [_in_order(_one(found))] if found else []


def _waiting(connection: sqlite3.Connection, docs: Integers, names: str, most: int) -> list[VectorChunk] | None:
    """The vectors of documents that lie in no pack; ``None`` if they are ``most`` or more."""
    if not len(docs):
        return []
    first, last = int(docs[0]), int(docs[-1])
    if len(docs) == 1 or last - first >= DENSE * len(docs):
        return _by_length(connection.execute(_LISTED_ROWS, (_json(docs), names)).fetchall())
    if not joins_bytes():
        return _only(_by_length(connection.execute(_BETWEEN_ROWS, (first, last, names)).fetchall()), docs)
    count, part, least, length, numbers, data = connection.execute(_JOINED, (first, last, names, most)).fetchone()
    if count >= most and first < last:
        return None
    if count >= most or part or least != length or len(data or _EMPTY) != count * length:
        return _only(_by_length(connection.execute(_BETWEEN_ROWS, (first, last, names)).fetchall()), docs)
    return _only([VectorChunk(numbers_of(numbers), None, data)], docs) if count else []


def _wanted(found: Iterable[Pack], docs: Integers, there: Mask, room: int = 0) -> list[VectorChunk]:
    """The vectors in packs of those documents that are not there yet, which they are from now on."""
    chunks = []
    for chunk in _unpacked(found, room):
        places = places_of(docs, chunk.docs)
        wanted = places >= 0
        wanted[wanted] = ~there[places[wanted]]
        there[places[wanted]] = True
        if wanted.any():
            chunks.append(chunk if wanted.all() else _some(chunk, wanted))
    return chunks


class _Laid:
    """Packs of vectors of one length, one after another.

    Args:
        room: for so many bytes there is room at once.
    """

    def __init__(self, room: int) -> None:
        self.docs: list[bytes] = []
        self.parts: list[str | None] = []
        self._data = bytearray(room)
        self._used = 0

    def add(self, pack: Pack) -> None:
        end = self._used + len(pack[3])
        self._data[self._used : end] = pack[3]
        self._used = end
        self.docs.append(pack[1])
        self.parts.append(pack[2])

    def chunk(self) -> VectorChunk:
        import numpy as np

        del self._data[self._used :]
        parts = None
        if any(names is not None for names in self.parts):
            parts = [
                part
                for numbers, names in zip(self.docs, self.parts, strict=True)
                for part in (json.loads(names) if names is not None else [""] * (len(numbers) // 8))
            ]
        return VectorChunk(np.frombuffer(_EMPTY.join(self.docs), ">i8").astype(np.int64), parts, self._data)


def _unpacked(found: Iterable[Pack], room: int) -> list[VectorChunk]:
    """Packs as arrays, those of one length together.

    Args:
        found: the packs.
        room: about how many vectors there will be, with those that may come behind them.
    """
    by_length: dict[int, _Laid] = {}
    for pack in found:
        length = 8 * len(pack[3]) // len(pack[1])
        laid = by_length.get(length)
        if laid is None:
            laid = by_length[length] = _Laid(0 if by_length else room * length)
        laid.add(pack)
    return [laid.chunk() for laid in by_length.values()]


def _by_length(rows: Sequence[tuple[int, str, bytes]]) -> list[VectorChunk]:
    """Rows as arrays, those of one length together."""
    import numpy as np

    by_length: dict[int, list[tuple[int, str, bytes]]] = {}
    for row in rows:
        by_length.setdefault(len(row[2]), []).append(row)
    chunks = []
    for some in by_length.values():
        parts = [row[1] for row in some]
        docs = np.array([row[0] for row in some], np.int64)
        chunks.append(VectorChunk(docs, parts if any(parts) else None, _EMPTY.join([row[2] for row in some])))
    return chunks


def _only(chunks: Sequence[VectorChunk], docs: Integers) -> list[VectorChunk]:
    """The rows of some documents."""
    found = []
    for chunk in chunks:
        wanted = places_of(docs, chunk.docs) >= 0
        if wanted.any():
            found.append(chunk if wanted.all() else _some(chunk, wanted))
    return found


def _some(chunk: VectorChunk, rows: Mask | Integers) -> VectorChunk:
    """Some vectors of a chunk, all of one length."""
    import numpy as np

    data = np.frombuffer(chunk.data, np.uint8).reshape(len(chunk.docs), -1)[rows]
    parts = None if chunk.parts is None else [chunk.parts[row] for row in np.arange(len(chunk.docs))[rows].tolist()]
    return VectorChunk(chunk.docs[rows], parts, data.tobytes())


def _one(chunks: Sequence[VectorChunk]) -> VectorChunk:
    """Chunks one after another."""
    import numpy as np

    if len(chunks) == 1:
        return chunks[0]
    docs = np.concatenate([np.zeros(0, np.int64), *(chunk.docs for chunk in chunks)])
    if chunks and isinstance(chunks[0].data, bytearray) and all(chunk.parts is None for chunk in chunks):
        # There is room behind it.
        data = chunks[0].data
        for chunk in chunks[1:]:
            data += chunk.data
        return VectorChunk(docs, None, data)
    parts = None
    if any(chunk.parts is not None for chunk in chunks):
        parts = [part for chunk in chunks for part in (chunk.parts if chunk.parts is not None else [""] * len(chunk.docs))]
    return VectorChunk(docs, parts, _EMPTY.join([chunk.data for chunk in chunks]))


def _in_order(chunk: VectorChunk) -> VectorChunk:
    """With the vectors of each document together."""
    import numpy as np

    if (chunk.docs[1:] >= chunk.docs[:-1]).all() or len(chunk.data) % len(chunk.docs):
        return chunk
    return _some(chunk, np.argsort(chunk.docs, kind="stable"))


def numbers_of(text: str | int | None) -> Integers:
    """Numbers that SQLite has joined."""
    import numpy as np

    return np.zeros(0, np.int64) if text is None else np.fromstring(str(text), np.int64, sep=",")


def _json(docs: Integers) -> str:
    return json.dumps(docs.tolist())


@cache
def joins_bytes() -> bool:
    """Whether this SQLite joins binary values as they are: it does, but its manual speaks of text alone."""
    sample = b"\x00\xff\xfe\x00", b"\x80\x00\x7f\xc3"
    connection = sqlite3.connect(":memory:")
    try:
        sql = "SELECT CAST(group_concat(data, '') AS BLOB) FROM (SELECT ? AS data UNION ALL SELECT ?)"
        return bool(connection.execute(sql, sample).fetchone()[0] == b"".join(sample))
    finally:
        connection.close()
