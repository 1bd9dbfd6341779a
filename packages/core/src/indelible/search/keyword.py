"""Keyword queries: what a query asks for, what an index must hold to find it, and how a hit is scored.

An index only *finds*. ``find_tokens`` says what to look for among ``index_tokens`` and marked stems; every candidate is then counted
by ``counts`` over its words, and scored over nothing but the documents of the asked slice. Each step that bounds work keeps the
candidates a superset of the hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import Final, Literal

from indelible.errors import InvalidInput
from indelible.search.arguments import shown
from indelible.search.bm25 import Bm25, CorpusStats
from indelible.search.normalise import MAX_STEMMED_LENGTH, STOP_WORDS, is_unspaced, runs, stem, tokens

Match = Literal["all", "any"]
Scoring = Literal["tf", "bm25"]

MAX_ALTERNATIVES: Final = 256
"""Most phrases an index is asked for. Of one unspaced run, and of a whole ``any`` query, no more than these count: the rest of so long
a text is ignored. An ``all`` query keeps every term, and only ``find_tokens`` stops here: candidates must still hold the others."""
STEM_MARK: Final = "\u02e2"
"""Stands before a stem in an index: a raised s, a letter to every engine, which NFKC turns into an ``s``, so no token holds it."""

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    Attributes:
        alternatives: phrases, each one or more consecutive tokens; the term occurs where any of them begins.
    """

    alternatives: tuple[Phrase, ...]


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """A query as data.

    Attributes:
        terms: distinct, in the order of the text; without any there are no hits.
        match: whether every term must occur, or one.
        stemmed: whether words are compared by their English stems; the terms then hold stems.
    """

    terms: tuple[Term, ...]
    match: Match = "all"
    stemmed: bool = False


def parse_query(text: str, *, match: Match = "all", stemmed: bool = False) -> KeywordQuery:
    """Read a query. No character of it is syntax.

    A word is a term of whole words. A run of one or two characters of an unspaced script is a phrase; a longer one is the OR of its
    overlapping pairs.

    Args:
        text: what the user typed.
        match: whether every term must occur or one.
        stemmed: the keyword channel of hybrid recall: English stems, stop words dropped unless nothing would be left, and always
            ``any``.

    Raises:
        InvalidInput: the text is no ``str``, or empty or blank; ``match`` is neither ``all`` nor ``any``.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"a query must be a str, got {type(text).__name__}")
    if not text.strip():
        raise InvalidInput("the query is empty: give at least one word, or list the records instead")
    if match not in ("all", "any"):
        raise InvalidInput(f"match must be 'all' or 'any', got {shown(match)}")
    pieces = dict.fromkeys(runs(text))
    if stemmed:
        match = "any"
        pieces = dict.fromkeys(map(stem, [piece for piece in pieces if piece not in STOP_WORDS] or pieces))
    terms = map(_term, pieces)
    return KeywordQuery(_leading(terms) if match == "any" else tuple(terms), match, stemmed)


def _leading(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The first terms, as many as an index can be asked for; at least one, if there is one."""
    kept: list[Term] = []
    phrases = 0
    for term in terms:
        phrases += len(term.alternatives)
        if kept and phrases > MAX_ALTERNATIVES:
            break
        kept.append(term)
    return tuple(kept)


def _term(piece: str) -> Term:
    if len(piece) == 1 or piece.isascii() or not is_unspaced(piece[0]):
        return Term(((piece,),))
    return Term(tuple(dict.fromkeys(pairwise(piece)))[:MAX_ALTERNATIVES])


def index_tokens(text: str) -> str:
    """The words of a text as an index stores them: in order, joined by single spaces.

    Every character but the spaces is a letter or digit of ASCII or lies beyond ASCII, so an engine that cuts at ASCII punctuation and
    spaces only sees exactly these tokens at these positions.
    """
    return " ".join(tokens(text))


def marked_stem(word: str) -> str:
    """The marked stem of a word, under which an index lists it as well; nothing for one that is its own stem."""
    return _marks[word]


class _Marks(dict[str, str]):
    """The marked stem of each word, ``""`` for one that is its own stem: worked out when a word is first met, since every write asks."""

    def __missing__(self, word: str) -> str:
        stemmed = stem(word)
        mark = "" if stemmed == word else STEM_MARK + stemmed
        if len(word) <= MAX_STEMMED_LENGTH:
            if len(self) >= _MAX_MARKS:
                self.clear()
            self[word] = mark
        return mark


