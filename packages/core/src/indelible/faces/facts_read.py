"""Reading facts: get, list, recall, search, history, now or in the past."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from indelible.backend.interface import Selection
from indelible.base.canonical import check_text
from indelible.base.record import UNSET, Change, Hit, Namespace, Record, ScopeFilter
from indelible.errors import InvalidInput
from indelible.faces.arguments import When, check_choice, check_id, check_optional_whole, check_when, check_whole
from indelible.faces.engine import Engine
from indelible.faces.fields import changes_of, record_of, records_of
from indelible.faces.indexing import Indexing
from indelible.faces.listing import filtered_rows
from indelible.faces.memory import check_key
from indelible.faces.recall import Recall
from indelible.faces.request import Accept, Mmr, Request, Rerank
from indelible.faces.scoping import ScopeValue, check_filter, narrowed
from indelible.search.filters import parse_filter

if TYPE_CHECKING:
    from indelible.embed.reranker import Reranker


class FactReads:
    """The reading verbs of a store or of a view of it.

    Scope arguments narrow: left out they mean any value, ``None`` means "not set", and what a view is bound to cannot be left.

    Args:
        engine: the store's.
        namespace: where the facts are.
        within: the scopes this view reaches.
        when: a version or time, for a view of the past.
    """

    def __init__(self, engine: Engine, namespace: Namespace, within: ScopeFilter, when: When | None = None) -> None:
        self._engine = engine
        self._namespace = namespace
        self._within = within
        self._when = when
        self._indexing = Indexing(engine, engine.embedder, optional=engine.embedder_is_default)

    @property
    def bound(self) -> ScopeFilter:
        """What the view is bound to: per field a value, ``None`` for "not set", ``UNSET`` where it is open."""
        return self._within

    def get(self, id: str, *, with_vectors: bool = False, include_expired: bool = False, as_of: When | None = None) -> Record | None:
        """The record with an id, ``None`` if there is none here: unknown, forgotten, expired, or out of this view's reach."""
        raw = check_id(id)
        if raw is None:
            return None
        rows = self._engine.backend.select(self._selection(as_of, include_expired, records=(raw,)))
        if not rows:
            return None
        return record_of(rows[0].standing, rows[0].body, self._indexing.stored_vectors(rows[0]) if with_vectors else None)

    def list(
        self,
        filters: object = None,
        order: str = "created",
        limit: int | None = None,
        offset: int = 0,
        *,
        descending: bool = False,
        key: str | None = None,
        parent: str | None = None,
        as_of: When | None = None,
        include_expired: bool = False,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
    ) -> list[Record]:
        """Records in a total order, stable over pages.

        Args:
            filters: conditions on metadata.
            order: ``"created"`` or ``"updated"``.
            limit, offset, descending: of the answer.
            key, parent: only records with these.
            as_of: a version or time.
            include_expired: also what has expired.
            agent_id, user_id, org_id, workspace_id: only this scope.
        """
        selection = self._selection(
            as_of,
            include_expired,
            check_filter(agent_id, user_id, org_id, workspace_id),
            order=check_choice(order, "order", ("created", "updated")),
            descending=bool(descending),
            keys=None if key is None else (check_key(key),),
            parent=None if parent is None else check_text(parent, "parent"),
            limit=check_optional_whole(limit, "limit"),
            offset=check_whole(offset, "offset"),
        )
        return records_of(filtered_rows(self._engine, selection, parse_filter(filters)))

    def count(self, *, include_expired: bool = False, as_of: When | None = None, **scope: ScopeValue) -> int:
        """How many records there are."""
        selection = self._selection(as_of, include_expired, _scope_of(scope))
        return sum(number for _, _, number in self._engine.backend.slices(selection))

    def scopes(self, **scope: ScopeValue) -> builtins.list[tuple[Any, int]]:
        """Scopes that hold records, with how many, sorted."""
        selection = self._selection(None, False, _scope_of(scope))
        return [(found, number) for _, found, number in self._engine.backend.slices(selection)]

    def history(self, id: str) -> builtins.list[Change]:
        """Everything that ever happened to a record, oldest first; ``[]`` for one that is not here.

        Of a purged record only the whole store can still tell that it was, and when.
        """
        raw = check_id(id)
        if raw is None:
            return []
        events = self._engine.backend.events(record=raw)
        if self._when is not None:
            version, _ = self._engine.position(self._when)
            events = [event for event in events if version is None or event.version <= version]
        changes = changes_of(events)
        states = [change.record for change in changes if change.record is not None]
        if not self._is_everything():
            inside = any(state.namespace == self._namespace and self._within.admits(state.scope) for state in states)
            return changes if inside else []
        return changes if not states or states[0].namespace == self._namespace else []

    def _is_everything(self) -> bool:
        return all(value is UNSET for value in self._within)

    def recall(
        self,
        query: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        limit: int = 5,
        offset: int = 0,
        mode: str = "semantic",
        filters: object = None,
        min_score: float | None = None,
        as_of: When | None = None,
        include_expired: bool = False,
        mmr: float | Mmr | None = None,
        recency: object = None,
        feedback: object = None,
        rerank: bool | Rerank | Reranker | None = None,
        accept: Accept | None = None,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
    ) -> builtins.list[Hit]:
        """The memories nearest in meaning to a query.

        Args:
            query: what to look for.
            vector: the query's vector, in place of embedding it.
            limit, offset: of the answer, after everything else.
            mode: ``"semantic"`` by cosine, ``"hybrid"`` by words and meaning fused, ``"keyword"`` as ``search``.
            filters: conditions on metadata, applied before ranking.
            min_score: leave out what has a lower cosine.
            as_of: a version or time: what recall would have answered then.
            include_expired: also what has expired.
            mmr: trade nearness for variety: 1 all nearness, 0 all variety; or ``Mmr``.
            recency: ``True``, a weight, or ``Recency``: what happened lately moves up a little.
            feedback: ``True`` or ``FeedbackSettings``: votes move memories a little; default by ``MEMORY_FEEDBACK_RERANK``.
            rerank: ``True``, ``Rerank(pool=...)`` or a reranker of yours: a model reads the query beside each of the best 20 and puts
                them in its order, before recency, feedback and mmr. Costs about 10 ms a short text; the bundled one reads English.
            accept: a function of a record, for conditions beyond metadata; like filters it is applied before ranking.
            agent_id, user_id, org_id, workspace_id: only this scope.

        Returns:
            Hits, best first; ``Hit.score`` is the cosine.

        Raises:
            InvalidInput: an empty query or a refused argument.
            MissingExtra: the bundled model's packages are not installed.
            ModelError: the reranker failed.
            EmbedderMismatch: the memories' vectors were made by another model.
        """
        request = Request.of(
            query,
            vector=vector,
            mode=mode,
            limit=limit,
            offset=offset,
            filters=filters,
            min_score=min_score,
            mmr=mmr,
            recency=recency,
            feedback=feedback,
            accept=accept,
            rerank=rerank,
        )
        scope = check_filter(agent_id, user_id, org_id, workspace_id)
        return Recall(self._engine, self._indexing).hits(self._selection(as_of, include_expired, scope), _with_question(request))

    def search(
        self,
        query: str,
        *,
        match: str = "all",
        limit: int = 10,
        offset: int = 0,
        filters: object = None,
        as_of: When | None = None,
        include_expired: bool = False,
        recency: object = None,
        feedback: object = None,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
    ) -> builtins.list[Hit]:
        """The memories that hold the words of a query: whole words, whatever their case and accents. Loads no model.

        Scores are term frequencies, or bm25 with ``MEMORY_FTS5_BM25=1``; the hits are the same.

        Args:
            query: words; nothing in it is syntax.
            match: ``"all"`` words must occur, or ``"any"``.
            limit, offset, filters, as_of, include_expired, recency, feedback: as for ``recall``.
            agent_id, user_id, org_id, workspace_id: only this scope.
        """
        request = Request.of(
            query, mode="keyword", limit=limit, offset=offset, filters=filters, recency=recency, feedback=feedback, match=match
        )
        scope = check_filter(agent_id, user_id, org_id, workspace_id)
        return Recall(self._engine, self._indexing).hits(self._selection(as_of, include_expired, scope), _with_question(request))

    def search_semantic(self, query: str, filters: object = None, limit: int = 5, **more: Any) -> builtins.list[Hit]:
        """``recall`` by meaning, with filters first; takes the same further arguments."""
        return self.recall(query, filters=filters, limit=limit, mode="semantic", **more)

    def _selection(self, as_of: When | None, include_expired: bool = False, scope: ScopeFilter | None = None, **more: Any) -> Selection:
        when = self._when if as_of is None else check_when(as_of)
        version, now_ms = self._engine.position(when)
        return Selection(
            namespace=self._namespace,
            scope=self._within if scope is None else narrowed(self._within, scope),
            version=version,
            now_ms=now_ms,
            expiry="all" if include_expired else "live",
            **more,
        )


def _scope_of(scope: dict[str, ScopeValue]) -> ScopeFilter:
    names = ScopeFilter._fields
    unknown = set(scope) - set(names)
    if unknown:
        raise TypeError(f"unexpected arguments: {', '.join(sorted(unknown))}")
    return check_filter(*(scope.get(name, UNSET) for name in names))


def _with_question(request: Request) -> Request:
    if request.query is None and request.vector is None:
        raise InvalidInput("give a query, or a vector")
    return request


class PastView(FactReads):
    """A store or view as it was at a version or time; it can only be read."""

    def __repr__(self) -> str:
        return f"<PastView at {self._when!r}>"
