"""A collection: keyed records in a namespace, the face that framework adapters use."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from indelible.backend.interface import Selection
from indelible.base.clock import expiry_from_ttl
from indelible.base.event import Op, PurgeReason
from indelible.base.plan import Draft, Written
from indelible.base.record import Change, Hit, Namespace, Part, Record, Scope, ScopeFilter, check_namespace
from indelible.errors import InvalidInput, UnsupportedOperation
from indelible.faces.arguments import (
    When,
    check_choice,
    check_expires_at,
    check_optional_whole,
    check_when,
    check_whole,
)
from indelible.faces.engine import Engine
from indelible.faces.fields import (
    changes_of,
    check_content,
    check_parts,
    record_of,
    records_of,
    state_fields,
    without_nulls,
    written_record,
)
from indelible.faces.indexing import Indexing
from indelible.faces.memory import check_key
from indelible.faces.operations import Delete, Get, Operation, Put
from indelible.faces.recall import Recall, Request, filtered_rows
from indelible.search.filters import parse_filter


class Collection:
    """Keyed records below a namespace, every version kept.

    Get one from ``MemoryStore.collection(*namespace)``. A key is unique within namespace and scope; putting it again is a revision.

    Args:
        engine: the store's.
        namespace: labels; names below it are reached with ``prefix=True`` or an operation's own ``namespace``.
        scope: whose records these are, matched exactly.
        indexing: how vectors are made.
        when: a version or time, for a read-only view of the past.
    """

    def __init__(self, engine: Engine, namespace: Namespace, scope: Scope, indexing: Indexing, when: When | None = None) -> None:
        self._engine = engine
        self._namespace = namespace
        self._scope = scope
        self._within = ScopeFilter(*scope)
        self._indexing = indexing
        self._when = when

    @property
    def namespace(self) -> Namespace:
        return self._namespace

    @property
    def has_model(self) -> bool:
        """Whether its text becomes vectors."""
        return self._indexing.default_mode is not None

    @property
    def scope(self) -> Scope:
        return self._scope

    def at(self, when: When) -> Collection:
        """The collection as it was at a version or time; it can only be read."""
        return Collection(self._engine, self._namespace, self._scope, self._indexing, check_when(when, "when"))

    # Writing

    def put(
        self,
        key: str,
        content: str = "",
        *,
        value: Any = None,
        metadata: dict[str, Any] | None = None,
        parts: Sequence[Part] | None = None,
        parent: str | None = None,
        source: str | None = None,
        ttl_ms: int | None = None,
        expires_at: datetime | None = None,
        expected_version: int | None = None,
    ) -> Record:
        """Write the whole state of a key.

        Args:
            key: any text.
            content: the text that is searched; may be empty.
            value: opaque JSON.
            metadata: filterable JSON object.
            parts: what is embedded, in place of the content.
            parent: id of the document, session or memory it came from.
            source: who writes.
            ttl_ms, expires_at: when it stops being shown; one of the two.
            expected_version: write only if the record is at this version; 0 for "must not exist".

        Raises:
            InvalidInput: an argument is refused; nothing was written.
            VersionConflict: ``expected_version`` does not hold.
        """
        put = Put(key, content, value, metadata, parts, parent, source, ttl_ms, expires_at, expected_version)
        return written_record(self._write([self._put_draft(put)])[0])

    def delete(self, key: str, *, expected_version: int | None = None) -> bool:
        """Forget a key; its history stays.

        Returns:
            Whether there was something to forget.
        """
        return self._write([self._delete_draft(Delete(key, expected_version))])[0].changed

    def batch(self, ops: Iterable[Operation]) -> list[Any]:
        """Carry out operations in one transaction: all or none.

        Reads see the version before the batch. Of several writes to one key only the last becomes an event.

        Returns:
            Per operation, in order: a record or ``None`` for a get, the record for a put (``None`` where a later operation replaced
            it), whether there was something for a delete.

        Raises:
            InvalidInput, VersionConflict: one operation is refused; nothing of the batch was written.
        """
        operations = list(ops)
        last: dict[tuple[Namespace, str], int] = {}
        for index, operation in enumerate(operations):
            if not isinstance(operation, Get | Put | Delete):
                raise InvalidInput(f"a batch takes Get, Put and Delete, got {type(operation).__name__}")
            self._below(operation.namespace)
            check_key(operation.key)
            if not isinstance(operation, Get):
                last[operation.namespace, operation.key] = index
        writes = [(index, operations[index]) for index in sorted(last.values())]
        drafts = [self._put_draft(op) if isinstance(op, Put) else self._delete_draft(op) for _, op in writes if not isinstance(op, Get)]
        written = self._write(drafts) if drafts else []
        results: list[Any] = [None] * len(operations)
        for (index, operation), outcome in zip(writes, written, strict=True):
            results[index] = written_record(outcome) if isinstance(operation, Put) else outcome.changed
        # What stood just before the first event of the batch, so that nobody else's write can come between.
        first = min((outcome.version for outcome in written if outcome.changed), default=None)
        for index, operation in enumerate(operations):
            if isinstance(operation, Get):
                results[index] = self._get(operation, first)
        return results

    def _get(self, operation: Get, before: int | None) -> Record | None:
        selection = self._selection(self._below(operation.namespace), keys=(operation.key,))
        if before is not None:
            position = self._engine.backend.position(version=before - 1).version
            selection = self._selection(self._below(operation.namespace), keys=(operation.key,), version=position)
        rows = self._engine.backend.select(selection)
        return record_of(rows[0].standing, rows[0].body) if rows else None

    def undo(self, key: str) -> Record | None:
        """Bring back the state before the current one, as a new version.

        Returns:
            The record, ``None`` if what came before was nothing.

        Raises:
            RecordNotFound: the key was never here.
        """
        return self._restored(Draft(Op.RESTORE, self._namespace, self._scope, key=check_key(key)))

    def restore(self, key: str, version: int) -> Record:
        """Bring back the state of a version, as a new version.

        Raises:
            RecordNotFound: the key was never here.
            InvalidInput: the version is no state of this key.
        """
        draft = Draft(
            Op.RESTORE, self._namespace, self._scope, key=check_key(key), restore_version=check_whole(version, "version", least=1)
        )
        restored = self._restored(draft)
        if restored is None:
            raise InvalidInput(f"version {version} is not a state of key {key!r}: see its history")
        return restored

    def _restored(self, draft: Draft) -> Record | None:
        written = self._write([draft])[0]
        return None if written.standing is None or not written.standing.visible else written_record(written)

    def touch(self, keys: Iterable[str], ttl_ms: int) -> None:
        """Move the expiry of keys to a time to live from now, as reading through a cache does.

        Content and version stay. Moves of less than a tenth of the time to live are not worth an event and are left out; keys that are
        not there are ignored.
        """
        now_ms = self._engine.now_ms()
        expires_at = expiry_from_ttl(ttl_ms, now_ms)
        self._write(
            [Draft(Op.TOUCH, self._namespace, self._scope, key=check_key(key), expires_at=expires_at, touch_ttl=ttl_ms) for key in keys]
        )

    def purge(self, key: str, reason: str = "request") -> int:
        """Destroy every version of a key: text, value, metadata, index, vectors. What remains says only that it was purged.

        Args:
            key: which.
            reason: one of ``request expired legal secret poisoned mistake``.

        Returns:
            How many records were destroyed (more than one where two devices had made one each), 0 if the key was never here.
        """
        code = PurgeReason(check_choice(reason, "reason", tuple(PurgeReason)))
        written = self._write([Draft(Op.PURGE, self._namespace, self._scope, key=check_key(key), reason=code)])[0]
        return int(written.changed)

    def _write(self, drafts: list[Draft]) -> list[Written]:
        if self._when is not None:
            raise UnsupportedOperation("the past cannot be changed: write through the collection itself")
        return self._engine.backend.append(drafts)

    def _put_draft(self, put: Put) -> Draft:
        content = check_content(put.content, empty=True)
        parts = check_parts(put.parts)
        fields = state_fields(content=content, metadata=put.metadata, value=put.value, parts=parts, parent=put.parent, source=put.source)
        if put.ttl_ms is not None and put.expires_at is not None:
            raise InvalidInput("ttl_ms and expires_at were both given: give one")
        expires_at = check_expires_at(put.expires_at) if put.ttl_ms is None else expiry_from_ttl(put.ttl_ms, self._engine.now_ms())
        namespace = self._below(put.namespace)
        return Draft(
            Op.REMEMBER,
            namespace,
            self._scope,
            key=check_key(put.key),
            fields=without_nulls(fields),
            expires_at=expires_at,
            expected_version=check_optional_whole(put.expected_version, "expected_version"),
            vectors=self._indexing.vectors(namespace, content, parts),
        )

    def _delete_draft(self, delete: Delete) -> Draft:
        return Draft(
            Op.FORGET,
            self._below(delete.namespace),
            self._scope,
            key=check_key(delete.key),
            expected_version=check_optional_whole(delete.expected_version, "expected_version"),
            if_missing="ignore",
        )

    def _below(self, labels: Namespace) -> Namespace:
        return check_namespace((*self._namespace, *check_namespace(labels))) if labels else self._namespace

    # Reading

    def get(self, key: str, *, as_of: When | None = None, with_vectors: bool = False, include_expired: bool = False) -> Record | None:
        """The record of a key, ``None`` if there is none."""
        rows = self._engine.backend.select(
            self._selection(self._namespace, as_of=as_of, keys=(check_key(key),), expiry="all" if include_expired else "live")
        )
        if not rows:
            return None
        vectors = self._indexing.stored_vectors(rows[0]) if with_vectors else None
        return record_of(rows[0].standing, rows[0].body, vectors)

    def list(
        self,
        *,
        prefix: bool = False,
        filters: object = None,
        order: str = "created",
        descending: bool = False,
        limit: int | None = None,
        offset: int = 0,
        as_of: When | None = None,
        include_expired: bool = False,
    ) -> list[Record]:
        """Records in a total order, stable over pages.

        Args:
            prefix: also those of namespaces below.
            filters: conditions on metadata.
            order: ``"created"`` or ``"updated"``.
            descending, limit, offset: of the answer.
            as_of: a version or time.
            include_expired: also what has expired.
        """
        selection = self._selection(
            self._namespace,
            as_of=as_of,
            prefix=bool(prefix),
            order=check_choice(order, "order", ("created", "updated")),
            descending=bool(descending),
            limit=check_optional_whole(limit, "limit"),
            offset=check_whole(offset, "offset"),
            expiry="all" if include_expired else "live",
        )
        return records_of(filtered_rows(self._engine.backend, selection, parse_filter(filters)))

    def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Namespace]:
        """Full names of namespaces here or below that hold records, sorted.

        Args:
            prefix: labels that follow the collection's own; ``"*"`` stands for any one label.
            suffix: labels it must end with; ``"*"`` stands for any one label.
            max_depth: cut names to this many labels, each shown once.
            limit, offset: of the answer.
        """
        wanted = check_namespace(prefix, "prefix")
        ending = check_namespace(suffix, "suffix")
        depth = check_optional_whole(max_depth, "max_depth", least=1)
        most, skip = check_optional_whole(limit, "limit"), check_whole(offset, "offset")
        start = len(self._namespace)
        found = {
            name[:depth]
            for name, _, _ in self._engine.backend.slices(self._selection(self._namespace, prefix=True))
            if _matches(name[start : start + len(wanted)], wanted) and _matches(name[-len(ending) :] if ending else (), ending)
        }
        names = sorted(found)
        return names[skip:] if most is None else names[skip : skip + most]

    def history(self, key: str) -> builtins.list[Change]:
        """Everything that ever happened to a key, oldest first; ``[]`` for one that was never here or was purged."""
        events = self._engine.backend.events(key=(self._namespace, self._scope, check_key(key)))
        if self._when is not None:
            version, _ = self._engine.position(self._when)
            events = [event for event in events if version is None or event.version <= version]
        return changes_of(events)

    def search(
        self,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        *,
        prefix: bool = True,
        filters: object = None,
        limit: int = 10,
        offset: int = 0,
        as_of: When | None = None,
        mode: str | None = None,
        include_expired: bool = False,
        mmr: float | None = None,
        min_score: float | None = None,
    ) -> builtins.list[Hit]:
        """Records nearest to a query, a vector, or both.

        Args:
            query: text; without it and without a vector, records come in the order of ``list``.
            vector: in the collection's vector space, in place of embedding the query.
            prefix: also namespaces below.
            filters: conditions on metadata, applied before ranking.
            limit, offset: of the answer.
            as_of: a version or time.
            mode: ``"semantic"`` (default where there are vectors), ``"keyword"`` or ``"hybrid"``.
            include_expired: also what has expired.
            mmr: trade nearness for variety, 1 all nearness, 0 all variety.
            min_score: leave out what has a lower cosine.
        """
        selection = self._selection(self._namespace, as_of=as_of, prefix=bool(prefix), expiry="all" if include_expired else "live")
        request = Request.of(
            query,
            vector=vector,
            mode=mode or self._indexing.default_mode,
            limit=limit,
            offset=offset,
            filters=filters,
            mmr=mmr,
            min_score=min_score,
        )
        return Recall(self._engine, self._indexing).hits(selection, request)

    def _selection(self, namespace: Namespace, *, as_of: When | None = None, version: int | None = None, **more: Any) -> Selection:
        when = self._when if as_of is None else check_when(as_of)
        at, now_ms = self._engine.position(when)
        return Selection(namespace=namespace, scope=self._within, version=version if version is not None else at, now_ms=now_ms, **more)

    def __repr__(self) -> str:
        past = f" at {self._when!r}" if self._when is not None else ""
        return f"<Collection {'/'.join(self._namespace) or '()'}{past}>"


def _matches(labels: Namespace, pattern: Namespace) -> bool:
    return len(labels) == len(pattern) and all(wanted in ("*", label) for label, wanted in zip(labels, pattern, strict=True))
