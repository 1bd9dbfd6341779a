"""Every public verb of every object, each with arguments it accepts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import indelible
from indelible import AsyncMemoryStore, Get, Memory, MemoryStore, MockModel, PersistentMemory, Put
from indelible.testing import HashEmbedder
from tests.unit.bad_input.awaited import Awaited

KEPT = "what the store still says"


@dataclass
class World:
    """A store with something in it, and the objects one gets from it.

    Attributes:
        folder: a folder of its own for files.
        on_disk: whether the databases are files; in memory, thousands of calls are quick.
        timeout_s: how long the store waits for other writers.
        store, memory, session: opened, each with something to say.
        awaited: the store's async face.
        id: of a fact that is live.
    """

    folder: Path
    on_disk: bool = False
    timeout_s: float = 30.0
    store: MemoryStore = field(init=False)
    memory: PersistentMemory = field(init=False)
    session: Memory = field(init=False)
    awaited: Awaited = field(init=False)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        path = self.folder / "store.db" if self.on_disk else ":memory:"
        self.store = MemoryStore(path, embedder=HashEmbedder(16), timeout_s=self.timeout_s)
        self.memory = self._open_memory()
        self._loop = asyncio.new_event_loop()
        self._async = AsyncMemoryStore(store=self.store)
        self.awaited = Awaited(self._async, self._loop)
        self.session = Memory("session")
        self.store.collection("canary").put("canary", KEPT)
        self.memory.remember("canary", KEPT)
        self.session.remember("canary", KEPT)
        self.id = self.store.remember("a fact about tea", user_id="ada", metadata={"a": 1}, source="test").id
        self.store.edit(self.id, "a fact about green tea")
        notes = self.store.collection("notes", model="store")
        notes.put("k", "a note about tea", metadata={"a": 1})
        notes.put("k", "a note about coffee")
        self.store.collection("cache", cache=True).put("k", 1)

    def _open_memory(self) -> PersistentMemory:
        return PersistentMemory("log", path=self.folder / "memory.db" if self.on_disk else ":memory:")

    def version(self) -> tuple[int, int]:
        return self.store.version, self.memory.version

    def answers(self) -> bool:
        """Whether everything still says what it said."""
        kept = self.store.collection("canary").get("canary")
        return kept is not None and kept.content == KEPT and self.memory.recall("canary") == KEPT and self.session.recall("canary") == KEPT

    def close(self) -> None:
        self._loop.run_until_complete(self._async.close())
        self._loop.close()
        self.store.close()
        self.memory.close()


@contextmanager
def world(folder: Path, *, on_disk: bool = False) -> Iterator[World]:
    made = World(folder, on_disk)
    try:
        yield made
    finally:
        made.close()


@dataclass(frozen=True)
class Verb:
    """A public callable.

    Attributes:
        of: what it belongs to.
        name: its name.
        good: arguments it accepts, by parameter.
        more: names that its ``**`` parameter takes.
        parts: name of its ``*`` parameter, if one is to be filled with one argument.
    """

    of: str
    name: str
    good: dict[str, Callable[[World], Any]]
    more: tuple[str, ...] = ()

    def function(self, world: World) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(OBJECTS[self.of](world), self.name)
        return found

    def parameters(self, world: World) -> list[str]:
        names = []
        for parameter in inspect.signature(self.function(world)).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                names += [name for name in self.more if name not in names]
            else:
                names.append(("*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "") + parameter.name)
        return names

    def call(self, world: World, **changed: Any) -> Any:
        """Call it with good arguments, some of them replaced."""
        arguments = {name: make(world) for name, make in self.good.items()} | changed
        spread = [arguments.pop(name) for name in list(arguments) if name.startswith("*")]
        outcome = self.function(world)(*spread, **arguments)
        return list(outcome) if inspect.isgenerator(outcome) else outcome

    def __str__(self) -> str:
        return f"{self.of}.{self.name}"


OBJECTS: dict[str, Callable[[World], Any]] = {
    "indelible": lambda w: indelible,
    "Memory": lambda w: w.session,
    "PersistentMemory": lambda w: w.memory,
    "PastMemory": lambda w: w.memory.at(1),
    "MemoryStore": lambda w: w.store,
    "AsyncMemoryStore": lambda w: w.awaited,
    "ScopedView": lambda w: w.store.scope(user_id="ada"),
    "PastView": lambda w: w.store.at(3),
    "Collection": lambda w: w.store.collection("notes", model="store"),
    "PastCollection": lambda w: w.store.collection("notes", model="store").at(w.store.version),
    "CacheCollection": lambda w: w.store.collection("cache", cache=True),
}
SCOPE = ("agent_id", "user_id", "org_id", "workspace_id")


def always(value: Any) -> Callable[[World], Any]:
    return lambda world: value


def _file(name: str) -> Callable[[World], Any]:
    """A name that nothing has yet."""
    return lambda world: world.folder / f"{name}-{len(list(world.folder.iterdir()))}"


def _backup(world: World) -> Path:
    target = world.folder / f"backup-{len(list(world.folder.iterdir()))}.db"
    world.store.backup(target)
    return target


def _export(world: World) -> Path:
    target = world.folder / f"export-{len(list(world.folder.iterdir()))}"
    world.store.export(target)
    return target


A_TIME = always(datetime(2026, 1, 1, tzinfo=UTC))
AN_ID: Callable[[World], Any] = lambda world: world.id  # noqa: E731  # one of a row of such
A_KEY = always("k")
A_QUERY = always("tea")
A_MODEL: Callable[[World], Any] = lambda world: MockModel("ok")  # noqa: E731  # likewise

FACT_VERBS: dict[str, dict[str, Callable[[World], Any]]] = {
    "at": {"when": always(1)},
    "count": {},
    "erase": {"user_id": always("ada")},
    "edit": {"id": AN_ID, "content": always("another fact")},
    "feedback": {"id": AN_ID, "vote": always("up")},
    "forget": {"id": AN_ID},
    "forget_expired": {},
    "get": {"id": AN_ID},
    "history": {"id": AN_ID},
    "list": {},
    "prune": {"keywords": A_QUERY},
    "purge": {"id": AN_ID},
    "recall": {"query": A_QUERY},
    "remember": {"content": always("a new fact")},
    "remember_many": {"items": always(["one", {"content": "two"}])},
    "remember_turns": {"turns": always([("user", "hello"), {"role": "assistant", "content": "hi"}])},
    "restore": {"id": AN_ID, "version": lambda world: world.store.history(world.id)[0].version},
    "scope": {"user_id": always("ada")},
    "scopes": {},
    "search": {"query": A_QUERY},
    "search_semantic": {"query": A_QUERY},
    "undo": {"id": AN_ID},
    "withdraw": {"source": always("test")},
}
STORE_VERBS: dict[str, dict[str, Callable[[World], Any]]] = {
    "backup": {"path": _file("backup")},
    "collection": {"*namespace": always("notes")},
    "doctor": {},
    "export": {"path": _file("export")},
    "health": {},
    "import_": {"path": _export},
    "iter_events": {},
    "memory": {},
    "rebuild": {},
    "reindex": {"embedder": lambda world: HashEmbedder(16)},
    "restore_backup": {"backup": _backup, "path": _file("restored")},
    "vacuum": {},
    "verify": {},
}
COLLECTION_VERBS: dict[str, dict[str, Callable[[World], Any]]] = {
    "at": {"when": always(1)},
    "batch": {"ops": always([Put("x", "text"), Get("k")])},
    "below": {"*labels": always("deeper")},
    "delete": {"key": A_KEY},
    "forget_expired": {},
    "get": {"key": A_KEY},
    "get_many": {"keys": always(["k"])},
    "history": {"key": A_KEY},
    "list": {},
    "namespaces": {},
    "purge": {"key": A_KEY},
    "put": {"key": A_KEY, "content": always("text")},
    "restore": {"key": A_KEY, "version": lambda world: world.store.collection("notes").history("k")[0].version},
    "search": {"query": A_QUERY},
    "touch": {"keys": always(["k"]), "ttl_ms": always(1000)},
    "undo": {"key": A_KEY},
}
CACHE_VERBS: dict[str, dict[str, Callable[[World], Any]]] = {
    "delete": {"key": A_KEY},
    "delete_many": {"keys": always(["k"])},
    "get": {"key": A_KEY},
    "get_many": {"keys": always(["k"])},
    "keys": {},
    "list": {},
    "put": {"key": A_KEY, "value": always(1)},
    "put_many": {"values": always({"k": 1})},
}
MEMORY_VERBS: dict[str, dict[str, Callable[[World], Any]]] = {
    "forget": {"key": A_KEY},
    "items": {},
    "keys": {},
    "recall": {"key": A_KEY},
    "remember": {"key": A_KEY, "value": always(1)},
}
FUNCTIONS: dict[str, dict[str, Callable[[World], Any]]] = {
    "Memory": {},
    "MemoryStore": {"path": _file("store")},
    "PersistentMemory": {"name": always("log"), "path": _file("memory")},
    "ask": {"prompt": always("hello"), "model": A_MODEL},
    "ask_with_memory": {"prompt": always("tea?"), "memory": lambda world: world.store, "model": A_MODEL},
    "audit_log": {},
    "compose_prompt": {"prompt": always("tea?"), "memory": lambda world: world.store},
    "delegation": {"model": A_MODEL},
    "where": {"*path": always("a")},
}
TABLE: dict[str, dict[str, dict[str, Callable[[World], Any]]]] = {
    "indelible": FUNCTIONS,
    "Memory": MEMORY_VERBS,
    "PersistentMemory": MEMORY_VERBS
    | {
        "as_of": {"key": A_KEY, "version": always(1)},
        "at": {"when": always(1)},
        "history": {"key": A_KEY},
        "verify": {},
        "versions": {"key": A_KEY},
    },
    "PastMemory": {name: MEMORY_VERBS[name] for name in ("items", "keys", "recall")},
    "MemoryStore": FACT_VERBS | STORE_VERBS,
    "AsyncMemoryStore": FACT_VERBS | STORE_VERBS,
    "ScopedView": FACT_VERBS | {"collection": STORE_VERBS["collection"]},
    "PastView": {name: FACT_VERBS[name] for name in ("count", "get", "history", "list", "recall", "scopes", "search", "search_semantic")},
    "Collection": COLLECTION_VERBS,
    "PastCollection": COLLECTION_VERBS,
    "CacheCollection": CACHE_VERBS,
}
MORE: dict[str, tuple[str, ...]] = {
    "count": SCOPE,
    "scopes": SCOPE,
    "search_semantic": (*SCOPE, "offset", "min_score", "as_of", "mmr", "recency", "feedback", "rerank"),
    "remember_many": (*SCOPE, "metadata", "source", "ttl_ms"),
    "remember_turns": (*SCOPE, "metadata", "source", "ttl_ms"),
    "restore_backup": ("embedder", "require_scope", "timeout_s"),
}
NOT_CALLED = {"close", "inside"}
"""``close`` takes nothing and ends the world; ``inside`` is for a store's own use."""
REFUSED = {
    "PersistentMemory": {"edit", "forget_expired", "prune", "purge", "vacuum"},
    "CacheCollection": {"at", "batch", "history", "namespaces", "purge", "restore", "search", "undo"},
    "PastCollection": {"batch", "delete", "forget_expired", "purge", "put", "restore", "touch", "undo"},
}
"""Verbs that an object has in order to say that it does not do them."""
CALLBACKS = {"progress", "gate", "accept", "count_tokens", "model", "embedder", "clock", "new_id"}
"""Parameters that take a function of the caller's; what that raises is the caller's."""
VERBS = [Verb(of, name, good, MORE.get(name, ())) for of, verbs in TABLE.items() for name, good in verbs.items()]
