"""What the suite knows of a store: a few verbs on keys and text, and the powers a store declares.

A driver is written once per face or adapter, as thin as it can be: it translates and does not think. What a store cannot do stays with
the base class, which refuses; what a store refuses by itself is passed on to it, so that its refusal is what the law sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, Protocol

from indelible.errors import UnsupportedOperation
from indelible.testing.fakes import FakeClock

When = int | datetime


class Power(StrEnum):
    """What some stores can do and others cannot. The value names the verb that needs it."""

    ORDER = "keys come in the order in which they were first remembered"
    VALUES = "remember_value, value: any JSON value under a key, exactly"
    VERSION = "version: one counter over all writes"
    HISTORY = "history"
    PAST = "at"
    EXPIRY = "remember_for, get_expired"
    SWEEP = "forget_expired"
    COMPARE_AND_SET = "compare_and_set"
    UNDO = "undo"
    RESTORE = "restore"
    BATCH = "remember_all: several writes, all or none"
    RETRY = "remember_once: a write that may be sent again"
    VOTES = "vote"
    FILTERS = "remember_with, keys_where: metadata and conditions on it"
    SEARCH = "search: by words"
    RECALL = "recall: by meaning"
    SCOPES = "within: the same store for somebody else"
    PURGE = "purge"
    REOPEN = "reopen: what was written outlives the object"
    SHARE = "another: a second object on the same store"
    PROCESSES = "elsewhere: another process writes to the same store"
    BACK_DOOR = "back_door: the medium, read without the store"
    COPY = "copied: the medium, copied while it is closed"
    TRANSFER = "export, import_"
    VERIFY = "problems, rebuild"
    VACUUM = "vacuum"


@dataclass(frozen=True)
class Happened:
    """One line of a key's history.

    Attributes:
        version: where in the log.
        op: ``"remember"`` (whatever makes a state), ``"forget"``, ``"vote"`` or ``"purge"``.
        text: the state's text; ``None`` where there is none.
    """

    version: int
    op: str
    text: str | None = None


@dataclass(frozen=True)
class Match:
    """A hit: which key, and how well."""

    key: str
    score: float | None


class Reader:
    """What can be read, now or in the past."""

    def get(self, key: str) -> str | None:
        raise NotImplementedError

    def keys(self) -> list[str]:
        raise NotImplementedError

    def look(self, keys: Sequence[str]) -> tuple[list[str | None], list[str]]:
        """The texts of some keys, and all keys."""
        return [self.get(key) for key in keys], self.keys()

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        refuse(self, Power.SEARCH)

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        refuse(self, Power.RECALL)


def refuse(store: object, power: Power) -> NoReturn:
    """Say that a store does not have a power.

    Raises:
        UnsupportedOperation: always.
    """
    raise UnsupportedOperation(f"{type(store).__name__} has no {power.name.lower()}: {power}")


class BackDoor(Protocol):
    """The medium of a store that is closed, read by other means than the store's."""

    def events(self) -> int:
        """How many events it holds."""
        ...

    def holds(self, secret: str) -> bool:
        """Whether a text stands anywhere in its bytes."""
        ...


