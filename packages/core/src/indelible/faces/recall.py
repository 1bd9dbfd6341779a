"""Recall: a selection and a request in, hits out. Channels rank, fusion joins them, priors reorder, the limit cuts last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from indelible.backend.interface import Mark, Row, Selection
from indelible.base.canonical import loads
from indelible.base.record import Hit
from indelible.errors import InvalidInput
from indelible.faces.coded_vectors import CodedVectors
from indelible.faces.contexts import has_text
from indelible.faces.engine import Engine
from indelible.faces.fields import record_of
from indelible.faces.indexing import Indexing, Space
from indelible.faces.listing import chosen, filtered_rows, is_whole, scanned_rows
from indelible.faces.request import Mmr, Request
from indelible.faces.vector_cache import Vectors, arrange
from indelible.faces.word_cache import Counts
from indelible.search.fusion import CROWD, clear_balance, fuse
from indelible.search.keyword import (
    Bm25,
    CorpusStats,
    KeywordQuery,
    count_documents,
    document_frequencies,
    find_tokens,
    parse_query,
    rank_counted,
)
from indelible.search.mmr import mmr
from indelible.search.priors import apply_priors, feedback_shift, recency_shift, unit_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BM25_VARIABLE = "MEMORY_FTS5_BM25"
POOL = 1000
"""How many of the best hits priors reorder; more if more are asked for."""
_ATTEMPTS = 5
"""How often vectors are read again because views were made anew meanwhile; somebody who does that all the time must not stop recall."""


def keyword_scoring() -> Literal["tf", "bm25"]:
    """How ``search`` scores: term frequency, or bm25 where the variable asks for it."""
    return "bm25" if os.environ.get(BM25_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on") else "tf"


def _narrowed(selection: Selection, request: Request) -> Selection:
    """The records that may be hits. What they are ranked in, and the statistics of its words, stay those of the whole slice."""
    if request.keys is None and request.parent is None:
        return selection
    return replace(selection, keys=request.keys, parent=request.parent)


def _pool(request: Request) -> int:
    """How many of the best hits matter: those that priors reorder, and those that are asked for."""
    if not request.has_priors:
        return request.depth or 0
    return max(POOL, request.depth or 0, request.mmr.pool if request.mmr is not None else 0)


@dataclass(slots=True)
class _Candidates:
    """What the channels found: versions in order with scores, and what is known of each.

    Attributes:
        shares: of hits of the keyword channel of hybrid, how much of the query each holds.
        clear: how much meaning should count in hybrid, by the vectors of the whole slice.
    """

    ranked: list[tuple[int, float]]
    records: dict[int, bytes]
    cosines: dict[int, float]
    parts: dict[int, str]
    channels: dict[int, tuple[str, ...]]
    shares: dict[int, float] = field(default_factory=dict)
    clear: float = 0.0


class Recall:
    """Answers requests on one store.

    Args:
        engine: the store's.
        indexing: how the collection's vectors are made.
    """

    def __init__(self, engine: Engine, indexing: Indexing) -> None:
        self._engine = engine
        self._backend = engine.backend
        self._indexing = indexing

    def hits(self, selection: Selection, request: Request) -> list[Hit]:
        """The hits of a selection, best first."""
        if request.limit == 0:
            return []
        narrow = _narrowed(selection, request)
        if request.query is None and request.vector is None:
            return self._listed(narrow, request)
        restricted = request.filters is not None or request.accept is not None or narrow is not selection
        allowed = self._allowed(narrow, request) if restricted else None
        found = self._found(selection, request, allowed)
        self._apply_priors(selection, request, found)
        hits = self._fetched(selection, request.cut(found.ranked), found)
        return hits + self._unscored(narrow, request, len(found.ranked)) if request.unscored else hits

    def _unscored(self, selection: Selection, request: Request, scored: int) -> list[Hit]:
        """What has no vector of this space, as far as the page goes beyond the hits."""
        start = max(request.offset - scored, 0)
        end = None if request.depth is None else request.depth - scored
        if end is not None and end <= start:
            return []
        models = self._indexing.models(selection.namespace or (), self._indexing.space(request.vector), self._backend.mark())
        rows = chosen(self._backend.unembedded(selection, models), request.filters, request.accept, request.filter_on)
        rows.sort(key=lambda row: (row.standing.created, row.standing.record))
        return [Hit(record_of(row.standing, row.body), None, 0.0) for row in rows[start:end]]

    def _listed(self, selection: Selection, request: Request) -> list[Hit]:
        paged = replace(selection, limit=request.limit, offset=request.offset)
        rows = filtered_rows(self._engine, paged, request.filters, request.accept, request.filter_on)
        return [Hit(record_of(row.standing, row.body), None, 0.0) for row in rows]

    def _allowed(self, selection: Selection, request: Request) -> set[int]:
        """The versions that a request's conditions leave, among which there may be expired ones."""
        if request.filters is not None and request.accept is None and is_whole(selection):
            known = self._engine.filter_cache.match(selection, request.filters, request.filter_on, self._backend.mark())
            if known is not None:
                return known
        rows = scanned_rows(self._backend, selection, request.filters, request.accept, request.filter_on)
        return {row.standing.version for row in rows}

    def _found(self, selection: Selection, request: Request, allowed: set[int] | None) -> _Candidates:
        if request.mode == "keyword" or request.balance == 0.0:
            return self._by_words(selection, request, allowed)
        if request.mode == "semantic" or request.balance == 1.0:
            return self._by_meaning(selection, request, allowed)
        words = self._by_words(selection, request, allowed)
        meaning = self._by_meaning(selection, request, allowed, words)
        found = dict.fromkeys(version for channel in (words, meaning) for version, _ in channel.ranked)
        known = words.cosines | meaning.cosines
        fused = fuse(
            {version: words.shares[version] for version in found if version in words.shares},
            {version: known[version] for version in found if version in known},
            balance=meaning.clear if request.balance is None else request.balance,
        )
        channels = {version: words.channels.get(version, ()) + meaning.channels.get(version, ()) for version, _ in fused}
        return _Candidates(fused, words.records | meaning.records, known, words.parts | meaning.parts, channels)

    # The keyword channel

    def _by_words(self, selection: Selection, request: Request, allowed: set[int] | None) -> _Candidates:
        hybrid = request.mode == "hybrid"
        query = parse_query(request.query or "", match=request.match, stemmed=hybrid)
        scoring: Literal["tf", "bm25"] = "bm25" if hybrid else keyword_scoring()
        found = self._counted(selection, query, scoring)
        # Filters narrow the hits, not the statistics, which are those of the whole slice.
        counted = [item for item in found.counted if allowed is None or item[0] in allowed]
        ranked = rank_counted(query, counted, scoring=scoring, corpus=found.stats)
        candidates = _Candidates(ranked, found.records, {}, {}, dict.fromkeys((version for version, _ in ranked), ("keyword",)))
        if hybrid and found.stats is not None:
            bm25 = Bm25(found.stats.n, found.stats.average_length, found.stats.document_frequencies)
            candidates.shares = {version: bm25.share(score) for version, score in ranked}
        return candidates

    def _counted(self, selection: Selection, query: KeywordQuery, scoring: Literal["tf", "bm25"]) -> Counts:
        """The documents that hold a query's words: from what this process has read of the slice, or through the backend's index."""
        if selection.records is None and selection.parent is None:
            known = self._engine.word_cache.count(selection, query, self._backend.mark())
            if known is not None:
                return known
        # Every document with any of the words is one that the statistics count.
        wanted = replace(query, match="any") if scoring == "bm25" else query
        found = self._backend.find(selection, find_tokens(wanted), match=wanted.match)
        counted = count_documents(query, [(item.version, item.words.split(" ")) for item in found])
        records = {item.version: item.record for item in found}
        if scoring == "tf":
            return Counts(counted, None, records)
        documents, words = self._backend.corpus(selection)
        frequencies = document_frequencies(query, counted)
        return Counts(counted, CorpusStats(documents, words / documents if documents else 0.0, frequencies), records)

    # The semantic channel

    def _by_meaning(self, selection: Selection, request: Request, allowed: set[int] | None, also: _Candidates | None = None) -> _Candidates:
        space = self._indexing.space(request.vector)
        vectors = self._vectors(selection, space)
        query = self._query_vector(request)
        if len(query) != space.dim:
            raise InvalidInput(f"the query's vector has {len(query)} numbers, the vectors here have {space.dim}")
        if also is not None:
            _add_cosines(also, vectors, query, request.min_score)
        # What holds no word of a query is fused in the order of cosines, so that no more of it than is asked for can be hits.
        most = None if request.depth is None else max(_pool(request), CROWD if also is not None else 0)
        order, cosines, rows = vectors.nearest(query, most=most, least=request.min_score, wanted=self._wanted(vectors, selection, allowed))
        versions = vectors.versions[order].tolist()
        clear = 0.0
        if also is not None and request.balance is None:
            # As with the statistics of words, filters and bounds narrow the hits and not what is read off the slice.
            crowd = cosines[:CROWD]
            if allowed is not None or request.min_score is not None:
                _, crowd, _ = vectors.nearest(query, most=CROWD, least=None, wanted=self._wanted(vectors, selection, None))
            clear = clear_balance(crowd.tolist())
        return _Candidates(
            list(zip(versions, cosines.tolist(), strict=True)),
            dict(zip(versions, vectors.records_at(order), strict=True)),
            dict(zip(versions, cosines.tolist(), strict=True)),
            {version: vectors.parts[row] for version, row in zip(versions, rows.tolist(), strict=True)},
            dict.fromkeys(versions, ("semantic",)),
            clear=clear,
        )

    def _vectors(self, selection: Selection, space: Space) -> Vectors | CodedVectors:
        """The vectors of a selection, read while nothing was moved to another model."""
        cache, namespace = self._engine.vector_cache, selection.namespace or ()
        if selection.records is None and selection.parent is None:
            mark = self._backend.mark()
            if self._engine.large_vectors.is_large(selection, space.dim, mark):
                return self._large_vectors(selection, space, mark)
        for attempt in range(_ATTEMPTS):
            mark = self._backend.mark()
            epoch = mark.epoch
            models = self._indexing.models(namespace, space, mark)
            if selection.records is not None or selection.parent is not None:
                vectors = arrange(self._backend.vectors(selection, models), space.dim)
            elif cache.is_fresh(selection, models, space.dim, mark):
                return cache.get(selection, models, space.dim, mark)
            else:
                if self._indexing.default_mode is not None and selection.version is None:
                    # Vectors of a context go missing only together with a new epoch.
                    context = not cache.is_of_epoch(selection, models, space.dim, epoch)
                    models = self._fill_in(selection, models, context=context)
                    epoch = self._backend.mark().epoch
                # Kept under the mark of before, so that what could not be filled in is tried again.
                vectors = cache.get(selection, models, space.dim, mark)
            # A reindex that ended in between has taken the old model's vectors away: then look again, which says so.
            if self._backend.mark().epoch == epoch or attempt == _ATTEMPTS - 1:
                break
        return vectors

    def _large_vectors(self, selection: Selection, space: Space, mark: Mark) -> CodedVectors:
        """The same of a large selection, which is read first: that tells what lacks vectors, without looking for those of each record."""
        cache = self._engine.large_vectors
        for _ in range(_ATTEMPTS):
            models = self._indexing.models(selection.namespace or (), space, mark)
            if cache.is_fresh(selection, models, space.dim, mark):
                return cache.get(selection, models, space.dim, mark)
            context = not cache.is_of_epoch(selection, models, space.dim, mark.epoch)
            vectors = cache.get(selection, models, space.dim, mark)
            if self._indexing.default_mode is not None and selection.version is None:
                lacking = vectors.records_missing() | (set(self._backend.linked()) if context else set())
                if lacking:
                    self._fill_in(replace(selection, records=tuple(lacking)), models, context=context)
            now = self._backend.mark()
            if now.epoch == mark.epoch:
                break
            mark = now
        return vectors

    def _fill_in(self, selection: Selection, models: list[str], *, context: bool) -> list[str]:
        """Embed what was written without vectors, or without those of its context: imported, before there was a model, or overtaken."""
        rows = self._backend.unembedded(replace(selection, expiry="all"), models, context=context)
        pending = [row for row in rows if has_text(row)]
        elsewhere = self._indexing.elsewhere({row.standing.namespace for row in pending}, selection.namespace or ())
        pending = [row for row in pending if row.standing.namespace not in elsewhere]
        made: list[int] = []
        for start in range(0, len(pending), 500):
            made += self._indexing.embed_rows(pending[start : start + 500], selection.namespace or (), models)
        return self._indexing.space().models(self._engine) if made else models

    def _query_vector(self, request: Request) -> npt.NDArray[np.float32]:
        import numpy as np

        if request.vector is None:
            return self._indexing.embedder().embed_query(request.query or "")
        query = np.asarray(request.vector, np.float64)
        return (query / np.linalg.norm(query)).astype(np.float32)

    def _wanted(self, vectors: Vectors | CodedVectors, selection: Selection, allowed: set[int] | None) -> npt.NDArray[np.bool_] | None:
        """Which records may be hits; ``None`` where all may."""
        import numpy as np

        wanted = None
        if selection.expiry == "expired":
            wanted = vectors.expires <= selection.now_ms
        elif selection.expiry == "live" and vectors.soonest <= selection.now_ms:
            wanted = vectors.expires > selection.now_ms
        if allowed is None:
            return wanted
        inside = np.isin(vectors.versions, np.fromiter(allowed, np.int64, len(allowed)))
        return inside if wanted is None else inside & wanted

    # Priors

    def _apply_priors(self, selection: Selection, request: Request, found: _Candidates) -> None:
        if not request.has_priors:
            return
        depth = _pool(request)
        pool, rest = found.ranked[:depth], found.ranked[depth:]
        shifts = self._shifts(selection, request, found, pool)
        if shifts:
            pool = apply_priors(pool, shifts, unit=unit_of(pool))
        if request.mmr is not None and request.mode != "keyword":
            pool = self._diverse(selection, request, request.mmr, found, pool)
        found.ranked[:] = pool + rest

    def _shifts(self, selection: Selection, request: Request, found: _Candidates, pool: list[tuple[int, float]]) -> dict[int, float]:
        shifts: dict[int, float] = {version: 0.0 for version, _ in pool}
        records = [found.records[version] for version, _ in pool]
        if request.feedback is not None:
            votes = self._backend.votes(records, version=selection.version)
            for version, record in zip(shifts, records, strict=True):
                cast = [1 if vote == "up" else -1 for vote in votes.get(record, ())]
                shifts[version] += feedback_shift(cast, request.feedback)
        if request.recency is not None:
            half_life = max(request.recency.half_life // timedelta(milliseconds=1), 1)
            for row in self._rows(selection, records):
                occurred = loads(row.body).get("occurred_at", row.standing.created // 1000)
                shifts[row.standing.version] += recency_shift(occurred, selection.now_ms, half_life, request.recency.weight)
        return shifts

    def _diverse(
        self, selection: Selection, request: Request, wanted: Mmr, found: _Candidates, ranked: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        import numpy as np

        pool, rest = ranked[: wanted.pool], ranked[wanted.pool :]
        space = self._indexing.space(request.vector)
        rows = self._backend.vectors(self._at_records(selection, [found.records[v] for v, _ in pool]), space.models(self._engine))
        first: dict[int, bytes] = {}
        for row in rows:
            if found.parts.get(row.version, row.part) == row.part:
                first.setdefault(row.version, row.data)
        matrix = np.stack([np.frombuffer(first.get(v, bytes(4 * space.dim)), "<f4") for v, _ in pool]) if pool else np.zeros((0, space.dim))
        most = len(pool) if request.depth is None else min(request.depth, len(pool))
        relevance = None
        if request.mode == "hybrid" and pool and pool[0][1] > 0:
            # On the scale of cosines, where the best is near 1.
            relevance = [score / pool[0][1] for _, score in pool]
        order = mmr(self._query_vector(request), matrix, limit=most, balance=wanted.balance, relevance=relevance)
        return [pool[index] for index in order] + rest

    # Records

    def _at_records(self, selection: Selection, records: Sequence[bytes]) -> Selection:
        return replace(selection, records=tuple(records), limit=None, offset=0, expiry="all")

    def _rows(self, selection: Selection, records: Sequence[bytes]) -> list[Row]:
        return self._backend.select(self._at_records(selection, records)) if records else []

    def _fetched(self, selection: Selection, ranked: list[tuple[int, float]], found: _Candidates) -> list[Hit]:
        rows = {row.standing.version: row for row in self._rows(selection, [found.records[version] for version, _ in ranked])}
        return [
            Hit(
                record_of(rows[version].standing, rows[version].body),
                found.cosines.get(version),
                score,
                found.channels.get(version, ()),
                found.parts.get(version) or None,
            )
            for version, score in ranked
            # A record may have changed between ranking and reading; what it was is no longer there to show.
            if version in rows
        ]


def _add_cosines(found: _Candidates, vectors: Vectors | CodedVectors, query: npt.NDArray[np.float32], min_score: float | None) -> None:
    """Give hits of the keyword channel their cosines, and drop those below the least that was asked for."""
    import numpy as np

    there = np.flatnonzero(np.isin(vectors.versions, np.array([version for version, _ in found.ranked], np.int64)))
    cosines, rows = vectors.cosines(query, there)
    versions = vectors.versions[there].tolist()
    found.cosines.update(zip(versions, cosines.tolist(), strict=True))
    found.parts.update(zip(versions, (vectors.parts[row] for row in rows.tolist()), strict=True))
    if min_score is not None:
        found.ranked[:] = [hit for hit in found.ranked if found.cosines.get(hit[0], min_score) >= min_score]
