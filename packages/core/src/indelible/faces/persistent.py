"""Persistent memory: a key/value memory on the log, every version kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NoReturn

from indelible.backend.interface import Report, Selection
from indelible.base.canonical import dumps, encode, loads
from indelible.base.clock import Clock, datetime_from_us
from indelible.base.event import Event, Op
from indelible.base.ids import IdSource, uuid7
from indelible.base.plan import Draft
from indelible.base.record import NO_SCOPE, UNSET, Namespace, ScopeFilter, escape_line
from indelible.errors import NoSuchAttribute, UnsupportedOperation
from indelible.faces.arguments import When, check_path, check_version, check_when
from indelible.faces.engine import Engine, check_sources, open_backend
from indelible.faces.location import check_memory_name, memory_path
from indelible.faces.memory import check_key

KEY_VALUE_NAMESPACE: Namespace = ("memory",)
"""Where key/value memories live in a file; a named one of a store has its name as a second label."""
_UNSCOPED = ScopeFilter(*NO_SCOPE)


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One event of a key.

    Attributes:
        version: its position in the file's log.
        op: ``"remember"`` or ``"forget"``.
        at: when it was written.
        value: what was remembered; ``None`` for a forget.
    """

    version: int
    op: Literal["remember", "forget"]
    at: datetime
    value: Any = None

    def __str__(self) -> str:
        stamp = f"{self.at:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        return f"v{self.version} {stamp} {self.op}" + (f" {escape_line(dumps(self.value))}" if self.op == "remember" else "")


class _KeyValueReads:
    """Reading a key/value memory, now or at a version."""

    def __init__(self, engine: Engine, namespace: Namespace, when: When | None = None) -> None:
        self._engine = engine
        self._namespace = namespace
        self._when = when

    def recall(self, key: str) -> Any:
        """The value of a key, ``None`` if it was never remembered or was forgotten."""
        return self._value(check_key(key), self._when)

    def keys(self) -> list[str]:
        """Keys in the order in which they were first remembered."""
        return [key for key, _ in self._bodies()]

    def items(self) -> list[tuple[str, Any]]:
        """Keys and values, in the order of ``keys``."""
        return [(key, loads(body).get("value")) for key, body in self._bodies()]

    def _bodies(self) -> list[tuple[str, str]]:
        rows = self._engine.backend.select(self._selection(self._when))
        return [(row.standing.key or "", row.body) for row in rows]

    def _value(self, key: str, when: When | None) -> Any:
        rows = self._engine.backend.select(self._selection(when, key))
        return loads(rows[0].body).get("value") if rows else None

    def _selection(self, when: When | None, key: str | None = None) -> Selection:
        version, now_ms = self._engine.position(when)
        keys = None if key is None else (key,)
        return Selection(namespace=self._namespace, scope=_UNSCOPED, version=version, now_ms=now_ms, keys=keys)

    def __len__(self) -> int:
        return len(self._bodies())

    def __bool__(self) -> bool:
        return True  # an empty memory is still a memory


class PastMemory(_KeyValueReads):
    """A persistent memory as it was; it can only be read."""

    def __repr__(self) -> str:
        return f"<PastMemory at {self._when!r}>"


