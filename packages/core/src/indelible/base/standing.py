"""What a record is at each version, derived from its events alone.

``standings`` is the definition: it replays events in order of arrival and says, per record, from which version to which it stood how.
Backends follow it row by row as events arrive and call it to repair or rebuild; the in-memory reference calls it for everything.

The rules:

* The winner among a record's state events is the greatest by ``(clock, device, seq)``, whatever the order of arrival.
* A key in one namespace and scope belongs to one record at a time. Where two devices made a record each under the same key, the
  record with the greater winner holds it and the other is hidden (superseded).
* A life begins with a ``remember``; the record's creation time is that of its latest ``remember`` up to the winner.
* A ``touch`` greater than the winner moves the expiry; the greatest touch counts.
* A purged record has no standing at any version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from indelible.base.event import STATE_OPS, Op
from indelible.base.record import NO_SCOPE, Namespace, Scope

FOREVER = (1 << 63) - 1
"""``live_to`` of what still stands."""


class Slot(NamedTuple):
    """Where a key is unique."""

    namespace: Namespace
    scope: Scope
    key: str


class Standing(NamedTuple):
    """How a record stands over an interval of versions.

    Attributes:
        record: its id.
        version: the winning state event.
        live_from, live_to: the versions over which this holds, the second excluded.
        namespace, scope, key, parent: from the winner's payload.
        visible: whether reads see it (not forgotten, not superseded); expiry is judged at read time.
        created: hybrid clock of the remember that began this life.
        updated: hybrid clock of the winner.
        expires_at: UTC milliseconds or ``None``.
    """

    record: bytes
    version: int
    live_from: int
    live_to: int
    namespace: Namespace
    scope: Scope
    key: str | None
    parent: str | None
    visible: bool
    created: int
    updated: int
    expires_at: int | None

    @property
    def slot(self) -> Slot | None:
        return None if self.key is None else Slot(self.namespace, self.scope, self.key)

    def live_at(self, version: int, now_ms: int) -> bool:
        """Whether a read of that version at that time sees the record in this state."""
        return self.visible and self.live_from <= version < self.live_to and not self.expired(now_ms)

    def expired(self, now_ms: int) -> bool:
        return self.expires_at is not None and now_ms >= self.expires_at


class Arrival(NamedTuple):
    """What ``standings`` needs to know of an event."""

    version: int
    op: Op
    record: bytes
    order: tuple[int, bytes, int]
    expires_at: int | None
    namespace: Namespace = ()
    scope: Scope = NO_SCOPE
    key: str | None = None
    parent: str | None = None


class _Life:
    """A record while its events are replayed."""

    def __init__(self) -> None:
        self.winner: Arrival | None = None
        self.touch: Arrival | None = None
        self.births: list[tuple[int, bytes, int]] = []
        self.first: tuple[int, bytes, int] | None = None
        self.shown: Standing | None = None

    def take(self, event: Arrival) -> None:
        if event.op is Op.TOUCH:
            if self.touch is None or event.order > self.touch.order:
                self.touch = event
            return
        if self.first is None or event.order < self.first:
            self.first = event.order
        if event.op is Op.REMEMBER:
            self.births.append(event.order)
        if self.winner is None or event.order > self.winner.order:
            self.winner = event

    def standing(self, version: int, holds_key: bool) -> Standing | None:
        winner = self.winner
        if winner is None:
            return None
        touched = self.touch is not None and self.touch.order > winner.order
        births = [order for order in self.births if order <= winner.order]
        return Standing(
            record=winner.record,
            version=winner.version,
            live_from=version,
            live_to=FOREVER,
            namespace=winner.namespace,
            scope=winner.scope,
            key=winner.key,
            parent=winner.parent,
            visible=winner.op is not Op.FORGET and holds_key,
            created=max(births)[0] if births else (self.first or winner.order)[0],
            updated=winner.order[0],
            expires_at=self.touch.expires_at if touched and self.touch else winner.expires_at,
        )


def standings(events: Iterable[Arrival], purged: frozenset[bytes] | set[bytes] = frozenset()) -> list[Standing]:
    """How records stood over time.

    Args:
        events: state and touch events in order of arrival; all events of every record that shares a key must be there.
        purged: records that were destroyed, by an event of any version.

    Returns:
        One row per change, grouped by record in order of first arrival, each record's rows gapless from its first event on.
    """
    lives: dict[bytes, _Life] = defaultdict(_Life)
    slots: dict[Slot, set[bytes]] = defaultdict(set)
    rows: dict[bytes, list[Standing]] = {}
    for event in events:
        if event.record in purged or (event.op not in STATE_OPS and event.op is not Op.TOUCH):
            continue
        life = lives[event.record]
        life.take(event)
        winner = life.winner
        if winner is None:
            continue
        affected = [event.record]
        holder = event.record
        if winner.key is not None:
            claimants = slots[Slot(winner.namespace, winner.scope, winner.key)]
            claimants.add(event.record)
            if len(claimants) > 1:
                affected = sorted(claimants)
                holder = max(claimants, key=lambda record: _order(lives[record]))
        for record in affected:
            _note_change(rows.setdefault(record, []), lives[record], event.version, record == holder)
    return [row for of_record in rows.values() for row in of_record]


def _order(life: _Life) -> tuple[int, bytes, int]:
    return life.winner.order if life.winner is not None else (0, b"", 0)


def _note_change(rows: list[Standing], life: _Life, version: int, holds_key: bool) -> None:
    now = life.standing(version, holds_key)
    last = life.shown
    if now is None or (last is not None and now._replace(live_from=last.live_from) == last):
        return
    if last is not None:
        rows[-1] = last._replace(live_to=version)
    rows.append(now)
    life.shown = now


def winners(arrivals: Sequence[Arrival]) -> set[int]:
    """Versions of the state events that had the last word when they arrived; the others lost a merge."""
    best: dict[bytes, tuple[int, bytes, int]] = {}
    found = set()
    for event in arrivals:
        if event.op in STATE_OPS and event.order > best.get(event.record, (0, b"", 0)):
            best[event.record] = event.order
            found.add(event.version)
    return found
