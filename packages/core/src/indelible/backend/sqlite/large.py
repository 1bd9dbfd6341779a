"""Reading large selections: numbers as text that one statement joins, vectors as they lie in the file, neither sorted nor row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, overload

from indelible.backend.interface import Backend, Selection
from indelible.backend.large import Documents, Embedded, VectorChunk, places_of
from indelible.backend.sqlite.connection import Connections
from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.selection import state_conditions
from indelible.base.ids import ID_BYTES
from indelible.base.standing import FOREVER

if TYPE_CHECKING:
    from indelible.backend.large import Bytes, Integers

_PAGE = 2_000_000
"""So many numbers are joined at a time; the text of more may be longer than SQLite lets a value be."""
_DENSE = 4
"""Documents are read along the table where at least one in so many numbers is wanted."""
_ANY_NUMBER = 1 << 62
_OF_MODELS = "v.model IN (SELECT id FROM model WHERE name IN (SELECT value FROM json_each(?)))"
# How the table is keyed; everything below speaks of documents.
_DOC = "v.id >> 20"
_BETWEEN = "v.id BETWEEN ? * 1048576 AND ? * 1048576 + 1048575"
_OF_LISTED = "v.id BETWEEN j.value * 1048576 AND j.value * 1048576 + 1048575"
_IN_ORDER = "v.id"

_JOINED = f"""
SELECT count(*), ifnull(max(part), ''), ifnull(sum(length(data)), 0), group_concat(doc), CAST(group_concat(data, '') AS BLOB)
FROM (SELECT {_DOC} AS doc, v.part, v.data FROM vector v WHERE {_BETWEEN} AND {_OF_MODELS} ORDER BY {_IN_ORDER} LIMIT ?)
"""
_BETWEEN_ROWS = f"SELECT {_DOC}, v.part, v.data FROM vector v WHERE {_BETWEEN} AND {_OF_MODELS} ORDER BY {_IN_ORDER}"
_LISTED_ROWS = f"SELECT {_DOC}, v.part, v.data FROM json_each(?) j CROSS JOIN vector v ON {_OF_LISTED} WHERE {_OF_MODELS}"
_LENGTHS = "SELECT group_concat(doc), group_concat(length) FROM (SELECT doc, length FROM keyword WHERE doc BETWEEN ? AND ? ORDER BY doc)"
_LENGTHS_OF_LISTED = "SELECT k.doc, k.length FROM json_each(?) j CROSS JOIN keyword k ON k.doc = j.value ORDER BY k.doc"
_DOCUMENTS = """
SELECT count(*), group_concat(doc), group_concat(version) FILTER (WHERE doc <> version), group_concat(doc) FILTER (WHERE doc <> version),
  group_concat(expires_at), group_concat(doc) FILTER (WHERE expires_at IS NOT NULL), {records}
