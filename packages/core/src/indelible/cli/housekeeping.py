"""The verbs on many memories, and the one that destroys: withdraw, forget-expired, prune, purge."""

from __future__ import annotations

import click

from indelible.base.event import PurgeReason
from indelible.base.record import UNSET, ScopeFilter
from indelible.cli.call import Call, by_name, flag_of, verb
from indelible.cli.output import answer, answer_fields, counted
from indelible.cli.values import time_of, when_of
from indelible.errors import InvalidInput, RecordNotFound

_reason = click.option(
    "--reason",
    type=click.Choice([str(reason) for reason in PurgeReason]),
    default="request",
    show_default=True,
    help="Why, in the mark it leaves.",
)
_really = click.option("--yes-i-really-want-to-delete", "really", is_flag=True, help="Destroy: this cannot be undone.")


@verb("withdraw")
@click.argument("source")
@click.option("--since", metavar="VERSION|TIME", help="Only what was written at or after a version or an ISO 8601 time.")
@click.option("--derived", is_flag=True, help="Also what names one of these, or the source, as parent.")
@click.option("--restore", is_flag=True, help="Bring back what others had written before, also files and what a session forgot.")
def withdraw(call: Call, source: str, since: str | None, derived: bool, restore: bool) -> None:
    """Forget everything that SOURCE wrote; undo revives it.

    With --restore a session of a model is undone as a whole.
    """
    if derived and restore:
        raise InvalidInput("--derived and --restore contradict each other: give one")
    start = when_of(since, "--since")
    with call.store() as store:
        if restore:
            from indelible.tools import withdraw as undo_session

            count = undo_session(call.view(store), source, since=start)
            answer(call, {"source": source, "undone": count}, f"undid what {source} did to {_memories(count)}")
            return
        count = call.view(store).withdraw(source, since=start, derived=derived)
    answer(call, {"source": source, "forgotten": count}, f"forgot {_memories(count)} of {source}")


@verb("forget-expired")
def forget_expired(call: Call) -> None:
    """Forget every memory that has expired. They are no longer shown anyway; history keeps them."""
    with call.store() as store:
        count = call.view(store).forget_expired()
    answer(call, {"forgotten": count}, f"forgot {_memories(count)}")


@verb("prune")
@click.option("--keywords", help="Whose content holds all these words.")
@click.option("--expired-only", is_flag=True, help="Only what has expired.")
@click.option("--before", metavar="TIME", help="Only what was last changed before an ISO 8601 time.")
@click.option(
    "--is-empty", type=click.Choice(["org-id", "workspace-id"]), multiple=True, help="Only where this is not set; may be repeated."
)
@click.option("--yes", is_flag=True, help="Do it; without, it is only counted.")
@click.option("--hard", is_flag=True, help="Destroy instead of forgetting, also what is forgotten already.")
@_really
@_reason
def prune(
    call: Call,
    keywords: str | None,
    expired_only: bool,
    before: str | None,
    is_empty: tuple[str, ...],
    yes: bool,
    hard: bool,
    really: bool,
    reason: str,
) -> None:
    """Count what meets all conditions, or with --yes forget it.

    With --hard --yes-i-really-want-to-delete it is destroyed.
    """
    # What only the environment says is no decision to prune it.
    named = any(getattr(call.scope, name) is not UNSET for name in call.explicit)
    if not (named or keywords is not None or expired_only or before is not None or is_empty):
        raise InvalidInput(
            "prune needs a condition on the command line: --keywords, --before, --expired-only, --is-empty or a scope option"
        )
    if really and not hard:
        raise InvalidInput("--yes-i-really-want-to-delete goes with --hard; to forget, --yes is enough")
    if hard and yes and not really:
        raise InvalidInput("a hard prune cannot be undone: it needs --yes-i-really-want-to-delete")
    doing = really or yes
    limit = None if before is None else time_of(before, "--before")
    scope = _with_empty(call, is_empty)
    with call.store() as store:
        pruned = store.scope(*scope).prune(
            keywords=keywords,
            expired_only=expired_only,
            before=limit,
            dry_run=not doing,
            confirm=doing,
            hard=hard,
            yes_i_really_want_to_delete=really,
            reason=reason,
        )
    document = {"count": pruned.count, "sample": list(pruned.sample), "done": pruned.done, "hard": pruned.hard}
    word = ("destroyed" if hard else "forgot") if pruned.done else ("would destroy" if hard else "would forget")
    how = "" if pruned.done else "; add --hard --yes-i-really-want-to-delete to do it" if hard else "; add --yes to do it"
    sample = f" ({', '.join(pruned.sample)}{', …' if pruned.count > len(pruned.sample) else ''})" if pruned.sample else ""
    answer(call, document, f"{word} {_memories(pruned.count)}{sample}{how}")


@verb("purge")
@click.argument("id")
@_really
@_reason
def purge(call: Call, id: str, really: bool, reason: str) -> None:
    """Destroy every version of a memory. Text, metadata, index and vectors go; a mark says that it was purged.

    Run vacuum after it, so that nothing of it is left in free pages and the write-ahead log.
    """
    if not really:
        raise InvalidInput("purge cannot be undone: it needs --yes-i-really-want-to-delete; forget can be undone")
    with call.store() as store:
        count = call.view(store).purge(id, reason)
    if not count:
        raise RecordNotFound(f"no memory with id {id[:80]!r} in this scope")
    answer_fields(call, {"id": id, "purged": True, "reason": reason})


def _with_empty(call: Call, is_empty: tuple[str, ...]) -> ScopeFilter:
    scope = call.scope
    for option in is_empty:
        name = option.replace("-", "_")
        if name in call.explicit and getattr(scope, name) is not UNSET:
            raise InvalidInput(f"--is-empty {option} and {flag_of(name)} contradict each other: give one")
        scope = scope._replace(**{name: None})
    return scope


def _memories(count: int) -> str:
    return counted(count, "memory", "memories")


COMMANDS = by_name(withdraw, forget_expired, prune, purge)
