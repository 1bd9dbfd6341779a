"""The keyword channel of recall: the records of a slice that hold the words of a query, scored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import CountedRecords, Mark, Selection
from indelible.faces.engine import Engine
from indelible.faces.large_words import all_by_words, best_by_words
from indelible.faces.listing import is_whole
from indelible.faces.request import Request
from indelible.faces.word_cache import WordHits
from indelible.search.bm25 import Bm25, CorpusStats
from indelible.search.keyword import (
    Counted,
    KeywordQuery,
    Scoring,
    count_documents,
    find_tokens,
    find_words,
    parse_query,
    rank_counted,
)
from indelible.search.word_index import add_up

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from indelible.search.word_index import Floats, Integers

BM25_VARIABLE = "MEMORY_FTS5_BM25"
_UNCOUNTED = CorpusStats(0, 0.0, ())
"""Term frequency needs to know nothing of a slice."""
_ALL = slice(None)


def keyword_scoring() -> Scoring:
    """How ``search`` scores: term frequency, or bm25 where the variable asks for it."""
    return "bm25" if os.environ.get(BM25_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on") else "tf"


class Shares(NamedTuple):
    """What the keyword channel brings into hybrid recall.

    Attributes:
        versions: of the hits and maybe more; as long as a slice that is kept stays as it is, always the same array.
        at: where the hits are among them.
        shares: how much of the query each hit holds, 0 to 1.
        records: by version, of these hits and maybe more.
    """

    versions: Integers
    at: Integers | slice
    shares: Floats
    records: Mapping[int, bytes]


class KeywordChannel:
    """Finds words in the slices of one store.

    Args:
        engine: the store's.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._backend = engine.backend

    def ranked(
        self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark
    ) -> tuple[list[tuple[int, float]], Mapping[int, bytes]]:
        """The hits of a query, best first and the newer of equals first, and their records.

        As many of them as can be asked for. ``numpy`` is not needed for the first question about a slice: a command asks only once.

        Args:
            selection: what is ranked, and what the statistics are of.
            request: what is asked.
            allowed: the versions that may be hits.
            mark: where the store is.
        """
        hybrid = request.mode == "hybrid"
        query = parse_query(request.query or "", match=request.match, stemmed=hybrid)
        scoring: Scoring = "bm25" if hybrid else keyword_scoring()
        counted = self._counted_first(selection, query, scoring)
        if counted is None:
            if scoring == "tf" and request.most is not None and self._is_large(selection):
                best_hits = best_by_words(self._backend, selection, query, request.most, allowed)
                if best_hits is not None:
                    return best_hits
            found = self._known(selection, query, scoring, mark)
            if found is not None:
                versions, scores = found.versions[found.at], found.scores
                if allowed is not None:
                    chosen = _allowed(versions, allowed)
                    versions, scores = versions[chosen], scores[chosen]
                order = best(versions, scores, request.most)
                return list(zip(versions[order].tolist(), scores[order].tolist(), strict=True)), found.records
            counted = self._counted(selection, query, scoring)
        counts: list[list[int]] = counted.counts if isinstance(counted.counts, list) else counted.counts.tolist()
        rows: Iterable[Counted] = zip(counted.versions, zip(*counts, strict=True), counted.lengths, strict=False)
        if allowed is not None:
            # Filters narrow the hits, not the statistics, which are those of the whole slice.
            rows = (row for row in rows if row[0] in allowed)
        stats = _stats(counted, [len(column) - column.count(0) for column in counts]) if scoring == "bm25" else _UNCOUNTED
        ranked = rank_counted(query, rows, scoring=scoring, corpus=stats, most=request.most)
        return ranked, dict(zip(counted.versions, counted.records, strict=True))

    def shares(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> Shares:
        """The hits of a query by the stems of its words, each with the share of it that it holds; arguments as for ``ranked``."""
        query = parse_query(request.query or "", match=request.match, stemmed=True)
        counted = self._counted_first(selection, query, "bm25")
        found = None if counted is not None else self._known(selection, query, "bm25", mark)
        if found is None:
            found = _scored(query, self._counted(selection, query, "bm25") if counted is None else counted)
        versions, at, scores, bm25, records = found
        shares = scores if bm25 is None else bm25.shares(scores)
        if allowed is not None:
            chosen = _allowed(versions[at], allowed)
            versions, at, shares = versions[at][chosen], _ALL, shares[chosen]
        return Shares(versions, at, shares, records)

    def _known(self, selection: Selection, query: KeywordQuery, scoring: Scoring, mark: Mark) -> WordHits | None:
        """The hits by what this process has read of the slice; ``None`` where the backend's index has to find them."""
        if _is_narrow(selection):
            return None
        if self._is_large(selection):
            return all_by_words(self._backend, self._engine.document_cache, selection, query, scoring, mark)
        return self._engine.word_cache.score(selection, query, scoring, mark)

    def _is_large(self, selection: Selection) -> bool:
        """Whether a selection has more records than this process keeps the words of."""
        return is_whole(selection) and self._engine.word_cache.is_too_large(selection)

    def _counted_first(self, selection: Selection, query: KeywordQuery, scoring: Scoring) -> CountedRecords | None:
        """What the backend counts in a slice about which there were few questions: it does so only in small ones, so that the size of this
        one need not be found out."""
        cache = self._engine.word_cache
        if _is_narrow(selection) or not cache.is_counted(selection):
            return None
        counted = self._counted_alone(selection, query, scoring)
        if counted is not None:
            cache.note_counted(selection, lengths=scoring == "bm25")
        return counted

    def _counted(self, selection: Selection, query: KeywordQuery, scoring: Scoring) -> CountedRecords:
        """What the backend's index finds, counted, and the size of the slice as far as the scoring needs it."""
        known = self._counted_alone(selection, query, scoring)
        if known is not None:
            return known
        # Every document with any of the words is one that the statistics count.
        wanted = replace(query, match="any") if scoring == "bm25" else query
        found = self._backend.find(selection, find_tokens(wanted), match=wanted.match)
        rows = count_documents(query, [(item.version, item.words.split(" ")) for item in found])
        return CountedRecords(
            [item.record for item in found],
            [version for version, _, _ in rows],
            [[counts[number] for _, counts, _ in rows] for number in range(len(query.terms))],
            [length for _, _, length in rows],
            self._backend.corpus(selection) if scoring == "bm25" else None,
        )

    def _counted_alone(self, selection: Selection, query: KeywordQuery, scoring: Scoring) -> CountedRecords | None:
        """The same without reading a text; ``None`` where texts have to be read."""
        words = find_words(query)
        return None if words is None else self._backend.counted(selection, words, lengths=scoring == "bm25")


def _is_narrow(selection: Selection) -> bool:
    return selection.records is not None or selection.parent is not None


def _stats(counted: CountedRecords, frequencies: Iterable[int]) -> CorpusStats:
    """What bm25 needs to know, given in how many records each term occurs."""
    documents, words = counted.corpus or (0, 0)
    return CorpusStats(documents, words / documents if documents else 0.0, tuple(frequencies))


def _scored(query: KeywordQuery, counted: CountedRecords) -> WordHits:
    """The scores of what was counted, by bm25."""
    import numpy as np

    counts = [np.asarray(column, np.float64) for column in counted.counts]
    held = [np.flatnonzero(column) for column in counts]
    stats = _stats(counted, map(len, held))
    bm25 = Bm25(stats.n, stats.average_length, stats.document_frequencies)
    held_back = bm25.held_back(np.array(counted.lengths, np.float64))
    columns = [(at, bm25.parts(number, counts[number][at], held_back[at])) for number, at in enumerate(held)]
    at, scores = add_up(columns, len(held_back), query.match)
    return WordHits(np.array(counted.versions, np.int64), at, scores, bm25, dict(zip(counted.versions, counted.records, strict=True)))


def best(versions: Integers, scores: Floats, most: int | None) -> Integers:
    """The places of the greatest scores, greatest first and the greater version of equals first.

    Args:
        versions: that the scores are of.
        scores: finite.
        most: how many; ``None`` for all.
    """
    import numpy as np

    if most is None or most >= len(scores):
        return np.lexsort((-versions, -scores))
    if not most:
        return np.zeros(0, np.int64)
    last = np.partition(scores, len(scores) - most)[len(scores) - most]
    places = np.flatnonzero(scores >= last)
    return places[np.lexsort((-versions[places], -scores[places]))[:most]]


def _allowed(versions: Integers, allowed: set[int]) -> npt.NDArray[np.bool_]:
    import numpy as np

    return np.isin(versions, np.fromiter(allowed, np.int64, len(allowed)))
