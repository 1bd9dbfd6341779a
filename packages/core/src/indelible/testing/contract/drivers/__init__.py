"""Drivers of our own faces and backends; those of adapters stand beside the adapters."""

from __future__ import annotations

from indelible.testing.contract.drivers.backend import BackendDriver
from indelible.testing.contract.drivers.collection import CollectionDriver
from indelible.testing.contract.drivers.facts import AsyncFactsDriver, FactsDriver, ViewDriver
from indelible.testing.contract.drivers.memory import PersistentMemoryDriver, SessionMemoryDriver, StoreMemoryDriver
from indelible.testing.contract.drivers.places import FilePlace, MemoryPlace, Place, ReferencePlace

__all__ = [
    "AsyncFactsDriver",
    "BackendDriver",
    "CollectionDriver",
    "FactsDriver",
    "FilePlace",
    "MemoryPlace",
    "PersistentMemoryDriver",
    "Place",
    "ReferencePlace",
    "SessionMemoryDriver",
    "StoreMemoryDriver",
    "ViewDriver",
]
