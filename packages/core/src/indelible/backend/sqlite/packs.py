"""Vectors that lie together: of some documents of one slice, one after another in one row of ``pack``.

A slice is read by as few rows as may be, for each row of its own lies on another page. New vectors wait in ``vector``, a row each, until so
many documents of their slice wait that they fill a pack; a batch that brings as many at once packs them straight away. A document's vectors
of one model lie together or wait together. What is no longer live when its slice is packed stays where it is, and so does what comes after
its record was written, until the store is vacuumed or rebuilt. To change a packed document's vectors is to take them out of their pack.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from indelible.backend.sqlite.schema import queries
from indelible.base.plan import PartVector
from indelible.base.standing import FOREVER

PACK = 16
"""So many vectors make a pack: of 256 numbers each they fill four pages, and what belongs to them one eighth of a page."""
MOST_BYTES = 1 << 20
"""No document with more waits to be packed, and no pack that is this large takes another."""
MOST_WAITING = 1024
"""So many of a slice's newest documents are looked at by one write, besides its own."""
VECTOR_BITS = 20
"""The waiting vectors of a document are numbered from its own number, shifted by so much."""
_READ_TOGETHER = 64
_TAKEN_TOGETHER = 10_000
_NUMBER = 8

Vector = tuple[str, int, bytes]
"""The name of a part, the number of a model, and the numbers themselves."""
_DOC = itemgetter(0)
_BY_MODEL_AND_PART = itemgetter(1, 0)


def is_turn(doc: int) -> bool:
    """Whether the write of a document looks for what waits in its slice: one in ``PACK`` does, also where slices take turns."""
    return (doc * 0x9E3779B1) % (1 << 32) < (1 << 32) // PACK


