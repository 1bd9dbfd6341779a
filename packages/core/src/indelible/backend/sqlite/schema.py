"""Creating, checking and migrating the database."""

from __future__ import annotations

import os
import pkgutil
import sqlite3
import time
from collections.abc import Callable
from functools import cache

from indelible.backend.sqlite.connection import Connections
from indelible.backend.sqlite.failures import translated
from indelible.errors import SchemaMismatch, StoreUnavailable

APPLICATION_ID = 0x696E6465  # "inde"
MIGRATIONS = ("0001_log.sql", "0002_projections.sql", "0003_keyword.sql", "0004_retries.sql", "0005_postings.sql", "0006_packs.sql")
SCHEMA_VERSION = len(MIGRATIONS)
_POSTINGS_SINCE = 5
_PACKS_SINCE = 6
_SMALLEST_DATABASE = 512


@cache
def script(name: str) -> str:
    """A SQL file of this package."""
    data = pkgutil.get_data("indelible.backend.sqlite", name)
    if data is None:
        raise StoreUnavailable(f"the installation lacks {name}: install indelible again")
    return data.decode()


@cache
def queries() -> dict[str, str]:
    """The named queries: each begins with a line ``-- name: NAME``."""
    found: dict[str, str] = {}
    for chunk in script("queries.sql").split("-- name: ")[1:]:
        name, _, text = chunk.partition("\n")
        found[name.strip()] = text.strip().rstrip(";")
    return found


def prepare(connections: Connections, stem: Callable[[str], str]) -> None:
    """Make sure the database has this release's schema.

    Args:
        connections: to it.
        stem: the marked stem under which the keyword index lists a word as well.

    Raises:
        SchemaMismatch: somebody else's database, not a database, or one of a newer release.
    """
    if not connections.in_memory and _is_current(connections):
        connections.schema = SCHEMA_VERSION
        return
    deadline = time.monotonic() + connections.timeout_s
    while True:
        try:
            with connections.exclusive() as connection:
                _migrate(connection, connections, stem)
            connections.schema = SCHEMA_VERSION
            return
        except StoreUnavailable as error:
            # Switching to WAL does not always wait for other openers, so wait here.
            if not error.retryable or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _is_current(connections: Connections) -> bool:
    if connections.created:
        return False
    if 0 < _size(connections.path) < _SMALLEST_DATABASE:
        # SQLite takes so short a file for an empty one, and would write over it.
        raise SchemaMismatch(f"{connections.path} is not a database: give another path, or move that file away")
    try:
        with connections.read() as connection:
            version, application = _stamp(connection)
            _check(connection, version, application, connections.path)
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    except StoreUnavailable as error:
        if error.retryable:
            return False
        raise
    return version == SCHEMA_VERSION and application == APPLICATION_ID and mode == "wal"


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0  # opening it says what is wrong


def _stamp(connection: sqlite3.Connection) -> tuple[int, int]:
    return connection.execute("PRAGMA user_version").fetchone()[0], connection.execute("PRAGMA application_id").fetchone()[0]


def _check(connection: sqlite3.Connection, version: int, application: int, path: str) -> None:
    if application == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise SchemaMismatch(f"{path} is a database, but not one of ours: give another path")
    if application not in (0, APPLICATION_ID):
        raise SchemaMismatch(f"{path} is the database of another program: give another path")
    if application == APPLICATION_ID and version > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"{path} was written by a newer release (schema {version}, this one knows {SCHEMA_VERSION}): pip install -U indelible"
        )


def _migrate(connection: sqlite3.Connection, connections: Connections, stem: Callable[[str], str]) -> None:
    path = connections.path
    with translated(path):
        version, application = _stamp(connection)
        _check(connection, version, application, path)
        if not connections.in_memory:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            if mode != "wal":
                raise StoreUnavailable(f"{path} cannot be put into WAL mode (it stays {mode}): keep the store on a local disk")
        connection.execute("BEGIN IMMEDIATE")
        try:
            version, _ = _stamp(connection)
            for name in MIGRATIONS[version:]:
                for statement in statements(script(f"migrations/{name}")):
                    connection.execute(statement)
            if 0 < version < _POSTINGS_SINCE:
                _list_words(connection, stem)
            if 0 < version < _PACKS_SINCE:
                _pack_vectors(connection)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _list_words(connection: sqlite3.Connection, stem: Callable[[str], str]) -> None:
    """List every document under its words."""
    from indelible.backend.sqlite.postings import Postings

    newest = connection.execute(queries()["newest"]).fetchone() or (0, 0)
    Postings(connection, stem).pack_everything(newest[0])


def _pack_vectors(connection: sqlite3.Connection) -> None:
    """Let the vectors of each slice lie together."""
    from indelible.backend.sqlite.packs import Packs

    Packs(connection).pack_everything()


def statements(text: str) -> list[str]:
    """A script's statements, one by one, so that they run inside a transaction."""
    found, pending = [], ""
    for line in text.splitlines(keepends=True):
        if not pending and (not line.strip() or line.startswith("--")):
            continue
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return found
