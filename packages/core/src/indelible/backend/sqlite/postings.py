"""The keyword index: for each word the documents that hold it, packed.

A row of ``posting`` lists the documents of one chunk, 65,536 consecutive numbers: the low sixteen bits of each, ascending, once for every
occurrence. English words that differ from their stem are listed once more under the marked stem. The newest documents stand in
``keyword`` alone, and a read looks through their words; the write that makes them ``PACK`` many packs them. So single writes are cheap,
and no merge is ever needed: a chunk's rows only grow, or lose what was purged.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from indelible.backend.sqlite.schema import queries

CHUNK_BITS = 16
CHUNK_MASK = (1 << CHUNK_BITS) - 1
PACK = 4096
"""So many documents may wait to be packed."""
PACK_WORDS = 500_000
"""So many words of one process' writes may wait."""
PACKED = "packed"
"""Under which name ``meta`` keeps the last version whose documents are packed."""
Stem = Callable[[str], str]
"""The marked stem under which a word is listed as well, or nothing."""


class Postings:
    """The packed index, as a write transaction sees it."""

    def __init__(self, connection: sqlite3.Connection, stem: Stem) -> None:
        self._connection = connection
        self._stem = stem
        self._sql = queries()
        self._packed: int | None = None
        self._waiting_words = 0

    @property
    def packed(self) -> int:
        """The last version whose documents are packed."""
        if self._packed is None:
            self._packed = packed_until(self._connection)
        return self._packed

    def waits(self, doc: int) -> bool:
        """Whether a document is still to be packed."""
        return doc > self.packed

    def add(self, doc: int, words: str) -> None:
        """List a document under its words; one that waits is listed when it is packed."""
        if self.waits(doc):
            self._waiting_words += words.count(" ") + 1
            return
        chunk, low = doc >> CHUNK_BITS, doc & CHUNK_MASK
        for word, count in listed(words, self._stem).items():
            documents = self._documents(word, chunk)
            for _ in range(count):
                insort(documents, low)
            self._connection.execute(self._sql["set_posting"], (word, chunk, _bytes_of(documents)))

    def remove(self, doc: int, words: str) -> None:
        """Take a document from under its words."""
        if self.waits(doc):
            return
        chunk, low = doc >> CHUNK_BITS, doc & CHUNK_MASK
        for word in listed(words, self._stem):
            documents = self._documents(word, chunk)
            del documents[bisect_left(documents, low) : bisect_right(documents, low)]
            if documents:
                self._connection.execute(self._sql["set_posting"], (word, chunk, _bytes_of(documents)))
            else:
                self._connection.execute(self._sql["drop_posting"], (word, chunk))

    def pack(self, newest: int, *, least: int | None = None) -> None:
        """Pack what waits, if it may be many documents.

        Args:
            newest: the last version.
            least: below that it goes on waiting; ``PACK`` by default.
        """
        if newest - self.packed < (PACK if least is None else least) and self._waiting_words < PACK_WORDS:
            return
        first = self.packed + 1
        while first <= newest:
            last = min(newest, first | CHUNK_MASK)
            rows = self._connection.execute(self._sql["keywords_between"], (first, last))
            held = held_words(rows, self._stem)
            chunk = first >> CHUNK_BITS
            self._connection.executemany(
                self._sql["append_posting"], [(word, chunk, _bytes_of(array("H", held[word]))) for word in sorted(held)]
            )
            first = last + 1
        self._connection.execute(self._sql["set_meta"], (PACKED, newest))
        self._packed, self._waiting_words = newest, 0

    def clear(self) -> None:
        """Forget every document: all are to be packed again."""
        self._connection.execute(self._sql["clear_postings"])
        self._connection.execute(self._sql["set_meta"], (PACKED, 0))
        self._packed = 0

    def _documents(self, word: str, chunk: int) -> array[int]:
        row = self._connection.execute(self._sql["posting"], (word, chunk)).fetchone()
        return array("H") if row is None else documents_of(row[0])


