"""sqlite-vec, by the SQLite that apsw brings, which can load extensions: a table of vectors beside one of texts and an FTS5 index."""

from __future__ import annotations

import importlib
import json
from typing import Any

from benchmarks.speed.data import DIM, FILTERS, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits, reciprocal_ranks, sizes_of_tables

DEPTH = 50
"""Of each channel of the hybrid."""
GROUPS = {"keyword index": ("words",), "vectors": ("vec",), "texts and metadata": ("note",)}


class SqliteVec(Engine):
    """Partitioned by user, chunks as large as a slice, metadata columns for the filters; WAL, FULL, as ours."""

    def load(self) -> None:
        self._apsw: Any = importlib.import_module("apsw")
        self._vec: Any = importlib.import_module("sqlite_vec")
        importlib.import_module("apsw.bestpractice")
        self.version = (
            f"sqlite-vec {importlib.import_module('importlib.metadata').version('sqlite-vec')}, SQLite {self._apsw.sqlitelibversion()}"
        )

    def open(self) -> None:
        self._connection = connect(self._apsw, self._vec, self.folder / "store.db")
        chunk = max(8, min(1024, -(-self.slice_size // 8) * 8))
        fields = ", ".join(f"{field} INTEGER" for field in FILTERS)
        self._connection.execute(
            f"""CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, user TEXT NOT NULL, metadata TEXT NOT NULL);
            CREATE INDEX IF NOT EXISTS note_user ON note (user);
            CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='note', content_rowid='id');
            CREATE VIRTUAL TABLE IF NOT EXISTS vec USING vec0(
                id INTEGER PRIMARY KEY, user TEXT PARTITION KEY, {fields}, vector FLOAT[{DIM}] distance_metric=cosine, chunk_size={chunk}
            )"""
        )

    def close(self) -> None:
        self._connection.close()

    def add(self, rows: Rows) -> None:
        notes = list(zip(rows.numbers, rows.texts, rows.users, map(json.dumps, rows.metadata), strict=True))
        vectors = [
            (number, user, *(marks[field] for field in FILTERS), vector.tobytes())
            for number, user, marks, vector in zip(rows.numbers, rows.users, rows.metadata, rows.vectors, strict=True)
        ]
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO note VALUES (?, ?, ?, ?)", notes)
        connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", [(number, text) for number, text, _, _ in notes])
        connection.executemany(f"INSERT INTO vec VALUES (?, ?, {', '.join('?' * len(FILTERS))}, ?)", vectors)
        connection.execute("COMMIT")

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        return self._nearest(asked, user, field, LIMIT)

    def _nearest(self, asked: Question, user: str | None, field: str | None, limit: int) -> Hits:
        more = ("" if user is None else " AND user = ?") + ("" if field is None else f" AND {field} = 1")
        values = (asked.vector.tobytes(), limit, *(() if user is None else (user,)))
        nearest = f"SELECT id, distance FROM vec WHERE vector MATCH ? AND k = ?{more}"
        return self._rows(
            f"SELECT note.id, note.text FROM ({nearest}) AS near JOIN note ON note.id = near.id ORDER BY near.distance", values
        )

    def keyword(self, asked: Question, user: str | None) -> Hits:
        return self._matching(asked, user, LIMIT)

    def _matching(self, asked: Question, user: str | None, limit: int) -> Hits:
        match = " OR ".join(asked.words.split())
        values = (match, *(() if user is None else (user,)), limit)
        of_user = "" if user is None else " AND note.user = ?"
        joined = "words JOIN note ON note.id = words.rowid"
        return self._rows(f"SELECT note.id, note.text FROM {joined} WHERE words MATCH ?{of_user} ORDER BY bm25(words) LIMIT ?", values)

    def hybrid(self, asked: Question, user: str | None) -> Hits:
        return reciprocal_ranks([self._nearest(asked, user, None, DEPTH), self._matching(asked, user, DEPTH)])

    def _rows(self, query: str, values: tuple[Any, ...]) -> Hits:
        return list(self._connection.execute(query, values))

    def parts(self) -> dict[str, int]:
        connection = connect(self._apsw, self._vec, self.folder / "store.db")
        try:
            return sizes_of_tables(connection, GROUPS)
        except self._apsw.SQLError:  # built without dbstat
            return super().parts()
        finally:
            connection.close()


def connect(apsw: Any, vec: Any, path: Any) -> Any:
    """An open file with the extension loaded, as durable as ours and with as large a cache."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(30_000)
    connection.enable_load_extension(True)
    connection.load_extension(vec.loadable_path())
    connection.enable_load_extension(False)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"):
        connection.execute(f"PRAGMA {setting}")
    return connection
