"""The keyword channel of recall: the records of a slice that hold the words of a query, scored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Mark, Selection
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
    document_frequencies,
    find_tokens,
    find_words,
    parse_query,
    rank_counted,
)

if TYPE_CHECKING:
    from indelible.search.word_index import Floats, Integers

BM25_VARIABLE = "MEMORY_FTS5_BM25"
_UNCOUNTED = CorpusStats(0, 0.0, ())
"""Term frequency needs to know nothing of a slice."""


def keyword_scoring() -> Scoring:
    """How ``search`` scores: term frequency, or bm25 where the variable asks for it."""
    return "bm25" if os.environ.get(BM25_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on") else "tf"


class Shares(NamedTuple):
    """What the keyword channel brings into hybrid recall.

    Attributes:
        versions: of the hits.
        shares: how much of the query each holds, 0 to 1.
        records: by version, of these hits and maybe more.
    """

    versions: Integers
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
        if scoring == "tf" and request.most is not None and self._is_large(selection):
            best_hits = best_by_words(self._backend, selection, query, request.most, allowed)
            if best_hits is not None:
                return best_hits
        found = self._known(selection, query, scoring, mark)
        if found is None:
            counted, stats, records = self._counted(selection, query, scoring)
            # Filters narrow the hits, not the statistics, which are those of the whole slice.
            rows = counted if allowed is None else [row for row in counted if row[0] in allowed]
            return rank_counted(query, rows, scoring=scoring, corpus=stats)[: request.most], records
        versions, scores = _allowed(found.versions, found.scores, allowed)
        order = best(versions, scores, request.most)
        return list(zip(versions[order].tolist(), scores[order].tolist(), strict=True)), found.records

    def shares(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> Shares:
        """The hits of a query by the stems of its words, each with the share of it that it holds; arguments as for ``ranked``."""
        import numpy as np

        query = parse_query(request.query or "", match=request.match, stemmed=True)
        found = self._known(selection, query, "bm25", mark)
        if found is not None:
            versions, scores, stats, records = found
        else:
            counted, stats, records = self._counted(selection, query, "bm25")
            hits = rank_counted(query, counted, scoring="bm25", corpus=stats)
            versions = np.fromiter((version for version, _ in hits), np.int64, len(hits))
            scores = np.fromiter((score for _, score in hits), np.float64, len(hits))
        bm25 = Bm25(stats.n, stats.average_length, stats.document_frequencies)
        return Shares(*_allowed(versions, bm25.shares(scores), allowed), records)

    def _known(self, selection: Selection, query: KeywordQuery, scoring: Scoring, mark: Mark) -> WordHits | None:
        """The hits by what this process has read of the slice; ``None`` where the backend's index has to find them."""
        if selection.records is not None or selection.parent is not None:
            return None
        if self._is_large(selection):
            return all_by_words(self._backend, self._engine.document_cache, selection, query, scoring, mark)
        return self._engine.word_cache.score(selection, query, scoring, mark)

    def _is_large(self, selection: Selection) -> bool:
        """Whether a selection has more records than this process keeps the words of."""
        return is_whole(selection) and self._engine.word_cache.is_too_large(selection)

    def _counted(self, selection: Selection, query: KeywordQuery, scoring: Scoring) -> tuple[list[Counted], CorpusStats, dict[int, bytes]]:
        """What the backend's index finds, counted, with the slice's statistics as far as the scoring needs them."""
        known = self._counted_alone(selection, query, scoring)
        if known is not None:
            return known
        # Every document with any of the words is one that the statistics count.
        wanted = replace(query, match="any") if scoring == "bm25" else query
        found = self._backend.find(selection, find_tokens(wanted), match=wanted.match)
        counted = count_documents(query, [(item.version, item.words.split(" ")) for item in found])
        records = {item.version: item.record for item in found}
        if scoring == "tf":
            return counted, _UNCOUNTED, records
        documents, words = self._backend.corpus(selection)
        return counted, CorpusStats(documents, words / documents if documents else 0.0, document_frequencies(query, counted)), records

    def _counted_alone(
        self, selection: Selection, query: KeywordQuery, scoring: Scoring
    ) -> tuple[list[Counted], CorpusStats, dict[int, bytes]] | None:
        """The same without reading a text; ``None`` where texts have to be read."""
        words = find_words(query)
        found = None if words is None else self._backend.counted(selection, words, lengths=scoring == "bm25")
        if found is None:
            return None
        counted = [(item.version, item.counts, item.length) for item in found]
        records = {item.version: item.record for item in found}
        if scoring == "tf":
            return counted, _UNCOUNTED, records
        documents, length = self._backend.corpus(selection)
        return counted, CorpusStats(documents, length / documents if documents else 0.0, document_frequencies(query, counted)), records


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


def _allowed(versions: Integers, scores: Floats, allowed: set[int] | None) -> tuple[Integers, Floats]:
    if allowed is None:
        return versions, scores
    import numpy as np

    chosen = np.isin(versions, np.fromiter(allowed, np.int64, len(allowed)))
    return versions[chosen], scores[chosen]
