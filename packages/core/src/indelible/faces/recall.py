"""Recall: a selection and a request in, hits out. Channels rank, fusion joins them, priors reorder, the limit cuts last."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from indelible.backend.interface import Backend, Found, Row, Selection
from indelible.base.canonical import loads
from indelible.base.record import Hit
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_choice, check_optional_whole, check_whole
from indelible.faces.engine import Engine
from indelible.faces.fields import record_of
from indelible.faces.indexing import Indexing, packed
from indelible.faces.vector_cache import Vectors, arrange
from indelible.search.filter_tree import Filter
from indelible.search.filters import equalities, matches, parse_filter
from indelible.search.fusion import reciprocal_rank_fusion
from indelible.search.keyword import CorpusStats, KeywordQuery, corpus_stats, find_tokens, parse_query, rank
from indelible.search.mmr import mmr
from indelible.search.priors import FeedbackSettings, apply_priors, feedback_shift, parse_feedback, recency_shift, unit_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Mode = Literal["semantic", "keyword", "hybrid"]
MODES = ("semantic", "keyword", "hybrid")
BM25_VARIABLE = "MEMORY_FTS5_BM25"
FEEDBACK_VARIABLE = "MEMORY_FEEDBACK_RERANK"
POOL = 1000
"""How deep each channel ranks before fusion and priors; deeper if more is asked for."""


@dataclass(frozen=True, slots=True)
class Recency:
    """Lets what happened lately move up.

    Attributes:
        weight: the greatest shift, in units of the score.
        half_life: the age at which half of it is left.
    """

    weight: float = 0.1
    half_life: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a selection, checked."""

    query: str | None
    vector: Sequence[float] | None
    mode: Mode
    limit: int | None
    offset: int
    filters: Filter | None
    min_score: float | None
    mmr: float | None
    recency: Recency | None
    feedback: FeedbackSettings | None
    match: Literal["all", "any"]

    @classmethod
    def of(
        cls,
        query: object,
        *,
        mode: object,
        vector: object = None,
        limit: object = None,
        offset: object = 0,
        filters: object = None,
        min_score: object = None,
        mmr: object = None,
        recency: object = None,
        feedback: object = None,
        match: object = "all",
    ) -> Request:
        """Check the arguments of a recall or search.

        Raises:
            InvalidInput: one of them is refused.
        """
        if query is not None and not isinstance(query, str):
            raise InvalidInput(f"a query must be a str, got {type(query).__name__}")
        if isinstance(query, str) and not query.strip():
            raise InvalidInput("the query is empty: give at least one word, or list the records instead")
        if mode is None:
            mode = "keyword" if vector is None else "semantic"
        chosen = check_choice(mode, "mode", MODES)
        if query is None and (vector is None or chosen != "semantic") and not (query is None and vector is None):
            raise InvalidInput(f"mode {chosen!r} needs a query")
        return cls(
            query=query,
            vector=None if vector is None else _checked_vector(vector),
            mode=chosen,
            limit=check_optional_whole(limit, "limit"),
            offset=check_whole(offset, "offset"),
            filters=parse_filter(filters),
            min_score=_checked_number(min_score, "min_score", -1.0, 1.0),
            mmr=_checked_number(mmr, "mmr", 0.0, 1.0),
            recency=_checked_recency(recency),
            feedback=_checked_feedback(feedback),
            match=check_choice(match, "match", ("all", "any")),
        )

    @property
    def depth(self) -> int | None:
        """How many hits the cut can need."""
        return None if self.limit is None else self.offset + self.limit

    def cut(self, hits: list[Any]) -> list[Any]:
        return hits[self.offset :] if self.limit is None else hits[self.offset : self.offset + self.limit]


def _checked_vector(vector: object) -> Sequence[float]:
    if isinstance(vector, str | bytes | Mapping) or not hasattr(vector, "__iter__"):
        raise InvalidInput(f"vector must be a sequence of numbers, got {type(vector).__name__}")
    numbers = list(vector)
    packed(numbers)
    return numbers


def _checked_number(value: object, name: str, least: float, most: float) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]  # a number by then
        raise InvalidInput(f"{name} must be a number from {least} to {most}, got {value!r}")
    return float(value)  # type: ignore[arg-type]  # checked above


def _checked_recency(value: object) -> Recency | None:
    if value is None or value is False:
        return None
    if value is True:
        return Recency()
    if isinstance(value, Recency):
        return value
    weight = _checked_number(value, "recency", 0.0, 1.0)
    return None if weight is None else Recency(weight)


