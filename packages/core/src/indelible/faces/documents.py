"""The JSON forms of what a store answers with, for whoever hands it out: the command line, the MCP server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from indelible.base.record import Change, Hit, Record


def time_text(moment: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def record_document(record: Record) -> dict[str, Any]:
    """A record, every field; ``vectors`` only where they were asked for."""
    document: dict[str, Any] = {
        "id": record.id,
        "version": record.version,
        "content": record.content,
        "metadata": record.metadata,
        "key": record.key,
        "source": record.source,
        "parent": record.parent,
        "context": list(record.context),
        **record.scope._asdict(),
        "created_at": time_text(record.created_at),
        "updated_at": time_text(record.updated_at),
        "occurred_at": time_text(record.occurred_at),
        "expires_at": time_text(record.expires_at),
    }
    if record.vectors is not None:
        document["vectors"] = {part: list(vector) for part, vector in record.vectors.items()}
    return document


def hit_document(hit: Hit) -> dict[str, Any]:
    """A hit: its record's fields and how it was found."""
    return record_document(hit.record) | {
        "score": hit.score,
        "rank_score": hit.rank_score,
        "why": list(hit.why),
        "part": hit.part,
    }


def change_document(change: Change) -> dict[str, Any]:
    """One entry of a history; ``record`` is the state it made, if any is left."""
    return {
        "version": change.version,
        "op": str(change.op),
        "at": time_text(change.at),
        "expires_at": time_text(change.expires_at),
        "superseded": change.superseded,
        "purged": change.purged,
        "vote": change.vote,
        "note": change.note,
        "source": change.source,
        "record": None if change.record is None else record_document(change.record),
    }
