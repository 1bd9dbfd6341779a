"""The embedded default: one SQLite file, through the standard library's ``sqlite3``."""

from indelible.backend.sqlite.backend import SqliteBackend as SqliteBackend
