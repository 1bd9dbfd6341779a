"""What stands while a transaction is planned: what the backend has, and over it what the drafts before changed."""

from __future__ import annotations

from indelible.base.canonical import dumps, loads
from indelible.base.draft import Fields, Lookup, OldState, Twins
from indelible.base.ids import id_bytes
from indelible.base.record import Namespace, Scope
from indelible.base.standing import Slot, Standing


class Overlay:
    """The log as the next draft of a transaction sees it.

    Args:
        lookup: reads of the write transaction.

    Attributes:
        standings, holders, retries: what earlier drafts changed; ``None`` for what they destroyed.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.standings: dict[bytes, Standing | None] = {}
        self.holders: dict[Slot, bytes | None] = {}
        self.retries: dict[tuple[Namespace, Scope, str], bytes] = {}
        self._bodies: dict[int, str] = {}
        # Who was given which text, once somebody asks.
        self._texts: dict[str, list[bytes]] | None = None

    def write(self, standing: Standing, body: str, content: str | None) -> None:
        """Take in a new state, with its content as JSON."""
        self.standings[standing.record] = standing
        self._bodies[standing.version] = body
        if self._texts is not None and content is not None:
            self._texts.setdefault(content, []).append(standing.record)

    def standing(self, record: bytes) -> Standing | None:
        """How a record stands, hidden or not."""
        return self.standings[record] if record in self.standings else self._lookup.standing(record)

    def holder(self, slot: Slot) -> Standing | None:
        """The record that holds a key, hidden or not."""
        if slot in self.holders:
            record = self.holders[slot]
            return None if record is None else self.standing(record)
        found = self._lookup.holder(slot)
        return None if found is None else self.standings.get(found.record, found)

    def claimants(self, slot: Slot) -> list[Standing]:
        """Every record that was ever written under a key."""
        return self._lookup.claimants(slot)

    def body(self, version: int) -> str:
        """The payload of a state event."""
        return self._bodies[version] if version in self._bodies else self._lookup.body(version)

    def old_state(self, record: bytes, version: int | None, before: int) -> OldState | None:
        """A state event of a record from before this transaction."""
        return self._lookup.old_state(record, version, before)

    def first_try(self, namespace: Namespace, scope: Scope, idempotency_key: str) -> Standing | None:
        """What a write with this idempotency key made."""
        record = self.retries.get((namespace, scope, idempotency_key))
        if record is None:
            found = self._lookup.retried(namespace, scope, idempotency_key)
            record = None if found is None else found.record
        return None if record is None else self.standing(record)

    def entry_text(self, entry: str, own: bytes | None, namespace: Namespace, scope: Scope, fields: Fields) -> str:
        """What stands for an entry of the context of a record that is about to get these fields."""
        neighbour = id_bytes(entry)
        if neighbour is None:
            return entry
        if neighbour == own:
            return str(loads(fields.get("content", '""')))
        found = self.standing(neighbour)
        if found is None or not found.visible or (found.namespace, found.scope) != (namespace, scope):
            return ""
        return str(loads(self.body(found.version)).get("content", ""))

    def twin(self, twins: Twins, namespace: Namespace, scope: Scope, content: str, now_ms: int) -> Standing | None:
        """The oldest visible record of a slice with the very same content (given as JSON).

        What stood when it was looked for before the write is only checked again; beyond that only what was written since is searched.
        """
        if self._texts is None:
            self._texts = {}
            for standing in self.standings.values():
                if standing is not None and standing.version in self._bodies:
                    self._texts.setdefault(self._content(standing), []).append(standing.record)
        since = [standing.record for standing in self._lookup.written_since(namespace, scope, twins.read_at, content)]
        found = [self.standing(record) for record in dict.fromkeys((*twins.records, *since, *self._texts.get(content, ())))]
        same = [
            standing
            for standing in found
            if standing is not None
            and standing.visible
            and not standing.expired(now_ms)
            and (standing.namespace, standing.scope) == (namespace, scope)
            and standing.key not in twins.without
            and self._content(standing) == content
        ]
        return min(same, key=lambda standing: (standing.created, standing.record), default=None)

    def _content(self, standing: Standing) -> str:
        return dumps(loads(self.body(standing.version)).get("content"))
