"""Memories and their histories as resources, each under an address of its own, within the scope the server is bound to."""

from __future__ import annotations

from typing import Any

from indelible.base.record import Record, escape_line
from indelible.errors import RecordNotFound
from indelible.faces.documents import change_document, record_document
from indelible.faces.store import ScopedView
from indelible.tools.toolbox import shown

RECORDS = "memory://records/"
HISTORY = "/history"
JSON = "application/json"
LISTED = 100
"""The memories last changed; each other one is found by its address."""
TITLE = 80
TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": RECORDS + "{id}",
        "name": "memory",
        "title": "A memory",
        "description": "A memory with all its fields.",
        "mimeType": JSON,
    },
    {
        "uriTemplate": RECORDS + "{id}" + HISTORY,
        "name": "history",
        "title": "A memory's history",
        "description": "Everything that ever happened to a memory, the oldest first.",
        "mimeType": JSON,
    },
)


def listed(view: ScopedView) -> list[dict[str, Any]]:
    """The memories last changed, as resources."""
    return [_about(record) for record in view.list(order="updated", descending=True, limit=LISTED)]


def read(view: ScopedView, uri: str) -> dict[str, Any]:
    """What stands at an address.

    Raises:
        RecordNotFound: nothing that is within reach.
    """
    id, slash, rest = uri.removeprefix(RECORDS).partition("/")
    document: Any = None
    if uri.startswith(RECORDS) and not slash:
        record = view.get(id)
        document = None if record is None else record_document(record)
    elif uri.startswith(RECORDS) and slash + rest == HISTORY:
        document = [change_document(change) for change in view.history(id)] or None
    if document is None:
        raise RecordNotFound(f"there is no {uri[:200]!r} in this scope: addresses are {RECORDS}ID and {RECORDS}ID{HISTORY}")
    return {"contents": [{"uri": uri, "mimeType": JSON, "text": shown(document)}]}


def _about(record: Record) -> dict[str, Any]:
    text = escape_line(record.content)
    return {
        "uri": RECORDS + record.id,
        "name": record.id,
        "title": text if len(text) <= TITLE else text[: TITLE - 1] + "…",
        "mimeType": JSON,
    }
