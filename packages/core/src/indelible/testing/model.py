"""The smallest model of a store: a list of what was told, from which everything else is read by looking through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from indelible.testing.contract.driver import Happened


@dataclass(frozen=True)
class Told:
    """One event.

    Attributes:
        version, txn: its number, and the last number of its transaction.
        at_ms: when it arrived.
        key, text: what was told; no text for a forget or a purge.
        op: ``"remember"``, ``"forget"`` or ``"purge"``.
        expires_at: UTC milliseconds, ``None`` for never.
        born: the version with which this life of the key began.
        gone: a purge destroyed it.
    """

    version: int
    txn: int
    at_ms: int
    key: str
    op: str
    text: str | None = None
    expires_at: int | None = None
    born: int = 0
    gone: bool = False

    def expired(self, now_ms: int) -> bool:
        return self.expires_at is not None and now_ms >= self.expires_at


class Refused(NamedTuple):
    """The model's way to say that a write must be refused, and the version there was."""

    actual: int


class Model:
    """What a store of keys and texts should say. Writes return whether they are accepted.

    Args:
        notes_every_forget: whether forgetting what is not there is an event, too, as in a key/value memory.
    """

    def __init__(self, *, notes_every_forget: bool = False) -> None:
        self.log: list[Told] = []
        self.now_ms = 0
        self._notes_every_forget = notes_every_forget

    @property
    def version(self) -> int:
        return len(self.log)

    @property
    def known_keys(self) -> list[str]:
        return sorted({event.key for event in self.log})

    # Reading

    def get(self, key: str, version: int | None = None) -> str | None:
        """A key's text now, or as it was at a version."""
        position, now_ms = self._position(version)
        state = self._state(key, position)
        return None if state is None or state.op == "forget" or state.expired(now_ms) else state.text

    def keys(self, version: int | None = None) -> list[str]:
        """Keys with a text, in the order in which their lives began."""
        position, _ = self._position(version)
        states = [(state.born, key) for key in self.known_keys if (state := self._state(key, position)) is not None]
        return [key for _, key in sorted(states) if self.get(key, version) is not None]

    def history(self, key: str) -> list[Happened]:
        return [Happened(event.version, event.op, event.text) for event in self._states(key)]

    def _position(self, version: int | None) -> tuple[int, int]:
        """The last whole transaction at a version, and when that was."""
        if version is None or version > self.version:
            return self.version, self.now_ms
        whole = [event for event in self.log if event.txn <= version]
        return (whole[-1].version, whole[-1].at_ms) if whole else (0, 0)

    def _states(self, key: str) -> list[Told]:
        return [event for event in self.log if event.key == key and event.op != "purge" and not event.gone]

    def _state(self, key: str, position: int | None = None) -> Told | None:
        found = [event for event in self._states(key) if position is None or event.version <= position]
        return found[-1] if found else None

    # Writing

    def remember(self, key: str, text: str, ttl_ms: int | None = None) -> None:
        self.remember_all([(key, text)], ttl_ms)

    def remember_all(self, items: Sequence[tuple[str, str]], ttl_ms: int | None = None) -> None:
        txn = self.version + len(items)
        for key, text in items:
            state = self._state(key)
            goes_on = state is not None and state.op == "remember" and not state.expired(self.now_ms)
            born = state.born if state is not None and goes_on else self.version + 1
            expires_at = None if ttl_ms is None else self.now_ms + ttl_ms
            self.log.append(Told(self.version + 1, txn, self.now_ms, key, "remember", text, expires_at, born))

    def compare_and_set(self, key: str, text: str, expected: int) -> Refused | None:
        state = self._state(key)
        actual = state.version if state is not None and state.op == "remember" and not state.expired(self.now_ms) else 0
        if actual != expected:
            return Refused(actual)
        self.remember(key, text)
        return None

    def forget(self, key: str) -> None:
        state = self._state(key)
        if self._notes_every_forget or (state is not None and state.op == "remember"):
            self._append(key, "forget", born=0 if state is None else state.born)

    def undo(self, key: str) -> Refused | None:
        states = self._states(key)
        if not states:
            return Refused(0)
        if len(states) > 1 and states[-2].op == "remember":
            self._restore(states[-2], states[-1].born)
        else:
            self.forget(key)
        return None

    def restore(self, key: str, version: int) -> Refused | None:
        states = self._states(key)
        for state in states:
            if state.version == version and state.op == "remember":
                self._restore(state, states[-1].born)
                return None
        return Refused(0)

    def _restore(self, old: Told, born: int) -> None:
        expires_at = None if old.expired(self.now_ms) else old.expires_at
        self._append(old.key, "remember", old.text, expires_at, born)

    def purge(self, key: str) -> int:
        if not self._states(key):
            return 0
        self.log = [replace(event, gone=True, text=None) if event.key == key else event for event in self.log]
        self._append(key, "purge")
        return 1

    def _append(self, key: str, op: str, text: str | None = None, expires_at: int | None = None, born: int = 0) -> None:
        number = self.version + 1
        self.log.append(Told(number, number, self.now_ms, key, op, text, expires_at, born))

    def arrived_elsewhere(self) -> None:
        """All of it was imported into an empty store: one transaction, now."""
        self.log = [replace(event, txn=self.version, at_ms=self.now_ms) for event in self.log]
