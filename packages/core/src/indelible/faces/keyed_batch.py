"""Operations on the keys of a collection in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from indelible.base.clock import expiry_from_ttl
from indelible.base.event import Op
from indelible.base.plan import Draft, worth_touching
from indelible.base.record import Namespace
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_expires_at, check_many, check_optional_whole
from indelible.faces.fields import check_content, check_parts, record_of, state_fields, without_nulls, written_record
from indelible.faces.memory import check_key
from indelible.faces.operations import Delete, Get, Operation, Put, Read, Touch

if TYPE_CHECKING:
    from indelible.faces.collection import Collection

Place = tuple[Namespace, str]


class KeyedBatch:
    """A batch, checked; nothing is read or written before ``run``.

    Args:
        collection: where.
        ops: what to do.

    Raises:
        InvalidInput: one of them is refused.
    """

    def __init__(self, collection: Collection, ops: Iterable[Operation]) -> None:
        self._collection = collection
        self._engine = collection._engine
        self._gets: dict[Namespace, dict[int, str]] = {}
        self._reads: dict[int, Read] = {}
        self._writes: dict[Place, tuple[int, Put | Delete, Draft]] = {}
        touches: list[tuple[int, Place, Draft | None]] = []
        self._count = 0
        for index, operation in enumerate(check_many(ops, "ops")):
            self._count = index + 1
            if isinstance(operation, Read):
                self._reads[index] = operation
                continue
            if not isinstance(operation, Get | Put | Delete | Touch):
                raise InvalidInput(f"a batch takes Get, Put, Delete, Touch and Read, got {type(operation).__name__}")
            place = collection._inside(operation.namespace), check_key(operation.key)
            if isinstance(operation, Get):
                self._gets.setdefault(place[0], {})[index] = place[1]
            elif isinstance(operation, Touch):
                touches.append((index, place, self._touch_draft(operation, place)))
            else:
                draft = self._put_draft(operation, place) if isinstance(operation, Put) else self._delete_draft(operation, place)
                self._writes.pop(place, None)  # so that the order is that of what is written
                self._writes[place] = index, operation, draft
        self._touches = [(index, draft) for index, place, draft in touches if draft is not None and place not in self._writes]

    def run(self) -> list[Any]:
        """Carry it out; results in the order of the operations."""
        results: list[Any] = [None] * self._count
        backend = self._engine.backend
        drafts = [*self._embedded(), *(draft for _, draft in self._touches)]
        reads = len(self._reads) + sum(map(len, self._gets.values()))
        # Reading first costs the least; it is done again in the rare case that somebody else wrote meanwhile.
        start = backend.mark().version if reads and (drafts or reads > 1) else 0
        self._read(self._collection, results)
        first = self._write(drafts, results) if drafts else None
        if reads and first is not None and first != start + 1:
            self._read(self._pinned(first - 1), results)
        elif reads > 1 and first is None and backend.mark().version != start:
            self._read(self._pinned(start), results)
        return results

    def _pinned(self, version: int) -> Collection:
        base = self._collection
        return base if base._when is not None or base._pinned is not None else base._up_to(version)

    # Reading

    def _read(self, collection: Collection, results: list[Any]) -> None:
        for namespace, wanted in self._gets.items():
            selection = collection._selection(namespace, keys=tuple(dict.fromkeys(wanted.values())))
            found = {row.standing.key: row for row in self._engine.backend.select(selection)}
            for index, key in wanted.items():
                row = found.get(key)
                results[index] = None if row is None else record_of(row.standing, row.body)
        for index, read in self._reads.items():
            results[index] = read.function(collection)

    # Writing

    def _write(self, drafts: list[Draft], results: list[Any]) -> int | None:
        """Write, and say which event was the first."""
        written = self._collection._write(drafts)
        writes = list(self._writes.values())
        for (index, operation, draft), outcome in zip(writes, written, strict=False):
            if isinstance(operation, Put):
                results[index] = written_record(outcome, str.__str__(operation.content), draft.fields)
            else:
                results[index] = outcome.changed
        for (index, _), outcome in zip(self._touches, written[len(writes) :], strict=True):
            results[index] = outcome.changed
        return min((outcome.version for outcome in written if outcome.changed), default=None)

    def _embedded(self) -> list[Draft]:
        """The drafts of the writes, with vectors that were all made together."""
        writes = list(self._writes.values())
        puts: Sequence[Put] = [operation for _, operation, _ in writes if isinstance(operation, Put)]
        collection = self._collection
        made = iter(collection._indexing.vectors_many(collection.namespace, [(put.content, put.parts or ()) for put in puts]))
        for _, operation, draft in writes:
            if isinstance(operation, Put):
                draft.vectors = next(made)
        return [draft for _, _, draft in writes]

    def _put_draft(self, put: Put, place: Place) -> Draft:
        content, parts = check_content(put.content, empty=True), check_parts(put.parts)
        fields = state_fields(content=content, metadata=put.metadata, value=put.value, parts=parts, parent=put.parent, source=put.source)
        if put.ttl_ms is not None and put.expires_at is not None:
            raise InvalidInput("ttl_ms and expires_at were both given: give one")
        expires_at = check_expires_at(put.expires_at) if put.ttl_ms is None else expiry_from_ttl(put.ttl_ms, self._engine.now_ms())
        return Draft(
            Op.REMEMBER,
            place[0],
            self._collection.scope,
            key=place[1],
            fields=without_nulls(fields),
            expires_at=expires_at,
            expected_version=check_optional_whole(put.expected_version, "expected_version"),
        )

    def _delete_draft(self, delete: Delete, place: Place) -> Draft:
        expected = check_optional_whole(delete.expected_version, "expected_version")
        return Draft(
            Op.FORGET,
            place[0],
            self._collection.scope,
            key=place[1],
            fields=state_fields(source=delete.source),
            expected_version=expected,
            if_missing="ignore",
        )

    def _touch_draft(self, touch: Touch, place: Place) -> Draft | None:
        expires_at = expiry_from_ttl(touch.ttl_ms, self._engine.now_ms())
        known = check_expires_at(touch.expires_at)
        if isinstance(known, int) and not worth_touching(known, expires_at, touch.ttl_ms):
            return None
        return Draft(
            Op.TOUCH,
            place[0],
            self._collection.scope,
            key=place[1],
            expires_at=expires_at,
            touch_ttl=touch.ttl_ms,
            expected_version=check_optional_whole(touch.version, "version"),
        )
