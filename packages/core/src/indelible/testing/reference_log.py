"""What the in-memory reference keeps."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from indelible.backend.interface import CacheEntry, ContextRead, Row
from indelible.base.draft import CONTEXT_PART, Head, PartVector
from indelible.base.event import CHAIN_START, Event, Op
from indelible.base.record import Namespace
from indelible.testing.reference_view import Piece, View, has_context, neighbours


@dataclass
class Medium:
    """What would lie on a disk: it outlives the backend that writes it, and two backends may share one.

    Attributes:
        log: every event, its payload with it until a purge.
        documents: the number of what is indexed, by version and where it begins.
        vectors: data by (document, part, model).
        models: names of all that ever made a vector.
        settings: text by name and namespace; ``None`` for those of the whole store.
        cache: entries of cache collections by (namespace, key).
        device: who writes here; ``None`` before the first write.
        continues: for a copy that has not written yet, the device it was copied from.
        epoch: rises whenever what was derived must be derived anew.
    """

    log: list[Event] = field(default_factory=list)
    documents: dict[tuple[int, int], int] = field(default_factory=dict)
    vectors: dict[tuple[int, str, str], bytes] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    settings: dict[tuple[str, Namespace | None], str] = field(default_factory=dict)
    cache: dict[tuple[Namespace, str], CacheEntry] = field(default_factory=dict)
    device: bytes | None = None
    continues: bytes | None = None
    epoch: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    _view: View | None = None

    def view(self) -> View:
        """How everything stands now; derived anew after each write."""
        with self.lock:
            if self._view is None:
                self._view = View(self.log)
            return self._view

    def copied(self) -> Medium:
        """What copying a file makes: the same contents, and another device before the first write."""
        with self.lock:
            return Medium(
                log=list(self.log),
                documents=dict(self.documents),
                vectors=dict(self.vectors),
                models=set(self.models),
                settings=dict(self.settings),
                cache=dict(self.cache),
                continues=self.device if self.continues is None else self.continues,
                epoch=self.epoch,
            )

    def head(self, device: bytes) -> Head:
        """Where the log ends, and where a device's chain does."""
        last = self.log[-1] if self.log else None
        clock = max((event.clock for event in self.log), default=0)
        own = [event for event in self.log if event.device == device]
        seq, digest = (own[-1].seq, own[-1].hash) if own else (0, CHAIN_START)
        return Head(last.version if last else 0, last.recorded_at if last else 0, clock, device, seq, digest)

    def take(self, events: Sequence[Event], vectors: Iterable[tuple[bytes, int, PartVector]] = (), *, with_context: bool = True) -> None:
        """Append events with their vectors, and destroy the clear text of every record that any event purges.

        Args:
            events: in order, with their versions.
            vectors: by device and sequence number.
            with_context: also those that embed neighbours, which are right only where these stand as they stood.
        """
        self.log.extend(events)
        purged = {event.record for event in self.log if event.op is Op.PURGE}
        if now := purged.intersection(event.record for event in events):
            self._destroy(purged, now)
        self._view = None
        known = {(event.device, event.seq): event for event in self.log}
        for device, seq, vector in vectors:
            event = known.get((device, seq))
            if event is not None and (with_context or not (vector.part.startswith(CONTEXT_PART) and has_context(event))):
                self.add_vector(event.version, vector)
        self._number_documents()

    def _destroy(self, purged: set[bytes], now: set[bytes]) -> None:
        beside = {event.record for event in self.log if not now.isdisjoint(neighbours(event))}
        self.log[:] = [replace(e, payload=None) if e.record in purged and e.op is not Op.PURGE else e for e in self.log]
        records = {document: self.log[version - 1].record for (version, _), document in self.documents.items()}
        records |= {event.version: event.record for event in self.log}
        self.vectors = {
            place: data
            for place, data in self.vectors.items()
            if records[place[0]] not in purged and not (place[1].startswith(CONTEXT_PART) and records[place[0]] in beside)
        }
        # The name of a namespace, too, may be somebody's secret.
        left = {piece.standing.namespace for piece in View(self.log).pieces}
        self.settings = {
            (name, namespace): value
            for (name, namespace), value in self.settings.items()
            if namespace is None or any(place[: len(namespace)] == namespace for place in left)
        }
        self.epoch += 1

    def _number_documents(self) -> None:
        """Give what is indexed since a neighbour changed a document of its own, with the vectors that do not embed the neighbour."""
        for piece in self.view().pieces:
            version, first = piece.standing.version, (piece.standing.version, piece.start)
            if first in self.documents:
                continue
            is_first = not any(known == version for known, _ in self.documents)
            self.documents[first] = version if is_first else min(0, *self.documents.values()) - 1
            if not is_first:
                kept = {
                    place: data for place, data in self.vectors.items() if place[0] == version and not place[1].startswith(CONTEXT_PART)
                }
                self.vectors |= {(self.documents[first], part, model): data for (_, part, model), data in kept.items()}
                self.epoch += 1

    def row(self, piece: Piece) -> Row:
        """What a read returns of a piece."""
        version = piece.standing.version
        return Row(piece.standing, self.view().body(version), self.documents[version, piece.start])

    def still_reads(self, document: int, read: ContextRead) -> bool:
        """Whether the context of a document is what it was when somebody read it."""
        view = self.view()
        places = [piece.standing for piece in view.pieces if self.documents[piece.standing.version, piece.start] == document]
        return bool(places) and all(text == view.entry_text(entry, places[0], places[0].live_from) for entry, text in read.texts)

    def add_vector(self, document: int, vector: PartVector) -> None:
        """Keep a vector, unless what it stands for is gone."""
        versions = {number: version for (version, _), number in self.documents.items()}
        version = versions.get(document, document)
        if 0 < version <= len(self.log) and self.log[version - 1].payload is not None:
            self.vectors[document, vector.part, vector.model] = vector.data
            self.models.add(vector.model)