_MAX_MARKS = 65_536
_marks = _Marks()


def find_tokens(query: KeywordQuery) -> tuple[tuple[Phrase, ...], ...]:
    """What an index should look for: for each term its alternatives, each a phrase of index tokens.

    A document that the query matches holds at least one alternative of every entry (``match="all"``) or of some entry (``any``). An
    engine without phrases may ask for the tokens of a phrase in any order: candidates are verified by ``counts`` in any case.
    """
    terms = _leading(query.terms) if query.match == "all" else query.terms
    if not query.stemmed:
        return tuple(term.alternatives for term in terms)
    return tuple(tuple(found for phrase in term.alternatives for found in _stemmed_phrases(phrase)) for term in terms)


def find_words(query: KeywordQuery) -> list[list[str]] | None:
    """For each term the words and marked stems whose occurrences in an index, added up, are the term's.

    Returns:
        ``None`` if some term is a phrase, or two terms share a word, so that occurrences do not add up.
    """
    terms = [[word for phrase in term for word in phrase] for term in find_tokens(query)]
    single = all(len(phrase) == 1 for term in query.terms for phrase in term.alternatives)
    words = [word for term in terms for word in term]
    return terms if single and len(terms) == len(query.terms) and len(set(words)) == len(words) else None


def _stemmed_phrases(phrase: Phrase) -> Iterable[Phrase]:
    """Index phrases for a stem: the word that is its own stem, and the mark of the words that are not."""
    if len(phrase) > 1 or not phrase[0].isascii():
        return (phrase,)
    marked = (STEM_MARK + phrase[0],)
    return (phrase, marked) if stem(phrase[0]) == phrase[0] else (marked,)


class _ByStem(dict[str, int]):
    """The term of any word, by its stem, worked out once for each word that the documents hold; 0 for none."""

    def __init__(self, terms: dict[str, int]) -> None:
        super().__init__()
        self._terms = terms

    def __missing__(self, word: str) -> int:
        number = self[word] = self._terms.get(stem(word), 0)
        return number


class Occurrences:
    """Counts the terms of one query in many documents.

    Attributes:
        words: where every word of the query stands for one term, that term's number, from 1; else ``None``.
    """

    def __init__(self, query: KeywordQuery) -> None:
        self._size = len(query.terms)
        self._stemmed = query.stemmed
        self._phrases: dict[str, list[tuple[int, Phrase]]] = {}
        for number, term in enumerate(query.terms):
            for phrase in term.alternatives:
                self._phrases.setdefault(phrase[0], []).append((number, phrase))
        # Where every word stands for one term, as in most queries, counting needs no look at positions.
        self.words: dict[str, int] | None = None
        self._looked_up: dict[str, int] = {}
        if all(len(users) == 1 and len(users[0][1]) == 1 for users in self._phrases.values()):
            self.words = {word: users[0][0] + 1 for word, users in self._phrases.items()}
            self._looked_up = _ByStem(self.words) if query.stemmed else self.words

    def count(self, document_tokens: Sequence[str]) -> tuple[int, ...]:
        """How often each term occurs in a document."""
        if self.words is None:
            return self._count_phrases([stem(word) for word in document_tokens] if self._stemmed else document_tokens)
        look_up = self._looked_up.__getitem__ if self._stemmed else self._looked_up.get
        # Terms are numbered from 1 here, so that the words of none are dropped without a step of Python for each.
        found = [0] * (self._size + 1)
        for number in filter(None, map(look_up, document_tokens)):
            found[number] += 1
        return tuple(found[1:])

    def _count_phrases(self, words: Sequence[str]) -> tuple[int, ...]:
        last, found = [-1] * self._size, [0] * self._size
        for position, word in enumerate(words):
            for number, phrase in self._phrases.get(word, ()):
                fits = len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase
                # Two alternatives that begin at one place are one occurrence.
                if fits and last[number] != position:
                    last[number] = position
                    found[number] += 1
        return tuple(found)


def counts(query: KeywordQuery, document_tokens: Sequence[str]) -> tuple[int, ...]:
    """How often each term occurs in a document.

    Args:
        query: a parsed query.
        document_tokens: the words of the document as ``tokens`` gives them, unstemmed.
    """
    return Occurrences(query).count(document_tokens)


