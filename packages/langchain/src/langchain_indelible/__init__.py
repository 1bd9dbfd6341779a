"""Indelible in every slot that LangChain and LangGraph have for a memory.

Names are loaded when first used, so that each part needs only the packages it builds on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from langchain_indelible._version import __version__ as __version__

if TYPE_CHECKING:
    from langchain_indelible.byte_store import IndelibleByteStore as IndelibleByteStore
    from langchain_indelible.embeddings import IndelibleEmbeddings as IndelibleEmbeddings
    from langchain_indelible.embeddings import as_embedder as as_embedder
    from langchain_indelible.history import IndelibleChatMessageHistory as IndelibleChatMessageHistory
    from langchain_indelible.memory import IndelibleMemory as IndelibleMemory
    from langchain_indelible.middleware import MemoryMiddleware as MemoryMiddleware
    from langchain_indelible.record_manager import IndelibleRecordManager as IndelibleRecordManager
    from langchain_indelible.retrievers import IndelibleRetriever as IndelibleRetriever
    from langchain_indelible.runnables import with_memory as with_memory
    from langchain_indelible.store import CheckedPut as CheckedPut
    from langchain_indelible.store import IndelibleItem as IndelibleItem
    from langchain_indelible.store import IndelibleSearchItem as IndelibleSearchItem
    from langchain_indelible.store import IndelibleStore as IndelibleStore
    from langchain_indelible.store import ItemChange as ItemChange
    from langchain_indelible.tools import MemoryToolkit as MemoryToolkit
    from langchain_indelible.tools import memory_tools as memory_tools
    from langchain_indelible.vectorstores import IndelibleVectorStore as IndelibleVectorStore

_HOMES: dict[str, tuple[str, ...]] = {
    "langchain_indelible.byte_store": ("IndelibleByteStore",),
    "langchain_indelible.embeddings": ("IndelibleEmbeddings", "as_embedder"),
    "langchain_indelible.history": ("IndelibleChatMessageHistory",),
    "langchain_indelible.memory": ("IndelibleMemory",),
    "langchain_indelible.middleware": ("MemoryMiddleware",),
    "langchain_indelible.record_manager": ("IndelibleRecordManager",),
    "langchain_indelible.retrievers": ("IndelibleRetriever",),
    "langchain_indelible.runnables": ("with_memory",),
    "langchain_indelible.store": ("CheckedPut", "IndelibleItem", "IndelibleSearchItem", "IndelibleStore", "ItemChange"),
    "langchain_indelible.tools": ("MemoryToolkit", "memory_tools"),
    "langchain_indelible.vectorstores": ("IndelibleVectorStore",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CheckedPut",
    "IndelibleByteStore",
    "IndelibleChatMessageHistory",
    "IndelibleEmbeddings",
    "IndelibleItem",
    "IndelibleMemory",
    "IndelibleRecordManager",
    "IndelibleRetriever",
    "IndelibleSearchItem",
    "IndelibleStore",
    "IndelibleVectorStore",
    "ItemChange",
    "MemoryMiddleware",
    "MemoryToolkit",
    "__version__",
    "as_embedder",
    "memory_tools",
    "with_memory",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
