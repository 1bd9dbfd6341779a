"""How every connection is set up."""

from __future__ import annotations

import sqlite3
import sys

from indelible.base.canonical import MAX_ROW_BYTES
from indelible.errors import IntegrityFailure

CHECKPOINT_PAGES = 1000
"""How many pages of log are gone over into the database at once. Until it first is, every commit makes the log file longer, which costs
a durable put half as much again as writing over what is there; more pages would keep a new store in that state for longer."""

PRAGMAS: dict[str, int] = {
    "foreign_keys": 0,  # the log is append-only and checked by verify(); per-row checks would cost every write
    "synchronous": 2,  # FULL: a commit survives a power cut
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,  # memory maps amplify faults of the WAL
    "secure_delete": 1,  # purged text is overwritten, not only unlinked
    "temp_store": 2,  # no temporary files with clear text
    "cache_size": -32_768,
    "wal_autocheckpoint": CHECKPOINT_PAGES,
    "journal_size_limit": 64 << 20,
    "recursive_triggers": 1,
}
if sys.platform == "darwin":
    PRAGMAS |= {"fullfsync": 1, "checkpoint_fullfsync": 1}

_LIMITS = {sqlite3.SQLITE_LIMIT_ATTACHED: 1, sqlite3.SQLITE_LIMIT_LENGTH: MAX_ROW_BYTES, sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000}


def configure(connection: sqlite3.Connection, path: str, in_memory: bool) -> None:
    """Set every limit and pragma of a new connection, and read each back.

    Raises:
        IntegrityFailure: SQLite would not have it.
    """
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    # Before SQLite 3.41 there is no unhex(); lists of ids are bound as one JSON array of hex text.
    connection.create_function("raw_id", 1, bytes.fromhex, deterministic=True)
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={value}")
        found = connection.execute(f"PRAGMA {name}").fetchone()
        if found is not None and found[0] != value:
            raise IntegrityFailure(f"{path}: SQLite would not set {name} to {value}, it stays at {found[0]}")