def matches(query: KeywordQuery, counts: Sequence[int]) -> bool:
    """Whether a document with these counts is a hit; never, if the query has no terms."""
    return bool(counts) and (all(counts) if query.match == "all" else any(counts))


def score_tf(counts: Sequence[int]) -> float:
    """Term frequency: the occurrences of all terms."""
    return float(sum(counts))


def rank(
    query: KeywordQuery,
    documents: Sequence[tuple[int, str | Sequence[str]]],
    *,
    scoring: Scoring = "tf",
    corpus: CorpusStats | None = None,
) -> list[tuple[int, float]]:
    """The hits among some documents, best first.

    Ties: the greater document id, which is the newer document, comes first. The hits are the same for both ways of scoring.

    Args:
        query: a parsed query.
        documents: id and text of each; the text raw, as ``index_tokens`` made it, or already cut by ``tokens``.
        scoring: term frequency, or bm25.
        corpus: what bm25 needs of the whole slice; ``None`` where ``documents`` are the whole slice.

    Raises:
        InvalidInput: another ``scoring``, or a ``corpus`` made for another query.
    """
    return rank_counted(query, count_documents(query, documents) if query.terms else [], scoring=scoring, corpus=corpus)


Counted = tuple[int, tuple[int, ...], int]
"""A document: its id, how often each term of the query occurs in it, and how many words it has."""


def rank_counted(
    query: KeywordQuery,
    rows: Iterable[Counted],
    *,
    scoring: Scoring = "tf",
    corpus: CorpusStats | None = None,
    most: int | None = None,
) -> list[tuple[int, float]]:
    """As ``rank``, for documents that have been counted, and no more hits than are asked for.

    Raises:
        InvalidInput: another ``scoring``, or a ``corpus`` made for another query.
    """
    if scoring not in ("tf", "bm25"):
        raise InvalidInput(f"scoring must be 'tf' or 'bm25', got {shown(scoring)}")
    if not query.terms:
        return []
    hold = all if query.match == "all" else any
    if scoring == "bm25":
        rows = list(rows)
        score = _scorer(query, rows, corpus)
        hits = [(score(found, length), document) for document, found, length in rows if hold(found)]
    else:
        hits = [(sum(found), document) for document, found, _ in rows if hold(found)]
    if most is None:
        hits.sort(reverse=True)
    else:
        # They mostly come oldest first, and of equals the newest is the greatest.
        hits = nlargest(most, reversed(hits))
    return [(document, float(score)) for score, document in hits]


def corpus_stats(query: KeywordQuery, documents: Sequence[tuple[int, str | Sequence[str]]]) -> CorpusStats:
    """What bm25 needs to know, counted over all documents of a slice."""
    return _stats(query, count_documents(query, documents))


def count_documents(query: KeywordQuery, documents: Sequence[tuple[int, str | Sequence[str]]]) -> list[Counted]:
    """Count a query's terms in documents, each with its id; the text raw, or already cut by ``tokens``."""
    occurrences = Occurrences(query)
    rows = []
    for document, text in documents:
        words = tokens(text) if isinstance(text, str) else text
        rows.append((document, occurrences.count(words), len(words)))
    return rows


def _stats(query: KeywordQuery, rows: Sequence[Counted]) -> CorpusStats:
    total = sum(length for _, _, length in rows)
    return CorpusStats(len(rows), total / len(rows) if rows else 0.0, document_frequencies(query, rows))


def document_frequencies(query: KeywordQuery, rows: Sequence[Counted]) -> tuple[int, ...]:
    """For each term of a query, in how many of some counted documents it occurs."""
    return tuple(sum(1 for _, found, _ in rows if found[number]) for number in range(len(query.terms)))


def _scorer(query: KeywordQuery, rows: Sequence[Counted], corpus: CorpusStats | None) -> Callable[[Sequence[int], int], float]:
    stats = _stats(query, rows) if corpus is None else corpus
    if len(stats.document_frequencies) != len(query.terms):
        raise InvalidInput(
            f"the corpus counts {len(stats.document_frequencies)} terms, the query has {len(query.terms)}: count it for this query"
        )
    return Bm25(stats.n, stats.average_length, stats.document_frequencies).score
