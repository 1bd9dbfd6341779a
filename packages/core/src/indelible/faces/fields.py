"""From arguments to payload fields, and back from rows and events to what callers see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from indelible.backend.interface import Row
from indelible.base.canonical import (
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_TEXT_BYTES,
    check_fits,
    check_text,
    dumps,
    encode,
    loads,
)
from indelible.base.clock import datetime_from_ms, datetime_from_us, ms_from_datetime
from indelible.base.event import STATE_OPS, Event, Op
from indelible.base.ids import id_bytes, id_text
from indelible.base.plan import Fields, Written
from indelible.base.record import UNSET, Change, Part, Record, Scope, Unset
from indelible.base.standing import Arrival, Standing, winners
from indelible.errors import InvalidInput
from indelible.search.arguments import shown

MAX_PARTS = 4096
MAX_CONTEXT = 64
_EMPTY_OBJECT = "{}"


def check_content(content: object, *, empty: bool = False) -> str:
    """Text to remember.

    Raises:
        InvalidInput: not a ``str``, over 1 MiB, or (unless ``empty``) nothing but white space.
    """
    text = check_text(content, "content", max_bytes=MAX_TEXT_BYTES)
    if not empty and not text.strip():
        raise InvalidInput("content must not be empty: give the text to remember")
    return text


def metadata_field(metadata: object) -> str:
    """A metadata object as canonical JSON.

    Raises:
        InvalidInput: not a JSON object, over 64 KiB, or nested deeper than 32.
    """
    if metadata is None:
        return _EMPTY_OBJECT
    if type(metadata) is not dict:
        raise InvalidInput(f"metadata must be a dict with str keys, got {type(metadata).__name__}")
    if not metadata:
        return _EMPTY_OBJECT
    return encode(metadata, "metadata", max_bytes=MAX_METADATA_BYTES, max_depth=MAX_METADATA_DEPTH)


def parts_field(parts: Sequence[Part]) -> str:
    """Part names and texts; vectors are kept apart."""
    return dumps([{"name": part.name, "text": part.text} for part in parts])


def check_parts(parts: object) -> tuple[Part, ...]:
    """Parts of a record.

    Raises:
        InvalidInput: not a sequence of ``Part`` with distinct names.
    """
    if parts is None:
        return ()
    if not isinstance(parts, list | tuple) or not all(isinstance(part, Part) for part in parts):
        raise InvalidInput("parts must be a list of Part(name, text, vector=None)")
    if len(parts) > MAX_PARTS:
        raise InvalidInput(f"a record has {len(parts)} parts, the limit is {MAX_PARTS}")
    for part in parts:
        check_text(part.name, "the name of a part")
        check_text(part.text, "the text of a part", max_bytes=MAX_TEXT_BYTES)
    # Before they are embedded, which would take minutes; to the byte it is checked when they are written.
    check_fits("the text of all parts of a record", *[part.text for part in parts])
    if len({part.name for part in parts}) != len(parts):
        raise InvalidInput("two parts of a record have the same name: names must be distinct")
    return tuple(parts)


def context_field(context: object) -> str | None:
    """Neighbours (records or their ids) and dates whose text is indexed with a memory.

    Raises:
        InvalidInput: anything else, or too many.
    """
    if context is None:
        return None
    items = list(context) if isinstance(context, list | tuple) else [context]
    if len(items) > MAX_CONTEXT:
        raise InvalidInput(f"context has {len(items)} entries, the limit is {MAX_CONTEXT}")
    entries = [_context_entry(item) for item in items]
    return dumps(entries) if entries else None


def _context_entry(item: object) -> str:
    if isinstance(item, Record):
        return item.id
    if isinstance(item, datetime):
        ms_from_datetime(item, "a date in context")
        return item.date().isoformat()
    if isinstance(item, str):
        raw = id_bytes(item)
        if raw is not None:
            return id_text(raw)
        if _is_date(item):
            return item
    raise InvalidInput(f"context takes records, record ids, datetimes and dates as YYYY-MM-DD, got {shown(item)}")


def _is_date(text: str) -> bool:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat() == text
    except ValueError:
        return False


def state_fields(
    *,
    content: str | Unset = UNSET,
    metadata: object = UNSET,
    value: object = UNSET,
    parts: Sequence[Part] | Unset = UNSET,
    parent: object = None,
    source: object = None,
    occurred_at: object = None,
    context: object = None,
) -> dict[str, str]:
    """The payload fields of a state; ``null`` stands for a field that should have no value."""
    fields: dict[str, str] = {}
    if not isinstance(content, Unset):
        fields["content"] = dumps(content) if content else "null"
    if metadata is not UNSET:
        text = metadata_field(metadata)
        fields["metadata"] = "null" if text == _EMPTY_OBJECT else text
    if value is not UNSET:
        fields["value"] = "null" if value is None else encode(value, "value")
    if not isinstance(parts, Unset):
        fields["parts"] = parts_field(parts) if parts else "null"
    if parent is not None:
        fields["parent"] = dumps(check_text(parent, "parent", empty=False))
    if source is not None:
        fields["source"] = dumps(check_text(source, "source", empty=False))
    if occurred_at is not None:
        fields["occurred_at"] = str(ms_from_datetime(occurred_at, "occurred_at"))
    neighbours = context_field(context)
    if neighbours is not None:
        fields["context"] = neighbours
    return fields


def without_nulls(fields: Mapping[str, str]) -> dict[str, str]:
    """Fields of a whole state, where there is nothing to take away."""
    if "null" not in fields.values():
        return dict(fields)
    return {name: text for name, text in fields.items() if text != "null"}


# From rows and events


def record_of(standing: Standing, body: str, vectors: dict[str, tuple[float, ...]] | None = None) -> Record:
    """A record as it stands, from its row and payload."""
    fields: dict[str, Any] = loads(body)
    field = fields.get
    created = datetime_from_us(standing.created)
    occurred_at, expires_at, context, parts = field("occurred_at"), standing.expires_at, field("context"), field("parts")
    # In the order of the class: ten hits are ten times seventeen names.
    return Record(
        id_text(standing.record),
        standing.version,
        field("content", ""),
        created,
        created if standing.updated == standing.created else datetime_from_us(standing.updated),
        created if occurred_at is None else datetime_from_ms(occurred_at),
        field("metadata") or {},
        field("value"),
        standing.namespace,
        standing.scope,
        standing.key,
        field("source"),
        field("parent"),
        None if expires_at is None else datetime_from_ms(expires_at),
        () if context is None else tuple(context),
        () if parts is None else tuple(Part(part["name"], part["text"]) for part in parts),
        vectors,
    )


def record_from_fields(standing: Standing, content: str, fields: Fields) -> Record:
    """What ``record_of`` makes of the payload composed of these fields, without reading it again.

    Args:
        standing: how the record stands.
        content: its text.
        fields: the payload's fields beside those that say where the record belongs, all of them, none of them null.
    """
    created = datetime_from_us(standing.created)
    updated = created if standing.updated == standing.created else datetime_from_us(standing.updated)
    expires_at = None if standing.expires_at is None else datetime_from_ms(standing.expires_at)
    if len(fields) == ("content" in fields):
        return Record(
            id_text(standing.record), standing.version, content, created, updated, created, {}, None, standing.namespace, standing.scope,
            standing.key, None, None, expires_at,
        )  # fmt: skip
    read = {name: loads(text) for name, text in fields.items() if name != "content"}
    occurred_at = read.get("occurred_at")
    return Record(
        id=id_text(standing.record),
        version=standing.version,
        content=content,
        created_at=created,
        updated_at=updated,
        occurred_at=created if occurred_at is None else datetime_from_ms(occurred_at),
        metadata=read.get("metadata") or {},
        value=read.get("value"),
        namespace=standing.namespace,
        scope=standing.scope,
        key=standing.key,
        source=read.get("source"),
        parent=read.get("parent"),
        expires_at=expires_at,
        context=tuple(read.get("context", ())),
        parts=tuple(Part(part["name"], part["text"]) for part in read.get("parts", ())),
    )


def records_of(rows: Iterable[Row]) -> list[Record]:
    return [record_of(row.standing, row.body) for row in rows]


def written_record(written: Written, content: str | None = None, fields: Fields | None = None) -> Record:
    """The record that a write made.

    Args:
        written: what became of the draft.
        content, fields: of a draft that gave the whole state.
    """
    if written.changed and written.standing is not None and content is not None and fields is not None:
        return record_from_fields(written.standing, content, fields)
    if written.standing is None or written.body is None:
        raise InvalidInput("this write made no record")
    return record_of(written.standing, written.body)


def changes_of(events: Sequence[Event]) -> list[Change]:
    """A record's history, one entry per event in order of arrival."""
    last = winners([_arrival(event) for event in events])
    created: dict[bytes, int] = {}
    return [_change(event, event.op in STATE_OPS and event.version not in last, created) for event in events]


def _arrival(event: Event) -> Arrival:
    return Arrival(event.version, event.op, event.record, event.order, event.expires_at)


def _change(event: Event, superseded: bool, created: dict[bytes, int]) -> Change:
    fields = event.payload.fields if event.payload is not None else {}
    if event.op is Op.REMEMBER:
        created[event.record] = event.clock
    record = None
    if event.payload is not None and event.op in STATE_OPS and event.op is not Op.FORGET:
        scope = Scope(*(fields.get(name) for name in Scope._fields))
        began = created.get(event.record, event.clock)
        standing = Standing(
            event.record, event.version, event.version, event.version, tuple(fields.get("namespace", ())), scope, fields.get("key"),
            fields.get("parent"), True, began, event.clock, event.expires_at,
        )  # fmt: skip
        record = record_of(standing, event.payload.body)
    return Change(
        version=event.version,
        op=event.op,
        at=datetime_from_us(event.clock),
        record=record,
        expires_at=None if event.expires_at is None else datetime_from_ms(event.expires_at),
        superseded=superseded,
        purged=event.payload is None and event.commitment is not None,
        vote=fields.get("vote"),
        note=fields.get("note"),
        source=fields.get("source"),
    )
