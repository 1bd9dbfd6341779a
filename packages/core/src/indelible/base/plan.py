"""Planning a write: from what a face asks for to the events that say so.

A face hands drafts to a backend. Under its write lock the backend gives them to a ``Planner``, which reads what stands now through
a small ``Lookup``, decides (new record or revision, no-op or event, conflict or not), and returns finished events with their hashes.
All drafts are planned before one is written, each seeing those before it, so a batch is all or nothing and a refused draft leaves none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from indelible.base.canonical import check_fits, dumps, loads
from indelible.base.clock import tick
from indelible.base.draft import CONTEXT_PART as CONTEXT_PART
from indelible.base.draft import NOTHING as NOTHING
from indelible.base.draft import ContextTexts as ContextTexts
from indelible.base.draft import Draft as Draft
from indelible.base.draft import Fields as Fields
from indelible.base.draft import Head as Head
from indelible.base.draft import Lookup as Lookup
from indelible.base.draft import OldState as OldState
from indelible.base.draft import PartVector as PartVector
from indelible.base.draft import Planned as Planned
from indelible.base.draft import Setting as Setting
from indelible.base.draft import Twins as Twins
from indelible.base.draft import Written as Written
from indelible.base.event import SALT_BYTES, Op, compose_body, event_hash, payload_commitment
from indelible.base.ids import IdSource, id_bytes, id_text, uuid7
from indelible.base.overlay import Overlay
from indelible.base.payload_fields import merge_fields, slot_fields
from indelible.base.record import Namespace, Scope, Unset
from indelible.base.standing import FOREVER, Slot, Standing
from indelible.errors import InvalidInput, RecordNotFound, VersionConflict

RandomSource = Callable[[int], bytes]
_MAX_SALTS = 1024


class Planner:
    """Turns the drafts of one transaction into events.

    Args:
        lookup: reads of the write transaction.
        head: where the log ends.
        now_us: the wall clock.
        new_id: makes record ids.
        random: makes salts.
    """

    def __init__(self, lookup: Lookup, head: Head, now_us: int, *, new_id: IdSource = uuid7, random: RandomSource = os.urandom) -> None:
        self._log = Overlay(lookup)
        self._head = head
        self._now_us = now_us
        self._new_id = new_id
        self._random = random
        self._version, self._clock, self._seq, self._previous = head.version, head.clock, head.seq, head.hash
        self.recorded_at = max(head.recorded_at, now_us // 1000)
        self.planned: list[Planned] = []
        self.purges = False
        """Whether something is to be destroyed."""
        self._salts: list[bytes] = []
        self._salts_at_once = 1

    def expect(self, drafts: int) -> None:
        """So many drafts will come: their salts can be drawn together, which takes as long as drawing one."""
        self._salts_at_once = min(max(drafts, 1), _MAX_SALTS)

    @property
    def head(self) -> Head:
        """Where the log will end."""
        return Head(self._version, self.recorded_at, self._clock, self._head.device, self._seq, self._previous)

    def plan(self, draft: Draft) -> Written:
        """Plan one draft.

        Raises:
            InvalidInput: a restore names a version that is no state of the record.
            RecordNotFound: the record meant does not exist, is hidden, or lies outside the draft's reach.
            VersionConflict: ``expected_version`` does not hold.
        """
        return _PLANS[draft.op](self, draft)

    def plan_device(self, previous: Head) -> None:
        """Note that the file was copied or restored: this device goes on from where another had got to."""
        fields = {"device": dumps(previous.device.hex()), "seq": str(previous.seq), "hash": dumps(previous.hash.hex())}
        self._emit(Op.DEVICE, self._head.device, fields, None)

    def _find(self, draft: Draft) -> Standing | None:
        """The record a draft means, hidden or not, if it lies within reach."""
        if draft.record is not None:
            found = self._log.standing(draft.record)
            if found is None or (draft.namespace is not None and found.namespace != draft.namespace):
                return None
            return found if draft.within.admits(found.scope) else None
        if draft.key is None or draft.namespace is None:
            return None
        return self._log.holder(Slot(draft.namespace, draft.scope, draft.key))

    def _find_visible(self, draft: Draft) -> Standing:
        found = self._find(draft)
        self._check_expected(draft, found)
        if found is None or not self._shown(found):
            raise _not_found(draft)
        return found

    def _shown(self, standing: Standing) -> bool:
        return standing.visible and not standing.expired(self.recorded_at)

    def _check_expected(self, draft: Draft, found: Standing | None) -> None:
        if draft.expected_version is None:
            return
        actual = found.version if found is not None and self._shown(found) else 0
        if actual != draft.expected_version:
            raise VersionConflict(draft.expected_version, actual)

    # One method per op.

    def _remember(self, draft: Draft) -> Written:
        namespace, scope = draft.namespace or (), draft.scope
        if draft.idempotency_key is not None:
            first = self._log.first_try(namespace, scope, draft.idempotency_key)
            if first is not None:
                return Written(first.record, first.version, False, first, self._log.body(first.version))
        # A key decides which record is meant; an id beside it is only that of a record still to be made.
        found = None
        if draft.key is not None:
            found = None if draft.namespace is None else self._log.holder(Slot(namespace, scope, draft.key))
        elif draft.record is not None:
            found = self._find(draft)
        self._check_expected(draft, found)
        goes_on = found is not None and self._shown(found)
        fields = {**slot_fields(namespace, scope, draft.key), **(draft.fields or {})}
        if draft.twins is not None and found is None:
            twin = self._log.twin(draft.twins, namespace, scope, fields["content"], self.recorded_at)
            if twin is not None:
                return Written(twin.record, twin.version, False, twin, self._log.body(twin.version))
        if draft.idempotency_key is not None:
            fields["idempotency_key"] = dumps(draft.idempotency_key)
        expires_at = None if isinstance(draft.expires_at, Unset) else draft.expires_at
        vectors, stale = draft.vectors or (), False
        if draft.context is not None:
            vectors, stale = self._fresh_vectors(draft, draft.record if found is None else found.record, namespace, scope, fields)
        written = self._write_state(
            Op.REVISE if goes_on else Op.REMEMBER,
            found,
            namespace,
            scope,
            draft.key,
            fields,
            expires_at,
            vectors,
            None,
            draft.idempotency_key,
            draft.record,
        )
        return written._replace(stale=True) if stale else written

    def _fresh_vectors(
        self, draft: Draft, record: bytes | None, namespace: Namespace, scope: Scope, fields: Fields
    ) -> tuple[tuple[PartVector, ...], bool]:
        """The vectors of a draft that stand for what is true now, and whether some did not.

        They were made before the write lock was taken. Whoever edited, forgot or purged a neighbour since must not find its old text
        kept alive in them.
        """
        made = draft.vectors or ()
        if draft.context is None:
            return made, False
        entries = loads(fields["context"]) if "context" in fields else []
        if [entry for entry, _ in draft.context] == entries and all(
            text == self._log.entry_text(entry, record, namespace, scope, fields) for entry, text in draft.context
        ):
            return made, False
        return tuple(vector for vector in made if not vector.part.startswith(CONTEXT_PART)), True

    def _revise(self, draft: Draft) -> Written:
        found = self._find_visible(draft)
        fields = merge_fields(self._log.body(found.version), draft.fields or {})
        expires_at = found.expires_at if isinstance(draft.expires_at, Unset) else draft.expires_at
        keep = found.version if draft.vectors is None else None
        vectors, stale = self._fresh_vectors(draft, found.record, found.namespace, found.scope, fields)
        written = self._write_state(Op.REVISE, found, found.namespace, found.scope, found.key, fields, expires_at, vectors, keep)
        return written._replace(stale=True) if stale else written

    def _restore(self, draft: Draft) -> Written:
        found = self._find(draft)
        if found is None:
            raise _not_found(draft)
        self._check_expected(draft, found)
        if _stands_otherwise(draft.chosen, found):
            return Written(found.record, found.version, False, found, stale=True)
        old = self._log.old_state(found.record, draft.restore_version, found.version)
        if draft.restore_version is not None and (old is None or old.op is Op.FORGET):
            raise InvalidInput(f"version {draft.restore_version} is not a state of record {id_text(found.record)}: see its history")
        if old is None or old.op is Op.FORGET:
            # What came before was nothing, so going back to it is forgetting.
            return self._tombstone(draft, found) if found.visible else Written(found.record, found.version, False, found)
        # A state that would be expired the moment it is back would not be back.
        expires_at = old.expires_at if old.expires_at is None or old.expires_at > self.recorded_at else None
        fields = merge_fields(old.body, draft.fields or {})
        written = self._write_state(Op.RESTORE, found, found.namespace, found.scope, found.key, fields, expires_at, (), old.version)
        # It comes back without the vectors that knew its neighbours as they were then.
        return written._replace(stale="context" in fields and any(map(id_bytes, loads(fields["context"]))))

    def _forget(self, draft: Draft) -> Written:
        found = self._find(draft)
        self._check_expected(draft, found)
        if found is not None and _stands_otherwise(draft.chosen, found):
            return Written(found.record, found.version, False, found, stale=True)
        if found is not None and found.visible:
            return self._tombstone(draft, found)
        if draft.if_missing == "record":
            return self._tombstone(draft, found)
        if draft.if_missing == "error" and found is None:
            raise _not_found(draft)
        return NOTHING if found is None else Written(found.record, found.version, False, found)

    def _tombstone(self, draft: Draft, found: Standing | None) -> Written:
        namespace, scope, key = (
            (draft.namespace or (), draft.scope, draft.key) if found is None else (found.namespace, found.scope, found.key)
        )
        fields = slot_fields(namespace, scope, key)
        if draft.fields and "source" in draft.fields:
            fields["source"] = draft.fields["source"]
        return self._write_state(Op.FORGET, found, namespace, scope, key, fields, None, (), None)

    def _vote(self, draft: Draft) -> Written:
        found = self._find_visible(draft)
        version = self._emit(Op.VOTE, found.record, draft.fields or {}, None)
        return Written(found.record, version, True, found)

    def _touch(self, draft: Draft) -> Written:
        found = self._find(draft)
        if found is None or not self._shown(found) or isinstance(draft.expires_at, Unset):
            return NOTHING if found is None else Written(found.record, found.version, False, found)
        if draft.expected_version not in (None, found.version) or not worth_touching(found.expires_at, draft.expires_at, draft.touch_ttl):
            return Written(found.record, found.version, False, found)
        moved = found._replace(live_from=self._version + 1, expires_at=draft.expires_at)
        version = self._emit(Op.TOUCH, found.record, None, draft.expires_at, opens=(moved,))
        self._log.standings[found.record] = moved
        return Written(found.record, version, True, moved)

    def _purge(self, draft: Draft) -> Written:
        found = self._find(draft)
        if found is None:
            return NOTHING
        if _stands_otherwise(draft.chosen, found):
            return Written(found.record, found.version, False, found, stale=True)
        self.purges = True
        victims = [found]
        if found.slot is not None:
            # Another device's record under the same key would otherwise come to light again.
            victims += [other for other in self._log.claimants(found.slot) if other.record != found.record]
        version = 0
        for victim in victims:
            version = self._emit(Op.PURGE, victim.record, {"reason": dumps(str(draft.reason))}, None)
            self._log.standings[victim.record] = None
        if found.slot is not None:
            self._log.holders[found.slot] = None
        return Written(found.record, version, True)

    # Writing it down.

    def _write_state(
        self,
        op: Op,
        found: Standing | None,
        namespace: Namespace,
        scope: Scope,
        key: str | None,
        fields: dict[str, str],
        expires_at: int | None,
        vectors: tuple[PartVector, ...],
        vectors_of: int | None,
        idempotency_key: str | None = None,
        new_record: bytes | None = None,
    ) -> Written:
        self._clock = tick(self._clock, self._now_us)
        record = found.record if found is not None else new_record or self._new_id(self._clock)
        body = compose_body(fields)
        version = self._version + 1
        parent = loads(fields["parent"]) if "parent" in fields else None
        created = self._clock if found is None or op is Op.REMEMBER else found.created
        standing = Standing(
            record, version, version, FOREVER, namespace, scope, key, parent, op is not Op.FORGET, created, self._clock, expires_at
        )
        opens: tuple[Standing, ...] = (standing,)
        if key is not None:
            slot = Slot(namespace, scope, key)
            holder = self._log.holder(slot) if op is Op.RESTORE else found
            if holder is not None and holder.record != record and holder.visible:
                hidden = holder._replace(live_from=version, visible=False)
                opens = (standing, hidden)
                self._log.standings[holder.record] = hidden
            self._log.holders[slot] = record
        self._append(op, record, body, expires_at, opens, vectors, vectors_of, idempotency_key, found is None and op is Op.REMEMBER)
        self._log.write(standing, body, fields.get("content"))
        if idempotency_key is not None:
            self._log.retries[namespace, scope, idempotency_key] = record
        return Written(record, version, True, standing, body)

    def _emit(self, op: Op, record: bytes, fields: Fields | None, expires_at: int | None, opens: tuple[Standing, ...] = ()) -> int:
        self._clock = tick(self._clock, self._now_us)
        self._append(op, record, None if fields is None else compose_body(fields), expires_at, opens, None, None, None)
        return self._version

    def _append(
        self,
        op: Op,
        record: bytes,
        body: str | None,
        expires_at: int | None,
        opens: tuple[Standing, ...],
        vectors: tuple[PartVector, ...] | None,
        vectors_of: int | None,
        idempotency_key: str | None,
        is_new: bool = False,
    ) -> None:
        self._version += 1
        self._seq += 1
        salt = commitment = None
        if body is not None:
            check_fits("a record with all its fields as JSON", body)
            salt = self._salt()
            commitment = payload_commitment(salt, body)
        digest = event_hash(self._head.device, self._seq, self._previous, self._clock, op, record, commitment, expires_at)
        self._previous = digest
        self.planned.append(
            Planned(
                self._version, self._seq, self._clock, op, record, commitment, expires_at, digest, salt, body, opens, vectors, vectors_of,
                idempotency_key, is_new,
            )
        )  # fmt: skip

    def _salt(self) -> bytes:
        if self._salts_at_once == 1:
            return self._random(SALT_BYTES)
        if not self._salts:
            drawn = self._random(SALT_BYTES * self._salts_at_once)
            self._salts = [drawn[start : start + SALT_BYTES] for start in range(0, len(drawn), SALT_BYTES)]
        return self._salts.pop()


_PLANS: dict[Op, Callable[[Planner, Draft], Written]] = {
    Op.REMEMBER: Planner._remember,
    Op.REVISE: Planner._revise,
    Op.RESTORE: Planner._restore,
    Op.FORGET: Planner._forget,
    Op.VOTE: Planner._vote,
    Op.TOUCH: Planner._touch,
    Op.PURGE: Planner._purge,
}


def worth_touching(old: int | None, new: int | None, ttl: int | None) -> bool:
    """Whether moving an expiry deserves an event: at least a tenth of the time to live."""
    if old is None or new is None:
        return old != new
    return new - old >= max((ttl or 0) // 10, 1)


def _stands_otherwise(chosen: Standing | None, found: Standing) -> bool:
    """Whether a record changed since it was chosen."""
    if chosen is None:
        return False
    return (chosen.version, chosen.visible, chosen.expires_at) != (found.version, found.visible, found.expires_at)


def _not_found(draft: Draft) -> RecordNotFound:
    wanted = f"key {draft.key!r}" if draft.record is None else f"id {id_text(draft.record)}"
    return RecordNotFound(f"no memory with {wanted} in this scope: it was never here, is forgotten or has expired")


def plan_all(planner: Planner, drafts: Sequence[Draft]) -> list[Written]:
    """Plan the drafts of one transaction in order."""
    planner.expect(len(drafts))
    return [planner.plan(draft) for draft in drafts]
