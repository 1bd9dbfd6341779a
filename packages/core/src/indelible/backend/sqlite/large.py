"""Reading large selections: numbers as text that one statement joins, vectors as they lie in the file, neither sorted nor row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indelible.backend.interface import Backend, Selection
from indelible.backend.large import Documents, Embedded, VectorChunk, places_of
from indelible.backend.sqlite.connection import Connections
from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.selection import state_conditions
from indelible.backend.sqlite.vectors import DENSE, chunks, joins_bytes, numbers_of, vectors_of
from indelible.base.ids import ID_BYTES
from indelible.base.standing import FOREVER

if TYPE_CHECKING:
    from indelible.backend.large import Bytes, Integers

_PAGE = 2_000_000
"""So many numbers are joined at a time; the text of more may be longer than SQLite lets a value be."""
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
                if len(wanted) > 1 and wanted[-1] - wanted[0] < DENSE * len(wanted):
                    joined = connection.execute(_LENGTHS, (int(wanted[0]), int(wanted[-1]))).fetchone()
                    there, lengths = map(numbers_of, joined)
                else:
                    rows = connection.execute(_LENGTHS_OF_LISTED, (json.dumps(wanted.tolist()),)).fetchall()
                    there, lengths = np.array(rows, np.int64).reshape(-1, 2).T
                places = places_of(there, wanted)
                known = np.flatnonzero(places >= 0)
                found[start + known] = lengths[places[known]]
        return found

    def vector_chunks(self, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
        return chunks(self._connections.read, docs, models, rows)

    def embedded(self, selection: Selection, models: Sequence[str]) -> Embedded:
        with self._connections.read() as connection:
            documents = _documents_of(connection, selection)
            vectors = vectors_of(connection, selection, documents.docs, models)
            return Embedded(documents, vectors, connection.execute(queries()["has_neighbours"]).fetchone() is not None)

    def linked(self) -> list[bytes]:
        with self._connections.read(snapshot=False) as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT dependent FROM neighbour ORDER BY 1").fetchall()]


def _join(selection: Selection) -> str:
    return "JOIN payload p ON p.version = s.version" if selection.equals else ""


def _documents_of(connection: sqlite3.Connection, selection: Selection) -> Documents:
    import numpy as np

    where = state_conditions(selection)
    records = "CAST(group_concat(record, '') AS BLOB)" if joins_bytes() else "group_concat(hex(record), '')"
    sql = _DOCUMENTS.format(join=_join(selection), where=where.sql, records=records)
    pages, offset = [], 0
    while True:
        count, docs, versions, split, expires, expiring, ids = connection.execute(sql, (*where.values, _PAGE, offset)).fetchone()
        pages.append(_documents(_ids(ids), *map(numbers_of, (docs, versions, split, expires, expiring))))
        offset += count
        if count < _PAGE:
            break
    if len(pages) == 1:
        return pages[0]
    return _in_order(Documents(*(np.concatenate(column) for column in zip(*pages, strict=True))))


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
