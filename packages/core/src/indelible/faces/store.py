"""The store: facts, collections and key/value memories in one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from indelible.backend.interface import Backend, Ingested, Report
from indelible.base.clock import Clock
from indelible.base.event import Event
from indelible.base.ids import IdSource, uuid7
from indelible.base.record import ANY_SCOPE, UNSET, Namespace, Scope, ScopeFilter, Unset, check_namespace
from indelible.errors import InvalidInput, UnsupportedOperation
from indelible.faces.arguments import check_path, check_whole
from indelible.faces.collection import Collection
from indelible.faces.engine import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S, Engine, check_sources, checked_cache_bytes, open_backend
from indelible.faces.housekeeping import Housekeeping
from indelible.faces.indexing import Indexing
from indelible.faces.location import store_path
from indelible.faces.persistent import PersistentMemory
from indelible.faces.reindexing import Progress, reindex
from indelible.faces.scoping import ScopeValue, check_filter, narrowed
from indelible.faces.transfer import export_log, import_log, is_file_of
from indelible.faces.upkeep import Upkeep, restore_backup
from indelible.search.arguments import check_number


class ScopedView(Housekeeping):
    """A store narrowed to a scope: the same verbs on facts, and no way out."""

    def __init__(self, engine: Engine, namespace: Namespace, within: ScopeFilter, *, require_scope: bool = False) -> None:
        super().__init__(engine, namespace, within)
        self._require_scope = require_scope

    def scope(
        self,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
        *,
        namespace: Namespace | None = None,
    ) -> ScopedView:
        """A view bound to a scope: it reads, writes and destroys only there. ``None`` binds to "not set".

        Args:
            agent_id, user_id, org_id, workspace_id: what it is bound to; what is left out stays open.
            namespace: another namespace than that of facts, ``()``.
        """
        within = narrowed(self._within, check_filter(agent_id, user_id, org_id, workspace_id))
        where = self._namespace if namespace is None else check_namespace(namespace)
        return ScopedView(self._engine, where, within, require_scope=self._require_scope)

    def collection(
        self,
        *namespace: str,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        model: object = None,
        cache: bool = False,
    ) -> Any:
        """Keyed records in a namespace.

        Args:
            *namespace: labels.
            agent_id, user_id, org_id, workspace_id: whose, matched exactly; what is not given is as the view is bound, else not set.
            model: how its text becomes vectors: ``"store"`` for the store's own model, or anything that ``embedder`` takes; ``None`` for
                a collection without a model, whose vectors, if any, come with the parts.
            cache: a plain cache outside the log: no versions, no history, no search.

        Raises:
            InvalidInput: an argument is refused, or the view is bound to somebody else's.
        """
        where = check_namespace(namespace)
        asked = ScopeFilter(*(UNSET if value is None else value for value in (agent_id, user_id, org_id, workspace_id)))
        within = narrowed(self._within, check_filter(*asked))
        scope = Scope(*(None if isinstance(value, Unset) else value for value in within))
        if cache:
            from indelible.faces.cache import CacheCollection

            if scope != Scope():
                raise UnsupportedOperation("a cache has no scope: put it into the namespace")
            return CacheCollection(self._engine, where)
        return Collection(self._engine, where, scope, self._indexing_for(model, where))

    def _indexing_for(self, model: object, where: Namespace) -> Indexing:
        if model is None:
            return Indexing(self._engine, None, home=where)
        if isinstance(model, str) and model == "store":
            return Indexing(self._engine, self._engine.embedder, optional=self._engine.embedder_is_default, home=where)
        own = Engine(self._engine.backend, self._engine.clock, model, cache_bytes=self._engine.cache_bytes)
        return Indexing(self._engine, own.embedder, home=where)

    def __repr__(self) -> str:
        bound = ", ".join(f"{name}={value!r}" for name, value in self._within._asdict().items() if value is not UNSET)
        return f"<{type(self).__name__} {bound or 'of everything'}>"


class MemoryStore(Upkeep, ScopedView):
    """A memory for agents that keeps every version of everything it was told, in one SQLite file.

    Without ``path`` the file is ``MEMORY_DB_PATH``, else ``~/.memory/default.db``; folders and tables are made on first use.

    Args:
        path: the file; ``":memory:"`` for one that is not kept.
        embedder: how text becomes vectors: ``None`` for the bundled model, ``"static"`` or ``"static-query"`` for its fast forms, a
            callable, or an embedder of LangChain or LlamaIndex. Loaded on the first call that needs it.
        require_scope: refuse to remember without an agent and a user instead of filling in ``"default"``.
        clock, new_id: sources of time and ids, for tests.
        timeout_s: how long a write waits for other writers, at most 11 days.
        cache_bytes: what was read of users' memories is kept in this process, the least recently asked for let go, up to about so many
            bytes; by default ``MEMORY_CACHE_BYTES``, else 1 GiB. No answer depends on it. Each kind has its share: a quarter is for
            vectors, 3/8 for those of large selections, an eighth each for words, for metadata and for statistics of large selections.
            A user of 1,000 memories has 1.3 MB of vectors, 3.6 MB of words and 1.8 MB of metadata. What is asked for last is kept
            whatever its size; a collection with a model of its own has as much once more.
        backend: use this one instead of opening a file; it must share the clock.

    Raises:
        InvalidInput: a bad path, or a ``cache_bytes`` of 0 or less.
        StoreUnavailable: the file cannot be created or opened.
        SchemaMismatch: the file is something else, or of a newer release.

    Example:
        >>> store = MemoryStore(":memory:")
        >>> note = store.remember("Ada prefers tea", user_id="ada")
        >>> [hit.content for hit in store.search("tea")]
        ['Ada prefers tea']
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        embedder: object = None,
        require_scope: bool = False,
        clock: Clock | None = None,
        new_id: IdSource = uuid7,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        cache_bytes: int | None = None,
        backend: Backend | None = None,
    ) -> None:
        clock = check_sources(clock, new_id)
        if backend is not None and not isinstance(backend, Backend):
            raise InvalidInput(f"backend must be a Backend, got {type(backend).__name__}")
        self._path = store_path() if path is None else check_path(path)
        patience = check_number(timeout_s, "timeout_s", 0, MAX_TIMEOUT_S)
        most = checked_cache_bytes(cache_bytes)
        opened = open_backend(self._path, clock, new_id, patience) if backend is None else backend
        super().__init__(Engine(opened, clock, embedder, new_id, most), (), ANY_SCOPE, require_scope=require_scope)

    @classmethod
    def restore_backup(
        cls,
        backup: str | os.PathLike[str],
        path: str | os.PathLike[str] | None = None,
        *,
        clock: Clock | None = None,
        **options: Any,
    ) -> MemoryStore:
        """Make a new store of a backup and open it. The backup is verified first and stays as it is.

        Args:
            backup: a file that ``backup`` made.
            path: where the store shall be; nothing may stand there.
            clock, **options: as for a store.

        Raises:
            InvalidInput: something stands at the path.
            IntegrityFailure: the backup does not verify.
            StoreUnavailable: there is no such backup.
        """
        return cls(restore_backup(backup, path, clock), clock=clock, **options)

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    @property
    def version(self) -> int:
        """The newest version of the log, 0 when it is empty."""
        return self._engine.backend.mark().version

    # Other faces on the same file

    def memory(self, name: str | None = None) -> PersistentMemory:
        """A key/value memory inside this file; without a name the file's own, as ``PersistentMemory`` opens it."""
        return PersistentMemory.inside(self._engine, name, self._path)

    # The log

    def iter_events(self, after: int = 0) -> Iterator[Event]:
        """Every event after a version, in order of arrival; what arrives meanwhile comes too."""
        check_whole(after, "after")
        while events := self._engine.backend.events(after=after, limit=1000):
            yield from events
            after = events[-1].version

    def verify(self) -> Report:
        """Re-derive the chain of hashes, compare every view with the log, and let SQLite check its file."""
        return self._engine.backend.verify()

    def rebuild(self) -> None:
        """Make every view anew from the log; answers stay the same. Vectors stay: ``reindex`` makes those."""
        self._engine.backend.rebuild()

    def reindex(self, embedder: object = None, progress: Progress | None = None, *, namespace: Namespace = ()) -> int:
        """Make vectors anew, with another model if one is given; for facts this store then goes on with it.

        Resumable: interrupted anywhere, the old model's vectors still answer, and the next call goes on where this one stopped.

        Args:
            embedder: as for the store; ``None`` for the store's own, which fills in what is missing.
            progress: called with (states embedded, states in all).
            namespace: that of a collection in place of the facts, with what is below it; open it with the new ``model`` afterwards.

        Returns:
            How many states were embedded.

        Raises:
            InvalidInput: there are vectors without text, which only their owner can make.
        """
        where = check_namespace(namespace)
        if embedder is not None:
            chosen = Engine(self._engine.backend, self._engine.clock, embedder).embedder()
            count = reindex(self._engine, where, Indexing(self._engine, lambda: chosen), progress)
            if not where:
                self._engine.use_embedder(chosen)
            return count
        return reindex(self._engine, where, self._indexing, progress)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the whole log as lines of JSON to a new file, all history and vectors included.

        Returns:
            How many events were written.
        """
        return export_log(self._engine.backend, check_path(path))

    def import_(self, path: str | os.PathLike[str]) -> Ingested:
        """Take the events of an export: lossless, idempotent, all or nothing.

        Raises:
            InvalidInput: the file is no export, or an event in it is not one that this library writes; the message names the line.
            IntegrityFailure: a hash or chain in it does not hold.
        """
        source = check_path(path)
        if is_file_of(source, self._path):
            raise InvalidInput(f"{source} belongs to this open store: import what export() wrote")
        before = self.version
        imported = import_log(self._engine.backend, source)
        if imported.added:
            self._refresh_imported(before)
        return imported

    def close(self) -> None:
        """Close the file. Closing twice is fine."""
        self._engine.backend.close()

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<MemoryStore at {self._path}>"
