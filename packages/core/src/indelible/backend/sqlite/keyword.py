"""Candidates from the keyword index, and how often words occur."""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from indelible.backend.interface import Corpus, CountedRecords, Document, Found, Occurrences, Selection
from indelible.backend.sqlite.columns import columns_by_hand, columns_in_steps
from indelible.backend.sqlite.postings import BEYOND, CHUNK_BITS, CHUNK_MASK, Waiting, postings
from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.selection import Conditions, state_conditions
from indelible.backend.sqlite.vectors import joins_bytes
from indelible.base.ids import ID_BYTES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_LISTED = 4096
"""Of a selection of no more records than this the documents are listed, and words looked up for these alone."""
MAX_RESOLVED = 20_000
"""More candidates than this are found by going through the selection, not one by one."""
Terms = Sequence[Sequence[Sequence[str]]]
_Place = tuple[bytes, int, int]
"""A record's state in a selection: the record, the version, and the document."""


def find_candidates(
    connection: sqlite3.Connection, selection: Selection, terms: Terms, match: Literal["all", "any"], waiting: Waiting
) -> list[Found]:
    """Documents of a selection that hold the words of the terms; phrases are checked by the caller."""
    if not terms:
        return []
    places = _places(connection, selection, MAX_LISTED + 1)
    if len(places) <= MAX_LISTED:
        holders = _Holders(connection, terms, waiting, {place[2] for place in places})
        docs = _matching(terms, match, holders)
        places = [place for place in places if place[2] in docs]
    else:
        docs = _matching(terms, match, _Holders(connection, terms, waiting, None))
        if len(docs) > MAX_RESOLVED:
            places = [place for place in _places(connection, selection, -1) if place[2] in docs]
        else:
            places = [(found.record, found.version, found.doc) for found in resolve(connection, selection, list(docs))]
    texts = _texts(connection, [place[2] for place in places])
    found = {(record, version): Found(record, version, texts[doc]) for record, version, doc in places if doc in texts}
    return list(found.values())


def count_in(
    connection: sqlite3.Connection, selection: Selection, terms: Sequence[Sequence[str]], waiting: Waiting, lengths: bool
) -> CountedRecords | None:
    """The records of a small selection in which any term occurs, counted in the index; ``None`` of a larger one."""
    places = _joined_places(connection, selection, lengths)
    if places is None:
        return None
    docs = places.docs
    names = {word for term in terms for word in term}
    late = waiting.counts(connection, names, set(docs))
    rows: Iterable[tuple[str, int, bytes]] = ()
    if docs:
        listed = json.dumps([*names, *(name + BEYOND for name in names)])
        rows = connection.execute(queries()["postings_among"], (listed, min(docs) >> CHUNK_BITS, max(docs) >> CHUNK_BITS))
    # Loading numpy for one question would take longer than all else.
    hits, counts = (columns_in_steps if "numpy" in sys.modules else columns_by_hand)(terms, docs, rows, late)
    return CountedRecords(
        [places.records[ID_BYTES * hit : ID_BYTES * (hit + 1)] for hit in hits],
        [places.versions[hit] for hit in hits],
        counts,
        [places.lengths[hit] for hit in hits] if lengths else [0] * len(hits),
        # Whatever is indexed has a word.
        Corpus(len(docs) - places.lengths.count(0), sum(places.lengths)) if lengths else None,
    )


class _Joined(NamedTuple):
    """The states of a selection: their records, one after the other, versions, documents, and how many words these have."""

    records: bytes
    versions: list[int]
    docs: list[int]
    lengths: list[int]


def _joined_places(connection: sqlite3.Connection, selection: Selection, lengths: bool) -> _Joined | None:
    """The states of a small selection, with lengths if they are needed; ``None`` of a larger one."""
    where, join = _conditions(selection)
    records = "CAST(group_concat(record, '') AS BLOB)" if joins_bytes() else "group_concat(hex(record), '')"
    length, joined = ("", "'[]'")
    if lengths:
        length, joined, join = ", ifnull(k.length, 0) AS length", "json_group_array(length)", f"{join} LEFT JOIN keyword k ON k.doc = s.doc"
    # Numbers that one row joins are read sooner than a row each.
    sql = (
        f"SELECT count(*), {records}, json_group_array(doc), {joined}, "
        "json_group_array(json_array(doc, version)) FILTER (WHERE doc <> version) "
        f"FROM (SELECT s.record, s.version, s.doc{length} FROM state s {join} WHERE {where.sql} LIMIT ?)"
    )
    count, ids, *columns = connection.execute(sql, (*where.values, MAX_LISTED + 1)).fetchone()
    if count > MAX_LISTED:
        return None
    docs, of_words, split = map(json.loads, columns)
    versions_of: dict[int, int] = dict(split)
    return _Joined(
        bytes.fromhex(ids) if isinstance(ids, str) else ids or b"",
        [versions_of.get(doc, doc) for doc in docs] if versions_of else docs,
        docs,
        of_words,
    )


