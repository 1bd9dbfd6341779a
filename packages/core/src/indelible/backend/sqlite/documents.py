"""Index documents: what text of a record the keyword index holds, and over which versions.

A document usually is a state event's own text, under that event's version. A record with ``context`` is indexed together with its
neighbours' text; when a neighbour changes, is forgotten or purged, the record's row of the state view is split there and the later
part gets a document of its own, under a negative number, so that reads of the past still see what was indexed then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from indelible.backend.interface import ContextRead, Indexer
from indelible.backend.sqlite.packs import Packs
from indelible.backend.sqlite.postings import Postings
from indelible.backend.sqlite.schema import queries
from indelible.base.canonical import loads
from indelible.base.draft import CONTEXT_PART as CONTEXT_PART
from indelible.base.ids import id_bytes


class _Row(NamedTuple):
    """A row of the state view, as stored."""

    record: bytes
    live_from: int
    live_to: int
    version: int
    doc: int
    slice: int
    key: str | None
    parent: str | None
    visible: int
    created: int
    updated: int
    expires_at: int | None


class Documents:
    """The index documents of one write transaction."""

    def __init__(self, connection: sqlite3.Connection, indexer: Indexer) -> None:
        self._connection = connection
        self._indexer = indexer
        self._sql = queries()
        self.stem = indexer.stem
        self.postings = Postings(connection, indexer.stem)
        self.packs = Packs(connection)
        # Documents of rows that are being made anew, by version and beginning.
        self._known: dict[tuple[int, int], int] = {}
        # Whether any record here is indexed with others' text; None: not looked up yet. Most stores have none, and every write asks.
        self._linked: bool | None = None

    # Text

    def text(self, body: str, slice_id: int, at: int) -> str:
        """What of a payload is searched, with its context as it stood at a version."""
        fields = _searched_fields(body)
        if fields is None:
            return ""
        own = str(fields.get("content", "") or "\n".join(part["text"] for part in fields.get("parts", ())))
        entries = fields.get("context", ())
        if not entries:
            return own
        return "\n".join([own, *(text for entry in entries if (text := self._entry_text(entry, slice_id, at)))])

    def _entry_text(self, entry: str, slice_id: int, at: int) -> str:
        record = id_bytes(entry)
        if record is None:
            return entry
        # Only of the same slice: a context must not bring another scope's words into this one's index.
        row = self._connection.execute(self._sql["neighbour_body"], (record, slice_id, at, at)).fetchone()
        return "" if row is None else str(loads(row[0]).get("content", ""))

    def words(self, text: str) -> str:
        """What the index should hold of a text."""
        return self._indexer.words(text) if text else ""

    # The index

    def index(self, doc: int, record: bytes, slice_id: int, body: str, at: int) -> None:
        """Index a payload's text, if it has any, under a document number, and note its neighbours."""
        words = self.read_words(record, slice_id, body, at)
        if words:
            self.add([(doc, words)])

    def read_words(self, record: bytes, slice_id: int, body: str, at: int) -> str:
        """The words to index of a payload's text, whose neighbours are noted."""
        text = self.text(body, slice_id, at)
        if not text:
            return ""
        for neighbour in _neighbours(body):
            self._connection.execute(self._sql["add_neighbour"], (neighbour, record))
            self._linked = True
        return self._indexer.words(text)

    def add(self, documents: Sequence[tuple[int, str]]) -> None:
        """Index the words of documents that are not indexed."""
        rows = [(doc, words, words.count(" ") + 1) for doc, words in documents]
        if len(rows) == 1:
            self._connection.execute(self._sql["add_keyword"], rows[0])
        elif rows:
            self._connection.executemany(self._sql["add_keyword"], rows)
        for doc, words in documents:
            self.postings.add(doc, words)

    def unindex(self, doc: int) -> None:
        """Take a document out of the index, with exactly the text that went in, or the index would rot."""
        row = self._connection.execute(self._sql["find_keyword"], (doc,)).fetchone()
        if row is not None:
            self.postings.remove(doc, row[0])
            self._connection.execute(self._sql["drop_keyword"], (doc,))

    def drop(self, doc: int) -> None:
        """Remove a document and its vectors."""
        self.unindex(doc)
        self.packs.remove([doc])

    def drop_record(self, record: bytes) -> None:
        """Remove every document of a record, and its part in others'."""
        docs = {row[0] for row in self._connection.execute(self._sql["docs_of_record"], (record,))}
        docs |= {row[0] for row in self._connection.execute(self._sql["event_versions"], (record,))}
        for doc in docs:
            self.unindex(doc)
        self.packs.remove(docs)
        self._connection.execute(self._sql["drop_neighbours"], (record, record))

    # Context

    def still_reads(self, doc: int, read: ContextRead) -> bool:
        """Whether the context of a document is what it was when somebody read it."""
        row = self._connection.execute(self._sql["place_of_document"], (read.record, doc)).fetchone()
        return row is not None and all(text == self._entry_text(entry, row[0], row[1]) for entry, text in read.texts)

    def dependents(self, record: bytes) -> list[bytes]:
        """Records that are indexed with this one's text."""
        if not self._has_links():
            return []
        return [row[0] for row in self._connection.execute(self._sql["dependents"], (record,)).fetchall()]

    def has_context(self, record: bytes) -> bool:
        """Whether a record is, or was, indexed with the text of others."""
        return self._has_links() and self._connection.execute(self._sql["has_context"], (record,)).fetchone() is not None

    def _has_links(self) -> bool:
        if self._linked is None:
            self._linked = self._connection.execute(self._sql["has_neighbours"]).fetchone() is not None
        return self._linked

    def refresh(self, records: Iterable[bytes], *, purged: bool = False) -> None:
        """Split and index records with context anew, wherever their neighbours changed.

        Args:
            records: which.
            purged: a neighbour was purged: no vector that was made with context may stay.
        """
        done = False
        for record in dict.fromkeys(records):
            rows = [_Row(*row) for row in self._connection.execute(self._sql["states_of_record"], (record,)).fetchall()]
            if not rows:
                continue
            done = True
            self._rewrite(record, rows, purged)
        if done:
            # These records changed without an event of their own, which caches that follow events would not notice.
            self._connection.execute(self._sql["raise_epoch"])

    def _rewrite(self, record: bytes, old: Sequence[_Row], purged: bool) -> None:
        base = _merged(old)
        numbers = {(row.version, row.live_from): row.doc for row in old}
        kept: set[int] = set()
        self._connection.execute(self._sql["drop_states"], (record,))
        for version in dict.fromkeys(row.version for row in base):
            rows = [row for row in base if row.version == version]
            body = self._body(version)
            starts = [rows[0].live_from, *self._changes(body, rows)] if body and any(row.visible for row in rows) else [rows[0].live_from]
            docs = {starts[0]: version}
            fresh: set[int] = set()
            for start in starts[1:]:
                known = self._known.pop((version, start), None) or numbers.get((version, start), version)
                docs[start] = self._new_number() if known == version else known
                fresh |= {docs[start]} if known == version else set()
            for row in _cut(rows, starts):
                start = max(start for start in starts if start <= row.live_from)
                self._connection.execute(self._sql["add_state"], row._replace(doc=docs[start]))
            for start, doc in docs.items():
                kept.add(doc)
                self._index_again(doc, version, rows[0], body, start, is_new=doc in fresh, purged=purged)
        for doc in {row.doc for row in old} - kept:
            self.drop(doc)

    def keep_numbers(self, record: bytes | None = None) -> None:
        """Before rows of a record, or (``None``) all rows, are made anew: let them keep the documents that context gave them."""
        query = self._sql["split_documents"] if record is None else self._sql["split_documents_of_record"]
        for version, live_from, doc in self._connection.execute(query, () if record is None else (record,)).fetchall():
            self._known.setdefault((version, live_from), doc)

    def drop_unused(self) -> None:
        """After that: drop the documents that no row has any more."""
        for doc in set(self._known.values()):
            if self._connection.execute(self._sql["document_in_use"], (doc,)).fetchone() is None:
                self.drop(doc)
        self._known.clear()

    def _index_again(self, doc: int, version: int, row: _Row, body: str, start: int, *, is_new: bool, purged: bool) -> None:
        if not body or not row.visible:
            return
        self.unindex(doc)
        self.index(doc, row.record, row.slice, body, start)
        if is_new:
            self.packs.copy(version, doc)
        if is_new or purged:
            self.packs.remove_parts(doc, CONTEXT_PART)

    def _changes(self, body: str, rows: Sequence[_Row]) -> list[int]:
        """Versions at which a neighbour changed while these rows held."""
        found: set[int] = set()
        first, last = rows[0].live_from, rows[-1].live_to
        for neighbour in _neighbours(body):
            before: tuple[int, int] | None = None
            for version, visible, live_from, slice_id in self._connection.execute(self._sql["neighbour_states"], (neighbour,)).fetchall():
                if slice_id != rows[0].slice:
                    continue
                if (version, visible) != before and first < live_from < last:
                    found.add(live_from)
                before = (version, visible)
        return sorted(found)

    def _body(self, version: int) -> str:
        row = self._connection.execute(self._sql["body"], (version,)).fetchone()
        return "" if row is None else str(row[0])

    def _new_number(self) -> int:
        # Counted down in meta: a document without words or vectors stands in no table that could be asked.
        number = int((self._connection.execute(self._sql["meta"], ("least_document",)).fetchone() or (0,))[0]) - 1
        self._connection.execute(self._sql["set_meta"], ("least_document", number))
        return number


