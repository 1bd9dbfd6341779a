"""Reading a collection: get, list, search, history, now or in the past."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from indelible.backend.interface import Row, Selection
from indelible.base.record import Change, Hit, Namespace, Record, Scope, ScopeFilter, check_namespace
from indelible.faces.arguments import (
    When,
    check_choice,
    check_many,
    check_optional_whole,
    check_when,
    check_whole,
)
from indelible.faces.engine import Engine
from indelible.faces.fields import (
    changes_of,
    record_of,
    records_of,
)
from indelible.faces.indexing import Indexing
from indelible.faces.listing import filtered_rows
from indelible.faces.memory import check_key
from indelible.faces.recall import Recall
from indelible.faces.request import FILTER_ON, Accept, FilterOn, Mmr, Request, Rerank, checked_accept, checked_keys, checked_parent
from indelible.search.filters import parse_filter

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder
    from indelible.embed.reranker import Reranker


class CollectionReads:
    """The reading verbs of a collection.

    Args:
        engine: the store's.
        namespace: labels; names below it are reached with ``prefix=True`` or an operation's own ``namespace``.
        scope: whose records these are, matched exactly.
        indexing: how vectors are made.
        when: a version or time, for a read-only view of the past.
        pinned: a version, for a read-only view of the log up to there; unlike in a view of the past, expiry is judged now.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: Namespace,
        scope: Scope,
        indexing: Indexing,
        when: When | None = None,
        pinned: int | None = None,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._scope = scope
        self._within = ScopeFilter(*scope)
        self._indexing = indexing
        self._when = when
        self._pinned = pinned

    @property
    def namespace(self) -> Namespace:
        return self._namespace

    @property
    def has_model(self) -> bool:
        """Whether its text becomes vectors."""
        return self._indexing.default_mode is not None

    @property
    def embedder(self) -> Embedder:
        """The model that makes its vectors.

        Raises:
            InvalidInput: it has none.
        """
        return self._indexing.embedder()

    @property
    def scope(self) -> Scope:
        return self._scope

    def get(self, key: str, *, as_of: When | None = None, with_vectors: bool = False, include_expired: bool = False) -> Record | None:
        """The record of a key, ``None`` if there is none."""
        rows = self._engine.backend.select(
            self._selection(self._namespace, as_of=as_of, keys=(check_key(key),), expiry="all" if include_expired else "live")
        )
        if not rows:
            return None
        vectors = self._indexing.stored_vectors(rows[0]) if with_vectors else None
        return record_of(rows[0].standing, rows[0].body, vectors)

    def get_many(
        self, keys: Iterable[str], *, as_of: When | None = None, with_vectors: bool = False, include_expired: bool = False
    ) -> builtins.list[Record | None]:
        """The records of keys, in their order, ``None`` where there is none."""
        wanted = tuple(check_key(key) for key in check_many(keys, "keys"))
        expiry = "all" if include_expired else "live"
        rows = self._engine.backend.select(self._selection(self._namespace, as_of=as_of, keys=wanted, expiry=expiry)) if wanted else []
        found = {record.key: record for record in self._records(rows, with_vectors)}
        return [found.get(key) for key in wanted]

    def list(
        self,
        *,
        prefix: bool = False,
        filters: object = None,
        keys: Iterable[str] | None = None,
        parent: str | None = None,
        order: str = "created",
        descending: bool = False,
        limit: int | None = None,
        offset: int = 0,
        as_of: When | None = None,
        include_expired: bool = False,
        with_vectors: bool = False,
        filter_on: FilterOn = "metadata",
        accept: Accept | None = None,
    ) -> list[Record]:
        """Records in a total order, stable over pages.

        Args:
            prefix: also those of namespaces below.
            filters: conditions on metadata.
            keys: only these.
            parent: only what came from this one.
            order: ``"created"`` or ``"updated"``.
            descending, limit, offset: of the answer.
            as_of: a version or time.
            include_expired: also what has expired.
            with_vectors: give the vectors too.
            filter_on: ``"value"`` for conditions on the value in place of the metadata.
            accept: a function of a record, for conditions beyond metadata.
        """
        on = check_choice(filter_on, "filter_on", FILTER_ON)
        selection = self._selection(
            self._namespace,
            as_of=as_of,
            prefix=bool(prefix),
            keys=checked_keys(keys),
            parent=checked_parent(parent),
            order=check_choice(order, "order", ("created", "updated")),
            descending=bool(descending),
            limit=check_optional_whole(limit, "limit"),
            offset=check_whole(offset, "offset"),
            expiry="all" if include_expired else "live",
        )
        rows = filtered_rows(self._engine, selection, parse_filter(filters), checked_accept(accept), on)
        return self._records(rows, with_vectors)

    def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Namespace]:
        """Full names of namespaces here or below that hold records, sorted.

        Args:
            prefix: labels that follow the collection's own; ``"*"`` stands for any one label.
            suffix: labels it must end with; ``"*"`` stands for any one label.
            max_depth: cut names to this many labels, each shown once.
            limit, offset: of the answer.
        """
        wanted = check_namespace(prefix, "prefix")
        ending = check_namespace(suffix, "suffix")
        depth = check_optional_whole(max_depth, "max_depth", least=1)
        most, skip = check_optional_whole(limit, "limit"), check_whole(offset, "offset")
        start = len(self._namespace)
        found = {
            name[:depth]
            for name, _, _ in self._engine.backend.slices(self._selection(self._namespace, prefix=True))
            if _matches(name[start : start + len(wanted)], wanted) and _matches(name[-len(ending) :] if ending else (), ending)
        }
        names = sorted(found)
        return names[skip:] if most is None else names[skip : skip + most]

    def history(self, key: str) -> builtins.list[Change]:
        """Everything that ever happened to a key, oldest first; ``[]`` for one that was never here or was purged."""
        events = self._engine.backend.events(key=(self._namespace, self._scope, check_key(key)))
        if self._when is not None or self._pinned is not None:
            version = self._pinned if self._when is None else self._engine.position(self._when)[0]
            events = [event for event in events if version is None or event.version <= version]
        return changes_of(events)

    def search(
        self,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        *,
        prefix: bool = True,
        filters: object = None,
        limit: int | None = 10,
        offset: int = 0,
        as_of: When | None = None,
        mode: str | None = None,
        include_expired: bool = False,
        mmr: float | Mmr | None = None,
        min_score: float | None = None,
        accept: Accept | None = None,
        filter_on: FilterOn = "metadata",
        unscored: bool = False,
        keys: Iterable[str] | None = None,
        parent: str | None = None,
        balance: float | None = None,
        rerank: bool | Rerank | Reranker | None = None,
    ) -> builtins.list[Hit]:
        """Records nearest to a query, a vector, or both.

        Args:
            query: text; without it and without a vector, records come in the order of ``list``.
            vector: in the collection's vector space, in place of embedding the query.
            prefix: also namespaces below.
            filters: conditions on metadata, applied before ranking.
            limit, offset: of the answer.
            as_of: a version or time.
            mode: ``"semantic"`` (default where there are vectors), ``"keyword"`` or ``"hybrid"``.
            include_expired: also what has expired.
            mmr: trade nearness for variety, 1 all nearness, 0 all variety; or ``Mmr``.
            min_score: leave out what has a lower cosine.
            accept: a function of a record, for conditions beyond metadata; like filters it is applied before ranking.
            filter_on: ``"value"`` for conditions on the value in place of the metadata.
            unscored: after what was ranked by meaning, also what has no vector, in the order of ``list``.
            keys: only these.
            parent: only what came from this one.
            balance: what meaning counts against words in a hybrid search, 0 words alone, 1 meaning alone; if not given, as clear as
                meaning answers.
            rerank: ``True``, ``Rerank(pool=...)`` or a reranker of yours, as for ``recall`` of a store.
        """
        selection = self._selection(self._namespace, as_of=as_of, prefix=bool(prefix), expiry="all" if include_expired else "live")
        request = Request.of(
            query,
            vector=vector,
            mode=mode or self._indexing.default_mode,
            limit=limit,
            offset=offset,
            filters=filters,
            mmr=mmr,
            min_score=min_score,
            accept=accept,
            filter_on=filter_on,
            unscored=unscored,
            keys=keys,
            parent=parent,
            balance=balance,
            rerank=rerank,
        )
        return Recall(self._engine, self._indexing).hits(selection, request)

    def _selection(self, namespace: Namespace, *, as_of: When | None = None, **more: Any) -> Selection:
        when = self._when if as_of is None else check_when(as_of)
        at, now_ms = self._engine.position(when)
        version = self._pinned if when is None else at
        return Selection(namespace=namespace, scope=self._within, version=version, now_ms=now_ms, **more)

    def _records(self, rows: Sequence[Row], with_vectors: bool) -> builtins.list[Record]:
        if not with_vectors:
            return records_of(rows)
        return [record_of(row.standing, row.body, self._indexing.stored_vectors(row)) for row in rows]

    def _inside(self, labels: Namespace) -> Namespace:
        return check_namespace((*self._namespace, *check_namespace(labels))) if labels else self._namespace

    def __repr__(self) -> str:
        past = f" at {self._when!r}" if self._when is not None else ""
        return f"<Collection {'/'.join(self._namespace) or '()'}{past}>"


def _matches(labels: Namespace, pattern: Namespace) -> bool:
    return len(labels) == len(pattern) and all(wanted in ("*", label) for label, wanted in zip(labels, pattern, strict=True))
