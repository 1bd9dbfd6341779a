"""The executable specification of a backend: plain objects, no index, nothing kept that can be derived.

It must answer as every other backend does, errors included, and is the model they are compared with. A write costs as much as the whole
log is long, so it is for hundreds of events, not for thousands.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from indelible.backend.interface import (
    CacheEntry,
    ContextRead,
    Indexer,
    Ingested,
    Mark,
    Report,
    Row,
    Selection,
    VectorRow,
)
from indelible.backend.large import Documents, Embedded, VectorChunk
from indelible.base.canonical import loads
from indelible.base.clock import Clock, SystemClock
from indelible.base.draft import CONTEXT_PART, Draft, Head, PartVector, Planned, Written
from indelible.base.event import CHAIN_START, Event, Op, Payload
from indelible.base.ids import ID_BYTES, IdSource, id_bytes, uuid7
from indelible.base.plan import Planner, plan_all
from indelible.base.record import Namespace, Scope
from indelible.base.standing import FOREVER, Slot
from indelible.errors import StoreClosed
from indelible.faces.engine import TextIndexer
from indelible.testing.reference_ingest import accepted
from indelible.testing.reference_log import Medium
from indelible.testing.reference_view import neighbours
from indelible.testing.reference_words import ReferenceWords

if TYPE_CHECKING:
    from indelible.backend.large import Integers


class ReferenceBackend(ReferenceWords):
    """A backend over plain Python objects.

    Args:
        medium: what to write on; by default an empty one. Another backend on the same one sees the same store.
        indexer: makes the keyword index's text.
        clock, new_id: injectable sources of time and ids.
    """

    path = ":reference:"

    def __init__(
        self, medium: Medium | None = None, indexer: Indexer | None = None, *, clock: Clock | None = None, new_id: IdSource = uuid7
    ) -> None:
        self.medium = medium or Medium()
        self._indexer = indexer or TextIndexer()
        self._clock = clock or SystemClock()
        self._new_id = new_id
        self._closed = False

    @contextmanager
    def _open(self) -> Iterator[Medium]:
        with self.medium.lock:
            if self._closed:
                raise StoreClosed("this store was closed: open it again")
            yield self.medium

    # Writing

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        with self._open() as medium:
            required = [draft.requires for draft in drafts if draft.requires is not None]
            if any(medium.settings.get((name, namespace)) != value for name, namespace, value in required):
                return []
            if medium.device is None:
                medium.device = os.urandom(ID_BYTES)
            head = medium.head(medium.device)
            planner = Planner(medium.view(), head, self._clock.now_us(), new_id=self._new_id)
            if medium.continues is not None:
                planner.plan_device(medium.head(medium.continues))
            written = plan_all(planner, drafts)
            if any(outcome.changed for outcome in written):
                medium.continues = None
                self._write(planner, head)
            medium.epoch += any(outcome.changed and outcome.stale for outcome in written)
        return written

    def _write(self, planner: Planner, head: Head) -> None:
        previous = head.hash
        for planned in planner.planned:
            self.medium.take([_event(planned, planner, head.device, previous)])
            previous = planned.hash
            for vector in (*(planned.vectors or ()), *self._kept_vectors(planned)):
                self.medium.add_vector(planned.version, vector)

    def _kept_vectors(self, planned: Planned) -> list[PartVector]:
        """Those of the state that a revision or restore keeps them of, as it was last indexed."""
        starts = [start for version, start in self.medium.documents if version == planned.vectors_of]
        kept = self.stored_vectors(self.medium.documents[planned.vectors_of or 0, max(starts)]) if starts else []
        if planned.op is Op.RESTORE and any(map(id_bytes, loads(planned.body or "{}").get("context", ()))):
            # Made with its neighbours as they were then.
            return [vector for vector in kept if not vector.part.startswith(CONTEXT_PART)]
        return kept

    def ingest(self, events: Iterable[Event], vectors: Iterable[tuple[bytes, int, PartVector]] = ()) -> Ingested:
        with self._open() as medium:
            now_us = self._clock.now_us()
            was_empty, before = not medium.log, dict(medium.vectors)
            new, known = accepted(medium.log, events, now_us)
            medium.take(new, vectors, with_context=was_empty)
            medium.epoch += bool(new) or medium.vectors != before
        return Ingested(len(new), known)

    def put_vectors(self, vectors: Iterable[tuple[int, PartVector]], context: Mapping[int, ContextRead] | None = None) -> None:
        with self._open() as medium:
            changed = {document for document, read in (context or {}).items() if not medium.still_reads(document, read)}
            for document, vector in vectors:
                if not (document in changed and vector.part.startswith(CONTEXT_PART)):
                    medium.add_vector(document, vector)
            medium.epoch += 1

    def drop_vectors(self, selection: Selection, models: Sequence[str]) -> None:
        with self._open() as medium:
            documents = {row.doc for row in self.select(selection)}
            medium.vectors = {at: data for at, data in medium.vectors.items() if at[0] not in documents or at[2] not in models}
            medium.epoch += 1

    # Reading

    def mark(self) -> Mark:
        with self._open() as medium:
            last = medium.log[-1] if medium.log else None
            return Mark(last.version if last else 0, medium.epoch, last.recorded_at if last else 0)

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        with self._open() as medium:
            found = Mark(0, medium.epoch, 0)
            for event in medium.log:
                if (version is None or event.txn <= version) and (at_ms is None or event.recorded_at <= at_ms):
                    found = Mark(event.version, medium.epoch, event.recorded_at)
        return found

    def select(self, selection: Selection) -> list[Row]:
        with self._open() as medium:
            pieces = medium.view().select(selection)
            return [medium.row(piece) for piece in pieces[selection.offset :][: selection.limit]]

    def rows(self, records: Sequence[bytes], *, version: int | None = None) -> list[Row]:
        return self.select(Selection(namespace=None, version=version, expiry="all", records=tuple(records)))

    def slices(self, selection: Selection) -> list[tuple[Namespace, Scope, int]]:
        with self._open() as medium:
            counted = Counter((piece.standing.namespace, piece.standing.scope) for piece in medium.view().select(selection))
        found = [(namespace, scope, count) for (namespace, scope), count in counted.items()]
        return sorted(found, key=lambda item: (item[0], [(value is not None, value or "") for value in item[1]]))

    def events(
        self, *, after: int = 0, limit: int | None = None, record: bytes | None = None, key: tuple[Namespace, Scope, str] | None = None
    ) -> list[Event]:
        with self._open() as medium:
            found = [event for event in medium.log if event.version > after]
            if record is not None:
                found = [event for event in found if event.record == record]
            elif key is not None:
                records = medium.view().under_key(Slot(*key))
                found = [event for event in found if event.record in records]
        return found[:limit]

    def vectors(self, selection: Selection, models: Sequence[str]) -> list[VectorRow]:
        found = [
            VectorRow(row.standing.record, row.standing.version, vector.part, vector.data, row.standing.expires_at)
            for row in self.select(selection)
            for vector in self.stored_vectors(row.doc)
            if vector.model in models
        ]
        return sorted(found, key=lambda row: (row.record, row.part))

    def size(self, selection: Selection, most: int) -> int:
        return min(len(self.select(replace(selection, limit=None, offset=0))), most)

    def documents(self, selection: Selection) -> Documents:
        import numpy as np

        rows = {row.doc: row.standing for row in self.select(replace(selection, limit=None, offset=0))}
        docs = sorted(rows)
        expires = [rows[doc].expires_at for doc in docs]
        return Documents(
            np.array(docs, np.int64),
            np.array([rows[doc].version for doc in docs], np.int64),
            np.array([FOREVER if moment is None else moment for moment in expires], np.int64),
            np.frombuffer(b"".join(rows[doc].record for doc in docs), np.uint8).reshape(len(docs), ID_BYTES),
        )

    def vector_chunks(self, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
        # Neither in the order in which they are asked for nor in any other that somebody could rely on.
        for start in range(0, len(docs), max(1, rows)):
            chunk = self._chunk(docs[start : start + max(1, rows)], models)
            if len(chunk.docs):
                yield chunk

    def _chunk(self, docs: Integers, models: Sequence[str]) -> VectorChunk:
        import numpy as np

        found = [(doc, vector) for doc in sorted(docs.tolist(), key=str) for vector in self.stored_vectors(doc) if vector.model in models]
        parts = [vector.part for _, vector in found]
        numbers = np.array([doc for doc, _ in found], np.int64)
        return VectorChunk(numbers, parts if any(parts) else None, b"".join(vector.data for _, vector in found))

    def linked(self) -> list[bytes]:
        return sorted({event.record for event in self.events() if neighbours(event)})

    def embedded(self, selection: Selection, models: Sequence[str]) -> Embedded:
        documents = self.documents(selection)
        return Embedded(documents, self._chunk(documents.docs, models), any(neighbours(event) for event in self.events()))

    def models(self) -> list[str]:
        with self._open() as medium:
            return sorted(medium.models)

    def changed(self, after: int) -> set[bytes]:
        return {event.record for event in self.events(after=after)}

    def unembedded(self, selection: Selection, models: Sequence[str], *, context: bool = False) -> list[Row]:
        found = []
        for row in self.select(selection):
            parts = [vector.part for vector in self.stored_vectors(row.doc) if vector.model in models]
            wanted = context and "context" in loads(row.body)
            if not parts or (wanted and not any(part.startswith(CONTEXT_PART) for part in parts)):
                found.append(row)
        return sorted(found, key=lambda row: row.standing.version)

    def stored_vectors(self, doc: int) -> list[PartVector]:
        with self._open() as medium:
            found = [PartVector(part, model, data) for (of, part, model), data in medium.vectors.items() if of == doc]
        return sorted(found, key=lambda vector: (vector.model, vector.part))

    def dependents(self, records: Sequence[bytes]) -> list[Row]:
        with self._open() as medium:
            rows = [medium.row(piece) for piece in medium.view().with_context_of(records)]
        return sorted(rows, key=lambda row: row.standing.version)

    def votes(self, records: Sequence[bytes], *, version: int | None = None) -> dict[bytes, list[str]]:
        found: dict[bytes, list[str]] = {}
        for event in self.events():
            if event.op is Op.VOTE and event.record in records and event.payload and (version is None or event.version <= version):
                found.setdefault(event.record, []).append(event.payload.fields["vote"])
        return found

    def setting(self, name: str, value: str | None = None, *, namespace: Namespace | None = None) -> str | None:
        with self._open() as medium:
            if value is not None:
                medium.settings[name, namespace] = value
            return medium.settings.get((name, namespace))

    # Caches

    def cache_get(self, namespace: Namespace, keys: Sequence[str] | None, now_ms: int) -> list[CacheEntry]:
        with self._open() as medium:
            entries = [entry for place, entry in sorted(medium.cache.items()) if place[0] == namespace]
        live = [entry for entry in entries if entry.expires_at is None or entry.expires_at > now_ms]
        return [entry for entry in live if keys is None or entry.key in keys]

    def cache_put(self, namespace: Namespace, entries: Sequence[CacheEntry], remove: Sequence[str] = ()) -> None:
        with self._open() as medium:
            medium.cache |= {(namespace, entry.key): entry for entry in entries}
            for key in remove:
                medium.cache.pop((namespace, key), None)

    # Upkeep

    def verify(self) -> Report:
        problems = []
        heads: dict[bytes, tuple[int, bytes]] = {}
        log = self.events()
        purged = {event.record for event in log if event.op is Op.PURGE}
        for version, event in enumerate(log, 1):
            seq, digest = heads.get(event.device, (0, CHAIN_START))
            heads[event.device] = event.seq, event.hash
            if (event.version, event.seq, event.previous, event.hash) != (version, seq + 1, digest, event.computed_hash()):
                problems.append(f"event {version}: it does not follow from the one before it")
            if not event.payload_matches() or ((event.payload is None) != (event.commitment is None) and event.record not in purged):
                problems.append(f"event {version}: its text is not the one that was written")
        ends = {device.hex(): (seq, digest.hex()) for device, (seq, digest) in heads.items()}
        return Report(not problems, len(log), ends, tuple(problems))

    def rebuild(self) -> None:
        with self._open() as medium:
            medium.epoch += 1

    def statistics(self) -> dict[str, Any]:
        now_ms = self._clock.now_us() // 1000
        with self._open() as medium:
            view = medium.view()
            current = view.current.values()
            return {
                "path": self.path,
                "version": len(medium.log),
                "epoch": medium.epoch,
                "records": len(current),
                "live": sum(row.visible and not row.expired(now_ms) for row in current),
                "expired": sum(row.visible and row.expired(now_ms) for row in current),
                "forgotten": sum(not row.visible for row in current),
                "purged": len(view.purged),
                "devices": len({event.device for event in medium.log}),
                "vectors": dict(sorted(Counter(model for _, _, model in medium.vectors).items())),
                "bytes": 0,
                "schema": 0,
                "engine": "reference",
                "pragmas": {},
            }

    def close(self) -> None:
        self._closed = True


def _event(planned: Planned, planner: Planner, device: bytes, previous: bytes) -> Event:
    payload = None if planned.salt is None or planned.body is None else Payload(planned.salt, planned.body)
    return Event(
        planned.version,
        planner.head.version,
        planner.recorded_at,
        device,
        planned.seq,
        previous,
        planned.clock,
        planned.op,
        planned.record,
        planned.commitment,
        planned.expires_at,
        planned.hash,
        payload,
    )
