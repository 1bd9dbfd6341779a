"""What checking and repairing costs: verify and rebuild, beside reading and hashing every row of the log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256

from benchmarks.filled import filled
from benchmarks.measuring import Measurement, Plan, seconds
from indelible import MemoryStore

AGAINST = "sqlite3: read every event and hash it"


def run(plan: Plan) -> list[Measurement]:
    """Each once: they take seconds and read everything."""
    path = filled(plan)

    def read_and_hash() -> None:
        with closing(sqlite3.connect(path)) as connection:
            for row in connection.execute("SELECT event.hash, salt, body FROM event JOIN payload USING (version) ORDER BY version"):
                sha256(row[0] + row[1] + row[2].encode()).digest()

    # Before the store is open: closing another handle on an open database would drop its locks.
    bare = seconds(read_and_hash)
    with MemoryStore(path) as store:
        events = store.version
        verifying, rebuilding, exporting = (
            seconds(store.verify),
            seconds(store.rebuild),
            seconds(lambda: store.export(plan.folder / "log.jsonl")),
        )
        ok = store.verify().ok
    if not ok:
        raise RuntimeError("the store does not verify after a rebuild")
    reference = events / bare
    return [
        Measurement(AGAINST, reference, "events/s", better="more"),
        Measurement("verify", events / verifying, "events/s", reference, AGAINST, better="more"),
        Measurement("rebuild", events / rebuilding, "events/s", reference, AGAINST, better="more"),
        Measurement("export, vectors included", events / exporting, "events/s", reference, AGAINST, better="more"),
    ]
