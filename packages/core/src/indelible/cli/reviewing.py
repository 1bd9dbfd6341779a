"""The verb of whoever looks after models: quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indelible.base.canonical import dumps
from indelible.cli.call import Call, by_name, verb
from indelible.cli.documents import time_text
from indelible.cli.output import answer, answer_table
from indelible.errors import InvalidInput

if TYPE_CHECKING:
    from indelible.tools import Held

_COLUMNS = ("id", "at", "whose", "tool", "session", "reasons", "arguments")


@verb("quarantine", scoping="optional")
@click.option("--approve", metavar="ID", help="Carry this call out, on the account of the session that made it.")
@click.option("--reject", metavar="ID", help="End its quarantine without carrying it out.")
@click.option("--purge", metavar="ID", help="The same, and destroy what it said.")
@click.option("--by", help="Who decides, noted with what is written or rejected.")
def quarantine(call: Call, approve: str | None, reject: str | None, purge: str | None, by: str | None) -> None:
    """Show what models wrote that waits for a person.

    What looks like a secret or like instructions to a model is kept aside until it is approved here; no recall or search shows it.
    """
    from indelible.tools import Quarantine

    if sum(option is not None for option in (approve, reject, purge)) > 1:
        raise InvalidInput("--approve, --reject and --purge contradict each other: give one")
    with call.existing_store() as store:
        waiting = Quarantine(call.view(store))
        if approve is not None:
            made = waiting.approve(approve, by=by)
            said = made if isinstance(made, str) else dumps(made)
            answer(call, {"id": approve, "approved": True, "answer": made}, f"approved {approve}: {said}")
        elif reject is not None:
            waiting.reject(reject, by=by)
            answer(call, {"id": reject, "rejected": True}, f"rejected {reject}")
        elif purge is not None:
            waiting.purge(purge)
            answer(call, {"id": purge, "purged": True}, f"destroyed {purge}; vacuum takes it out of free pages")
        else:
            held = waiting.list()
            answer_table(call, [_document(one) for one in held], _COLUMNS, [_row(one) for one in held])


def _document(held: Held) -> dict[str, object]:
    return {
        "id": held.id,
        "at": time_text(held.at),
        "scope": held.scope._asdict(),
        "tool": held.tool,
        "arguments": held.arguments,
        "reasons": list(held.reasons),
        "session": held.session,
        "model": held.model,
    }


def _row(held: Held) -> tuple[object, ...]:
    whose = "/".join(value or "-" for value in held.scope[:2])
    return held.id, time_text(held.at), whose, held.tool, held.session or "", "; ".join(held.reasons), dumps(held.arguments)


COMMANDS = by_name(quarantine)
