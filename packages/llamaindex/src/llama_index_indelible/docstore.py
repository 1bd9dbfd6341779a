"""A store of documents and nodes for LlamaIndex: atomic, and without a list of a document's nodes that could be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore.types import RefDocInfo

from indelible import Collection, Delete, InvalidInput, MemoryStore, Put, Record, VersionConflict
from llama_index_indelible.docstore_async import AsyncDocumentStore
from llama_index_indelible.nodes import node_from_json, node_json, source_of
from llama_index_indelible.opening import Kept, PathLike
from llama_index_indelible.vector_store import IndelibleVectorStore

_DATA, _HASHES = ("data",), ("hashes",)
UNFINISHED = "unfinished"
"""The hash of a document whose nodes are there although nobody noted that they are complete. No real hash is equal to it."""


class IndelibleDocumentStore(Kept, AsyncDocumentStore):
    """Nodes by id, with the hashes by which ingestion knows what has changed.

    Which nodes a document has is asked of the nodes themselves. So no id outlives its node, whatever happens when.

    With a ``vector_store`` a document's hash counts only while its nodes are live there or here. So a run that failed, however far it came,
    is done again by the next one: what was deleted or never written is written, and what was written half is written anew.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where they live, in place of a path.
        namespace: a label or several.
        vector_store: where the nodes of the documents go.
        agent_id, user_id, org_id, workspace_id: whose they are, matched exactly.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        namespace: str | Sequence[str] = ("documents",),
        vector_store: IndelibleVectorStore | None = None,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        super().__init__(path, store, namespace, agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id)
        self.vector_store = vector_store
        self._both: Collection = self.store.collection(*self.namespace, **self.scope)
        self._data: Collection = self._both.below(*_DATA)
        self._hashes: Collection = self._both.below(*_HASHES)

    @property
    def collection(self) -> Collection:
        """The collection of the core that holds the documents: their history, and their past."""
        return self._data

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "vector_store": self.vector_store}

    # Nodes

    @property
    def docs(self) -> dict[str, BaseNode]:
        """Every node by its id."""
        return {record.key or "": node_from_json(record.value) for record in self._data.list()}

    def add_documents(
        self, docs: Sequence[BaseNode], allow_update: bool = True, batch_size: int | None = None, store_text: bool = True
    ) -> None:
        """Add nodes, or new versions of them, in one transaction: all or none.

        Args:
            docs: what to add.
            allow_update: whether one with a known id is a new version; otherwise it is an error.
            batch_size: of no meaning here.
            store_text: whether to keep the nodes, or only their hashes.

        Raises:
            ValueError: an id is known and may not be updated; nothing was written.
        """
        ops = self.puts(docs, store_text, only_new=not allow_update)
        try:
            self._both.batch(ops)
        except VersionConflict as error:
            known = [op.key for op in ops if op.namespace == _DATA and self.document_exists(op.key)]
            raise InvalidInput(f"{known[0] if known else 'a node'!r} already exists: set allow_update=True to overwrite it") from error

    def puts(self, docs: Sequence[BaseNode], store_text: bool, *, only_new: bool = False, guarded: bool = False) -> list[Put]:
        """The writes of ``add_documents``, for a batch of the documents' namespace.

        Args:
            docs, store_text: as there.
            only_new: whether a known id is a conflict.
            guarded: whether it is one that somebody has noted another hash meanwhile.
        """
        noted = self._hashes.get_many([node.node_id for node in docs]) if guarded else []
        versions: list[int | None] = [0 if record is None else record.version for record in noted] or [None] * len(docs)
        ops: list[Put] = []
        for node, version in zip(docs, versions, strict=True):
            parent, note = source_of(node), {"doc_hash": node.hash}
            if store_text:
                new = 0 if only_new else None
                ops.append(Put(node.node_id, value=node_json(node), parent=parent, namespace=_DATA, expected_version=new))
            ops.append(Put(node.node_id, value=note, parent=parent, namespace=_HASHES, expected_version=version))
        return ops

    def get_document(self, doc_id: str, raise_error: bool = True) -> BaseNode | None:
        """A node by its id.

        Raises:
            ValueError: it is not there, and that is an error.
        """
        record = self._data.get(doc_id)
        if record is None and raise_error:
            raise _not_found(doc_id)
        return None if record is None else node_from_json(record.value)

    def document_exists(self, doc_id: str) -> bool:
        """Whether a node is there."""
        return self._data.get(doc_id) is not None

    def delete_document(self, doc_id: str, raise_error: bool = True) -> None:
        """Forget a node and its hash; with the last node of a document also the document's own. History stays.

        Raises:
            ValueError: it is not there, and that is an error.
        """
        source = next((record.parent for record in self._known(doc_id) if record.parent is not None), None)
        gone = [doc_id]
        if source is not None and not self._nodes_of(source) - {doc_id}:
            gone.append(source)
        if not self._forget(gone) and raise_error:
            raise _not_found(doc_id)

    # Hashes

    def set_document_hash(self, doc_id: str, doc_hash: str) -> None:
        """Note the hash of a document."""
        self.set_document_hashes({doc_id: doc_hash})

    def set_document_hashes(self, doc_hashes: dict[str, str]) -> None:
        """Note the hashes of documents, in one transaction."""
        known = self._hashes.get_many(list(doc_hashes))
        parents = [None if record is None else record.parent for record in known]
        self._hashes.batch(
            [
                Put(key, value={"doc_hash": doc_hash}, parent=parent)
                for (key, doc_hash), parent in zip(doc_hashes.items(), parents, strict=True)
            ]
        )

    def get_document_hash(self, doc_id: str) -> str | None:
        """The hash of a document, ``None`` if it has none; with a vector store, only if its nodes are there."""
        noted = self._hashes.get(doc_id)
        if self.vector_store is None:
            return None if noted is None else _hash_of(noted)
        if noted is not None:
            return _hash_of(noted) if self._is_live(doc_id) else None
        nodes = self.vector_store.collection.list(parent=doc_id, limit=1)
        return UNFINISHED if nodes and not self._nodes_of(doc_id) else None

    def get_all_document_hashes(self) -> dict[str, str]:
        """Hashes with the id of their document.

        Of several documents with one hash each but the first comes under a key made of both, and so does a document that is stored here and
        whose nodes are not there: it can be deleted, and no hash says that it is done.
        """
        stored = {record.key for record in self._data.list()}
        found: dict[str, str] = {}
        for record in self._hashes.list():
            key, doc_hash = record.key or "", _hash_of(record)
            live = self.vector_store is None or self._is_live(key)
            if doc_hash is not None and (live or key in stored):
                found[doc_hash if live and doc_hash not in found else f"{doc_hash} {key}"] = key
        return found

    def _is_live(self, doc_id: str) -> bool:
        """Whether a document has nodes, or is one itself."""
        places = [self._data] if self.vector_store is None else [self.vector_store.collection, self._data]
        if places[0].get(doc_id) is not None:
            return True
        return bool(doc_id) and any(place.list(parent=doc_id, limit=1) for place in places)

    # Documents of nodes

    def get_ref_doc_info(self, ref_doc_id: str) -> RefDocInfo | None:
        """Which nodes a document has, ``None`` if it has none."""
        return self._infos(ref_doc_id).get(ref_doc_id)

    def get_all_ref_doc_info(self) -> dict[str, RefDocInfo]:
        """Which nodes each document has."""
        return self._infos(None)

    def ref_doc_exists(self, ref_doc_id: str) -> bool:
        """Whether a document has nodes."""
        return bool(self._nodes_of(ref_doc_id))

    def delete_ref_doc(self, ref_doc_id: str, raise_error: bool = True) -> None:
        """Forget a document, its nodes and all their hashes, in one transaction. History stays.

        Raises:
            ValueError: there is nothing of it, and that is an error.
        """
        if not self._forget([*self._nodes_of(ref_doc_id), ref_doc_id]) and raise_error:
            raise _not_found(ref_doc_id)

    def _infos(self, ref_doc_id: str | None) -> dict[str, RefDocInfo]:
        if ref_doc_id == "":
            return {}
        found: dict[str, RefDocInfo] = {}
        for record in [*self._data.list(parent=ref_doc_id), *self._hashes.list(parent=ref_doc_id)]:
            if record.parent is not None:
                info = found.setdefault(record.parent, RefDocInfo())
                if record.key not in info.node_ids:
                    info.node_ids.append(record.key)
                info.metadata = info.metadata or record.value.get("metadata", {})
        return found

    def _nodes_of(self, ref_doc_id: str) -> set[str]:
        info = self.get_ref_doc_info(ref_doc_id)
        return set() if info is None else set(info.node_ids)

    def _known(self, doc_id: str) -> list[Record]:
        return [record for record in (self._data.get(doc_id), self._hashes.get(doc_id)) if record is not None]

    def _forget(self, ids: Sequence[str]) -> bool:
        return any(self._both.batch([Delete(key, namespace=where) for key in dict.fromkeys(ids) for where in (_DATA, _HASHES)]))


def _hash_of(record: Record) -> str | None:
    found: str | None = record.value.get("doc_hash")
    return found


def _not_found(doc_id: str) -> InvalidInput:
    return InvalidInput(f"doc_id {doc_id} not found.")
