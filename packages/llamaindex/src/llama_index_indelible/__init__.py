"""Indelible in LlamaIndex: a vector store, a retriever and stores whose contents keep every version of themselves, in one file.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from llama_index_indelible._version import __version__ as __version__

if TYPE_CHECKING:
    from llama_index_indelible.chat_store import IndelibleBufferChatStore as IndelibleBufferChatStore
    from llama_index_indelible.chat_store import IndelibleChatStore as IndelibleChatStore
    from llama_index_indelible.docstore import IndelibleDocumentStore as IndelibleDocumentStore
    from llama_index_indelible.embeddings import IndelibleEmbedding as IndelibleEmbedding
    from llama_index_indelible.embeddings import as_embedder as as_embedder
    from llama_index_indelible.index_store import IndelibleIndexStore as IndelibleIndexStore
    from llama_index_indelible.kvstore import IndelibleKVStore as IndelibleKVStore
    from llama_index_indelible.memory_block import IndelibleMemoryBlock as IndelibleMemoryBlock
    from llama_index_indelible.retriever import IndelibleRetriever as IndelibleRetriever
    from llama_index_indelible.sessions import memory as memory
    from llama_index_indelible.storage import IndelibleStorageContext as IndelibleStorageContext
    from llama_index_indelible.storage import storage_context as storage_context
    from llama_index_indelible.tools import IndelibleToolSpec as IndelibleToolSpec
    from llama_index_indelible.vector_store import IndelibleVectorStore as IndelibleVectorStore

_HOMES: dict[str, tuple[str, ...]] = {
    "llama_index_indelible.chat_store": ("IndelibleBufferChatStore", "IndelibleChatStore"),
    "llama_index_indelible.docstore": ("IndelibleDocumentStore",),
    "llama_index_indelible.embeddings": ("IndelibleEmbedding", "as_embedder"),
    "llama_index_indelible.index_store": ("IndelibleIndexStore",),
    "llama_index_indelible.kvstore": ("IndelibleKVStore",),
    "llama_index_indelible.memory_block": ("IndelibleMemoryBlock",),
    "llama_index_indelible.retriever": ("IndelibleRetriever",),
    "llama_index_indelible.sessions": ("memory",),
    "llama_index_indelible.storage": ("IndelibleStorageContext", "storage_context"),
    "llama_index_indelible.tools": ("IndelibleToolSpec",),
    "llama_index_indelible.vector_store": ("IndelibleVectorStore",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "IndelibleBufferChatStore",
    "IndelibleChatStore",
    "IndelibleDocumentStore",
    "IndelibleEmbedding",
    "IndelibleIndexStore",
    "IndelibleKVStore",
    "IndelibleMemoryBlock",
    "IndelibleRetriever",
    "IndelibleStorageContext",
    "IndelibleToolSpec",
    "IndelibleVectorStore",
    "__version__",
    "as_embedder",
    "memory",
    "storage_context",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
