"""The verbs that read: recall, both searches, get, list, history, as-of, scopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from indelible.base.record import SCOPE_FIELDS, UNSET
from indelible.cli.call import Call, Verb, by_name, verb
from indelible.cli.output import answer_history, answer_hits, answer_record, answer_records, answer_table
from indelible.cli.values import json_object, when_of
from indelible.errors import InvalidInput, RecordNotFound
from indelible.search.filters import parse_filter

FAST = "static-query"
"""The embedder that makes queries' vectors without a model runtime, in the vector space of the documents' model."""

_as_of = click.option("--as-of", metavar="VERSION|TIME", help="As the store was at a version or an ISO 8601 time.")
_expired = click.option("--include-expired", is_flag=True, help="Also what has expired.")
_filter = click.option("--filter", "filters", metavar="JSON", help='Conditions on metadata: {"topic": "tea"}, or a tree.')
_offset = click.option("--offset", type=int, default=0, show_default=True, help="How many to leave out at the start.")
_mode = click.option(
    "--mode",
    type=click.Choice(["semantic", "hybrid", "keyword"]),
    default="semantic",
    show_default=True,
    help="By meaning, by meaning and words, or by words.",
)
_fast = click.option("--fast", is_flag=True, help="Embed the query without the model's runtime: quicker and less exact.")
_rerank = click.option("--rerank", is_flag=True, help="Have a model read QUERY beside each of the best 20: slower, surer. English.")
_min_score = click.option("--min-score", type=float, help="Leave out what has a lower cosine, from -1 to 1.")


def _limit(default: int | None) -> Callable[[Verb], Verb]:
    words = "How many at most." if default is not None else "How many at most.  [default: all]"
    return click.option("--limit", type=int, default=default, show_default=default is not None, help=words)


def _past(function: Verb) -> Verb:
    return _as_of(_expired(function))


def _filters(text: str | None) -> object:
    return parse_filter(json_object(text, "--filter"))


def _embedder(fast: bool) -> str | None:
    return FAST if fast else None


@verb("recall")
@click.argument("query")
@_mode
@_limit(5)
@_offset
@_filter
@_min_score
@_past
@_fast
@_rerank
def recall(call: Call, query: str, mode: str, filters: str | None, as_of: str | None, fast: bool, **more: Any) -> None:
    """Memories nearest in meaning to QUERY, best first."""
    conditions, when = _filters(filters), when_of(as_of, "--as-of")
    with call.store(embedder=_embedder(fast)) as store:
        answer_hits(call, call.view(store).recall(query, mode=mode, filters=conditions, as_of=when, **more))


@verb("search")
@click.argument("query")
@click.option("--match", type=click.Choice(["all", "any"]), default="all", show_default=True, help="Whether all words must occur, or one.")
@_limit(10)
@_offset
@_filter
@_past
def search(call: Call, query: str, filters: str | None, as_of: str | None, **more: Any) -> None:
    """Memories that hold the words of QUERY. Whole words, whatever their case and accents; loads no model."""
    conditions, when = _filters(filters), when_of(as_of, "--as-of")
    with call.store() as store:
        answer_hits(call, call.view(store).search(query, filters=conditions, as_of=when, **more))


@verb("search-semantic")
@click.argument("query")
@_limit(5)
@_offset
@_filter
@_min_score
@_past
@_fast
@_rerank
def search_semantic(call: Call, query: str, filters: str | None, as_of: str | None, fast: bool, **more: Any) -> None:
    """Memories nearest in meaning, filters first. As recall, always by meaning alone."""
    conditions, when = _filters(filters), when_of(as_of, "--as-of")
    with call.store(embedder=_embedder(fast)) as store:
        answer_hits(call, call.view(store).search_semantic(query, filters=conditions, as_of=when, **more))


@verb("get")
@click.argument("id")
@click.option("--with-vectors", is_flag=True, help="With its vectors.")
@_past
def get(call: Call, id: str, as_of: str | None, **more: Any) -> None:
    """One memory, every field of it."""
    when = when_of(as_of, "--as-of")
    with call.store() as store:
        record = call.view(store).get(id, as_of=when, **more)
    if record is None:
        raise RecordNotFound(f"no memory with id {id[:80]!r} in this scope" + ("" if when is None else " at that time"))
    answer_record(call, record)


@verb("list")
@_filter
@click.option("--order", type=click.Choice(["created", "updated"]), default="created", show_default=True, help="By which time.")
@click.option("--descending", is_flag=True, help="Newest first.")
@_limit(None)
@_offset
@click.option("--key", help="Only the memory with this key.")
@click.option("--parent", help="Only what came from this document, session or memory.")
@_past
def list_(call: Call, filters: str | None, as_of: str | None, **more: Any) -> None:
    """Memories in order of time."""
    conditions, when = _filters(filters), when_of(as_of, "--as-of")
    with call.store() as store:
        answer_records(call, call.view(store).list(conditions, as_of=when, **more))


@verb("history")
@click.argument("id")
def history(call: Call, id: str) -> None:
    """Everything that ever happened to a memory."""
    with call.store() as store:
        changes = call.view(store).history(id)
    if not changes:
        raise RecordNotFound(f"no memory with id {id[:80]!r} in this scope ever was")
    answer_history(call, changes)


@verb("as-of")
@click.argument("when")
@click.argument("query", required=False)
@click.option("--id", help="Only the memory with this id.")
@_mode
@_limit(None)
@_offset
@_filter
@_fast
@_rerank
def as_of(
    call: Call,
    when: str,
    query: str | None,
    id: str | None,
    mode: str,
    limit: int | None,
    offset: int,
    filters: str | None,
    fast: bool,
    rerank: bool,
) -> None:
    """The memories as they were at WHEN, a version or a time. All of them, what QUERY would have recalled, or the one with --id."""
    if query is not None and id is not None:
        raise InvalidInput("give a query or --id, not both")
    point, conditions = when_of(when, "WHEN"), _filters(filters)
    with call.store(embedder=_embedder(fast)) as store:
        view = call.view(store)
        if id is not None:
            record = view.get(id, as_of=point)
            if record is None:
                raise RecordNotFound(f"no memory with id {id[:80]!r} in this scope at that time")
            answer_record(call, record)
        elif query is not None:
            most = 5 if limit is None else limit
            answer_hits(call, view.recall(query, mode=mode, limit=most, offset=offset, filters=conditions, as_of=point, rerank=rerank))
        else:
            answer_records(call, view.list(conditions, limit=limit, offset=offset, as_of=point))


@verb("scopes", scoping="optional")
def scopes(call: Call) -> None:
    """Whose memories there are, and how many. Takes no scope from the environment."""
    asked = {name: value for name, value in call.scope._asdict().items() if value is not UNSET}
    with call.store() as store:
        found = store.scopes(**asked)
    document = [{**scope._asdict(), "memories": count} for scope, count in found]
    answer_table(call, document, (*SCOPE_FIELDS, "memories"), [(*scope, count) for scope, count in found])


COMMANDS = by_name(recall, search, search_semantic, get, list_, history, as_of, scopes)
