"""Indelible: a memory for AI agents that never silently loses or rewrites anything.

Names are loaded when first used: importing this package is light, and a feature that needs numpy, a model or asyncio loads it then.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from indelible._version import __version__ as __version__

if TYPE_CHECKING:
    from indelible.base.event import Event as Event
    from indelible.base.event import Op as Op
    from indelible.base.record import Change as Change
    from indelible.base.record import Hit as Hit
    from indelible.base.record import Part as Part
    from indelible.base.record import Record as Record
    from indelible.base.record import Scope as Scope
    from indelible.errors import EmbedderMismatch as EmbedderMismatch
    from indelible.errors import IndelibleError as IndelibleError
    from indelible.errors import IntegrityFailure as IntegrityFailure
    from indelible.errors import InvalidInput as InvalidInput
    from indelible.errors import MissingExtra as MissingExtra
    from indelible.errors import ModelError as ModelError
    from indelible.errors import ModelNotFound as ModelNotFound
    from indelible.errors import PolicyError as PolicyError
    from indelible.errors import RecordNotFound as RecordNotFound
    from indelible.errors import SchemaMismatch as SchemaMismatch
    from indelible.errors import StorageFull as StorageFull
    from indelible.errors import StoreClosed as StoreClosed
    from indelible.errors import StoreError as StoreError
    from indelible.errors import StoreUnavailable as StoreUnavailable
    from indelible.errors import UnsupportedOperation as UnsupportedOperation
    from indelible.errors import VersionConflict as VersionConflict
    from indelible.faces.aio import AsyncMemoryStore as AsyncMemoryStore
    from indelible.faces.ask import Answer as Answer
    from indelible.faces.ask import MockModel as MockModel
    from indelible.faces.ask import ask as ask
    from indelible.faces.ask import ask_with_memory as ask_with_memory
    from indelible.faces.ask import audit_log as audit_log
    from indelible.faces.ask import compose_prompt as compose_prompt
    from indelible.faces.ask import delegation as delegation
    from indelible.faces.collection import Collection as Collection
    from indelible.faces.known import Known as Known
    from indelible.faces.known import memory_block as memory_block
    from indelible.faces.memory import Memory as Memory
    from indelible.faces.operations import Delete as Delete
    from indelible.faces.operations import Get as Get
    from indelible.faces.operations import Put as Put
    from indelible.faces.operations import Read as Read
    from indelible.faces.operations import Touch as Touch
    from indelible.faces.persistent import PersistentMemory as PersistentMemory
    from indelible.faces.request import Mmr as Mmr
    from indelible.faces.request import Recency as Recency
    from indelible.faces.request import Rerank as Rerank
    from indelible.faces.store import MemoryStore as MemoryStore
    from indelible.search.filter_tree import Filter as Filter
    from indelible.search.filter_tree import where as where
    from indelible.search.priors import FeedbackSettings as FeedbackSettings

_HOMES = {
    "indelible.base.event": ("Event", "Op"),
    "indelible.base.record": ("Change", "Hit", "Part", "Record", "Scope"),
    "indelible.errors": (
        "EmbedderMismatch", "IndelibleError", "IntegrityFailure", "InvalidInput", "MissingExtra", "ModelError", "ModelNotFound",
        "PolicyError", "RecordNotFound", "SchemaMismatch", "StorageFull", "StoreClosed", "StoreError", "StoreUnavailable",
        "UnsupportedOperation", "VersionConflict",
    ),
    "indelible.faces.aio": ("AsyncMemoryStore",),
    "indelible.faces.ask": ("Answer", "MockModel", "ask", "ask_with_memory", "audit_log", "compose_prompt", "delegation"),
    "indelible.faces.collection": ("Collection",),
    "indelible.faces.known": ("Known", "memory_block"),
    "indelible.faces.memory": ("Memory",),
    "indelible.faces.operations": ("Delete", "Get", "Put", "Read", "Touch"),
    "indelible.faces.persistent": ("PersistentMemory",),
    "indelible.faces.request": ("Mmr", "Recency", "Rerank"),
    "indelible.faces.store": ("MemoryStore",),
    "indelible.search.filter_tree": ("Filter", "where"),
    "indelible.search.priors": ("FeedbackSettings",),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "AsyncMemoryStore",
    "Change",
    "Collection",
    "Delete",
    "EmbedderMismatch",
    "Event",
    "FeedbackSettings",
    "Filter",
    "Get",
    "Hit",
    "IndelibleError",
    "IntegrityFailure",
    "InvalidInput",
    "Known",
    "Memory",
    "MemoryStore",
    "MissingExtra",
    "Mmr",
    "MockModel",
    "ModelError",
    "ModelNotFound",
    "Op",
    "Part",
    "PersistentMemory",
    "PolicyError",
    "Put",
    "Read",
    "Recency",
    "Record",
    "RecordNotFound",
    "Rerank",
    "SchemaMismatch",
    "Scope",
    "StorageFull",
    "StoreClosed",
    "StoreError",
    "StoreUnavailable",
    "Touch",
    "UnsupportedOperation",
    "VersionConflict",
    "__version__",
    "ask",
    "ask_with_memory",
    "audit_log",
    "compose_prompt",
    "delegation",
    "memory_block",
    "where",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
