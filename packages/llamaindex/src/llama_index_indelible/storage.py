"""Everything that LlamaIndex keeps of its documents, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.graph_stores.simple import SimpleGraphStore
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.schema import TransformComponent
from llama_index.core.storage.storage_context import IMAGE_VECTOR_STORE_NAMESPACE, StorageContext
from llama_index.core.vector_stores.simple import DEFAULT_VECTOR_STORE

from indelible import MemoryStore
from llama_index_indelible.docstore import IndelibleDocumentStore
from llama_index_indelible.index_store import IndelibleIndexStore
from llama_index_indelible.kvstore import IndelibleKVStore
from llama_index_indelible.opening import PathLike, labels_of, opened
from llama_index_indelible.pipeline import IndeliblePipeline
from llama_index_indelible.vector_store import IndelibleVectorStore


@dataclass
class IndelibleStorageContext(StorageContext):
    """A storage context whose parts lie in one file, with the cache of its ingestion.

    Attributes:
        ingestion_cache: what transformations made of which text; not memory.
    """

    ingestion_cache: IngestionCache = field(default_factory=IngestionCache)

    def pipeline(self, transformations: Sequence[TransformComponent], **options: Any) -> IngestionPipeline:
        """An ingestion pipeline into this context: it skips what has not changed, replaces what has, and can be run again after anything.

        Nodes, documents and hashes are written at the end, in one transaction. Of two runs at one moment, in whichever process, the later
        takes the place of the earlier, document by document.

        Args:
            transformations: the last one must be an embedding model: LlamaIndex stores no node without a vector.
            **options: as for ``IngestionPipeline``. With a vector store or document store of yours it is LlamaIndex's own.
        """
        parts = {"vector_store": self.vector_store, "docstore": self.docstore, "cache": self.ingestion_cache}
        own = not {"vector_store", "docstore"} & set(options)
        made: type[IngestionPipeline] = IndeliblePipeline if own else IngestionPipeline
        return made(transformations=list(transformations), **{**parts, **options})


def storage_context(
    path: PathLike | None = None,
    *,
    store: MemoryStore | None = None,
    namespace: str | Sequence[str] = ("llama_index",),
    agent_id: str | None = None,
    user_id: str | None = None,
    org_id: str | None = None,
    workspace_id: str | None = None,
    ttl_ms: int | None = None,
) -> IndelibleStorageContext:
    """Vector store, document store, index store and ingestion cache in one file.

    Nothing needs to be persisted: opened again at the same path, ``load_index_from_storage`` finds the index, ``refresh_ref_docs`` and
    pipelines know what is there.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where everything lives, in place of a path.
        namespace: a label or several.
        agent_id, user_id, org_id, workspace_id: whose it is, matched exactly.
        ttl_ms: milliseconds until an added node is no longer shown; ``None`` for never.
    """
    kept, labels = opened(path, store), labels_of(namespace)
    whose: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
    nodes = IndelibleVectorStore(store=kept, namespace=(*labels, "nodes"), ttl_ms=ttl_ms, **whose)
    images = IndelibleVectorStore(store=kept, namespace=(*labels, "images"), ttl_ms=ttl_ms, **whose)
    return IndelibleStorageContext(
        docstore=IndelibleDocumentStore(store=kept, namespace=(*labels, "documents"), vector_store=nodes, **whose),
        index_store=IndelibleIndexStore(store=kept, namespace=(*labels, "indexes"), **whose),
        vector_stores={DEFAULT_VECTOR_STORE: nodes, IMAGE_VECTOR_STORE_NAMESPACE: images},
        graph_store=SimpleGraphStore(),
        ingestion_cache=IngestionCache(cache=IndelibleKVStore(store=kept, namespace=(*labels, "ingestion"), cache=True, **whose)),
    )
