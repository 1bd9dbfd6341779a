"""The words of one slice in memory, turned inside out: for each word the documents that hold it, and how often.

It answers what a scan of every document with ``keyword.counts`` would, at a cost that follows the words of the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indelible.search.keyword import CorpusStats, Counted, KeywordQuery, Occurrences, document_frequencies
from indelible.search.normalise import stem


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


class WordIndex:
    """Documents by number, with their words."""

    def __init__(self) -> None:
        self.documents: dict[int, Document] = {}
        self.size = 0
        """Words in all documents together."""
        self.characters = 0
        self._postings: dict[str, dict[int, int]] = {}
        # Once there is a question by stems: looking up the stems of all words costs far more than a question does.
        self._by_stem: dict[str, dict[str, None]] | None = None
        self._expiring = 0

    def add(self, document: int, words: str, expires: int | None = None) -> None:
        """Add a document that is not there yet."""
        split = words.split(" ")
        self.documents[document] = Document(words, len(split), expires)
        self.size += len(split)
        self.characters += len(words)
        self._expiring += expires is not None
        for word in split:
            holders = self._postings.get(word)
            if holders is None:
                self._postings[word] = {document: 1}
                if self._by_stem is not None:
                    self._by_stem.setdefault(stem(word), {})[word] = None
            else:
                holders[document] = holders.get(document, 0) + 1

    def remove(self, document: int) -> None:
        """Take a document out, if it is there."""
        gone = self.documents.pop(document, None)
        if gone is None:
            return
        self.size -= gone.length
        self.characters -= len(gone.words)
        self._expiring -= gone.expires is not None
        for word in dict.fromkeys(gone.words.split(" ")):
            holders = self._postings[word]
            del holders[document]
            if not holders:
                del self._postings[word]
                self._forget_spelling(word)

    def count(self, query: KeywordQuery, now_ms: int | None) -> list[Counted]:
        """The documents that hold something of a query, with the occurrences of each term and their lengths.

        Args:
            query: a parsed query.
            now_ms: leaves out what has expired by then; ``None`` leaves out nothing.
        """
        occurrences = Occurrences(query)
        found = self._by_words(query, occurrences.words) if occurrences.words is not None else self._by_phrases(query, occurrences)
        documents = self.documents
        if now_ms is None or not self._expiring:
            return [(document, tuple(counts), documents[document].length) for document, counts in found.items()]
        return [
            (document, tuple(counts), about.length)
            for document, counts in found.items()
            if (about := documents[document]).expires is None or about.expires > now_ms
        ]

    def stats(self, query: KeywordQuery, counted: list[Counted], now_ms: int | None) -> CorpusStats:
        """What bm25 needs to know of the whole slice, given what ``count`` found in it."""
        n, words = len(self.documents), self.size
        if now_ms is not None and self._expiring:
            live = [about.length for about in self.documents.values() if about.expires is None or about.expires > now_ms]
            n, words = len(live), sum(live)
        return CorpusStats(n, words / n if n else 0.0, document_frequencies(query, counted))

    def _by_words(self, query: KeywordQuery, terms: Mapping[str, int]) -> dict[int, list[int]]:
        """Where every word stands for one term, which ``terms`` numbers from 1: add up what the words' documents say."""
        size = len(query.terms)
        found: dict[int, list[int]] = {}
        for word, number in terms.items():
            place = number - 1
            for spelling in self._spellings(word, query.stemmed):
                for document, count in self._postings[spelling].items():
                    counts = found.get(document)
                    if counts is None:
                        counts = found[document] = [0] * size
                    counts[place] += count
        return found

    def _by_phrases(self, query: KeywordQuery, occurrences: Occurrences) -> dict[int, list[int]]:
        """Count in whatever holds the first word of any phrase."""
        firsts = dict.fromkeys(phrase[0] for term in query.terms for phrase in term.alternatives)
        candidates = {
            document for word in firsts for spelling in self._spellings(word, query.stemmed) for document in self._postings[spelling]
        }
        counted = ((document, occurrences.count(self.documents[document].words.split(" "))) for document in candidates)
        return {document: list(counts) for document, counts in counted if any(counts)}

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

    def _forget_spelling(self, word: str) -> None:
        if self._by_stem is None:
            return
        stemmed = stem(word)
        spellings = self._by_stem[stemmed]
        del spellings[word]
        if not spellings:
            del self._by_stem[stemmed]