class Packs:
    """The packs, as a write transaction sees them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sql = queries()
        self._groups: dict[tuple[int, int, int], _Group] = {}
        self._expected = 0
        # Slices that this transaction is to look through.
        self._due: set[int] = set()

    # New documents

    def expect(self, events: int) -> None:
        """Say of how many events the next write is; where they may fill packs, their vectors do not wait."""
        self._expected = events

    def add(self, slice_id: int, doc: int, vectors: Sequence[Vector]) -> None:
        """Write the vectors of a new document; ``pack_due`` must follow."""
        if self._expected < PACK or not self._pack(slice_id, doc, vectors):
            self._wait(doc, vectors)
        if is_turn(doc):
            self._due.add(slice_id)

    def pack_due(self) -> None:
        """At the end of a write: pack what waits in the slices whose turn it is."""
        self._settle()
        if self._due:
            due, self._due = self._due, set()
            for slice_id in due:
                self.pack(slice_id, MOST_WAITING + self._expected)

    def _settle(self) -> None:
        """Let wait what has not filled a pack."""
        while self._groups:
            _, group = self._groups.popitem()
            for doc, vectors in group.documents():
                self._wait(doc, vectors)

    def _pack(self, slice_id: int, doc: int, vectors: Sequence[Vector], *, waits: bool = False) -> bool:
        """Put a document into a pack, which is written once it is full; says whether it may be.

        Args:
            slice_id, doc, vectors: what to pack.
            waits: the vectors stand in ``vector`` until then.
        """
        kind = _kind(vectors)
        if kind is None:
            return False
        group = self._groups.get((slice_id, *kind))
        if group is None:
            group = self._groups[(slice_id, *kind)] = _Group()
        group.add(doc, vectors)
        if len(group.docs) >= PACK or group.size >= MOST_BYTES:
            del self._groups[(slice_id, *kind)]
            self._write(slice_id, kind[0], group)
            if waits:
                self._connection.executemany(self._sql["drop_vectors"], [(doc,) for doc in dict.fromkeys(group.docs)])
        return True

    def _write(self, slice_id: int, model: int, group: _Group) -> None:
        row = (slice_id, model, *group.columns())
        pack = self._connection.execute(self._sql["add_pack"], row).lastrowid
        self._connection.executemany(self._sql["add_packed"], [(doc, pack) for doc in dict.fromkeys(group.docs)])

    def _wait(self, doc: int, vectors: Sequence[Vector]) -> None:
        first = doc << VECTOR_BITS
        for number, (part, model, data) in enumerate(vectors, first):
            self._connection.execute(self._sql["add_vector"], (number, part, model, bytearray(data)))

    # Documents that wait

    def pack(self, slice_id: int, most: int = FOREVER) -> None:
        """Pack what waits in a slice and is live.

        Args:
            slice_id: the slice.
            most: so many documents are looked at, the newest ones, and none that is older than the last pack; all of them by default.
        """
        after = 0 if most == FOREVER else self._last_packed(slice_id)
        rows = self._connection.execute(self._sql["unpacked_documents"], (slice_id, after, most)).fetchall()
        # Several vectors of a document make a pack of fewer; but then it may wait for more.
        if most != FOREVER and len(rows) < PACK:
            return
        docs = sorted({row[0] for row in rows})
        for start in range(0, len(docs), _READ_TOGETHER):
            for doc, vectors in self._waiting(docs[start : start + _READ_TOGETHER]):
                self._pack(slice_id, doc, vectors, waits=True)
        # The vectors of those that fill no pack still stand where they were.
        self._groups.clear()

    def pack_everything(self) -> None:
        """Pack what waits and is live, slice by slice."""
        for (slice_id,) in self._connection.execute(self._sql["all_slices"]).fetchall():
            self.pack(slice_id)

    def _last_packed(self, slice_id: int) -> int:
        """The first document of the last pack: since then others may have been left that did not fit into it."""
        row = self._connection.execute(self._sql["last_pack"], (slice_id,)).fetchone()
        return 0 if row is None else _numbers(row[0])[0]

    def _waiting(self, docs: Sequence[int]) -> Iterator[tuple[int, list[Vector]]]:
        rows = self._connection.execute(self._sql["vectors_of_documents"], (json.dumps(docs),)).fetchall()
        for doc, group in groupby(rows, _DOC):
            yield doc, [(part, model, data) for _, part, model, data in group]

    # Changes

    def copy(self, source: int, doc: int) -> None:
        """Give a document the vectors of another."""
        self._settle()
        rows = self._connection.execute(self._sql["vectors_of"], (source,)).fetchall()
        packed = self._connection.execute(self._sql["pack_of_document"], (source,)).fetchone()
        if packed is not None:
            rows += [vector for owner, vector in unpacked(*packed) if owner == source]
        if rows:
            self.loosen([doc])
            self._connection.executemany(self._sql["set_vector"], [(doc, *row) for row in rows])

    def remove(self, docs: Collection[int]) -> None:
        """Delete every vector of some documents."""
        self.take_out(docs)
        self._connection.executemany(self._sql["drop_vectors"], [(doc,) for doc in docs])

    def remove_parts(self, doc: int, prefix: str) -> None:
        """Delete the vectors of a document's parts whose names begin so."""
        self._settle()
        packed = self._connection.execute(self._sql["pack_of_document"], (doc,)).fetchone()
        if packed is not None and any(owner == doc and vector[0].startswith(prefix) for owner, vector in unpacked(*packed)):
            self.loosen([doc])
        self._connection.execute(self._sql["drop_parts"], (doc, prefix + "*"))

    def take_out(self, docs: Collection[int], models: Mapping[int, Collection[int]] | None = None) -> list[tuple[int, Vector]]:
        """Take documents out of their packs; gives the vectors they had there.

        Args:
            docs: which; those that are in none are passed over.
            models: for each only out of a pack of these; of any by default.
        """
        self._settle()
        taken: list[tuple[int, Vector]] = []
        ordered = sorted(docs)
        for start in range(0, len(ordered), _TAKEN_TOGETHER):
            listed = json.dumps(ordered[start : start + _TAKEN_TOGETHER])
            rows = self._connection.execute(self._sql["packs_of_documents"], (listed,)).fetchall()
            wanted: dict[int, set[int]] = {}
            for doc, pack, model in rows:
                if models is None or model in models[doc]:
                    wanted.setdefault(pack, set()).add(doc)
            for pack, gone in wanted.items():
                taken += self._take_out_of(pack, gone)
        return taken

    def _take_out_of(self, pack: int, gone: set[int]) -> list[tuple[int, Vector]]:
        model, docs, parts, data = self._connection.execute(self._sql["pack"], (pack,)).fetchone()
        kept, taken = _Group(), []
        for doc, vector in unpacked(model, docs, parts, data):
            if doc in gone:
                taken.append((doc, vector))
            else:
                kept.add(doc, [vector])
        if kept.docs:
            self._connection.execute(self._sql["set_pack"], (*kept.columns(), pack))
        else:
            self._connection.execute(self._sql["drop_pack"], (pack,))
        self._connection.executemany(self._sql["drop_packed"], [(doc,) for doc in gone])
        return taken

    def loosen(self, docs: Collection[int], models: Mapping[int, Collection[int]] | None = None) -> None:
        """Let the vectors of documents, or those of some models of each, wait again, so that they can be changed one by one."""
        for doc, vector in self.take_out(docs, models):
            self._connection.execute(self._sql["set_vector"], (doc, *vector))

    def join_anew(self) -> None:
        """After the views were made anew: note again which documents lie where, give every pack its slice, and pack what waits."""
        self._connection.execute(self._sql["clear_packed"])
        for pack, slice_id, docs in self._connection.execute(self._sql["all_packs"]).fetchall():
            numbers = _numbers(docs)
            self._connection.executemany(self._sql["note_packed"], [(doc, pack) for doc in numbers])
            slices = slices_of_document(self._connection, numbers[0]) if numbers else []
            if slices and slice_id not in slices:
                self._connection.execute(self._sql["move_pack"], (slices[0], pack))
        self.pack_everything()