def _checked_feedback(value: object) -> FeedbackSettings | None:
    if value is None:
        return parse_feedback(os.environ.get(FEEDBACK_VARIABLE))
    if isinstance(value, bool):
        return FeedbackSettings() if value else None
    if not isinstance(value, FeedbackSettings):
        raise InvalidInput(f"feedback must be True, False or FeedbackSettings, got {type(value).__name__}")
    return value


def keyword_scoring() -> Literal["tf", "bm25"]:
    """How ``search`` scores: term frequency, or bm25 where the variable asks for it."""
    return "bm25" if os.environ.get(BM25_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on") else "tf"


def filtered_rows(backend: Backend, selection: Selection, filters: Filter | None) -> list[Row]:
    """Records of a selection that a filter matches, paged after filtering."""
    if filters is None:
        return backend.select(selection)
    everything = replace(selection, limit=None, offset=0, equals=tuple(equalities(filters)))
    rows = [row for row in backend.select(everything) if matches(filters, loads(row.body).get("metadata", {}))]
    return rows[selection.offset :] if selection.limit is None else rows[selection.offset : selection.offset + selection.limit]


@dataclass(slots=True)
class _Candidates:
    """What the channels found: versions in order with scores, and what is known of each."""

    ranked: list[tuple[int, float]]
    records: dict[int, bytes]
    cosines: dict[int, float]
    parts: dict[int, str]
    channels: dict[int, tuple[str, ...]]


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
        if request.query is None and request.vector is None:
            return self._listed(selection, request)
        allowed = None if request.filters is None else self._allowed(selection, request.filters)
        found = self._found(selection, request, allowed)
        self._apply_priors(selection, request, found)
        return self._fetched(selection, request.cut(found.ranked), found)

    def _listed(self, selection: Selection, request: Request) -> list[Hit]:
        rows = filtered_rows(self._backend, replace(selection, limit=request.limit, offset=request.offset), request.filters)
        return [Hit(record_of(row.standing, row.body), None, 0.0) for row in rows]

    def _allowed(self, selection: Selection, filters: Filter) -> set[int]:
        return {row.standing.version for row in filtered_rows(self._backend, selection, filters)}

    def _found(self, selection: Selection, request: Request, allowed: set[int] | None) -> _Candidates:
        if request.mode == "keyword":
            return self._by_words(selection, request, allowed)
        if request.mode == "semantic":
            return self._by_meaning(selection, request, allowed, None)
        words = self._by_words(selection, request, allowed)
        meaning = self._by_meaning(selection, request, allowed, POOL)
        depth = max(POOL, request.depth or 0)
        semantic_rank = [version for version, _ in meaning.ranked[:depth]]
        fused = reciprocal_rank_fusion([[version for version, _ in words.ranked[:depth]], semantic_rank])
        channels = {version: words.channels.get(version, ()) + meaning.channels.get(version, ()) for version, _ in fused}
        return _Candidates(fused, words.records | meaning.records, meaning.cosines, meaning.parts, channels)

    # The keyword channel

    def _by_words(self, selection: Selection, request: Request, allowed: set[int] | None) -> _Candidates:
        hybrid = request.mode == "hybrid"
        query = parse_query(request.query or "", match=request.match, stemmed=hybrid)
        scoring: Literal["tf", "bm25"] = "bm25" if hybrid else keyword_scoring()
        found = self._backend.find(selection, find_tokens(query), match=query.match)
        corpus = self._corpus(selection, query, found) if scoring == "bm25" else None
        documents = [(item.version, item.words.split(" ")) for item in found if allowed is None or item.version in allowed]
        ranked = rank(query, documents, scoring=scoring, corpus=corpus)
        records = {item.version: item.record for item in found}
        return _Candidates(ranked, records, {}, {}, {version: ("keyword",) for version, _ in ranked})

    def _corpus(self, selection: Selection, query: KeywordQuery, found: list[Found]) -> CorpusStats:
        """What bm25 needs of the whole slice: filters narrow the hits, not the statistics."""
        if query.match == "all":
            query_any = replace(query, match="any")
            found = self._backend.find(selection, find_tokens(query_any), match="any")
        documents, words = self._backend.corpus(selection)
        stats = corpus_stats(query, [(item.version, item.words.split(" ")) for item in found])
        return CorpusStats(documents, words / documents if documents else 0.0, stats.document_frequencies)

    # The semantic channel

    def _by_meaning(self, selection: Selection, request: Request, allowed: set[int] | None, depth: int | None) -> _Candidates:
        import numpy as np

        space = self._indexing.space(request.vector)
        self._indexing.settle(selection.namespace or (), space)
        vectors = self._vectors(selection, space.models(self._engine), space.dim)
        query = self._query_vector(request)
        if len(query) != space.dim:
            raise InvalidInput(f"the query's vector has {len(query)} numbers, the vectors here have {space.dim}")
        cosines, rows = vectors.best(query)
        wanted = self._wanted(vectors, selection, allowed)
        if request.min_score is not None:
            wanted &= cosines >= request.min_score
        chosen = np.flatnonzero(wanted)
        order = chosen[np.lexsort((-vectors.versions[chosen], -cosines[chosen]))]
        needed = request.depth if depth is None else max(depth, request.depth or 0)
        if needed is not None and not (request.mmr or request.recency or request.feedback):
            order = order[:needed]
        versions = vectors.versions
        ranked = [(int(versions[i]), float(cosines[i])) for i in order]
        return _Candidates(
            ranked,
            {int(versions[i]): vectors.records[i] for i in order},
            dict(ranked),
            {int(versions[i]): vectors.parts[rows[i]] for i in order},
            {version: ("semantic",) for version, _ in ranked},
        )

    def _vectors(self, selection: Selection, models: list[str], dim: int) -> Vectors:
        if selection.version is not None or selection.records is not None or selection.parent is not None:
            return arrange(self._backend.vectors(selection, models), dim)
        if self._indexing.default_mode is not None and not self._engine.vector_cache.is_fresh(selection, models, dim):
            models = self._fill_in(selection, models)
        return self._engine.vector_cache.get(selection, models, dim)

    def _fill_in(self, selection: Selection, models: list[str]) -> list[str]:
        """Embed what was written without vectors: imported, or while the model was not installed."""
        pending = [(row, self._indexing.texts_of(row)) for row in self._backend.unembedded(replace(selection, expiry="all"), models)]
        pending = [(row, texts) for row, texts in pending if texts[0].strip() or any(part.text.strip() for part in texts[1])]
        for start in range(0, len(pending), 500):
            chunk = pending[start : start + 500]
            made = self._indexing.vectors_many(selection.namespace or (), [texts for _, texts in chunk])
            fresh = [(row.doc, vector) for (row, _), vectors in zip(chunk, made, strict=True) for vector in vectors]
            self._backend.put_vectors(fresh)
        return self._indexing.space().models(self._engine) if pending else models

    def _query_vector(self, request: Request) -> npt.NDArray[np.float32]:
        import numpy as np

        if request.vector is None:
            return self._indexing.embedder().embed_query(request.query or "")
        query = np.asarray(request.vector, np.float32)
        return (query / np.linalg.norm(query)).astype(np.float32)

    def _wanted(self, vectors: Vectors, selection: Selection, allowed: set[int] | None) -> npt.NDArray[np.bool_]:
        import numpy as np

        wanted = np.ones(len(vectors.records), bool)
        if selection.expiry == "live":
            wanted &= vectors.expires > selection.now_ms
        elif selection.expiry == "expired":
            wanted &= vectors.expires <= selection.now_ms
        if allowed is not None:
            wanted &= np.isin(vectors.versions, np.fromiter(allowed, np.int64, len(allowed)))
        return wanted

    # Priors

    def _apply_priors(self, selection: Selection, request: Request, found: _Candidates) -> None:
        if not (request.recency or request.feedback or request.mmr):
            return
        depth = max(POOL, request.depth or 0)
        pool, rest = found.ranked[:depth], found.ranked[depth:]
        shifts = self._shifts(selection, request, found, pool)
        if shifts:
            pool = apply_priors(pool, shifts, unit=unit_of(pool, request.mode))
        if request.mmr is not None and request.mode != "keyword":
            pool = self._diverse(selection, request, found, pool)
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
        self, selection: Selection, request: Request, found: _Candidates, pool: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        import numpy as np

        space = self._indexing.space(request.vector)
        rows = self._backend.vectors(self._at_records(selection, [found.records[v] for v, _ in pool]), space.models(self._engine))
        first: dict[int, bytes] = {}
        for row in rows:
            if found.parts.get(row.version, row.part) == row.part:
                first.setdefault(row.version, row.data)
        matrix = np.stack([np.frombuffer(first.get(v, bytes(4 * space.dim)), "<f4") for v, _ in pool]) if pool else np.zeros((0, space.dim))
        order = mmr(self._query_vector(request), matrix, limit=len(pool), balance=request.mmr if request.mmr is not None else 1.0)
        return [pool[index] for index in order]

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
