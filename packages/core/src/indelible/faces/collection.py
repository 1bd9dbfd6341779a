"""A collection: keyed records in a namespace, the face that framework adapters use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from indelible.base.event import Op, PurgeReason
from indelible.base.plan import Draft, Written
from indelible.base.record import Part, Record
from indelible.errors import InvalidInput, UnsupportedOperation, VersionConflict
from indelible.faces.arguments import (
    When,
    check_choice,
    check_many,
    check_state_version,
    check_when,
)
from indelible.faces.collection_read import CollectionReads
from indelible.faces.fields import written_record
from indelible.faces.keyed_batch import KeyedBatch
from indelible.faces.memory import check_key
from indelible.faces.operations import Delete, Operation, Put, Touch


class Collection(CollectionReads):
    """Keyed records below a namespace, every version kept.

    Get one from ``MemoryStore.collection(*namespace)``. A key is unique within namespace and scope; putting it again is a revision.

    Args:
        engine: the store's.
        namespace: labels; names below it are reached with ``prefix=True`` or an operation's own ``namespace``.
        scope: whose records these are, matched exactly.
        indexing: how vectors are made.
        when: a version or time, for a read-only view of the past.
        pinned: a version, for a read-only view of the log up to there; unlike in a view of the past, expiry is judged now.
    """

    def at(self, when: When) -> Collection:
        """The collection as it was at a version or time; it can only be read."""
        return Collection(self._engine, self._namespace, self._scope, self._indexing, check_when(when, "when"))

    def below(self, *labels: str) -> Collection:
        """The same collection seen from a namespace inside it."""
        return Collection(self._engine, self._inside(labels), self._scope, self._indexing, self._when, self._pinned)

    def _up_to(self, version: int) -> Collection:
        """The log up to a version, with expiry judged now."""
        return Collection(self._engine, self._namespace, self._scope, self._indexing, pinned=version)

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
        written: Record = self.batch([put])[0]
        return written

    def delete(self, key: str, *, expected_version: int | None = None) -> bool:
        """Forget a key; its history stays.

        Returns:
            Whether there was something to forget.
        """
        return bool(self.batch([Delete(key, expected_version)])[0])

    def batch(self, ops: Iterable[Operation]) -> list[Any]:
        """Carry out operations in one transaction: all or none.

        Reads see one version, the one before the batch. Of several writes to one key only the last becomes an event.

        Returns:
            Per operation, in order: a record or ``None`` for a get, the record for a put (``None`` where a later operation replaced
            it), whether there was something for a delete, whether the expiry was moved for a touch, what its function returned for a
            read.

        Raises:
            InvalidInput, VersionConflict: one operation is refused; nothing of the batch was written.
        """
        return KeyedBatch(self, ops).run()

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
        state = check_state_version(version)
        restored = self._restored(Draft(Op.RESTORE, self._namespace, self._scope, key=check_key(key), restore_version=state))
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
        self.batch([Touch(key, ttl_ms) for key in check_many(keys, "keys")])

    def forget_expired(self) -> int:
        """Append a tombstone for every record here or below that has expired; what is put again meanwhile stays.

        Returns:
            How many.
        """
        while True:
            rows = self._engine.backend.select(self._selection(self._namespace, prefix=True, expiry="expired"))
            drafts = [
                Draft(Op.FORGET, row.standing.namespace, record=row.standing.record, expected_version=0, if_missing="ignore")
                for row in rows
            ]
            try:
                return sum(outcome.changed for outcome in self._write(drafts))
            except VersionConflict:  # one of them lives again: look anew
                continue

    def purge(self, key: str, reason: str = "request") -> int:
        """Destroy every version of a key: text, value, metadata, index, vectors. What remains says only that it was purged.

        Args:
            key: which.
            reason: one of ``request expired legal secret poisoned mistake``.

        Returns:
            1 if it was destroyed (also where two devices had made a record each under the key), 0 if the key was never here.
        """
        code = PurgeReason(check_choice(reason, "reason", tuple(PurgeReason)))
        written = self._write([Draft(Op.PURGE, self._namespace, self._scope, key=check_key(key), reason=code)])[0]
        return int(written.changed)

    def _write(self, drafts: list[Draft]) -> list[Written]:
        if self._when is not None or self._pinned is not None:
            raise UnsupportedOperation("the past cannot be changed: write through the collection itself")
        return self._engine.backend.append(drafts)
