"""Bytes on disk per fact, by what they are for, beside the bytes of its text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.filled import filled
from benchmarks.measuring import Measurement, Plan

PARTS = {
    "log: events and their indexes": ("event", "event_origin", "event_record"),
    "log: clear text": ("payload",),
    "states": ("state", "state_slice", "state_key", "state_parent", "state_split"),
    "keyword index": ("keyword", "posting"),
    "vectors": ("vector", "pack", "pack_slice", "packed"),
}
AGAINST = "bytes of the text itself"


def run(plan: Plan) -> list[Measurement]:
    """Ask SQLite which pages belong to what; where it cannot say, add up the columns."""
    path = filled(plan)
    with closing(sqlite3.connect(path)) as connection:
        facts = connection.execute("SELECT count(*) FROM event").fetchone()[0]
        bodies = connection.execute("SELECT json_extract(body, '$.content') FROM payload").fetchall()
        try:
            sizes = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall())
        except sqlite3.OperationalError:
            sizes = {}
    text = sum(len(body.encode()) for (body,) in bodies) / facts
    found = [Measurement(AGAINST, text, "bytes")]
    known = 0.0
    for part, tables in PARTS.items() if sizes else ():
        size = sum(sizes.get(table, 0) for table in tables)
        known += size
        found.append(Measurement(part, size / facts, "bytes", text, AGAINST))
    whole = Path(path).stat().st_size
    if sizes:
        found.append(Measurement("everything else", (whole - known) / facts, "bytes", text, AGAINST))
    return [*found, Measurement("the whole file", whole / facts, "bytes", text, AGAINST)]
