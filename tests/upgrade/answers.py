"""Everything a store says, as plain JSON: what a release wrote down about its store, and what a later one must say too."""

from __future__ import annotations

from typing import Any

from indelible import Hit, MemoryStore, Record
from indelible.testing import FakeClock, HashEmbedder

END_US = 1_767_225_600_000_000 + 30 * 86_400_000_000
"""When the answers are asked for: thirty days after the first event, so that what expires in between has."""
VECTORS = 16


def opened(path: object) -> MemoryStore:
    """A store at the time of the answers, with the model its vectors were made by."""
    return MemoryStore(str(path), clock=FakeClock(END_US), embedder=HashEmbedder(VECTORS))


def answers(store: MemoryStore) -> dict[str, Any]:
    """All of it: the log, the records now and at each version, histories, both searches, key/value memories, names."""
    events = list(store.iter_events())
    return {
        "events": [[event.version, event.txn, event.recorded_at, str(event.op), event.record.hex(), event.hash.hex()] for event in events],
        "facts": [record_of(record) for record in store.list(include_expired=True)],
        "live": [record.id for record in store.list()],
        "past": [[record.id for record in store.at(version).list()] for version in range(store.version + 1)],
        "history": {record.id: [str(change) for change in store.history(record.id)] for record in store.list(include_expired=True)},
        "keyword": {query: hits_of(store.search(query)) for query in ("tea", "green tea", "緑茶", "ünïcode", "nothing")},
        "semantic": {query: hits_of(store.recall(query, limit=10)) for query in ("tea", "who likes coffee")},
        "hybrid": hits_of(store.recall("green tea", mode="hybrid")),
        "filtered": [record.id for record in store.list(filters={"kind": "drink"})],
        "memory": memory_of(store, None),
        "named memory": memory_of(store, "ledger"),
        "notes": [record_of(record) for record in store.collection("notes").list(prefix=True, include_expired=True)],
        "note history": [str(change) for change in store.collection("notes").history("a")],
        "namespaces": [list(name) for name in store.collection().namespaces()],
        "cache": store.collection("cache", cache=True).list(),
        "scopes": [[repr(scope), count] for scope, count in store.scopes()],
        "numbers": [store.version, store.count(), store.health().purged, store.health().forgotten],
    }


def record_of(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "version": record.version,
        "content": record.content,
        "metadata": record.metadata,
        "value": record.value,
        "namespace": list(record.namespace),
        "scope": list(record.scope),
        "key": record.key,
        "source": record.source,
        "parent": record.parent,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
        "occurred_at": record.occurred_at.isoformat(),
        "expires_at": None if record.expires_at is None else record.expires_at.isoformat(),
        "context": list(record.context),
        "parts": [[part.name, part.text] for part in record.parts],
    }


def hits_of(hits: list[Hit]) -> list[list[Any]]:
    """Ids and scores; floats to six places, so that another processor's rounding is no difference."""
    return [[hit.id, None if hit.score is None else round(hit.score, 6), round(hit.rank_score, 6), list(hit.why)] for hit in hits]


def memory_of(store: MemoryStore, name: str | None) -> dict[str, Any]:
    memory = store.memory(name)
    keys = memory.keys()
    return {
        "items": [[key, memory.recall(key)] for key in keys],
        "history": {key: memory.history(key) for key in keys},
        "past": [[[key, memory.as_of(key, version)] for key in keys] for version in range(1, store.version + 1)],
    }
