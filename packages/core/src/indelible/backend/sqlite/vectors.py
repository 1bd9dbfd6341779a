"""Reading vectors as they lie in the file: most in packs, some in rows of their own. Neither sorted nor row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
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


def _is_much(read: Reads, number: int) -> bool:
    """Whether documents are so many that every pack there is may as well be read."""
    with read() as connection:
        last = connection.execute("SELECT max(id) FROM pack").fetchone()[0]
    return last is not None and number * DENSE >= last * packing.PACK


def vectors_of(connection: sqlite3.Connection, selection: Selection, docs: Integers, models: Sequence[str]) -> VectorChunk:
    """The vectors of the documents of a selection, in one piece."""
    import numpy as np

    names = json.dumps(list(models))
    there = np.zeros(len(docs), bool)
    found = _wanted(_packs_of_slices(connection, selection, len(docs), names), docs, there) if len(models) == 1 else []
    if not there.all():
        found += _listed(connection, docs[~there], names, several=len(models) > 1)
    return _one(found)


def _packs_of_slices(connection: sqlite3.Connection, selection: Selection, docs: int, names: str) -> list[Pack]:
    """The packs of the slices of a selection, if most of what is in them is of the selection."""
    if selection.records is not None or selection.keys is not None or selection.parent is not None or selection.equals:
        return []
    slices = slice_conditions(selection)
    where = _OF_SLICES.format(where=slices.sql)
    number = connection.execute(f"SELECT count(*) FROM pack v WHERE {where}", slices.values).fetchone()[0]
    if number * packing.PACK > DENSE * docs:
        return []
    return connection.execute(f"{_PACKS} WHERE {where} AND {OF_MODELS}", (*slices.values, names)).fetchall()


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
    there = np.zeros(len(docs), bool)
    found = _wanted(connection.execute(_PACKS_OF_LISTED, (listed, names)).fetchall(), docs, there)
    if several:
        found += _by_length(connection.execute(_LISTED_ROWS, (listed, names)).fetchall())
        return [_in_order(_one(found))] if found else []
    if not there.all():
        found += _by_length(connection.execute(_LISTED_ROWS, (_json(docs[~there]), names)).fetchall())
    return found


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


def _wanted(found: Sequence[Pack], docs: Integers, there: Mask) -> list[VectorChunk]:
    """The vectors in packs of those documents that are not there yet, which they are from now on."""

    chunks = []
    for chunk in _unpacked(found):
        places = places_of(docs, chunk.docs)
        wanted = places >= 0
        wanted[wanted] = ~there[places[wanted]]
        there[places[wanted]] = True
        if wanted.any():
            chunks.append(chunk if wanted.all() else _some(chunk, wanted))
    return chunks


def _unpacked(found: Sequence[Pack]) -> Iterator[VectorChunk]:
    """Packs as arrays, those of one length together."""
    import numpy as np

    by_length: dict[int, list[Pack]] = {}
    for pack in found:
        by_length.setdefault(8 * len(pack[3]) // len(pack[1]), []).append(pack)
    for some in by_length.values():
        docs = np.frombuffer(_EMPTY.join([pack[1] for pack in some]), ">i8").astype(np.int64)
        parts = None
        if any(pack[2] is not None for pack in some):
            parts = [
                part for _, numbers, names, _ in some for part in (json.loads(names) if names is not None else [""] * (len(numbers) // 8))
            ]
        yield VectorChunk(docs, parts, _EMPTY.join([pack[3] for pack in some]))


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
