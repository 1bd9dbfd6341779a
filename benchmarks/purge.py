"""What it takes to destroy one record among many, until not a byte of its text is left in the file."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.measuring import Measurement, Plan, median, seconds
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.testing import HashEmbedder

SIZES = (1_000, 100_000)
PURGES = 5
CHUNK = 5_000


def run(plan: Plan) -> list[Measurement]:
    """Purge a few records one by one, in a small store and in a large one; each time everything is wiped before the call returns."""
    found = []
    for records in (plan.times(size) for size in SIZES):
        path = plan.folder / f"purge-{records}.db"
        spent = _purges(path, records)
        copying = seconds(lambda path=path: shutil.copyfile(path, path.with_suffix(".copy")))  # type: ignore[misc]  # bound by a default
        against = f"copying the file of {records:,} records"
        found.append(Measurement(against, 1000 * copying, "ms"))
        found.append(Measurement(f"purge of one among {records:,} records, p50", 1000 * median(spent), "ms", 1000 * copying, against))
    return found


def _purges(path: Path, records: int) -> list[float]:
    with MemoryStore(path, embedder=HashEmbedder()) as store:
        texts = sentences(records)
        for start in range(0, records, CHUNK):
            store.remember_many(texts[start : start + CHUNK], user_id="purged")
        step = max(records // PURGES, 1)
        victims = [store.list(user_id="purged", limit=1, offset=number * step)[0].id for number in range(min(PURGES, records // step))]
        return [seconds(lambda id=id: store.purge(id)) for id in victims]  # type: ignore[misc]  # bound by a default