class Driver(Reader):
    """One store under test. Subclasses give the first four verbs and those of their powers.

    Attributes:
        powers: what is declared; every other power must be refused.
        clock: what the store takes for the time.
    """

    powers: frozenset[Power] = frozenset()
    clock: FakeClock

    # Every store

    def remember(self, key: str, text: str) -> None:
        raise NotImplementedError

    def forget(self, key: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    # Some stores

    def remember_value(self, key: str, value: Any) -> None:
        refuse(self, Power.VALUES)

    def value(self, key: str) -> Any:
        refuse(self, Power.VALUES)

    def version(self) -> int:
        refuse(self, Power.VERSION)

    def history(self, key: str) -> list[Happened]:
        refuse(self, Power.HISTORY)

    def at(self, when: When) -> Reader:
        refuse(self, Power.PAST)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        refuse(self, Power.EXPIRY)

    def get_expired(self, key: str) -> str | None:
        """The text of a key, whether it has expired or not."""
        refuse(self, Power.EXPIRY)

    def forget_expired(self) -> int:
        refuse(self, Power.SWEEP)

    def compare_and_set(self, key: str, text: str, expected: int) -> None:
        refuse(self, Power.COMPARE_AND_SET)

    def undo(self, key: str) -> None:
        refuse(self, Power.UNDO)

    def restore(self, key: str, version: int) -> None:
        refuse(self, Power.RESTORE)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        refuse(self, Power.BATCH)

    def remember_once(self, text: str, idempotency_key: str) -> str:
        """Write without a key of ours; returns what names the record."""
        refuse(self, Power.RETRY)

    def vote(self, key: str, vote: str) -> None:
        refuse(self, Power.VOTES)

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        refuse(self, Power.FILTERS)

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        refuse(self, Power.FILTERS)

    def within(self, whose: str) -> Driver:
        """The same store, for another user. What it returns is closed with this one."""
        refuse(self, Power.SCOPES)

    def purge(self, key: str) -> int:
        refuse(self, Power.PURGE)

    def reopen(self) -> None:
        refuse(self, Power.REOPEN)

    def another(self) -> Driver:
        """A second object on the same store, to be closed by the caller."""
        refuse(self, Power.SHARE)

    def elsewhere(self, key: str, text: str) -> None:
        """Another process remembers something and ends."""
        refuse(self, Power.PROCESSES)

    def back_door(self) -> BackDoor:
        """Close the store and look at what it left."""
        refuse(self, Power.BACK_DOOR)

    def copied(self) -> Driver:
        """Another store on a copy of the medium, to be closed by the caller."""
        refuse(self, Power.COPY)

    def export(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)

    def import_(self, path: Path) -> None:
        refuse(self, Power.TRANSFER)

    def problems(self) -> Sequence[str]:
        """What the store finds wrong with itself."""
        refuse(self, Power.VERIFY)

    def rebuild(self) -> None:
        refuse(self, Power.VERIFY)

    def vacuum(self) -> None:
        refuse(self, Power.VACUUM)

    def advance_clock(self, ms: int) -> None:
        self.clock.advance(ms=ms)


NOWHERE = Path("nowhere")
TRIALS: dict[Power, Callable[[Driver], object]] = {
    Power.VALUES: lambda driver: driver.remember_value("k", [1]),
    Power.VERSION: lambda driver: driver.version(),
    Power.HISTORY: lambda driver: driver.history("k"),
    Power.PAST: lambda driver: driver.at(1),
    Power.EXPIRY: lambda driver: driver.remember_for("k", "text", 1000),
    Power.SWEEP: lambda driver: driver.forget_expired(),
    Power.COMPARE_AND_SET: lambda driver: driver.compare_and_set("k", "text", 0),
    Power.UNDO: lambda driver: driver.undo("k"),
    Power.RESTORE: lambda driver: driver.restore("k", 1),
    Power.BATCH: lambda driver: driver.remember_all([("k", "text")]),
    Power.RETRY: lambda driver: driver.remember_once("text", "once"),
    Power.VOTES: lambda driver: driver.vote("k", "up"),
    Power.FILTERS: lambda driver: driver.keys_where({"a": 1}),
    Power.SEARCH: lambda driver: driver.search("words"),
    Power.RECALL: lambda driver: driver.recall("words"),
    Power.SCOPES: lambda driver: driver.within("somebody"),
    Power.PURGE: lambda driver: driver.purge("k"),
    Power.REOPEN: lambda driver: driver.reopen(),
    Power.SHARE: lambda driver: driver.another(),
    Power.PROCESSES: lambda driver: driver.elsewhere("k", "text"),
    Power.BACK_DOOR: lambda driver: driver.back_door(),
    Power.COPY: lambda driver: driver.copied(),
    Power.TRANSFER: lambda driver: driver.export(NOWHERE),
    Power.VERIFY: lambda driver: driver.problems(),
    Power.VACUUM: lambda driver: driver.vacuum(),
}
"""For each power a call that must be refused by a store that does not declare it. ``ORDER`` has no verb of its own."""