class PersistentMemory(_KeyValueReads):
    """A durable, versioned key/value memory in one SQLite file.

    ``remember`` and ``forget`` always append; nothing is overwritten, so every version stays readable. Values are ``None``, ``bool``,
    ``int`` of any size, finite ``float``, ``str`` and lists of those, and come back exactly as they were.

    Without ``path`` the file is ``SENSE_MEMORY_DIR/<name>.sense_memory.db`` if that variable is set, else
    ``.sense_memory/<name>.sense_memory.db`` beside the file that declares the memory, else in the current folder (a shell or notebook).
    Two files in one folder that declare the same name share one memory. The file *is* the memory: opened by the same path under another
    name it has the same contents.

    Args:
        name: a letter or underscore, then up to 63 letters, digits, ``_`` or ``-``.
        path: the file; ``":memory:"`` for one that is not kept.
        anchor: the declaring file, usually ``__file__``; by default the caller's.
        clock, new_id: sources of time and ids, for tests.

    Raises:
        InvalidInput: a bad name or path.
        StoreUnavailable: the file cannot be created or opened.
        SchemaMismatch: the file is something else, or of a newer release.

    Example:
        >>> ledger = PersistentMemory("ledger", path=":memory:")
        >>> ledger.remember("name", "ada")
        >>> ledger.remember("name", "ada lovelace")
        >>> ledger.recall("name"), ledger.as_of("name", 1)
        ('ada lovelace', 'ada')
    """

    def __init__(
        self,
        name: str,
        path: str | os.PathLike[str] | None = None,
        *,
        anchor: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
        new_id: IdSource = uuid7,
    ) -> None:
        self._name = check_memory_name(name)
        if path is None:
            self._path = memory_path(name, None if anchor is None else check_path(anchor))
        else:
            self._path = check_path(path)
        clock = check_sources(clock, new_id)
        self._owns_backend = True
        super().__init__(Engine(open_backend(self._path, clock, new_id), clock), KEY_VALUE_NAMESPACE)

    @classmethod
    def inside(cls, engine: Engine, name: str | None, path: str) -> PersistentMemory:
        """One that lives in a store's file; the store closes it."""
        self = cls.__new__(cls)
        self._name = "memory" if name is None else check_memory_name(name)
        self._path = path
        self._owns_backend = False
        _KeyValueReads.__init__(self, engine, KEY_VALUE_NAMESPACE if name is None else (*KEY_VALUE_NAMESPACE, self._name))
        return self

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    @property
    def kind(self) -> NoReturn:
        raise NoSuchAttribute("a persistent memory has no kind: its optional text is a path; Memory has a kind")

    @property
    def version(self) -> int:
        """The newest version of the file's log, 0 when it is empty."""
        return self._engine.backend.mark().version

    def remember(self, key: str, value: Any, *, ttl_ms: object = UNSET) -> None:
        """Keep a value under a key, as a new version, also when it is the same as before.

        Raises:
            InvalidInput: a key that is not text or a value that JSON cannot hold exactly; nothing is written.
            UnsupportedOperation: a time to live; a memory that is an audit log never expires by itself.
        """
        if ttl_ms is not UNSET:
            raise self._refused("ttl_ms")
        text = encode(value, "value", objects=False)
        fields = {} if value is None else {"value": text}
        self._engine.write_one(Draft(Op.REMEMBER, self._namespace, key=check_key(key), fields=fields))

    def forget(self, key: str) -> None:
        """Forget a key: a tombstone is appended, its history stays. One that is not there is fine, and its history says so."""
        self._engine.write_one(Draft(Op.FORGET, self._namespace, key=check_key(key), if_missing="record"))

    def as_of(self, key: str, version: int) -> Any:
        """The value of a key at a version of the file's log; ``None`` before it existed or while it was forgotten.

        Raises:
            InvalidInput: a version that is not a plain ``int``.
        """
        key = check_key(key)
        return None if check_version(version) <= 0 else self._value(key, version)

    def at(self, when: When) -> PastMemory:
        """The whole memory as it was at a version or time."""
        return PastMemory(self._engine, self._namespace, check_when(when, "when"))

    def versions(self, key: str) -> list[MemoryVersion]:
        """Every event of a key, oldest first."""
        events = self._engine.backend.events(key=(self._namespace, NO_SCOPE, check_key(key)))
        return [_version_of(event) for event in events if event.op is not Op.PURGE]

    def history(self, key: str) -> list[str]:
        """Every event of a key as a line of text, oldest first."""
        return [str(version) for version in self.versions(key)]

    def verify(self) -> Report:
        """Re-derive the chain of hashes and compare every view with the log."""
        return self._engine.backend.verify()

    def close(self) -> None:
        """Close the file, unless a store owns it."""
        if self._owns_backend:
            self._engine.backend.close()

    def __enter__(self) -> PersistentMemory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<PersistentMemory {self._name} at {self._path}>"

    # What an append-only key/value memory does not do

    def edit(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: remember the key again, both versions stay."""
        raise self._refused("edit")

    def prune(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: nothing here is ever removed."""
        raise self._refused("prune")

    def purge(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: nothing here is ever removed."""
        raise self._refused("purge")

    def forget_expired(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: nothing here expires."""
        raise self._refused("forget_expired")

    def vacuum(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: nothing here is compacted."""
        raise self._refused("vacuum")

    def _refused(self, what: str) -> UnsupportedOperation:
        return UnsupportedOperation(f"a persistent memory has no {what}: it keeps everything; MemoryStore on the same file offers it")


def _version_of(event: Event) -> MemoryVersion:
    at = datetime_from_us(event.clock)
    if event.op is Op.FORGET:
        return MemoryVersion(event.version, "forget", at)
    value = None if event.payload is None else event.payload.fields.get("value")
    return MemoryVersion(event.version, "remember", at, value)
