"""Ingestion whose last step is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode

from indelible import Collection, Delete, VersionConflict
from indelible.faces.operations import Operation
from indelible.faces.threads import on_a_thread
from llama_index_indelible.docstore import IndelibleDocumentStore
from llama_index_indelible.nodes import put_of
from llama_index_indelible.queries import of_one_model
from llama_index_indelible.vector_store import IndelibleVectorStore

_made: ContextVar[list[BaseNode]] = ContextVar("llama_index_indelible_made")
"""What the run under way has for the vector store; each run has its own, on whatever thread or loop."""


class _HeldBack(IndelibleVectorStore):
    """The vector store of a pipeline: what is added waits for the documents that it came from."""

    def add(self, nodes: Sequence[BaseNode], *, ttl_ms: int | None = None, **add_kwargs: Any) -> list[str]:
        made = _made.get(None)
        if made is None:  # no run is under way
            return super().add(nodes, ttl_ms=ttl_ms, **add_kwargs)
        made.extend(nodes)
        return [node.node_id for node in nodes]


class IndeliblePipeline(IngestionPipeline):
    """An ingestion pipeline that writes nodes, documents and hashes in one transaction, and documents whole.

    LlamaIndex's own writes them one after the other, and of two that ingest one document at one moment each adds its nodes. Of this one the
    later takes the place of the earlier, so a document's nodes are of one run and its hash is of the same. Made by
    ``storage_context(path).pipeline``.
    """

    _nodes: _HeldBack = PrivateAttr()
    _documents: IndelibleDocumentStore = PrivateAttr()

    def __init__(self, vector_store: IndelibleVectorStore, docstore: IndelibleDocumentStore, **options: Any) -> None:
        place: dict[str, Any] = {"store": vector_store.client, "namespace": vector_store.namespace, "ttl_ms": vector_store.ttl_ms}
        held_back = _HeldBack(**place, **docstore.scope)
        super().__init__(vector_store=held_back, docstore=docstore, **options)
        self._nodes = held_back
        self._documents = docstore

    def run(self, *args: Any, **options: Any) -> Sequence[BaseNode]:
        """See ``IngestionPipeline.run``."""
        made: list[BaseNode] = []
        token = _made.set(made)
        try:
            found = super().run(*args, **options)
        finally:
            _made.reset(token)
        self._leave_none(made)
        return found

    async def arun(self, *args: Any, **options: Any) -> Sequence[BaseNode]:
        """See ``IngestionPipeline.arun``."""
        made: list[BaseNode] = []
        token = _made.set(made)
        try:
            found = await super().arun(*args, **options)
        finally:
            _made.reset(token)
        await on_a_thread(partial(self._leave_none, made))
        return found

    def _update_docstore(self, nodes: Sequence[BaseNode], *args: Any, store_doc_text: bool = True, **options: Any) -> None:
        made = _made.get()
        self._write(nodes, made, store_doc_text)
        made.clear()

    async def _aupdate_docstore(self, nodes: Sequence[BaseNode], *args: Any, store_doc_text: bool = True, **options: Any) -> None:
        made = _made.get()
        await on_a_thread(partial(self._write, nodes, made, store_doc_text))
        made.clear()

    def _leave_none(self, made: Sequence[BaseNode]) -> None:
        """Should a version of LlamaIndex not say when the documents are due, the nodes are written all the same."""
        if made:
            self._nodes.add(made)

    def _write(self, documents: Sequence[BaseNode], made: Sequence[BaseNode], store_text: bool) -> None:
        """Nodes in the place of all that their documents have, with the documents and their hashes; again if another run was first."""
        if not documents and not made:
            return
        where, both = self._nodes.namespace[-1:], self._documents.namespace[-1:]
        outside: Collection = self._nodes.client.collection(*self._nodes.namespace[:-1], **self._documents.scope)
        nodes = self._nodes.collection
        new = [replace(put_of(node, self._nodes.ttl_ms), namespace=where) for node in made]
        while True:
            # The hashes first: a run that ends after this changes them, and then nothing of the below is written.
            noted = self._documents.puts(documents, store_text, guarded=True)
            ids = [node.node_id for node in documents if node.node_id]
            old = [record for document in ids for record in nodes.list(parent=document, include_expired=True)]
            # Of one that is made again under its id the put comes later, and counts.
            ops: list[Operation] = [Delete(record.key or "", namespace=where) for record in old]
            ops += [*new, *(replace(put, namespace=(*both, *put.namespace)) for put in noted)]
            try:
                with of_one_model(self._nodes.namespace):
                    outside.batch(ops)
            except VersionConflict:
                continue
            return
