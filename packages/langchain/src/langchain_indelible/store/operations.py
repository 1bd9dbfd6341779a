"""A batch of LangGraph's operations, as one batch of the core."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from indelible import Collection, Delete, Get, Hit, Put, Read, Record, Touch
from indelible.errors import InvalidInput
from langchain_indelible.filters import parse_filter
from langchain_indelible.store.index import ItemIndex, Vectors
from langchain_indelible.store.items import TTL_FIELD, CheckedPut, item_of, json_value, search_item_of
from langchain_indelible.store.namespaces import Namespace, check_namespace, chosen, literal_prefix

_MS_PER_MINUTE = 60_000


class StoreBatch:
    """Operations on their way into one transaction: checked when made, embedded next, then run.

    Args:
        collection: where; its own namespace is the root of the store's.
        index: what is embedded.
        ops: what to do.
        refreshes: whether a read whose operation does not say refreshes the time to live.

    Raises:
        InvalidNamespaceError: a namespace that no store may hold.
        InvalidInput: a value, key, filter, time to live or bound that is refused.
    """

    def __init__(self, collection: Collection, index: ItemIndex, ops: Iterable[Op], *, refreshes: bool = True) -> None:
        self._collection = collection
        self._depth = len(collection.namespace)
        self._index = index
        self._refreshes = refreshes
        self._ops = list(ops)
        self._values: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, dict[str, str]] = {}
        last: dict[tuple[Namespace, str], tuple[int, PutOp]] = {}
        for number, op in enumerate(self._ops):
            check_namespace(op)
            if isinstance(op, PutOp):
                last[op.namespace, str(op.key)] = number, op
                if op.value is not None:
                    self._values[number] = json_value(op.value)
        # Of several puts to one key only the last will be written, so only that is embedded.
        for number, put in last.values():
            if number in self._values:
                self._texts[number] = index.texts(self._values[number], put[3])
        self._written = set(last)
        self._queries = [op.query for op in self._ops if isinstance(op, SearchOp) and _has_query(op)]
        self._vectors: Vectors = {}
        self._query_vectors: Vectors = {}

    # Embedding, before any lock is taken

    def embed(self) -> StoreBatch:
        self._vectors = self._index.embed(self._all_texts())
        self._query_vectors = self._index.embed_queries(map(str, self._queries))
        return self

    async def aembed(self) -> StoreBatch:
        self._vectors = await self._index.aembed(self._all_texts())
        self._query_vectors = await self._index.aembed_queries(map(str, self._queries))
        return self

    def _all_texts(self) -> Iterable[str]:
        return (text for texts in self._texts.values() for text in texts.values())

    # Running

    def run(self) -> list[Result]:
        """Carry out the operations, then refresh what reads found; results in the order of the operations."""
        found = self._collection.batch([self._operation(number, op) for number, op in enumerate(self._ops)])
        touches = [touch for op, result in zip(self._ops, found, strict=True) for touch in self._touches(op, result)]
        if touches:
            self._collection.batch(touches)
        return [self._result(op, result) for op, result in zip(self._ops, found, strict=True)]

    def _operation(self, number: int, op: Op) -> Get | Put | Delete | Read:
        if isinstance(op, GetOp):
            return Get(str(op.key), op.namespace)
        if isinstance(op, SearchOp):
            return Read(self._search(op))
        if isinstance(op, ListNamespacesOp):
            return Read(lambda collection: self._namespaces(op, collection))
        expected = op.expected_version if isinstance(op, CheckedPut) else None
        if op.value is None:
            return Delete(str(op.key), expected, op.namespace)
        ttl_ms = _ttl_ms(op.ttl)
        return Put(
            str(op.key),
            value=self._values[number],
            metadata={TTL_FIELD: ttl_ms} if ttl_ms is not None else None,
            parts=self._index.parts(self._texts.get(number, {}), self._vectors),
            ttl_ms=ttl_ms,
            expected_version=expected,
            namespace=op.namespace,
        )

    def _search(self, op: SearchOp) -> Callable[[Collection], list[Hit]]:
        filters = parse_filter(op.filter)
        query: dict[str, Any] = {}
        if _has_query(op) and self._index.config is not None:
            vector = self._query_vectors.get(str(op.query))
            if self._index.embeddings is None:
                query = {"query": op.query, "mode": "semantic", "rerank": self._index.rerank}
            elif vector is not None and any(vector):
                query = {"query": op.query, "vector": tuple(vector), "mode": "semantic", "rerank": self._index.rerank}
        return lambda collection: collection.below(*op.namespace_prefix).search(
            filters=filters, filter_on="value", limit=op.limit, offset=op.offset, unscored=True, **query
        )

    def _namespaces(self, op: ListNamespacesOp, collection: Collection) -> list[Namespace]:
        return chosen(op, (name[self._depth :] for name in collection.below(*literal_prefix(op)).namespaces()))

    # Results

    def _result(self, op: Op, result: Any) -> Result:
        if isinstance(op, GetOp):
            return None if result is None else item_of(result, self._depth)
        if isinstance(op, SearchOp):
            return [*map(self._search_item, result)]
        return None if isinstance(op, PutOp) else list(result)

    def _search_item(self, hit: Hit) -> SearchItem:
        return search_item_of(hit, self._depth)

    def _touches(self, op: Op, result: Any) -> Iterable[Touch]:
        """What a read moves: the expiry of what it found, unless this batch wrote it."""
        if not isinstance(op, GetOp | SearchOp) or result is None:
            return
        refresh = getattr(op, "refresh_ttl", None)
        if not (self._refreshes if refresh is None else refresh):
            return
        records: list[Record] = [result] if isinstance(op, GetOp) else [hit.record for hit in result]
        for record in records:
            ttl_ms = record.metadata.get(TTL_FIELD)
            place = record.namespace[self._depth :], record.key
            if record.expires_at is None or record.key is None or type(ttl_ms) is not int or place in self._written:
                continue
            yield Touch(record.key, ttl_ms, record.version, place[0], record.expires_at)


def _has_query(op: SearchOp) -> bool:
    return op.query is not None and bool(op.query.strip())


def _ttl_ms(minutes: float | None) -> int | None:
    if minutes is None:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not math.isfinite(minutes) or minutes <= 0:
        raise InvalidInput(f"ttl must be a positive number of minutes or None, got {minutes!r}")
    return max(round(minutes * _MS_PER_MINUTE), 1)


def check_ttl_config(config: Mapping[str, Any] | None) -> None:
    """Check a ``TTLConfig``.

    Raises:
        InvalidInput: a default that is no time to live.
    """
    _ttl_ms((config or {}).get("default_ttl"))
