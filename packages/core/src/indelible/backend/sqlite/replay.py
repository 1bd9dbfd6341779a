"""From the log to its views: what import, verify and rebuild have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from indelible.backend.sqlite.schema import queries
from indelible.backend.sqlite.transaction import Transaction
from indelible.base.canonical import loads
from indelible.base.event import Op
from indelible.base.record import Scope
from indelible.base.standing import Arrival, Slot, Standing, standings

_REPLAYED = """
SELECT e.version, e.op, e.record, e.clock, d.uuid, e.seq, e.expires_at, p.body
FROM event e JOIN device d ON d.id = e.device LEFT JOIN payload p ON p.version = e.version
WHERE e.op IN ('remember', 'revise', 'restore', 'forget', 'touch') AND {which}
ORDER BY e.record, e.version
"""
_NOT_PURGED = "e.record NOT IN (SELECT record FROM event WHERE op = 'purge')"


def arrival_of(row: Sequence[Any]) -> Arrival:
    """An arrival from (version, op, record, clock, device, seq, expires_at, body)."""
    version, op, record, clock, device, seq, expires_at, body = row
    fields = loads(body) if body is not None else {}
    scope = Scope(*(fields.get(name) for name in Scope._fields))
    namespace = tuple(fields.get("namespace", ()))
    return Arrival(version, Op(op), record, (clock, device, seq), expires_at, namespace, scope, fields.get("key"), fields.get("parent"))


def groups(connection: sqlite3.Connection) -> Iterator[list[Arrival]]:
    """All records' events, by record, or by key where records share one; each group is what ``standings`` needs."""
    keyed: dict[Slot, list[Arrival]] = {}
    group: list[Arrival] = []
    cursor = connection.execute(_REPLAYED.format(which=_NOT_PURGED))
    for row in cursor:
        event = arrival_of(row)
        if group and group[0].record != event.record:
            yield from _finished(group, keyed)
            group = []
        group.append(event)
    if group:
        yield from _finished(group, keyed)
    for events in keyed.values():
        yield sorted(events)


def _finished(group: list[Arrival], keyed: dict[Slot, list[Arrival]]) -> Iterator[list[Arrival]]:
    slot = _slot(group)
    if slot is None:
        yield group
    else:
        keyed.setdefault(slot, []).extend(group)


def _slot(group: Sequence[Arrival]) -> Slot | None:
    for event in group:
        if event.op is not Op.TOUCH:
            return None if event.key is None else Slot(event.namespace, event.scope, event.key)
    return None


def reproject(transaction: Transaction, records: Iterable[bytes]) -> None:
    """Make the rows of some records, and of those that share their keys, anew from the log."""
    connection = transaction.connection
    done: set[bytes] = set()
    for record in records:
        if record in done:
            continue
        events = _events_of(connection, record)
        slot = _slot(events)
        sharing = {record}
        if slot is not None:
            slice_id = transaction.slice_id(slot.namespace, slot.scope)
            sharing |= {row[0] for row in connection.execute(queries()["records_under_key"], (slice_id, slot.key))}
            for other in sharing - {record}:
                events += _events_of(connection, other)
        done |= sharing
        for other in sharing:
            transaction.documents.keep_numbers(other)
            connection.execute(queries()["drop_states"], (other,))
        rows = standings(sorted(events))
        _write(transaction, rows)
        # What the order of another device's events never let stand is not found any more.
        shown = {row.version for row in rows if row.visible}
        for event in events:
            if event.version not in shown:
                transaction.documents.unindex(event.version)
    documents = transaction.documents
    documents.refresh([other for record in done for other in (record, *documents.dependents(record)) if documents.has_context(other)])
    documents.drop_unused()


def _events_of(connection: sqlite3.Connection, record: bytes) -> list[Arrival]:
    rows = connection.execute(_REPLAYED.format(which="e.record = ?"), (record,)).fetchall()
    return [arrival_of(row) for row in rows]


def _write(transaction: Transaction, rows: Sequence[Standing]) -> None:
    transaction.add_states(rows)
    connection = transaction.connection
    for row in _first_visible(rows):
        if connection.execute(queries()["find_keyword"], (row.version,)).fetchone() is None:
            slice_id = transaction.slice_id(row.namespace, row.scope)
            transaction.documents.index(row.version, row.record, slice_id, transaction.body(row.version), row.live_from)


def _first_visible(rows: Sequence[Standing]) -> Iterator[Standing]:
    """The first visible row of each state event."""
    seen: set[int] = set()
    for row in rows:
        if row.visible and row.version not in seen:
            seen.add(row.version)
            yield row


def rebuild_views(transaction: Transaction) -> None:
    """Empty the views that follow from the log alone and fill them again."""
    connection = transaction.connection
    pending = list(groups(connection))
    transaction.documents.keep_numbers()
    transaction.documents.postings.clear()
    # Those slices stay that still are some, with their numbers: packs of vectors lie under them.
    for table in ("keyword", "state", "retry", "neighbour"):
        connection.execute(f"DELETE FROM {table}")
    transaction.forget_names()
    for events in pending:
        _write(transaction, standings(events))
    transaction.documents.refresh([row[0] for row in connection.execute(queries()["contextual_records"]).fetchall()])
    transaction.documents.drop_unused()
    for version, record, body in connection.execute(
        "SELECT e.version, e.record, p.body FROM event e JOIN payload p ON p.version = e.version WHERE e.op IN ('remember', 'revise') "
        "AND e.version IN "
        "(SELECT version FROM payload WHERE instr(body, '\"idempotency_key\":')) ORDER BY e.version"
    ).fetchall():
        fields = loads(body)
        if "idempotency_key" in fields:
            slice_id = transaction.slice_id(tuple(fields.get("namespace", ())), Scope(*(fields.get(name) for name in Scope._fields)))
            connection.execute(queries()["add_retry"], (slice_id, fields["idempotency_key"], version, record))
    transaction.documents.postings.pack((connection.execute(queries()["newest"]).fetchone() or (0, 0))[0])
    connection.execute(queries()["drop_unused_slices"])
    transaction.forget_names()
    transaction.documents.packs.join_anew()
    connection.execute(queries()["raise_epoch"])