def _merged(rows: Sequence[_Row]) -> list[_Row]:
    """Rows without the splits that context made."""
    found: list[_Row] = []
    for row in rows:
        if found and found[-1]._replace(live_from=0, live_to=0, doc=0) == row._replace(live_from=0, live_to=0, doc=0):
            found[-1] = found[-1]._replace(live_to=row.live_to)
        else:
            found.append(row)
    return found


def _cut(rows: Sequence[_Row], starts: Sequence[int]) -> list[_Row]:
    """Rows cut at the given versions."""
    found = []
    for row in rows:
        edges = [row.live_from, *(start for start in starts if row.live_from < start < row.live_to), row.live_to]
        found += [row._replace(live_from=edges[i], live_to=edges[i + 1]) for i in range(len(edges) - 1)]
    return found


def _searched_fields(body: str) -> dict[str, Any] | None:
    # Payloads without text are common, and reading them would cost every write.
    if '"content":' not in body and '"parts":' not in body:
        return None
    fields: dict[str, Any] = loads(body)
    return fields


def has_neighbours(body: str) -> bool:
    """Whether a payload has other records that are indexed with it."""
    return bool(_neighbours(body))


def _neighbours(body: str) -> list[bytes]:
    if '"context":' not in body:
        return []
    return [record for entry in loads(body).get("context", ()) if (record := id_bytes(entry)) is not None]