class _Group:
    """Vectors that are to lie together, those of a document one after another."""

    def __init__(self) -> None:
        self.docs: list[int] = []
        self.size = 0
        self._parts: list[str] = []
        self._data: list[bytes] = []
        self._model = 0

    def add(self, doc: int, vectors: Sequence[Vector]) -> None:
        for part, model, data in vectors:
            self.docs.append(doc)
            self._parts.append(part)
            self._data.append(data)
            self.size += len(data)
            self._model = model

    def documents(self) -> Iterator[tuple[int, list[Vector]]]:
        """What was added."""
        rows = zip(self.docs, self._parts, self._data, strict=True)
        for doc, group in groupby(rows, _DOC):
            yield doc, [(part, self._model, data) for _, part, data in group]

    def columns(self) -> tuple[bytearray, str | None, bytearray]:
        """The documents, parts and data of the pack they make."""
        parts = json.dumps(self._parts, ensure_ascii=False) if any(self._parts) else None
        return bytearray(struct.pack(f">{len(self.docs)}q", *self.docs)), parts, bytearray().join(self._data)


def _kind(vectors: Sequence[Vector]) -> tuple[int, int] | None:
    """The model and the length that all vectors of a document share; ``None`` if they do not, or are too large: such are not packed."""
    if not vectors:
        return None
    model, length = vectors[0][1], len(vectors[0][2])
    if not 0 < length * len(vectors) <= MOST_BYTES:
        return None
    if len(vectors) > 1 and any(vector[1] != model or len(vector[2]) != length for vector in vectors):
        return None
    return model, length


def _numbers(docs: bytes) -> tuple[int, ...]:
    number = len(docs) // _NUMBER
    return struct.unpack(f">{number}q", docs[: number * _NUMBER])


def unpacked(model: int, docs: bytes, parts: str | None, data: bytes) -> Iterator[tuple[int, Vector]]:
    """The vectors of a pack, each with its document."""
    numbers = _numbers(docs)
    names = [""] * len(numbers) if parts is None else json.loads(parts)
    length = len(data) // len(numbers)
    for at, (doc, name) in enumerate(zip(numbers, names, strict=True)):
        yield doc, (name, model, data[at * length : (at + 1) * length])


def pack_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """Where packs say something else than the rest of the store."""
    seen: dict[int, int] = {}
    for pack, slice_id, docs, parts, size in connection.execute(queries()["measured_packs"]):
        numbers = _numbers(docs) if len(docs) % _NUMBER == 0 else ()
        if not numbers or not size or size % len(numbers) or (parts is not None and len(json.loads(parts)) != len(numbers)):
            yield f"pack {pack} does not hold what it lists"
        for doc in dict.fromkeys(numbers):
            if seen.setdefault(doc, pack) != pack:
                yield f"version {doc} has vectors in two packs, {seen[doc]} and {pack}"
            slices = slices_of_document(connection, doc)
            if not slices:
                yield f"pack {pack} holds vectors of version {doc}, which no record has"
            elif slice_id not in slices:
                yield f"pack {pack} is not of the slice of version {doc}: rebuild"
    known = dict(connection.execute("SELECT doc, pack FROM packed").fetchall())
    for doc in sorted({doc for doc, _ in known.items() ^ seen.items()}):
        yield f"version {doc}: where its vectors lie is noted wrongly: rebuild"
    for doc, model in connection.execute(queries()["doubled_vectors"]):
        yield f"version {doc} has vectors of model {model} in a pack and outside"


def slices_of_document(connection: sqlite3.Connection, doc: int) -> list[int]:
    """Where the record of a document stands."""
    return [row[0] for row in connection.execute(queries()["slice_of_document"], (doc,)).fetchall()]


def stored_vectors(connection: sqlite3.Connection, doc: int) -> list[PartVector]:
    """Every vector of a document, by model and part."""
    rows = connection.execute(queries()["vectors_of"], (doc,)).fetchall()
    packed = connection.execute(queries()["pack_of_document"], (doc,)).fetchone()
    if packed is not None:
        rows += [vector for owner, vector in unpacked(*packed) if owner == doc]
    if not rows:
        return []
    models = json.dumps(list({model for _, model, _ in rows}))
    names = dict(connection.execute(queries()["model_names"], (models,)).fetchall())
    return sorted((PartVector(part, names[model], data) for part, model, data in rows), key=_BY_MODEL_AND_PART)


def packed_vectors(connection: sqlite3.Connection, packs: Collection[int], models: str) -> dict[int, list[tuple[str, bytes]]]:
    """The vectors of some packs by document, each with its part.

    Args:
        connection: with the snapshot that is read.
        packs: their numbers.
        models: those that count, by name, as a JSON array.
    """
    found: dict[int, list[tuple[str, bytes]]] = {}
    for row in connection.execute(queries()["packs"], (json.dumps(list(packs)), models)):
        for doc, (part, _, data) in unpacked(*row):
            found.setdefault(doc, []).append((part, data))
    return found
