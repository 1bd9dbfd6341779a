"""Reading texts out of a database that somebody else made. Never for a store of ours: only its own connections may open that."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from indelible.backend.sqlite.schema import APPLICATION_ID
from indelible.errors import IndelibleError, InvalidInput, StoreUnavailable

_USUAL_COLUMNS = ("content", "text")
_UNAVAILABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
_LISTED = 20


def read_texts(path: str, table: str | None = None, column: str | None = None) -> list[tuple[int, str]]:
    """The texts of one column, each with the number of its row from 1, in the order of the rows. Blank ones and nulls are left out.

    Args:
        path: the database.
        table: which; may be left out if there is only one.
        column: which; may be left out if there is only one, or one named ``content`` or ``text``.

    Raises:
        InvalidInput: no such table or column, or not clear which; something that is no text; a store of ours; a damaged file.
        StoreUnavailable: the file cannot be opened or is locked.
    """
    try:
        with _opened(path) as connection:
            # The file may be made to harm: functions and tricks in its schema are not to run.
            for setting in ("query_only=1", "trusted_schema=0", "cell_size_check=1", "mmap_size=0"):
                connection.execute(f"PRAGMA {setting}")
            if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                raise InvalidInput(f"{path} is a store of this library: export it with --db {path}, and import that")
            table = _chosen(table, _tables(connection), "table", path)
            column = _chosen(column, _columns(connection, table), "column", path)
            # NOT INDEXED: an index that covers the column would give its own order.
            rows = connection.execute(f"SELECT typeof({_name(column)}), {_name(column)} FROM {_name(table)} NOT INDEXED").fetchall()
    except sqlite3.Error as error:
        if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _UNAVAILABLE:
            raise StoreUnavailable(f"cannot read {path}: {error}", retryable=True) from error
        raise InvalidInput(f"cannot read texts from {path}: {error}") from error
    for number, (kind, _) in enumerate(rows, 1):
        if kind not in ("text", "null"):
            raise InvalidInput(f"row {number} of {path} holds a value of type {kind} in {table}.{column}: give a column of texts")
    return [(number, text) for number, (_, text) in enumerate(rows, 1) if text is not None and text.strip()]


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that only reads and leaves nothing beside the file.

    To read a database in WAL mode that nobody has open, SQLite makes side files, and a reader cannot remove them. So such a file is read as
    one that does not change, and whether that held is checked at the end.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(20)
        alone = header[18:20] == b"\x02\x02" and not os.path.exists(path + "-wal")
        before = os.stat(path)
        uri = f"{Path(os.path.abspath(path)).as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            yield connection
        after = os.stat(path)
    except OSError as error:
        if isinstance(error, IndelibleError):
            raise
        raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error
    if alone and (os.path.exists(path + "-wal") or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size)):
        raise StoreUnavailable(f"{path} was changed while it was read: try again", retryable=True)


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'create virtual%'"
        " ORDER BY name"
    )
    return [name for (name,) in found]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _chosen(given: str | None, names: list[str], what: str, path: str) -> str:
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "") or "none"
    if given is not None:
        if given not in names:
            raise InvalidInput(f"{path} has no {what} {given!r}; it has: {listed}")
        return given
    likely = names if len(names) == 1 else [name for name in names if what == "column" and name.lower() in _USUAL_COLUMNS]
    if len(likely) != 1:
        raise InvalidInput(f"which {what} of {path} holds the texts? Give --{what}; it has: {listed}")
    return likely[0]


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'
