"""The keyword index: for each word the documents that hold it, packed.

A row of ``posting`` lists the documents of one chunk, 65,536 consecutive numbers: the low sixteen bits of each, ascending, once for every
occurrence. A document that holds a word more often than ``MANY`` times is listed once, and how often beyond that stands in another row,
under the word and a space: pairs of low bits and a number. English words that differ from their stem are listed once more under the
marked stem. The newest documents stand in ``keyword`` alone, and a read looks through their words; the write that makes them ``PACK``
many packs them. So single writes are cheap, and no merge is ever needed: a chunk's rows only grow, or lose what was purged.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from indelible.backend.sqlite.schema import queries

CHUNK_BITS = 16
CHUNK_MASK = (1 << CHUNK_BITS) - 1
PACK = 4096
"""So many documents may wait to be packed."""
FEW = 512
"""So many waiting documents are read for one question; for more, all that wait are, and kept."""
PACK_WORDS = 500_000
"""So many words of longer texts than are counted by ``PACK`` may wait, whoever wrote them."""
MANY = 64
"""A text of fewer words is packed without counting them; so often at most is a document listed in a row."""
TOGETHER = 2_000_000
"""Documents of so many characters are gone through together: while they are, each word of theirs takes a hundred bytes."""
GATHERED = 16_000_000
"""So many entries are gathered before they are written; those of all the texts of a chunk might not fit into memory."""
BEYOND = " "
"""Ends the name of the row that says how often beyond once; no word has it."""
PACKED = "packed"
"""Under which name ``meta`` keeps the last version whose documents are packed."""
WAITING_WORDS = "waiting_words"
"""Under which name ``meta`` counts the words of the longer texts that wait: writers come and go, and take turns."""
_NUMBER = "I"
Stem = Callable[[str], str]
"""The marked stem under which a word is listed as well, or nothing: a mark beyond ASCII that no word has, and a stem that begins as the
word does."""


class Postings:
    """The packed index, as a write transaction sees it."""

    def __init__(self, connection: sqlite3.Connection, stem: Stem) -> None:
        self._connection = connection
        self._stem = stem
        self._sql = queries()
        self._packed: int | None = None
        self._counted: int | None = None
        self._added_words = 0

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
            count = words.count(" ") + 1
            # As many as may wait of shorter ones are no more words.
            if count > PACK_WORDS // PACK:
                self._added_words += count
            return
        for name, entries in held_words([(doc, words)], self._stem).items():
            known = self._entries(name, doc >> CHUNK_BITS)
            # Pairs stand in the order of their first numbers.
            pair = 2 if name.endswith(BEYOND) else 1
            at = pair * bisect_left(known[::pair], doc & CHUNK_MASK)
            self._set(name, doc, known[:at] + entries + known[at:])

    def remove(self, doc: int, words: str) -> None:
        """Take a document from under its words."""
        if self.waits(doc):
            return
        low = doc & CHUNK_MASK
        for name in held_words([(doc, words)], self._stem):
            known = self._entries(name, doc >> CHUNK_BITS)
            if name.endswith(BEYOND):
                pairs = zip(known[::2], known[1::2], strict=True)
                self._set(name, doc, array(known.typecode, [number for pair in pairs if pair[0] != low for number in pair]))
            else:
                self._set(name, doc, known[: bisect_left(known, low)] + known[bisect_right(known, low) :])

    def pack(self, newest: int, *, least: int | None = None) -> None:
        """Pack what waits, if it may be many documents.

        Args:
            newest: the last version.
            least: below that it goes on waiting; ``PACK`` by default.
        """
        if newest - self.packed < (PACK if least is None else least) and not self._are_many_words():
            return
        self._list(self.packed + 1, newest)
        self._connection.execute(self._sql["set_meta"], (PACKED, newest))
        self._connection.execute(self._sql["delete_meta"], (WAITING_WORDS,))
        self._packed, self._counted, self._added_words = newest, 0, 0

    def _are_many_words(self) -> bool:
        """Count the words that were added; says whether too many wait."""
        if not self._added_words:
            return False
        if self._counted is None:
            row = self._connection.execute(self._sql["meta"], (WAITING_WORDS,)).fetchone()
            self._counted = 0 if row is None else int(row[0])
        self._counted += self._added_words
        self._added_words = 0
        self._connection.execute(self._sql["set_meta"], (WAITING_WORDS, self._counted))
        return self._counted >= PACK_WORDS

    def pack_everything(self, newest: int) -> None:
        """List all documents in an index that lists none."""
        least = self._connection.execute(self._sql["least_keyword"]).fetchone()[0]
        if least is not None and least < 0:
            # One by one, as they come about, would take a time that grows with the square of their number.
            self._list(least, -1)
        self.pack(newest, least=1)

    def _list(self, first: int, newest: int) -> None:
        """List documents of which none is listed, nor any after them in their chunks."""
        while first <= newest:
            last = min(newest, first | CHUNK_MASK)
            documents = self._connection.execute(self._sql["keywords_between"], (first, last))
            chunk = first >> CHUNK_BITS
            for held in gathered(documents, self._stem, GATHERED):
                rows = [(name, chunk, bytearray(_little_endian(held[name]))) for name in sorted(held)]
                self._connection.executemany(self._sql["append_posting"], rows)
            first = last + 1

    def clear(self) -> None:
        """Forget every document: all are to be packed again."""
        self._connection.execute(self._sql["clear_postings"])
        self._connection.execute(self._sql["set_meta"], (PACKED, 0))
        self._connection.execute(self._sql["delete_meta"], (WAITING_WORDS,))
        self._packed, self._counted, self._added_words = 0, 0, 0

    def _entries(self, name: str, chunk: int) -> array[int]:
        row = self._connection.execute(self._sql["posting"], (name, chunk)).fetchone()
        return entries_of(name, b"" if row is None else row[0])

    def _set(self, name: str, doc: int, entries: array[int]) -> None:
        if entries:
            self._connection.execute(self._sql["set_posting"], (name, doc >> CHUNK_BITS, bytearray(_little_endian(entries))))
        else:
            self._connection.execute(self._sql["drop_posting"], (name, doc >> CHUNK_BITS))


def held_words(rows: Iterable[tuple[int, str]], stem: Stem) -> dict[str, array[int]]:
    """What the index lists for documents of one chunk, given in order: by the name of each row its entries."""
    held: defaultdict[str, list[int]] = defaultdict(list)
    counted: list[tuple[int, Counter[str]]] = []
    for doc, words in rows:
        low = doc & CHUNK_MASK
        if words.count(" ") >= MANY:
            counted.append((low, listed(words, stem)))
            continue
        for word in words.split(" "):
            held[word].append(low)
    marked: dict[str, list[str]] = {}
    for word in held:
        mark = stem(word)
        if mark:
            marked.setdefault(mark, []).append(word)
    for mark, spellings in marked.items():
        held[mark] = sorted(low for word in spellings for low in held[word])
    beyond: defaultdict[str, list[int]] = defaultdict(list)
    for low, counts in counted:
        for word, count in counts.items():
            held[word] += [low] * (1 if count > MANY else count)
            if count > MANY:
                beyond[word + BEYOND] += (low, count - 1)
    for word in {word for _, counts in counted for word in counts}:
        held[word].sort()
    found = {word: array("H", lows) for word, lows in held.items()}
    return found | {name: array(_NUMBER, pairs) for name, pairs in beyond.items()}


def gathered(rows: Iterable[tuple[int, str]], stem: Stem, most: int | None = None) -> Iterator[dict[str, array[int]]]:
    """The same, for any number of texts of any length.

    Args:
        rows: documents of one chunk, in order.
        stem: as ever.
        most: about so many entries come at a time, those of a name to be appended to those that came before; all together if ``None``.
    """
    found: dict[str, array[int]] = {}
    entries = 0
    for some in _together(rows):
        for name, more in held_words(some, stem).items():
            entries += len(more)
            if name in found:
                found[name].extend(more)
            else:
                found[name] = more
        if most is not None and entries >= most:
            yield found
            found, entries = {}, 0
    if found:
        yield found


def _together(rows: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    some: list[tuple[int, str]] = []
    characters = 0
    for row in rows:
        some.append(row)
        characters += len(row[1])
        if characters >= TOGETHER:
            yield some
            some, characters = [], 0
    if some:
        yield some


def posting_problems(connection: sqlite3.Connection, stem: Stem) -> list[str]:
    """Where the packed index says something else than the words of the documents."""
    packed = packed_until(connection)
    chunks = connection.execute("SELECT doc >> 16 FROM keyword WHERE doc <= ? UNION SELECT chunk FROM posting", (packed,)).fetchall()
    found = []
    for (chunk,) in chunks:
        first = chunk << CHUNK_BITS
        rows = connection.execute(queries()["keywords_between"], (first, min(packed, first + CHUNK_MASK)))
        wanted = next(gathered(rows, stem), {})
        stored = connection.execute("SELECT word, documents FROM posting WHERE chunk = ?", (chunk,))
        # Both at once would take twice the room.
        same = all(wanted.pop(name, None) == entries_of(name, data) for name, data in stored)
        if not same or wanted:
            found.append(f"documents {first} to {first + CHUNK_MASK} are not listed under their words")
    return found


def packed_until(connection: sqlite3.Connection) -> int:
    """The last version whose documents are packed."""
    row = connection.execute(queries()["meta"], (PACKED,)).fetchone()
    return 0 if row is None else int(row[0])


class Waiting:
    """The documents that are not packed yet, by their words, kept by a process. Safe to use from several threads.

    Marked stems are worked out only for words with the first letter of one that was asked for: stemming takes far longer than reading.
    """

    def __init__(self, stem: Stem) -> None:
        self._stem = stem
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._last = 0
        self._held: dict[str, dict[int, int]] = {}
        self._spellings: dict[str, list[str]] = {}
        self._stemmed: set[str] = set()

    def counts(
        self, connection: sqlite3.Connection, words: Iterable[str], among: Collection[int] | None = None
    ) -> dict[str, dict[int, int]]:
        """For each of some words and marked stems, in which waiting documents it occurs how often.

        Args:
            connection: with the snapshot that is read.
            words: which.
            among: the documents that matter; others may be told of as well. Where they are few, no others are read for their sake.
        """
        with self._lock:
            stamp = connection.execute(queries()["waiting_stamp"]).fetchone()
            if among is not None and stamp != self._stamp:
                late = [doc for doc in among if doc > stamp[0]]
                if len(late) <= FEW:
                    rows = connection.execute(queries()["keywords_of"], (json.dumps(late),)).fetchall() if late else []
                    return _counted(rows, set(words), self._stem)
            self._follow(connection, stamp)
            return self._found(words)

    def _found(self, words: Iterable[str]) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for word in words:
            if word in self._held:
                found[word] = dict(self._held[word])
                continue
            counts: Counter[int] = Counter()
            for spelling in self._spelled(word):
                counts.update(self._held[spelling])
            if counts:
                found[word] = counts
        return found

    def _spelled(self, mark: str) -> list[str]:
        """The words that are listed under a mark as well."""
        first = mark[1:2]
        if first and not mark.isascii() and first not in self._stemmed:
            self._stemmed.add(first)
            for word in self._held:
                if word.startswith(first):
                    self._note(word)
        return self._spellings.get(mark, [])

    def _note(self, word: str) -> None:
        mark = self._stem(word)
        if mark:
            self._spellings.setdefault(mark, []).append(word)

    def _follow(self, connection: sqlite3.Connection, stamp: tuple[int, int]) -> None:
        # Whatever takes a document away or changes its words raises the epoch, so that otherwise documents only come.
        if stamp != self._stamp:
            self._held, self._spellings, self._stemmed = {}, {}, set()
            self._last, self._stamp = stamp[0], stamp
        self._take(connection.execute(queries()["keywords_after"], (self._last,)).fetchall())

    def _take(self, rows: Iterable[tuple[int, str]]) -> None:
        for doc, words in rows:
            for word in words.split(" "):
                holders = self._held.get(word)
                if holders is None:
                    holders = self._held[word] = {}
                    if word[0] in self._stemmed:
                        self._note(word)
                holders[doc] = holders.get(doc, 0) + 1
            self._last = doc


def _counted(rows: Iterable[tuple[int, str]], names: set[str], stem: Stem) -> dict[str, dict[int, int]]:
    """For each of some words and marked stems, in which of a few documents it occurs how often."""
    texts = [(doc, words.split(" ")) for doc, words in rows]
    counts_for = {name: [name] for name in names}
    # A mark is beyond ASCII. Stemming takes longer than all else.
    firsts = {name[1:2] for name in names if not name.isascii()}
    if firsts:
        for word in set().union(*(words for _, words in texts)):
            mark = stem(word) if word[0] in firsts else ""
            if mark in names:
                counts_for.setdefault(word, []).append(mark)
    found: dict[str, dict[int, int]] = {}
    for doc, words in texts:
        for word in filter(counts_for.__contains__, words):
            for name in counts_for[word]:
                counts = found.setdefault(name, {})
                counts[doc] = counts.get(doc, 0) + 1
    return found


def listed(words: str, stem: Stem) -> Counter[str]:
    """What a document is listed under, with how often: its words and their marked stems."""
    counts = Counter(words.split(" "))
    for word, count in list(counts.items()):
        mark = stem(word)
        if mark:
            counts[mark] += count
    return counts


def postings(connection: sqlite3.Connection, name: str) -> Iterator[tuple[int, array[int]]]:
    """The entries of a row's name, chunk by chunk; of a word the low bits of its documents, ascending."""
    for chunk, data in connection.execute(queries()["postings"], (name,)):
        yield chunk, entries_of(name, data)


def entries_of(name: str, data: bytes) -> array[int]:
    """What a row holds."""
    entries = array(_NUMBER if name.endswith(BEYOND) else "H")
    entries.frombytes(data)
    return _little_endian(entries)


def _little_endian(entries: array[int]) -> array[int]:
    if sys.byteorder == "big":
        entries = entries[:]
        entries.byteswap()
    return entries