FROM (SELECT s.doc, s.version, s.expires_at, s.record FROM state s {join} WHERE {where} LIMIT ? OFFSET ?)
"""


class SqliteLargeReads(Backend):
    """The verbs for selections that are too large to be read row by row."""

    _connections: Connections

    def size(self, selection: Selection, most: int) -> int:
        where = state_conditions(selection)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM state s {_join(selection)} WHERE {where.sql} LIMIT ?)"
        with self._connections.read(snapshot=False) as connection:
            return int(connection.execute(sql, (*where.values, most)).fetchone()[0])

    def documents(self, selection: Selection) -> Documents:
        with self._connections.read() as connection:
            return _documents_of(connection, selection)

    def lengths(self, docs: Integers) -> Integers:
        import numpy as np

        found = np.zeros(len(docs), np.int64)
        with self._connections.read() as connection:
            for start in range(0, len(docs), _PAGE):
                wanted = docs[start : start + _PAGE]
                if len(wanted) > 1 and wanted[-1] - wanted[0] < _DENSE * len(wanted):
                    joined = connection.execute(_LENGTHS, (int(wanted[0]), int(wanted[-1]))).fetchone()
                    there, lengths = map(_numbers, joined)
                else:
                    rows = connection.execute(_LENGTHS_OF_LISTED, (json.dumps(wanted.tolist()),)).fetchall()
                    there, lengths = np.array(rows, np.int64).reshape(-1, 2).T
                places = places_of(there, wanted)
                known = np.flatnonzero(places >= 0)
                found[start + known] = lengths[places[known]]
        return found

    def vector_chunks(self, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
        names = json.dumps(list(models))
        start, step = 0, max(1, rows)
        while start < len(docs):
            wanted = docs[start : start + step]
            with self._connections.read(snapshot=False) as connection:
                chunk = _vectors_of(connection, wanted, names, 2 * rows + 1)
            if chunk is None:
                # They have many parts each.
                step = max(1, len(wanted) // 2)
                continue
            start += len(wanted)
            if len(chunk.docs):
                yield chunk

    def embedded(self, selection: Selection, models: Sequence[str]) -> Embedded:
        with self._connections.read() as connection:
            documents = _documents_of(connection, selection)
            vectors = _vectors_of(connection, documents.docs, json.dumps(list(models)))
            return Embedded(documents, vectors, connection.execute(queries()["has_neighbours"]).fetchone() is not None)

    def linked(self) -> list[bytes]:
        with self._connections.read(snapshot=False) as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT dependent FROM neighbour ORDER BY 1").fetchall()]


def _join(selection: Selection) -> str:
    return "JOIN payload p ON p.version = s.version" if selection.equals else ""


def _documents_of(connection: sqlite3.Connection, selection: Selection) -> Documents:
    import numpy as np

    where = state_conditions(selection)
    records = "CAST(group_concat(record, '') AS BLOB)" if _joins_bytes() else "group_concat(hex(record), '')"
    sql = _DOCUMENTS.format(join=_join(selection), where=where.sql, records=records)
    pages, offset = [], 0
    while True:
        count, docs, versions, split, expires, expiring, ids = connection.execute(sql, (*where.values, _PAGE, offset)).fetchone()
        pages.append(_documents(_ids(ids), *map(_numbers, (docs, versions, split, expires, expiring))))
        offset += count
        if count < _PAGE:
            break
    if len(pages) == 1:
        return pages[0]
    return _in_order(Documents(*(np.concatenate(column) for column in zip(*pages, strict=True))))


def _numbers(text: str | int | None) -> Integers:
    import numpy as np

    return np.zeros(0, np.int64) if text is None else np.fromstring(str(text), np.int64, sep=",")


def _ids(joined: bytes | str | None) -> Bytes:
    import numpy as np

    return np.frombuffer(bytes.fromhex(joined) if isinstance(joined, str) else joined or b"", np.uint8).reshape(-1, ID_BYTES)


def _documents(ids: Bytes, docs: Integers, versions: Integers, split: Integers, expires: Integers, expiring: Integers) -> Documents:
    """Documents in order, given the versions of those that bear another number, and when those that do expire."""
    import numpy as np

    found = _in_order(Documents(docs, docs.copy(), np.full(len(docs), FOREVER, np.int64), ids))
    found.versions[np.searchsorted(found.docs, split)] = versions
    found.expires[np.searchsorted(found.docs, expiring)] = expires
    return found


def _in_order(found: Documents) -> Documents:
    """Documents ascending, each once."""
    import numpy as np

    docs = found.docs
    if (docs[1:] > docs[:-1]).all():
        return found
    order = np.argsort(docs, kind="stable")
    docs = docs[order]
    return found.only(order[np.append(True, docs[1:] != docs[:-1])])


@overload
def _vectors_of(connection: sqlite3.Connection, docs: Integers, models: str) -> VectorChunk: ...


@overload
def _vectors_of(connection: sqlite3.Connection, docs: Integers, models: str, most: int) -> VectorChunk | None: ...


def _vectors_of(connection: sqlite3.Connection, docs: Integers, models: str, most: int = _ANY_NUMBER) -> VectorChunk | None:
    """The vectors of some documents, ``None`` if there are ``most`` or more among all documents near them."""
    if len(docs) < 2 or docs[-1] - docs[0] >= _DENSE * len(docs):
        return _chunk(connection.execute(_LISTED_ROWS, (json.dumps(docs.tolist()), models)).fetchall())
    # Within the numbers there may lie other documents.
    chunk = _joined(connection, int(docs[0]), int(docs[-1]), models, most)
    return None if chunk is None else _only(chunk, docs)


def _joined(connection: sqlite3.Connection, first: int, last: int, models: str, most: int) -> VectorChunk | None:
    """The vectors of all documents between two, ``None`` if they are ``most`` or more."""
    if not _joins_bytes():
        return _chunk(connection.execute(_BETWEEN_ROWS, (first, last, models)).fetchall())
    count, part, length, docs, data = connection.execute(_JOINED, (first, last, models, most)).fetchone()
    if count >= most and first < last:
        return None
    if count >= most or part or len(data or b"") != length:
        return _chunk(connection.execute(_BETWEEN_ROWS, (first, last, models)).fetchall())
    return VectorChunk(_numbers(docs), None, data or b"")


def _chunk(rows: list[tuple[int, str, bytes]]) -> VectorChunk:
    import numpy as np

    docs = np.array([row[0] for row in rows], np.int64)
    parts = [row[1] for row in rows]
    return VectorChunk(docs, parts if any(parts) else None, b"".join([row[2] for row in rows]))


def _only(chunk: VectorChunk, wanted: Integers) -> VectorChunk:
    """The rows of wanted documents."""
    import numpy as np

    there = places_of(wanted, chunk.docs) >= 0
    if there.all():
        return chunk
    rows = np.frombuffer(chunk.data, np.uint8).reshape(len(chunk.docs), -1)[there]
    parts = None if chunk.parts is None else [part for part, is_there in zip(chunk.parts, there.tolist(), strict=True) if is_there]
    return VectorChunk(chunk.docs[there], parts, rows.tobytes())


@cache
def _joins_bytes() -> bool:
    """Whether this SQLite joins binary values as they are: it does, but its manual speaks of text alone."""
    sample = b"\x00\xff\xfe\x00", b"\x80\x00\x7f\xc3"
    connection = sqlite3.connect(":memory:")
    try:
        sql = "SELECT CAST(group_concat(data, '') AS BLOB) FROM (SELECT ? AS data UNION ALL SELECT ?)"
        return bool(connection.execute(sql, sample).fetchone()[0] == b"".join(sample))
    finally:
        connection.close()
