"""A vector store whose nodes keep every version of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters, VectorStoreQuery, VectorStoreQueryResult

from indelible import Collection, Delete, InvalidInput, MemoryStore, Record
from indelible.faces.threads import on_a_thread
from llama_index_indelible.filters import conditions
from llama_index_indelible.nodes import node_of, put_of
from llama_index_indelible.opening import KeptModel, PathLike, labels_of, narrowed_scope, opened, path_of
from llama_index_indelible.queries import check_options, of_one_model, search_arguments

When = int | datetime


class IndelibleVectorStore(KeptModel, BasePydanticVectorStore):
    """Nodes in a namespace of a store, found by meaning, by words, or both.

    A node's id is its key: adding one with a known id is a new version of it, deleting leaves its history, and ``query`` and ``get_nodes``
    take ``as_of`` (a version or time). Scores are cosines, of a search by words or a hybrid one what it is ranked by; of equals the newest
    comes first. Whose nodes are reached is settled here and cannot be widened by a query. Every call may come from any thread, and the
    async ones never block the event loop.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where the nodes live, beside everything else of the store, in place of a path.
        namespace: a label or several.
        agent_id, user_id, org_id, workspace_id: whose nodes these are, matched exactly.
        ttl_ms: milliseconds until an added node is no longer shown; ``None`` for never.

    Raises:
        InvalidInput: a bad path, namespace or scope.
    """

    stores_text: bool = True
    is_embedding_query: bool = True
    flat_metadata: bool = False
    path: str
    namespace: tuple[str, ...]
    agent_id: str | None
    user_id: str | None
    org_id: str | None
    workspace_id: str | None
    ttl_ms: int | None
    _store: MemoryStore = PrivateAttr()
    _collection: Collection = PrivateAttr()

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        namespace: str | Sequence[str] = ("nodes",),
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        ttl_ms: int | None = None,
        stores_text: bool = True,
        is_embedding_query: bool = True,
        flat_metadata: bool = False,
    ) -> None:
        if not stores_text or flat_metadata:
            raise InvalidInput("stores_text is always True here and flat_metadata always False: metadata is kept as it is")
        scope: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
        labels = labels_of(namespace)
        kept = opened(path, store)
        collection = kept.collection(*labels, **scope)
        fields: dict[str, Any] = {"path": path_of(kept), "namespace": labels, "ttl_ms": ttl_ms, **scope}
        super().__init__(is_embedding_query=is_embedding_query, **fields)
        self._store = kept
        self._collection = collection

    @classmethod
    def class_name(cls) -> str:
        """Its name in what LlamaIndex writes down."""
        return "IndelibleVectorStore"

    @property
    def client(self) -> MemoryStore:
        """The store that holds the nodes."""
        return self._store

    @property
    def collection(self) -> Collection:
        """The collection of the core that holds the nodes: their history, undo, purge."""
        return self._collection

    def within(self, **scope: str | None) -> IndelibleVectorStore:
        """The same vector store for a narrower scope: ``within(user_id="ada")``.

        Raises:
            InvalidInput: an unknown field, or one that is bound to somebody else.
        """
        bound: dict[str, Any] = narrowed_scope(self._collection.scope._asdict(), scope)
        return type(self)(store=self._store, namespace=self.namespace, ttl_ms=self.ttl_ms, **bound)

    # Writing

    def add(self, nodes: Sequence[BaseNode], *, ttl_ms: int | None = None, **add_kwargs: Any) -> list[str]:
        """Add nodes with their embeddings, or new versions of them, in one transaction: all or none.

        Args:
            nodes: what to add; they are not changed.
            ttl_ms: milliseconds until they are no longer shown, in place of the store's own.
            **add_kwargs: of other stores; without effect.

        Returns:
            Their ids, in order. Of several nodes with one id the last is written.

        Raises:
            ValueError: a node has no embedding, or one that is not finite, zero or of another dimension; nothing was written.
        """
        lifetime = self.ttl_ms if ttl_ms is None else ttl_ms
        with of_one_model(self.namespace):
            self._collection.batch([put_of(node, lifetime) for node in nodes])
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Forget all nodes of a source document; their history stays. One that is not there is fine."""
        check_options(delete_kwargs)
        if ref_doc_id:
            self._forget(self._collection.list(parent=ref_doc_id, include_expired=True))

    def delete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any) -> None:
        """Forget the nodes that have one of the ids **and** match the filters; their history stays.

        Neither of the two, or no ids, or empty filters alone, deletes nothing: ``clear`` deletes everything.
        """
        check_options(delete_kwargs)
        if node_ids is None and conditions(filters).empty:
            return
        self._forget(self._records(node_ids, filters, include_expired=True))

    def clear(self) -> None:
        """Forget every node; their history stays."""
        self._forget(self._collection.list(include_expired=True))

    def _forget(self, records: Sequence[Record]) -> None:
        self._collection.batch([Delete(record.key or "") for record in records])

    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Nothing to do: what was added is on disk."""

    # Reading

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Nodes for a query, best first, in the modes ``default``, ``text_search``, ``sparse``, ``hybrid`` and ``mmr``.

        Without an embedding and without words, the nodes that the conditions leave.

        Args:
            query: what is asked; see ``search_arguments`` for what its parts mean.
            **kwargs: ``as_of``: a version or time; ``include_expired``; ``mmr_threshold``, ``mmr_prefetch_factor`` or ``mmr_prefetch_k``;
                ``rerank``, as for ``MemoryStore.recall``. An index hands them on: ``as_retriever(vector_store_kwargs={"rerank": True})``.

        Raises:
            ValueError: a mode that is not offered, a vector of another dimension, a bad filter.
            TypeError: an option that looks like a condition.
        """
        arguments = search_arguments(query, kwargs)
        with of_one_model(self.namespace):
            hits = [] if arguments is None else self._collection.search(**arguments)
        return VectorStoreQueryResult(
            nodes=[node_of(hit.record) for hit in hits],
            similarities=[hit.rank_score for hit in hits],
            ids=[hit.record.key or "" for hit in hits],
        )

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, *, as_of: When | None = None
    ) -> list[BaseNode]:
        """Nodes with their embeddings: those with these ids, in their order, that match the filters; without either, all.

        Args:
            node_ids: which; what is not there is left out.
            filters: conditions on metadata.
            as_of: a version or time.
        """
        return [node_of(record) for record in self._records(node_ids, filters, as_of=as_of, with_vectors=True)]

    def list_ref_docs(self, *, as_of: When | None = None) -> dict[str, list[str]]:
        """The ids of the nodes of each source document."""
        found: dict[str, list[str]] = {}
        for record in self._collection.list(as_of=as_of):
            if record.parent is not None:
                found.setdefault(record.parent, []).append(record.key or "")
        return found

    def _records(self, ids: Sequence[str] | None, filters: MetadataFilters | None, **options: Any) -> list[Record]:
        narrowed = conditions(filters)
        if ids is None:
            return self._collection.list(filters=narrowed.filters, accept=narrowed.accept, **options)
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        found = self._collection.list(keys=wanted, filters=narrowed.filters, accept=narrowed.accept, **options)
        by_key = {record.key: record for record in found}
        return [by_key[key] for key in wanted if key in by_key]

    # The same for coroutines

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """See ``add``."""
        return await on_a_thread(partial(self.add, nodes, **kwargs))

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """See ``delete``."""
        await on_a_thread(partial(self.delete, ref_doc_id, **delete_kwargs))

    async def adelete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any) -> None:
        """See ``delete_nodes``."""
        await on_a_thread(partial(self.delete_nodes, node_ids, filters, **delete_kwargs))

    async def aclear(self) -> None:
        """See ``clear``."""
        await on_a_thread(self.clear)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """See ``query``."""
        return await on_a_thread(partial(self.query, query, **kwargs))

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, *, as_of: When | None = None
    ) -> list[BaseNode]:
        """See ``get_nodes``."""
        return await on_a_thread(partial(self.get_nodes, node_ids, filters, as_of=as_of))

    def __copy__(self) -> IndelibleVectorStore:
        return self.within()
