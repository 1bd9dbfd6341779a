"""Drivers of the key/value memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from indelible.faces.memory import Memory
from indelible.faces.persistent import PastMemory, PersistentMemory
from indelible.testing.contract.driver import Driver, Happened, Power, Reader, When
from indelible.testing.contract.drivers.base import PlacedDriver, StoreDriver
from indelible.testing.fakes import FakeClock


class SessionMemoryDriver(Driver):
    """``Memory``: gone with the process."""

    powers = frozenset({Power.ORDER})

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.memory = Memory("session")

    def remember(self, key: str, text: str) -> None:
        self.memory.remember(key, text)

    def get(self, key: str) -> str | None:
        text: str | None = self.memory.recall(key)
        return text

    def forget(self, key: str) -> None:
        self.memory.forget(key)

    def keys(self) -> list[str]:
        return self.memory.keys()

    def close(self) -> None:
        """Nothing is open."""


class _PastReader(Reader):
    """A key/value memory as it was."""

    def __init__(self, past: PastMemory) -> None:
        self._past = past

    def get(self, key: str) -> str | None:
        text: str | None = self._past.recall(key)
        return text

    def keys(self) -> list[str]:
        return self._past.keys()


_KEY_VALUE_POWERS = frozenset({Power.ORDER, Power.VALUES, Power.VERSION, Power.HISTORY, Power.PAST})


class KeyValueDriver(Driver):
    """The verbs of any persistent memory."""

    memory: PersistentMemory

    def remember(self, key: str, text: str) -> None:
        self.memory.remember(key, text)

    def get(self, key: str) -> str | None:
        text: str | None = self.memory.recall(key)
        return text

    def forget(self, key: str) -> None:
        self.memory.forget(key)

    def keys(self) -> list[str]:
        return self.memory.keys()

    def remember_value(self, key: str, value: Any) -> None:
        self.memory.remember(key, value)

    def value(self, key: str) -> Any:
        return self.memory.recall(key)

    def version(self) -> int:
        return self.memory.version

    def history(self, key: str) -> list[Happened]:
        return [Happened(event.version, event.op, event.value) for event in self.memory.versions(key)]

    def at(self, when: When) -> Reader:
        return _PastReader(self.memory.at(when))

    # What the face itself refuses

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.memory.remember(key, text, ttl_ms=ttl_ms)

    def forget_expired(self) -> int:
        self.memory.forget_expired()

    def purge(self, key: str) -> int:
        self.memory.purge(key)


class PersistentMemoryDriver(KeyValueDriver, PlacedDriver):
    """``PersistentMemory`` on a file of its own."""

    face_powers = _KEY_VALUE_POWERS | {Power.VERIFY}
    elsewhere_program = """
import sys
from indelible import PersistentMemory
from indelible.testing import FakeClock
path, now, key, text = sys.argv[1:]
with PersistentMemory("contract", path=path, clock=FakeClock(int(now))) as memory:
    memory.remember(key, text)
"""

    def open(self) -> None:
        self.memory = PersistentMemory("contract", path=self.place.path, clock=self.clock)
        self.powers -= {Power.VACUUM}

    def close(self) -> None:
        self.memory.close()

    def vacuum(self) -> None:
        self.memory.vacuum()

    def problems(self) -> Sequence[str]:
        return self.memory.verify().problems

    def rebuild(self) -> None:
        """It has no such verb and needs none: verifying compares the views with the log."""
        assert self.memory.verify().ok


class StoreMemoryDriver(KeyValueDriver, StoreDriver):
    """``store.memory(name)``: a persistent memory inside a store's file."""

    face_powers = _KEY_VALUE_POWERS | StoreDriver.store_powers

    def open(self) -> None:
        super().open()
        self.memory = self.store.memory("contract")
