"""The tools that a server has beside a model's own: looking after a store, within the scope the server is bound to."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from indelible.errors import InvalidInput, PolicyError
from indelible.faces.documents import record_document
from indelible.faces.store import MemoryStore
from indelible.mcp.options import Options
from indelible.tools import Argument, MemoryTool
from indelible.tools.conditions import conditions
from indelible.tools.description import Call

MOST_ROWS = 200
MOST_OFFSET = 1_000_000_000


def housekeeping(store: MemoryStore, options: Options) -> tuple[MemoryTool, ...]:
    """The tools, for one store.

    Args:
        store: what is looked after.
        options: what is allowed.
    """
    prune = _prune(options)
    return (
        MemoryTool(
            "forget_expired",
            "Forget expired memories",
            "Forget every memory that has expired. They are no longer shown anyway; history keeps them. Only when someone asks for it.",
            (),
            _forget_expired,
            destructive=True,
            idempotent=True,
        ),
        prune,
        MemoryTool(
            "vacuum",
            "Reclaim space",
            "Give free space of the file back to the system. Changes no answer. Only when someone asks for it.",
            (),
            lambda call: asdict(store.vacuum()),
            idempotent=True,
        ),
        MemoryTool(
            "health",
            "Show the memory's health",
            "Whether the memory answers, and how much there is in this scope. No content.",
            (),
            lambda call: _health(store, call),
            read_only=True,
            idempotent=True,
        ),
        MemoryTool(
            "export",
            "Export memories",
            "Memories of this scope with all their fields, oldest first, page by page: call again with offset set to next_offset.",
            (
                Argument("limit", int, "Rows of a page, at most.", 50, 1, MOST_ROWS),
                Argument("offset", int, "How many to pass over.", 0, 0, MOST_OFFSET),
                Argument("filters", dict[str, Any], 'Labels that they must have, such as {"topic": "drinks"}.', None),
                Argument("include_expired", bool, "Also what has expired.", False),
            ),
            _export,
            read_only=True,
            idempotent=True,
        ),
    )


def _forget_expired(call: Call) -> dict[str, Any]:
    return {"forgotten": call.view.forget_expired()}


def _health(store: MemoryStore, call: Call) -> dict[str, Any]:
    live, known = call.view.count(), call.view.count(include_expired=True)
    return {"ok": True, "version": store.version, "memories": live, "expired": known - live}


def _export(call: Call, limit: int = 50, offset: int = 0, filters: dict[str, Any] | None = None, include_expired: bool = False) -> Any:
    records = call.view.list(conditions(filters), limit=limit + 1, offset=offset, include_expired=include_expired)
    rows = [record_document(record) for record in records[:limit]]
    return {"rows": rows, "next_offset": offset + limit if len(records) > limit else None}


def _prune(options: Options) -> MemoryTool:
    def prune(
        call: Call,
        keywords: str | None = None,
        before: str | None = None,
        expired_only: bool = False,
        dry_run: bool = True,
        confirm: bool = False,
        hard: bool = False,
        yes_i_really_want_to_delete: bool = False,
    ) -> dict[str, Any]:
        if keywords is None and before is None and not expired_only:
            raise InvalidInput("prune needs a condition: keywords, before or expired_only")
        if not dry_run and not options.allow_prune:
            raise PolicyError("this server only previews a prune: a person has to start it with --allow-prune")
        if not dry_run and hard and not options.allow_purge:
            raise PolicyError("this server does not destroy: a person has to start it with --allow-purge; without hard it forgets")
        pruned = call.view.prune(
            keywords=keywords,
            before=None if before is None else _time(before),
            expired_only=expired_only,
            dry_run=dry_run,
            confirm=confirm,
            hard=hard,
            yes_i_really_want_to_delete=yes_i_really_want_to_delete,
        )
        return {"count": pruned.count, "sample": list(pruned.sample), "done": pruned.done, "hard": pruned.hard}

    does = "Counts unless dry_run is false." if options.allow_prune else "Only counts: this server is not allowed to prune."
    return MemoryTool(
        "prune",
        "Prune memories",
        f"Forget the memories that meet all conditions. {does} Only when someone asks for it, after showing them the count.",
        (
            Argument("keywords", str, "Whose text holds all these words.", None),
            Argument("before", str, "Last changed before this time, such as 2026-01-31T12:00:00Z.", None),
            Argument("expired_only", bool, "Only what has expired.", False),
            Argument("dry_run", bool, "Count, and change nothing.", True),
            Argument("confirm", bool, "Must be true to change anything.", False),
            Argument("hard", bool, "Destroy instead of forgetting; this cannot be undone.", False),
            Argument("yes_i_really_want_to_delete", bool, "Must be true to destroy anything.", False),
        ),
        prune,
        read_only=not options.allow_prune,
        destructive=options.allow_prune,
        idempotent=True,
        reads=lambda given: given.get("dry_run", True) is not False,
        kept=("keywords", "before"),  # what is to go may look as suspicious as it likes
    )


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"before must be a time such as 2026-01-31T12:00:00Z, got {text[:60]!r}") from None
    if moment.utcoffset() is None:
        raise InvalidInput(f"before {text[:60]!r} has no timezone: add one, Z for UTC or an offset such as +02:00")
    return moment
