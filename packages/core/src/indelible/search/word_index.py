"""The words of one slice in memory, turned inside out: for each word the documents that hold it, and how often.

It answers what a scan of every document with ``keyword.counts`` would, at a cost that follows the words of the query; and it scores as
``keyword.rank_counted`` does, to the last bit, with one step of arithmetic for all documents that hold a word.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indelible.search.bm25 import Bm25, CorpusStats
from indelible.search.keyword import Counted, KeywordQuery, Match, Occurrences, Scoring, document_frequencies, rank_counted
from indelible.search.normalise import stem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_NEVER = (1 << 63) - 1
MAX_ASKED = 1000
"""So many terms that were asked for are known again."""
_DOCUMENT_BYTES = 350
"""Of a document beside its text: what is known of it, and its places in tables."""
_PAIR_BYTES = 60
"""Of a word in a document: its place and number in a dictionary, and in the arrays of a word that was asked for."""
_WORD_BYTES = 330
"""Of a word whatever holds it: its dictionary, and its place in the dictionary of all."""
_ASKED_BYTES = 500
"""Of a term that was asked for, beside its arrays."""
_STEM_BYTES = 350
"""Of a word once stems were asked for: mostly the dictionary of the words that share its stem."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the index.

    Attributes:
        words: in order, joined by single spaces.
        length: how many.
        expires: UTC milliseconds after which it does not count; ``None`` for never.
    """

    words: str
    length: int
    expires: int | None


class Scored(NamedTuple):
    """The hits of a query.

    Attributes:
        documents: their numbers and maybe more, in no order; as long as the index stays as it is, mostly the same array.
        at: where the hits are among them.
        scores: of each hit, above 0.
        bm25: with the statistics of the whole slice; ``None`` for term frequency.
    """

    documents: Integers
    at: Integers | slice
    scores: Floats
    bm25: Bm25 | None


class _Table(NamedTuple):
    """What is known of each document, by its place."""

    numbers: Integers
    lengths: Floats
    expires: Integers


@dataclass(slots=True)
class _Asked:
    """A term that was asked for: the places of the documents that hold it, how often each does, and what it adds to their bm25 score."""

    places: Integers
    counts: Floats
    parts: Floats | None = None


class WordIndex:
    """Documents by number, with their words."""

    def __init__(self) -> None:
        self.documents: dict[int, Document] = {}
        self.size = 0
        """Words in all documents together."""
        self._pairs = 0
        self._text_bytes = 0
        # Documents have places, from 0 on without a gap, by which all that is known of them lies in arrays: when one goes, the last takes
        # its place.
        self._places: dict[int, int] = {}
        self._numbers, self._lengths, self._expires = array("q"), array("d"), array("q")
        self._postings: dict[str, dict[int, int]] = {}
        # Once there is a question by stems: looking up the stems of all words costs far more than a question does.
        self._by_stem: dict[str, dict[str, None]] | None = None
        self._expiring = 0
        # What of the above was asked for, as arrays; dropped as soon as it is no longer true.
        self._table: _Table | None = None
        self._columns: dict[str, tuple[Integers, Floats]] = {}
        self._asked: dict[tuple[bool, *tuple[str, ...]], _Asked] = {}
        self._asked_bytes = 0

    def add(self, document: int, words: str, expires: int | None = None) -> None:
        """Add a document that is not there yet."""
        split = words.split(" ")
        place = self._places[document] = len(self._numbers)
        self._numbers.append(document)
        self._lengths.append(len(split))
        self._expires.append(_NEVER if expires is None else expires)
        self.documents[document] = Document(words, len(split), expires)
        self.size += len(split)
        self._text_bytes += _text_bytes(words)
        self._expiring += expires is not None
        self._forget_asked()
        for word in split:
            holders = self._postings.get(word)
            if holders is None:
                self._postings[word] = {place: 1}
                self._pairs += 1
                self._text_bytes += _text_bytes(word)
                if self._by_stem is not None:
                    self._by_stem.setdefault(stem(word), {})[word] = None
            elif place in holders:
                holders[place] += 1
            else:
                holders[place] = 1
                self._pairs += 1
        self._forget_columns(split)

    def remove(self, document: int) -> None:
        """Take a document out, if it is there."""
        gone = self.documents.pop(document, None)
        if gone is None:
            return
        self.size -= gone.length
        self._text_bytes -= _text_bytes(gone.words)
        self._expiring -= gone.expires is not None
        self._forget_asked()
        place = self._places.pop(document)
        words = dict.fromkeys(gone.words.split(" "))
        self._pairs -= len(words)
        for word in words:
            holders = self._postings[word]
            del holders[place]
            if not holders:
                del self._postings[word]
                self._text_bytes -= _text_bytes(word)
                self._forget_spelling(word)
        self._forget_columns(words)
        self._move_last_to(place)

    @property
    def nbytes(self) -> int:
        """How much memory all this takes, about: words that are said again take next to none, and distinct ones most of it."""
        of_words = len(self._postings) * (_WORD_BYTES + (0 if self._by_stem is None else _STEM_BYTES))
        return _DOCUMENT_BYTES * len(self.documents) + _PAIR_BYTES * self._pairs + of_words + self._text_bytes + self._asked_bytes

    def count(self, query: KeywordQuery, now_ms: int | None) -> list[Counted]:
        """The documents that hold something of a query, with the occurrences of each term and their lengths.

        Args:
            query: a parsed query.
            now_ms: leaves out what has expired by then; ``None`` leaves out nothing.
        """
        occurrences = Occurrences(query)
        found = self._by_words(query, occurrences.words) if occurrences.words is not None else self._by_phrases(query, occurrences)
        numbered = ((self._numbers[place], counts) for place, counts in found.items())
        rows = [(number, tuple(counts), self.documents[number]) for number, counts in numbered]
        if now_ms is None or not self._expiring:
            return [(number, counts, about.length) for number, counts, about in rows]
        return [(number, counts, about.length) for number, counts, about in rows if about.expires is None or about.expires > now_ms]

    def stats(self, query: KeywordQuery, counted: list[Counted], now_ms: int | None) -> CorpusStats:
        """What bm25 needs to know of the whole slice, given what ``count`` found in it."""
        n, words = len(self.documents), self.size
        if now_ms is not None and self._expiring:
            live = [about.length for about in self.documents.values() if about.expires is None or about.expires > now_ms]
            n, words = len(live), sum(live)
        return CorpusStats(n, words / n if n else 0.0, document_frequencies(query, counted))

    def score(self, query: KeywordQuery, scoring: Scoring, now_ms: int | None) -> Scored:
        """The hits of a query with the scores that ``rank_counted`` would give them.

        Args:
            query: a parsed query.
            scoring: term frequency, or bm25.
            now_ms: leaves out what has expired by then; ``None`` leaves out nothing.
        """
        import numpy as np

        terms = Occurrences(query).words
        if terms is None:
            counted = self.count(query, now_ms)
            stats = self.stats(query, counted, now_ms)
            hits = rank_counted(query, counted, scoring=scoring, corpus=stats)
            documents = np.fromiter((document for document, _ in hits), np.int64, len(hits))
            bm25 = Bm25(stats.n, stats.average_length, stats.document_frequencies) if scoring == "bm25" else None
            return Scored(documents, slice(None), np.fromiter((score for _, score in hits), np.float64, len(hits)), bm25)
        table = self._as_table()
        alive = table.expires > now_ms if now_ms is not None and self._expiring else None
        words_of: list[list[str]] = [[] for _ in query.terms]
        for word, number in terms.items():
            words_of[number - 1].append(word)
        found = [self._asked_term((query.stemmed, *words), alive) for words in words_of]
        if scoring == "tf":
            return Scored(table.numbers, *add_up([(term.places, term.counts) for term in found], len(table.numbers), query.match), None)
        n, length = (len(self.documents), self.size) if alive is None else (int(alive.sum()), int(table.lengths[alive].sum()))
        bm25 = Bm25(n, length / n if n else 0.0, tuple(len(term.places) for term in found))
        parts = []
        for number, term in enumerate(found):
            if term.parts is None:
                term.parts = bm25.parts(number, term.counts, bm25.held_back(table.lengths[term.places]))
            parts.append((term.places, term.parts))
        return Scored(table.numbers, *add_up(parts, len(table.numbers), query.match), bm25)

    def _as_table(self) -> _Table:
        import numpy as np

        if self._table is None:
            # Copies: an array that somebody looks into cannot grow.
            self._table = _Table(np.array(self._numbers), np.array(self._lengths), np.array(self._expires))
        return self._table

    def _asked_term(self, key: tuple[bool, *tuple[str, ...]], alive: npt.NDArray[np.bool_] | None) -> _Asked:
        """The documents that hold a term, known again as long as nothing changes.

        Args:
            key: whether it is of stems, and its words.
            alive: which documents count; ``None`` for all.
        """
        if alive is not None:
            places, counts = self._column(key)
            left = alive[places]
            return _Asked(places[left], counts[left])
        known = self._asked.get(key)
        if known is None:
            known = _Asked(*self._column(key))
            if len(known.places):
                if len(self._asked) >= MAX_ASKED:
                    self._asked, self._asked_bytes = {}, 0
                self._asked[key] = known
                # Its arrays, and one more for what they come to in a score.
                self._asked_bytes += _ASKED_BYTES + 3 * int(known.places.nbytes)
        return known

    def _column(self, key: tuple[bool, *tuple[str, ...]]) -> tuple[Integers, Floats]:
        """The places that hold a term, each once, and how often each does."""
        import numpy as np

        stemmed, *words = key
        columns = [self._column_of(spelling) for word in words for spelling in self._spellings(word, stemmed)]
        if len(columns) == 1:
            return columns[0]
        together = np.zeros(len(self._numbers))
        for places, counts in columns:
            together[places] += counts
        places = np.flatnonzero(together)
        return places, together[places]

    def _column_of(self, word: str) -> tuple[Integers, Floats]:
        import numpy as np

        known = self._columns.get(word)
        if known is None:
            holders = self._postings[word]
            places = np.fromiter(holders, np.int64, len(holders))
            known = self._columns[word] = places, np.fromiter(holders.values(), np.float64, len(holders))
        return known

    def _by_words(self, query: KeywordQuery, terms: Mapping[str, int]) -> dict[int, list[int]]:
        """Where every word stands for one term, which ``terms`` numbers from 1: add up what the words' documents say, by place."""
        size = len(query.terms)
        found: dict[int, list[int]] = {}
        for word, number in terms.items():
            at = number - 1
            for spelling in self._spellings(word, query.stemmed):
                for place, count in self._postings[spelling].items():
                    counts = found.get(place)
                    if counts is None:
                        counts = found[place] = [0] * size
                    counts[at] += count
        return found

    def _by_phrases(self, query: KeywordQuery, occurrences: Occurrences) -> dict[int, list[int]]:
        """Count in whatever holds the first word of any phrase, by place."""
        firsts = dict.fromkeys(phrase[0] for term in query.terms for phrase in term.alternatives)
        candidates = {place for word in firsts for spelling in self._spellings(word, query.stemmed) for place in self._postings[spelling]}
        counted = ((place, occurrences.count(self.documents[self._numbers[place]].words.split(" "))) for place in candidates)
        return {place: list(counts) for place, counts in counted if any(counts)}

    def _spellings(self, word: str, stemmed: bool) -> Iterator[str]:
        """The words of the documents that a word of a query stands for."""
        if not stemmed:
            if word in self._postings:
                yield word
            return
        if self._by_stem is None:
            self._by_stem = {}
            for spelling in self._postings:
                self._by_stem.setdefault(stem(spelling), {})[spelling] = None
        yield from self._by_stem.get(word, ())

    def _move_last_to(self, place: int) -> None:
        last = len(self._numbers) - 1
        moved, length, expires = self._numbers.pop(), self._lengths.pop(), self._expires.pop()
        if place == last:
            return
        self._numbers[place], self._lengths[place], self._expires[place] = moved, length, expires
        self._places[moved] = place
        words = dict.fromkeys(self.documents[moved].words.split(" "))
        for word in words:
            holders = self._postings[word]
            holders[place] = holders.pop(last)
        self._forget_columns(words)

    def _forget_asked(self) -> None:
        self._table = None
        self._asked.clear()
        self._asked_bytes = 0

    def _forget_columns(self, words: Iterable[str]) -> None:
        if self._columns:
            for word in words:
                self._columns.pop(word, None)

    def _forget_spelling(self, word: str) -> None:
        if self._by_stem is None:
            return
        stemmed = stem(word)
        spellings = self._by_stem[stemmed]
        del spellings[word]
        if not spellings:
            del self._by_stem[stemmed]


def add_up(columns: Sequence[tuple[Integers, Floats]], number: int, match: Match) -> tuple[Integers, Floats]:
    """The documents that match a query, by place, ascending, with the sum of what its terms add to the score of each.

    Args:
        columns: for each term the places of the documents that hold it, each once, and what it adds to each, above 0.
        number: of all places.
        match: whether a document must hold all terms or any.
    """
    import numpy as np

    at = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in columns)])
    # One after the other, in the order of the terms: sums come out as those of one document alone do.
    scores: Floats = np.bincount(at, np.concatenate([np.zeros(0), *(parts for _, parts in columns)]), number).astype(np.float64, copy=False)
    hits: Integers = np.flatnonzero(scores if match == "any" else np.bincount(at, minlength=number) == max(1, len(columns)))
    return hits, scores[hits]


def _text_bytes(text: str) -> int:
    """How much memory the characters of a text take, about."""
    return len(text) if text.isascii() else 2 * len(text)
