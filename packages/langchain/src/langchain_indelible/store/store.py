"""The store of LangGraph, with every version kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.store.base import IndexConfig, Op, Result, TTLConfig

from indelible import Collection, MemoryStore, Rerank
from indelible.embed.reranker import Reranker
from indelible.errors import InvalidInput
from indelible.faces.request import checked_rerank
from indelible.faces.threads import on_a_thread
from langchain_indelible.labels import labels_of
from langchain_indelible.store.index import ItemIndex
from langchain_indelible.store.operations import StoreBatch, check_ttl_config
from langchain_indelible.store.sweeping import Sweeping
from langchain_indelible.store.verbs import Verbs, When
from langchain_indelible.store.versions import Versions


class IndelibleStore(Versions, Sweeping, Verbs):
    """A LangGraph store in one SQLite file that keeps every version of every item.

    All of ``BaseStore``, for any thread, any event loop and any number of processes, without a loadable extension. Beyond it: ``history``,
    ``as_of=`` on ``get`` and ``search``, ``expected_version=`` on ``put`` and ``delete``, ``delete_namespace``. One ``batch`` is one
    transaction: all or nothing, its reads see the version before it. Items come in the order in which they were first put, or nearest first
    for a query, then those without vectors. Expired items are never shown.

    Args:
        store: a ``MemoryStore``, which stays open when this is closed, or the path of a file; when omitted, the core's own default.
        index: what is embedded, and by what; without ``embed``, by the core's own model. When omitted, queries are ignored.
        ttl: default time to live in minutes, and whether reads refresh it.
        rerank: as for ``MemoryStore.recall``: of a search by a query, a model reads the query beside each of the best items' texts.
        namespace: a label or several: where in the file the items are kept, so that other memories can share it.
        **options: for ``MemoryStore``, where ``store`` is a path.

    Raises:
        InvalidInput: a faulty configuration.
        StoreUnavailable, SchemaMismatch: as ``MemoryStore``.

    Example:
        >>> with IndelibleStore(":memory:") as store:
        ...     store.put(("users", "ada"), "prefs", {"drink": "tea"})
        ...     first = store.get(("users", "ada"), "prefs").version
        ...     store.put(("users", "ada"), "prefs", {"drink": "coffee"})
        ...     store.get(("users", "ada"), "prefs", as_of=first).value
        {'drink': 'tea'}
    """

    supports_ttl = True

    def __init__(
        self,
        store: MemoryStore | str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        rerank: bool | Rerank | Reranker | None = None,
        namespace: str | Sequence[str] = ("langgraph",),
        **options: Any,
    ) -> None:
        check_ttl_config(ttl)
        self._index = ItemIndex(index, checked_rerank(rerank))
        self._owned = not isinstance(store, MemoryStore)
        if isinstance(store, MemoryStore):
            if options:
                raise InvalidInput(f"an open store takes no further options, got {', '.join(sorted(options))}")
            self._store = store
        else:
            self._store = MemoryStore(store, **options)
        self._collection: Collection = self._store.collection(*labels_of(namespace), model=self._index.model)
        self._stop = threading.Event()
        self.index_config = index
        self.embeddings = self._index.embeddings
        self.ttl_config = ttl

    @classmethod
    def from_conn_string(cls, conn_string: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> IndelibleStore:
        """The store in a file, to be used by ``with`` or ``async with``, as LangGraph's other stores are."""
        return cls(conn_string, index=index, ttl=ttl)

    @property
    def store(self) -> MemoryStore:
        """The memory that it writes to."""
        return self._store

    def setup(self) -> None:
        """Nothing: the file is made when it is opened. Here for programs that call it."""

    # Batches, what everything goes through

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in one transaction, all or none.

        Reads see what was there before; of several puts to one key only the last is written.
        """
        return self._prepared(ops).embed().run()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """``batch`` on a worker thread; the embeddings' own coroutines are awaited here, before it.

        A cancelled call has written all or nothing by the time the cancellation is seen.
        """
        prepared = await self._prepared(ops).aembed()
        return await on_a_thread(prepared.run)

    def _prepared(self, ops: Iterable[Op], as_of: When | None = None) -> StoreBatch:
        collection = self._collection if as_of is None else self._collection.at(as_of)
        return StoreBatch(collection, self._index, ops, refreshes=self._refreshes)

    # The end

    def close(self) -> None:
        """Stop the sweeper, and close the file unless it was given open. Closing twice is fine."""
        self.stop_ttl_sweeper()
        if self._owned:
            self._store.close()

    def __enter__(self) -> IndelibleStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> IndelibleStore:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await on_a_thread(self.close)

    def __repr__(self) -> str:
        return f"<IndelibleStore at {self._store.path}>"
