"""The verbs that write one memory: remember, edit, forget, undo, restore, feedback."""

from __future__ import annotations

from typing import Any

import click

from indelible.base.record import UNSET, Record
from indelible.cli.call import Call, by_name, verb
from indelible.cli.documents import record_document
from indelible.cli.output import answer
from indelible.cli.values import json_object, text_of, time_of
from indelible.errors import InvalidInput, RecordNotFound

_metadata = click.option("--metadata", metavar="JSON", help="An object to filter by, at most 64 KiB.")
_ttl = click.option("--ttl-ms", type=int, metavar="MS", help="Milliseconds until it is no longer shown; nothing is deleted by it.")
_source = click.option("--source", help="Who says so: user, tool, URL, session.")


def _answer_written(call: Call, record: Record, done: str) -> None:
    answer(call, record_document(record), f"{done} {record.id} (version {record.version})")


@verb("remember")
@click.argument("content")
@_metadata
@_ttl
@click.option("--key", help="Your name for it: an existing key in the same scope is revised.")
@_source
@click.option("--context", multiple=True, metavar="ID|DATE", help="A memory or date (YYYY-MM-DD) to index it with; may be repeated.")
@click.option("--parent", help="The document, session or memory it came from.")
@click.option("--occurred-at", metavar="TIME", help="When it happened, ISO 8601.  [default: now]")
@click.option("--idempotency-key", help="A second call with it returns the first memory.")
@click.option("--dedup", is_flag=True, help="If the very same content is there, return that.")
def remember(call: Call, content: str, metadata: str | None, occurred_at: str | None, context: tuple[str, ...], **more: Any) -> None:
    """Remember a text. CONTENT "-" is what comes on standard input."""
    fields = json_object(metadata, "--metadata")
    happened = None if occurred_at is None else time_of(occurred_at, "--occurred-at")
    text = text_of(content)
    with call.store() as store:
        record = call.writer(store).remember(text, metadata=fields, occurred_at=happened, context=list(context) or None, **more)
    _answer_written(call, record, "remembered")


@verb("edit")
@click.argument("id")
@click.argument("content", required=False)
@_metadata
@_ttl
@click.option("--no-ttl", is_flag=True, help="It shall never expire.")
@click.option("--expected-version", type=int, help="Revise only if it is at this version.")
@_source
def edit(
    call: Call,
    id: str,
    content: str | None,
    metadata: str | None,
    ttl_ms: int | None,
    no_ttl: bool,
    expected_version: int | None,
    source: str | None,
) -> None:
    """Revise a memory. What is left out stays as it is; CONTENT "-" is what comes on standard input."""
    if no_ttl and ttl_ms is not None:
        raise InvalidInput("--ttl-ms and --no-ttl contradict each other: give one")
    if content is None and metadata is None and ttl_ms is None and not no_ttl:
        raise InvalidInput("nothing to change: give CONTENT, --metadata, --ttl-ms or --no-ttl")
    fields = json_object(metadata, "--metadata")
    text = UNSET if content is None else text_of(content)
    with call.store() as store:
        record = call.view(store).edit(
            id,
            content=text,
            metadata=UNSET if fields is None else fields,
            ttl_ms=None if no_ttl else UNSET if ttl_ms is None else ttl_ms,
            expected_version=expected_version,
            source=source,
        )
    _answer_written(call, record, "revised")


@verb("forget")
@click.argument("id")
def forget(call: Call, id: str) -> None:
    """Forget a memory; undo brings it back. Gone from recall and both searches, still in its history."""
    with call.store() as store:
        view = call.view(store)
        done = view.forget(id)
        if not done and not view.history(id):
            raise RecordNotFound(f"no memory with id {id[:80]!r} in this scope")
    answer(call, {"id": id, "forgotten": done}, f"forgot {id}" if done else f"{id} was not remembered any more")


@verb("undo")
@click.argument("id")
def undo(call: Call, id: str) -> None:
    """Bring back a memory's previous state, as a new version. A forgotten one comes back."""
    with call.store() as store:
        record = call.view(store).undo(id)
    if record is None:
        answer(call, None, f"before this there was nothing: {id} is forgotten")
    else:
        _answer_written(call, record, "brought back")


@verb("restore")
@click.argument("id")
@click.argument("version", type=int)
def restore(call: Call, id: str, version: int) -> None:
    """Bring back the state at VERSION, as a new version."""
    with call.store() as store:
        record = call.view(store).restore(id, version)
    _answer_written(call, record, f"brought back version {version} of")


@verb("feedback")
@click.argument("id")
@click.argument("vote", type=click.Choice(["up", "down"]))
@click.option("--note", help="Why.")
def feedback(call: Call, id: str, vote: Any, note: str | None) -> None:
    """Vote on a memory. Ranking follows votes only with MEMORY_FEEDBACK_RERANK set."""
    with call.store() as store:
        call.view(store).feedback(id, vote, note)
    answer(call, {"id": id, "vote": vote, "note": note}, f"voted {vote} on {id}")


COMMANDS = by_name(remember, edit, forget, undo, restore, feedback)
