"""Recall: a selection and a request in, hits out. Channels rank, fusion joins them, priors reorder, the limit cuts last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from indelible.backend.interface import Mark, Selection
from indelible.base.canonical import loads
from indelible.base.record import Hit
from indelible.faces.engine import Engine
from indelible.faces.fields import record_of
from indelible.faces.hybrid import Nearest, join
from indelible.faces.indexing import Indexing
from indelible.faces.listing import chosen, filtered_rows, is_whole, scanned_rows
from indelible.faces.meaning import SemanticChannel
from indelible.faces.request import Mmr, Request
from indelible.faces.reranking import reranked
from indelible.faces.words import KeywordChannel
from indelible.search.fusion import CROWD, clear_balance
from indelible.search.mmr import mmr
from indelible.search.priors import apply_priors, feedback_shift, recency_shift, unit_of

_BY_WORDS = ("keyword",)
_BY_MEANING = ("semantic",)


def _narrowed(selection: Selection, request: Request) -> Selection:
    """The records that may be hits. What they are ranked in, and the statistics of its words, stay those of the whole slice."""
    if request.keys is None and request.parent is None:
        return selection
    return replace(selection, keys=request.keys, parent=request.parent)


@dataclass(slots=True)
class _Found:
    """What the channels found: versions in order with scores, as far as they can be needed, and what is known of each.

    Attributes:
        channels: that found each; all of them found all that are not here.
    """

    ranked: list[tuple[int, float]]
    records: Mapping[int, bytes]
    cosines: Mapping[int, float]
    parts: Mapping[int, str]
    channels: Mapping[int, tuple[str, ...]]
    everywhere: tuple[str, ...] = ()


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
        self._words = KeywordChannel(engine)
        self._meaning = SemanticChannel(engine, indexing)

    def hits(self, selection: Selection, request: Request) -> list[Hit]:
        """The hits of a selection, best first."""
        if request.limit == 0:
            return []
        narrow = _narrowed(selection, request)
        if request.query is None and request.vector is None:
            return self._listed(narrow, request)
        mark = self._backend.mark()
        restricted = request.filters is not None or request.accept is not None or narrow is not selection
        allowed = self._allowed(narrow, request, mark) if restricted else None
        found = self._found(selection, request, allowed, mark)
        if request.has_priors:
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

    def _allowed(self, selection: Selection, request: Request, mark: Mark) -> set[int]:
        """The versions that a request's conditions leave, among which there may be expired ones."""
        if request.filters is not None and request.accept is None and is_whole(selection):
            known = self._engine.filter_cache.match(selection, request.filters, request.filter_on, mark)
            if known is not None:
                return known
        rows = scanned_rows(self._backend, selection, request.filters, request.accept, request.filter_on)
        return {row.standing.version for row in rows}

    # Channels

    def _found(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> _Found:
        if request.mode == "keyword" or request.balance == 0.0:
            return self._by_words(selection, request, allowed, mark)
        if request.mode == "semantic" or request.balance == 1.0:
            return self._by_meaning(selection, request, allowed, mark)
        return self._by_both(selection, request, allowed, mark)

    def _by_words(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> _Found:
        ranked, records = self._words.ranked(selection, request, allowed, mark)
        return _Found(ranked, records, {}, {}, {}, _BY_WORDS)

    def _by_meaning(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> _Found:
        vectors, query = self._meaning.asked(selection, request, mark)
        wanted = self._meaning.wanted(vectors, selection, allowed)
        places, cosines, rows = vectors.nearest(query, most=request.most, least=request.min_score, wanted=wanted)
        versions = vectors.versions[places].tolist()
        ranked = list(zip(versions, cosines.tolist(), strict=True))
        return _Found(
            ranked,
            dict(zip(versions, vectors.records_at(places), strict=True)),
            dict(ranked),
            {version: vectors.parts[row] for version, row in zip(versions, rows.tolist(), strict=True)},
            {},
            _BY_MEANING,
        )

    def _by_both(self, selection: Selection, request: Request, allowed: set[int] | None, mark: Mark) -> _Found:
        words = self._words.shares(selection, request, allowed, mark)
        vectors, query = self._meaning.asked(selection, request, mark)
        # What holds no word of a query is fused in the order of cosines, so that no more of it than is asked for can be hits.
        most = None if request.most is None else max(request.most, CROWD)
        wanted = self._meaning.wanted(vectors, selection, allowed)
        nearest = Nearest(*vectors.nearest(query, most=most, least=request.min_score, wanted=wanted))
        balance = request.balance
        if balance is None:
            crowd = nearest.cosines[:CROWD]
            # As with the statistics of words, filters and bounds narrow the hits and not what is read off the slice.
            if allowed is not None or request.min_score is not None:
                everybody = self._meaning.wanted(vectors, selection, None)
                _, crowd, _ = vectors.nearest(query, most=CROWD, least=None, wanted=everybody)
            balance = clear_balance(crowd.tolist(), self._meaning.coverage(request))
        return _Found(*join(words, vectors, query, nearest, balance=balance, least=request.min_score, most=request.most))

    # Priors

    def _apply_priors(self, selection: Selection, request: Request, found: _Found) -> None:
        if request.rerank is not None:
            # Before the priors: a model judges by the texts alone, and what votes, dates and variety change must stay changed.
            best = [found.records[version] for version, _ in found.ranked[: request.rerank.pool]]
            rows = {row.standing.version: row for row in self._backend.rows(best, version=selection.version)}
            found.ranked[:] = reranked(request, request.rerank, found.ranked, rows, found.parts, self._indexing.embedder)
        depth = request.pool
        pool, rest = found.ranked[:depth], found.ranked[depth:]
        shifts = self._shifts(selection, request, found, pool)
        if shifts:
            pool = apply_priors(pool, shifts, unit=unit_of(pool))
        if request.mmr is not None and request.mode != "keyword":
            pool = self._diverse(selection, request, request.mmr, found, pool)
        found.ranked[:] = pool + rest

    def _shifts(self, selection: Selection, request: Request, found: _Found, pool: list[tuple[int, float]]) -> dict[int, float]:
        shifts: dict[int, float] = {version: 0.0 for version, _ in pool}
        records = [found.records[version] for version, _ in pool]
        if request.feedback is not None:
            votes = self._backend.votes(records, version=selection.version)
            for version, record in zip(shifts, records, strict=True):
                cast = [1 if vote == "up" else -1 for vote in votes.get(record, ())]
                shifts[version] += feedback_shift(cast, request.feedback)
        if request.recency is not None:
            half_life = max(request.recency.half_life // timedelta(milliseconds=1), 1)
            for row in self._backend.rows(records, version=selection.version):
                if row.standing.version not in shifts:  # it changed while this recall was under way, and will not be shown
                    continue
                occurred = loads(row.body).get("occurred_at", row.standing.created // 1000)
                shifts[row.standing.version] += recency_shift(occurred, selection.now_ms, half_life, request.recency.weight)
        return shifts

    def _diverse(
        self, selection: Selection, request: Request, wanted: Mmr, found: _Found, ranked: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        import numpy as np

        pool, rest = ranked[: wanted.pool], ranked[wanted.pool :]
        space = self._indexing.space(request.vector)
        rows = self._backend.vectors(
            replace(selection, records=tuple(found.records[v] for v, _ in pool), limit=None, offset=0, expiry="all"),
            space.models(self._engine),
        )
        first: dict[int, bytes] = {}
        for row in rows:
            if found.parts.get(row.version, row.part) == row.part:
                first.setdefault(row.version, row.data)
        matrix = np.stack([np.frombuffer(first.get(v, bytes(4 * space.dim)), "<f4") for v, _ in pool]) if pool else np.zeros((0, space.dim))
        most = len(pool) if request.depth is None else min(request.depth, len(pool))
        relevance = None
        if (request.mode == "hybrid" or request.rerank is not None) and pool and pool[0][1] > 0:
            # On the scale of cosines, where the best is near 1.
            relevance = [score / pool[0][1] for _, score in pool]
        order = mmr(self._meaning.query(request), matrix, limit=most, balance=wanted.balance, relevance=relevance)
        return [pool[index] for index in order] + rest

    # Records

    def _fetched(self, selection: Selection, ranked: list[tuple[int, float]], found: _Found) -> list[Hit]:
        records, cosine, part, channels = found.records, found.cosines.get, found.parts.get, found.channels.get
        read = self._backend.rows([records[version] for version, _ in ranked], version=selection.version)
        rows = {row.standing.version: row for row in read}
        return [
            Hit(record_of(row.standing, row.body), cosine(version), score, channels(version, found.everywhere), part(version) or None)
            for version, score in ranked
            # A record may have changed between ranking and reading; what it was is no longer there to show.
            if (row := rows.get(version)) is not None
        ]
