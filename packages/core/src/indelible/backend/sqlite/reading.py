"""The reading half of the SQLite backend: each verb is one snapshot."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Literal

from indelible.backend.interface import (
    CacheEntry,
    Corpus,
    CountedRecords,
    Document,
    Found,
    Mark,
    Occurrences,
    Row,
    Selection,
    VectorRow,
    Words,
)
from indelible.backend.sqlite.keyword import count_in, find_candidates, occurrences, resolve
from indelible.backend.sqlite.large import SqliteLargeReads
from indelible.backend.sqlite.packs import packed_vectors, stored_vectors
from indelible.backend.sqlite.postings import Waiting
from indelible.backend.sqlite.pragmas import PRAGMAS
from indelible.backend.sqlite.schema import SCHEMA_VERSION, queries
from indelible.backend.sqlite.selection import OF_DOCUMENT, OF_MODELS, STATE_COLUMNS, listed, ordering, paging, state_conditions
from indelible.backend.sqlite.transaction import SliceNames, find_slice, namespace_labels, namespace_text, standing_of
from indelible.backend.sqlite.upkeep import read_events, size_on_disk
from indelible.base.clock import Clock
from indelible.base.event import Event
from indelible.base.plan import CONTEXT_PART, PartVector
from indelible.base.record import Namespace, Scope
from indelible.base.standing import FOREVER

_BY_RECORD_AND_PART = itemgetter(0, 2)
_OF_CONTEXT = f"BETWEEN '{CONTEXT_PART}' AND '{CONTEXT_PART}{chr(sys.maxunicode)}'"
_NO_VECTOR = (
    f"NOT EXISTS (SELECT 1 FROM vector v WHERE {OF_DOCUMENT} AND {OF_MODELS}) "
    f"AND NOT EXISTS (SELECT 1 FROM packed k JOIN pack v ON v.id = k.pack WHERE k.doc = s.doc AND {OF_MODELS})"
)
_NO_CONTEXT_VECTOR = (
    f"NOT EXISTS (SELECT 1 FROM vector v WHERE {OF_DOCUMENT} AND v.part {_OF_CONTEXT} AND {OF_MODELS}) "
    "AND NOT EXISTS (SELECT 1 FROM packed k JOIN pack v ON v.id = k.pack JOIN json_each(v.parts) j WHERE k.doc = s.doc "
    f"AND j.value {_OF_CONTEXT} AND hex(substr(v.docs, 8 * j.key + 1, 8)) = printf('%016X', s.doc) AND {OF_MODELS})"
)
_HAS_NEIGHBOURS = "EXISTS (SELECT 1 FROM neighbour n WHERE n.dependent = s.record)"


MAX_BOUND_IDS = 64
"""So many ids are bound one by one; more as one list, lest there be a statement for every number of them."""


@cache
def _rows_of(number: int, now: bool) -> str:
    """The query for so many visible records."""
    ids = ", ".join("?" * number) if number <= MAX_BOUND_IDS else "SELECT raw_id(value) FROM json_each(?)"
    moment = f"s.live_to = {FOREVER}" if now else "s.live_to > ? AND s.live_from <= ?"
    return (
        f"SELECT {STATE_COLUMNS}, p.body FROM state s JOIN payload p ON p.version = s.version "
        f"WHERE s.record IN ({ids}) AND s.visible = 1 AND {moment}"
    )


class SqliteReads(SqliteLargeReads):
    """Reads over one database."""

    path: str
    _clock: Clock
    _names: SliceNames
    _waiting: Waiting

    def mark(self) -> Mark:
        with self._connections.read(snapshot=False) as connection:
            return self._mark(connection)

    def _mark(self, connection: sqlite3.Connection) -> Mark:
        return Mark(*connection.execute(queries()["mark"]).fetchone())

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        with self._connections.read() as connection:
            newest = self._mark(connection)
            found = newest.version
            if version is not None:
                found = _bisect(connection, "txn", min(version, FOREVER), found)
            if at_ms is not None:
                found = min(found, _bisect(connection, "recorded_at", at_ms, newest.version))
            if found == newest.version:
                return newest
            row = connection.execute(queries()["position_of_version"], (found,)).fetchone()
            return Mark(found, newest.epoch, row[2] if row else 0)

    def select(self, selection: Selection) -> list[Row]:
        where = state_conditions(selection)
        page, bounds = paging(selection)
        source = f"SELECT {STATE_COLUMNS}, p.body FROM state s JOIN payload p ON p.version = s.version"
        sql = f"{source} WHERE {where.sql} {ordering(selection)} {page}"
        with self._connections.read() as connection:
            rows = connection.execute(sql, (*where.values, *bounds)).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def rows(self, records: Sequence[bytes], *, version: int | None = None) -> list[Row]:
        if not records:
            return []
        ids = records if len(records) <= MAX_BOUND_IDS else (json.dumps([record.hex() for record in records]),)
        moment = () if version is None else (min(version, FOREVER - 1),) * 2
        # One statement, so that hits that were written together are seen together.
        with self._connections.read(snapshot=False) as connection:
            rows = connection.execute(_rows_of(min(len(records), MAX_BOUND_IDS + 1), version is None), (*ids, *moment)).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def slices(self, selection: Selection) -> list[tuple[Namespace, Scope, int]]:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        sql = (
            "SELECT l.namespace, l.agent_id, l.user_id, l.org_id, l.workspace_id, count(*) "
            f"FROM state s JOIN slice l ON l.id = s.slice {join} WHERE {where.sql} GROUP BY l.id ORDER BY 1, 2, 3, 4, 5"
        )
        with self._connections.read(snapshot=False) as connection:
            rows = connection.execute(sql, where.values).fetchall()
        return [(namespace_labels(row[0]), Scope(*row[1:5]), row[5]) for row in rows]

    def events(
        self, *, after: int = 0, limit: int | None = None, record: bytes | None = None, key: tuple[Namespace, Scope, str] | None = None
    ) -> list[Event]:
        after = min(after, FOREVER)
        with self._connections.read() as connection:
            if record is not None:
                return read_events(connection, "e.record = ? AND e.version > ?", (record, after), limit)
            if key is None:
                return read_events(connection, "e.version > ?", (after,), limit)
            slice_id = find_slice(connection, key[0], key[1])
            which = f"e.record IN ({queries()['records_under_key']}) AND e.version > ?"
            return [] if slice_id is None else read_events(connection, which, (slice_id, key[2], after), limit)

    def find(self, selection: Selection, terms: Sequence[Sequence[Sequence[str]]], *, match: Literal["all", "any"]) -> list[Found]:
        with self._connections.read() as connection:
            return find_candidates(connection, selection, terms, match, self._waiting)

    def counted(self, selection: Selection, terms: Sequence[Sequence[str]], *, lengths: bool) -> CountedRecords | None:
        with self._connections.read() as connection:
            return count_in(connection, selection, terms, self._waiting, lengths)

    def occurrences(self, terms: Sequence[Sequence[str]]) -> Occurrences:
        with self._connections.read() as connection:
            return occurrences(connection, terms, self._waiting)

    def resolve(self, selection: Selection, docs: Sequence[int]) -> list[Document]:
        with self._connections.read() as connection:
            return resolve(connection, selection, docs)

    def words(self, selection: Selection) -> list[Words]:
        where = state_conditions(selection)
        page, bounds = paging(selection)
        sql = f"SELECT s.record, s.version, k.words, s.expires_at FROM state s JOIN keyword k ON k.doc = s.doc WHERE {where.sql} {page}"
        with self._connections.read(snapshot=False) as connection:
            rows = connection.execute(sql, (*where.values, *bounds)).fetchall()
        return [Words(*row) for row in rows]

    def corpus(self, selection: Selection) -> Corpus:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        sql = f"SELECT count(*), ifnull(sum(k.length), 0) FROM state s JOIN keyword k ON k.doc = s.doc {join} WHERE {where.sql}"
        with self._connections.read(snapshot=False) as connection:
            return Corpus(*connection.execute(sql, where.values).fetchone())

    def models(self) -> list[str]:
        with self._connections.read(snapshot=False) as connection:
            return [row[0] for row in connection.execute("SELECT name FROM model ORDER BY name").fetchall()]

    def changed(self, after: int) -> set[bytes]:
        with self._connections.read(snapshot=False) as connection:
            return {row[0] for row in connection.execute("SELECT record FROM event WHERE version > ?", (after,)).fetchall()}

    def unembedded(self, selection: Selection, models: Sequence[str], *, context: bool = False) -> list[Row]:
        where = state_conditions(selection)
        names = json.dumps(list(models))
        if context:
            where.add(f"({_NO_VECTOR} OR ({_HAS_NEIGHBOURS} AND {_NO_CONTEXT_VECTOR} AND instr(p.body, '\"context\":')))", *(names,) * 4)
        else:
            where.add(_NO_VECTOR, names, names)
        sql = f"SELECT {STATE_COLUMNS}, p.body FROM state s JOIN payload p ON p.version = s.version WHERE {where.sql} ORDER BY s.version"
        with self._connections.read() as connection:
            rows = connection.execute(sql, where.values).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def stored_vectors(self, doc: int) -> list[PartVector]:
        with self._connections.read() as connection:
            return stored_vectors(connection, doc)

    def dependents(self, records: Sequence[bytes]) -> list[Row]:
        ids = json.dumps([record.hex() for record in records])
        with self._connections.read() as connection:
            rows = connection.execute(queries()["dependent_rows"], (ids,)).fetchall()
            return [Row(standing_of(connection, self._names, row), row[12], row[4]) for row in rows]

    def vectors(self, selection: Selection, models: Sequence[str]) -> list[VectorRow]:
        where = state_conditions(selection)
        join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
        names = json.dumps(list(models))
        waiting = (
            f"SELECT s.record, s.version, v.part, v.data, s.expires_at FROM state s JOIN vector v ON {OF_DOCUMENT} {join} "
            f"WHERE {where.sql} AND {OF_MODELS}"
        )
        packed = (
            f"SELECT s.record, s.version, s.doc, s.expires_at, k.pack FROM state s JOIN packed k ON k.doc = s.doc {join} WHERE {where.sql}"
        )
        with self._connections.read() as connection:
            rows = [VectorRow(*row) for row in connection.execute(waiting, (*where.values, names)).fetchall()]
            found = connection.execute(packed, where.values).fetchall()
            vectors = packed_vectors(connection, {row[4] for row in found}, names) if found else {}
        for record, version, doc, expires, _ in found:
            rows += [VectorRow(record, version, part, data, expires) for part, data in vectors.get(doc, ())]
        # Not by SQLite: for the sake of the order it would go through every record there is.
        rows.sort(key=_BY_RECORD_AND_PART)
        return rows

    def votes(self, records: Sequence[bytes], *, version: int | None = None) -> dict[bytes, list[str]]:
        found: dict[bytes, list[str]] = {}
        ids = json.dumps([record.hex() for record in records])
        with self._connections.read(snapshot=False) as connection:
            rows = connection.execute(queries()["votes"], (ids, FOREVER if version is None else min(version, FOREVER))).fetchall()
        for record, body in rows:
            found.setdefault(record, []).append(json.loads(body)["vote"])
        return found

    def cache_get(self, namespace: Namespace, keys: Sequence[str] | None, now_ms: int) -> list[CacheEntry]:
        text = namespace_text(namespace)
        with self._connections.read() as connection:
            if keys is None:
                rows = connection.execute(queries()["cache_all"], (text, now_ms)).fetchall()
            else:
                rows = connection.execute(queries()["cache_some"], (text, now_ms, listed(keys, "keys"))).fetchall()
        return [CacheEntry(*row) for row in rows]

    def statistics(self) -> dict[str, Any]:
        now_ms = self._clock.now_us() // 1000
        with self._connections.read() as connection:
            records, live, expired, hidden = connection.execute(queries()["count_states"], (now_ms,)).fetchone()
            purged = connection.execute(queries()["count_purged"]).fetchone()[0]
            mark = self._mark(connection)
            pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone() for name in (*PRAGMAS, "journal_mode", "user_version")}
            models = dict(connection.execute(queries()["models"]).fetchall())
            devices = connection.execute("SELECT count(*) FROM device").fetchone()[0]
        return {
            "path": self.path,
            "version": mark.version,
            "epoch": mark.epoch,
            "records": records,
            "live": live or 0,
            "expired": expired or 0,
            "forgotten": hidden or 0,
            "purged": purged,
            "devices": devices,
            "vectors": models,
            "bytes": 0 if self._connections.in_memory else size_on_disk(self.path),
            "schema": SCHEMA_VERSION,
            "engine": f"SQLite {sqlite3.sqlite_version}",
            "pragmas": {name: row[0] for name, row in pragmas.items() if row is not None},
        }


def _bisect(connection: sqlite3.Connection, column: Literal["txn", "recorded_at"], bound: int, newest: int) -> int:
    """The greatest version whose column, which never decreases along the log, is at most ``bound``; 0 if none."""
    low, high = 0, newest
    while low < high:
        middle = (low + high + 1) // 2
        value = connection.execute(f"SELECT {column} FROM event WHERE version = ?", (middle,)).fetchone()[0]
        low, high = (middle, high) if value <= bound else (low, middle - 1)
    return low
