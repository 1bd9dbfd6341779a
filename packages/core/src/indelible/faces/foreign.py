"""What an event of somebody else may say.

Hashes prove that an event is whole, not that one of our releases wrote it: anybody can compute them. The log keeps what it takes for ever,
so what a read would stumble over is refused at the door, by the rules that hold for one's own writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indelible.base.canonical import MAX_TEXT_BYTES, check_fits, check_text, encode
from indelible.base.clock import MAX_MS
from indelible.base.event import STATE_OPS, Event, Op
from indelible.base.record import SCOPE_FIELDS, check_namespace, check_scope_value
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_choice
from indelible.faces.fields import MAX_CONTEXT, MAX_PARTS, metadata_field
from indelible.faces.memory import check_key

_MIN_MS = -62_135_596_800_000
"""The first millisecond a ``datetime`` can show."""


def check_event(event: Event) -> None:
    """Check what the event's hashes do not: that it has a text if its op needs one, and that the text's fields are of their types.

    Fields with other names are let through; a later release may have them.

    Raises:
        InvalidInput: no release writes such an event.
    """
    if event.op is not Op.TOUCH and event.commitment is None:
        raise InvalidInput(f"a {event.op} without a text")
    if event.expires_at is not None and event.expires_at > MAX_MS:
        raise InvalidInput("it expires after the year 9999")
    if event.payload is None:
        return
    check_fits("its text", event.payload.body)
    fields = event.payload.fields
    if event.op is Op.VOTE:
        check_choice(fields.get("vote"), "vote", ("up", "down"))
    if event.op in STATE_OPS or event.op is Op.VOTE:
        for name, check in _CHECKS.items():
            if name in fields:
                check(fields[name])


def _check_metadata(value: object) -> None:
    if value is None:
        raise InvalidInput("metadata is null")
    metadata_field(value)


def _check_time(value: object) -> None:
    if type(value) is not int or not _MIN_MS <= value <= MAX_MS:
        raise InvalidInput("occurred_at is not a time in milliseconds")


def _check_context(value: object) -> None:
    if not isinstance(value, list) or len(value) > MAX_CONTEXT:
        raise InvalidInput("context is not a list of ids and dates")
    for entry in value:
        check_text(entry, "an entry of context", empty=False)


def _check_parts(value: object) -> None:
    if not isinstance(value, list) or len(value) > MAX_PARTS:
        raise InvalidInput("parts is not a list of parts")
    for part in value:
        if not isinstance(part, dict) or part.keys() != {"name", "text"}:
            raise InvalidInput("a part is not a name and a text")
        check_text(part["name"], "the name of a part")
        check_text(part["text"], "the text of a part", max_bytes=MAX_TEXT_BYTES)


def _check_scope_field(value: object) -> None:
    if check_scope_value(value, "a scope field") is None:
        raise InvalidInput("a scope field is null")


_CHECKS: dict[str, Callable[[Any], object]] = {
    "content": lambda value: check_text(value, "content", max_bytes=MAX_TEXT_BYTES),
    "metadata": _check_metadata,
    "value": lambda value: encode(value, "value"),
    "namespace": check_namespace,
    **dict.fromkeys(SCOPE_FIELDS, _check_scope_field),
    "key": check_key,
    "parent": lambda value: check_text(value, "parent", empty=False),
    "source": lambda value: check_text(value, "source", empty=False),
    "occurred_at": _check_time,
    "context": _check_context,
    "parts": _check_parts,
    "idempotency_key": lambda value: check_text(value, "idempotency_key", empty=False),
    "note": lambda value: check_text(value, "note"),
}
