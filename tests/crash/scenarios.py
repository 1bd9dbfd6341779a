"""Operations that are interrupted at a chosen write or sync.

Each is a generator: it prepares a store, yields it (``None`` if there is none yet), and from then on the disk may fail. What it says
with ``one`` or ``batch`` was acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from indelible import MemoryStore
from indelible.backend.interface import CacheEntry
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.backend import restore_file
from indelible.backend.sqlite.pragmas import PRAGMAS
from indelible.base.canonical import dumps
from indelible.base.clock import SystemClock
from indelible.base.event import Op
from indelible.base.plan import Draft
from indelible.faces.engine import TextIndexer
from indelible.faces.transfer import export_log
from indelible.testing import HashEmbedder
from tests.crash.checker import BATCH, ONE
from tests.crash.children import Say
from tests.crash.engine import NOTES, open_engine, put, remember
from tests.crash.writers import batch_of

Scenario = Callable[[str, Say], Iterator[SqliteBackend | None]]
BACKUP_SUFFIX = ".backup.db"
RESTORED_SUFFIX = ".restored.db"
FOREIGN_SUFFIX = ".foreign.db"


HashEmbedder().embed_documents(["numpy is loaded here, once, and not in each child"])


def prepared(path: str, say: Say, records: int = 3) -> SqliteBackend:
    """A store with a few records in it."""
    backend = open_engine(path)
    for number in range(records):
        backend.append([put(f"old-{number}", f"old-{number}")])
        say(f"{ONE} old-{number}")
    return backend


def creating(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    yield None
    backend = open_engine(path)
    backend.append([put("first", "first")])
    say(f"{ONE} first")


def reopening(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    prepared(path, say).close()
    yield None
    backend = open_engine(path)
    backend.append([put("next", "next")])
    say(f"{ONE} next")


def appending(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    for number in range(3):
        backend.append([remember(f"new-{number}")])
        say(f"{ONE} new-{number}")


def appending_batches(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    for number in range(3):
        backend.append(batch_of(f"batch-{number}"))
        say(f"{BATCH} batch-{number}")


def changing(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    """Revise, vote, touch, restore, forget."""
    backend = prepared(path, say)
    yield backend
    backend.append([Draft(Op.REVISE, NOTES, key="old-0", fields={"content": dumps("revised")})])
    say(f"{ONE} revised")
    backend.append([Draft(Op.VOTE, NOTES, key="old-1", fields={"vote": dumps("up")})])
    backend.append([Draft(Op.TOUCH, NOTES, key="old-1", expires_at=4_000_000_000_000, touch_ttl=1000)])
    backend.append([Draft(Op.RESTORE, NOTES, key="old-0")])
    backend.append([Draft(Op.FORGET, NOTES, key="old-2")])


def moving_the_log(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    """Commits that each also move the write-ahead log into the database."""
    PRAGMAS["wal_autocheckpoint"] = 1
    backend = prepared(path, say, records=1)
    yield backend
    for number in range(3):
        backend.append([remember(f"new-{number}")])
        say(f"{ONE} new-{number}")


def purging(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    backend.append([put("secret", "a secret to purge")])
    yield backend
    backend.append([Draft(Op.PURGE, NOTES, key="secret")])


def vacuuming(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    backend.vacuum()


def rebuilding(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    backend.rebuild()


def caching(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    backend.cache_put(("cache",), [CacheEntry("key", b"value" * 1000, 1, None)])
    backend.setting("name", "value")


def backing_up(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    backend.backup(path + BACKUP_SUFFIX)


def restoring(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    backend.backup(path + BACKUP_SUFFIX)
    yield backend
    restore_file(path + BACKUP_SUFFIX, path + RESTORED_SUFFIX, TextIndexer(), SystemClock())


def exporting(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield backend
    export_log(backend, path + ".jsonl")


def reindexing(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    """Facts move to another model; the store is used through its face, and looked at afterwards through the backend."""
    with MemoryStore(path, embedder=HashEmbedder(8)) as store:
        for number in range(3):
            store.remember(f"fact-{number}")
            say(f"{ONE} fact-{number}")
        yield None
        store.reindex(HashEmbedder(12))


def importing(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    foreign = open_engine(path + FOREIGN_SUFFIX)
    foreign.append(batch_of("foreign"))
    events = foreign.events()
    foreign.close()
    backend = prepared(path, say)
    yield backend
    backend.ingest(events)
    say(f"{BATCH} foreign")


def closing(path: str, say: Say) -> Iterator[SqliteBackend | None]:
    backend = prepared(path, say)
    yield None
    backend.close()


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        creating, reopening, appending, appending_batches, changing, moving_the_log, purging, vacuuming, rebuilding, caching, backing_up,
        restoring, exporting, reindexing, importing, closing,
    )
}  # fmt: skip