def held_words(rows: Iterable[tuple[int, str]], stem: Stem) -> dict[str, list[int]]:
    """What the index lists for documents of one chunk, given in order: for each word and marked stem their low bits, ascending."""
    held: defaultdict[str, list[int]] = defaultdict(list)
    for doc, words in rows:
        low = doc & CHUNK_MASK
        for word in words.split(" "):
            held[word].append(low)
    marked: dict[str, list[str]] = {}
    for word in held:
        mark = stem(word)
        if mark:
            marked.setdefault(mark, []).append(word)
    for mark, spellings in marked.items():
        held[mark] = sorted(low for word in spellings for low in held[word])
    return held


def posting_problems(connection: sqlite3.Connection, stem: Stem) -> list[str]:
    """Where the packed index says something else than the words of the documents."""
    packed = packed_until(connection)
    chunks = connection.execute("SELECT doc >> 16 FROM keyword WHERE doc <= ? UNION SELECT chunk FROM posting", (packed,)).fetchall()
    found = []
    for (chunk,) in chunks:
        first = chunk << CHUNK_BITS
        rows = connection.execute(queries()["keywords_between"], (first, min(packed, first + CHUNK_MASK)))
        wanted = {word: array("H", documents) for word, documents in held_words(rows, stem).items()}
        stored = {
            word: documents_of(data) for word, data in connection.execute("SELECT word, documents FROM posting WHERE chunk = ?", (chunk,))
        }
        if wanted != stored:
            places = ", ".join(sorted(str(first + low) for low in _differing(wanted, stored))[:5])
            found.append(f"documents {first} to {first + CHUNK_MASK} are not listed under their words, such as {places}")
    return found


def _differing(one: dict[str, array[int]], other: dict[str, array[int]]) -> set[int]:
    differing: set[int] = set()
    for word in one.keys() | other.keys():
        if one.get(word) != other.get(word):
            differing |= set(
                (Counter(one.get(word, ())) - Counter(other.get(word, ()))) | (Counter(other.get(word, ())) - Counter(one.get(word, ())))
            )
    return differing


def packed_until(connection: sqlite3.Connection) -> int:
    """The last version whose documents are packed."""
    row = connection.execute(queries()["meta"], (PACKED,)).fetchone()
    return 0 if row is None else int(row[0])


class Waiting:
    """The documents that are not packed yet, by their words, kept by a process. Safe to use from several threads."""

    def __init__(self, stem: Stem) -> None:
        self._stem = stem
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._last = 0
        self._held: dict[str, dict[int, int]] = {}

    def counts(self, connection: sqlite3.Connection, words: Iterable[str]) -> dict[str, dict[int, int]]:
        """For each of some words and marked stems, in which waiting documents it occurs how often.

        Args:
            connection: with the snapshot that is read.
            words: which.
        """
        with self._lock:
            self._follow(connection)
            return {word: dict(self._held[word]) for word in words if word in self._held}

    def _follow(self, connection: sqlite3.Connection) -> None:
        # Whatever takes a document away or changes its words raises the epoch, so that otherwise documents only come.
        packed, epoch = connection.execute(queries()["waiting_stamp"]).fetchone()
        if (packed, epoch) != self._stamp:
            self._held, self._last, self._stamp = {}, packed, (packed, epoch)
        for doc, words in connection.execute(queries()["keywords_after"], (self._last,)).fetchall():
            for word, count in listed(words, self._stem).items():
                self._held.setdefault(word, {})[doc] = count
            self._last = doc


def listed(words: str, stem: Stem) -> Counter[str]:
    """What a document is listed under, with how often: its words and their marked stems."""
    counts = Counter(words.split(" "))
    for word, count in list(counts.items()):
        mark = stem(word)
        if mark:
            counts[mark] += count
    return counts


def postings(connection: sqlite3.Connection, word: str) -> Iterator[tuple[int, array[int]]]:
    """The packed documents of a word: each chunk with their low bits, ascending, once for every occurrence."""
    for chunk, documents in connection.execute(queries()["postings"], (word,)):
        yield chunk, documents_of(documents)


def documents_of(data: bytes) -> array[int]:
    """Low bits of documents, as a row has them."""
    documents = array("H")
    documents.frombytes(data)
    return _little_endian(documents)


def _bytes_of(documents: array[int]) -> bytes:
    return _little_endian(documents).tobytes()


def _little_endian(documents: array[int]) -> array[int]:
    if sys.byteorder == "big":
        documents = documents[:]
        documents.byteswap()
    return documents