def resolve(connection: sqlite3.Connection, selection: Selection, docs: Sequence[int]) -> list[Document]:
    """Which of some documents a selection takes, with their records, in no order."""
    where = state_conditions(selection)
    join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
    columns = "SELECT s.doc, s.version, s.record, s.expires_at"
    own = [doc for doc in docs if doc > 0]
    rows: list[tuple[int, int, bytes, int | None]] = []
    if own:
        # A document is a version, whose event knows the record.
        rows += connection.execute(
            f"{columns} FROM json_each(?) j JOIN event e ON e.version = j.value JOIN state s ON s.record = e.record AND s.doc = e.version "
            f"{join} WHERE {where.sql}",
            (json.dumps(own), *where.values),
        )
    if len(own) < len(docs):
        split = json.dumps([doc for doc in docs if doc < 0])
        rows += connection.execute(
            f"{columns} FROM state s {join} WHERE s.doc < 0 AND s.doc IN (SELECT value FROM json_each(?)) AND {where.sql}",
            (split, *where.values),
        )
    return list({row[0]: Document(*row) for row in rows}.values())


def _places(connection: sqlite3.Connection, selection: Selection, limit: int) -> list[_Place]:
    where, join = _conditions(selection)
    sql = f"SELECT s.record, s.version, s.doc FROM state s {join} WHERE {where.sql} LIMIT ?"
    return connection.execute(sql, (*where.values, limit)).fetchall()


def _conditions(selection: Selection) -> tuple[Conditions, str]:
    """Which states a selection takes, and what has to be joined for that."""
    return state_conditions(selection), "JOIN payload p ON p.version = s.version" if selection.equals else ""


def _texts(connection: sqlite3.Connection, docs: Sequence[int]) -> dict[int, str]:
    sql = "SELECT doc, words FROM keyword WHERE doc IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(sql, (json.dumps(docs),)).fetchall())


def _matching(terms: Terms, match: Literal["all", "any"], holders: Callable[[str], set[int]]) -> set[int]:
    """The documents in which each word of some run of all terms, or of any, stands."""
    found: set[int] | None = None
    for alternatives in terms:
        of_term: set[int] = set()
        for run in alternatives:
            of_term |= set.intersection(*(holders(word) for word in dict.fromkeys(run))) if run else set()
        if found is None:
            found = of_term
        elif match == "any":
            found |= of_term
        else:
            found &= of_term
        if match == "all" and not found:
            break
    return found or set()


class _Holders:
    """The documents that hold a word, among some or (``None``) all."""

    def __init__(self, connection: sqlite3.Connection, terms: Terms, waiting: Waiting, among: set[int] | None) -> None:
        self._connection = connection
        self._known: dict[str, set[int]] = {}
        self._among = among
        self._chunks: dict[int, list[int]] | None = None
        if among is not None:
            self._chunks = {}
            for doc in among:
                self._chunks.setdefault(doc >> CHUNK_BITS, []).append(doc & CHUNK_MASK)
        self._waiting = waiting.counts(connection, {word for term in terms for run in term for word in run}, among)

    def __call__(self, word: str) -> set[int]:
        found = self._known.get(word)
        if found is None:
            late = self._waiting.get(word, {}).keys()
            found = self._known[word] = set(self._packed(word)).union(late if self._among is None else late & self._among)
        return found

    def _packed(self, word: str) -> Iterator[int]:
        for chunk, documents in postings(self._connection, word):
            base = chunk << CHUNK_BITS
            if self._chunks is None:
                yield from (base + low for low in documents)
            else:
                yield from (base + low for low in self._chunks.get(chunk, ()) if _holds(documents, low))


def _holds(documents: array[int], low: int) -> bool:
    place = bisect_left(documents, low)
    return place < len(documents) and documents[place] == low


def occurrences(connection: sqlite3.Connection, terms: Sequence[Sequence[str]], waiting: Waiting) -> Occurrences:
    """How often each term, of the words that count for it, occurs in every document that there is."""
    import numpy as np

    width = CHUNK_MASK + 1
    chunks: dict[int, npt.NDArray[np.int32]] = {}

    def counts_of(chunk: int) -> npt.NDArray[np.int32]:
        if chunk not in chunks:
            chunks[chunk] = np.zeros((len(terms), width), np.int32)
        return chunks[chunk]

    late = waiting.counts(connection, {word for term in terms for word in term})
    for number, words in enumerate(terms):
        for word in dict.fromkeys(words):
            for chunk, documents in postings(connection, word):
                counts_of(chunk)[number] += np.bincount(np.frombuffer(documents, np.uint16), minlength=width)
            for chunk, pairs in postings(connection, word + BEYOND):
                beyond = np.frombuffer(pairs, np.uint32).reshape(-1, 2)
                counts_of(chunk)[number, beyond[:, 0]] += beyond[:, 1].astype(np.int32)
            for doc, count in late.get(word, {}).items():
                counts_of(doc >> CHUNK_BITS)[number, doc & CHUNK_MASK] += count
    numbers, of_chunks = [np.zeros(0, np.int64)], [np.zeros((len(terms), 0), np.int32)]
    for chunk in sorted(chunks):
        held = np.flatnonzero(chunks[chunk].any(axis=0))
        numbers.append(held + (chunk << CHUNK_BITS))
        of_chunks.append(chunks[chunk][:, held])
    return Occurrences(np.concatenate(numbers), np.concatenate(of_chunks, axis=1))
