"""The verbs that bring memories in and out: export, import, backup, restore-backup."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import click

from indelible.base.record import UNSET, Record
from indelible.cli.call import OWNED, REQUIRED_FIELDS, Call, by_name, missing, verb
from indelible.cli.output import answer, counted, progress
from indelible.cli.sources import FORMATS, LOG, Texts, load
from indelible.cli.values import STDIN, json_object
from indelible.errors import InvalidInput, StoreUnavailable


@verb("export", scoping="none")
@click.argument("file")
def export(call: Call, file: str) -> None:
    """Write the whole log to a new FILE. As lines of JSON, history and vectors included."""
    _check_target(file)
    with call.existing_store() as store:
        count = store.export(file)
    answer(call, {"file": file, "events": count}, f"wrote {counted(count, 'event', 'events')} to {file}")


@verb("backup", scoping="none")
@click.argument("file")
def backup(call: Call, file: str) -> None:
    """Copy the store to a new FILE and verify the copy. Others may use the store meanwhile."""
    _check_target(file)
    with call.existing_store() as store:
        report = store.backup(file)
    copied = counted(report.events, "event", "events")
    answer(call, {"file": file, "events": report.events, "ok": report.ok}, f"copied {copied} to {file}, verified")


@verb("restore-backup", scoping="none")
@click.argument("file")
def restore_backup(call: Call, file: str) -> None:
    """Make a store of the backup FILE, verified. It comes where --db says, and nothing may stand there."""
    from indelible.faces.store import MemoryStore

    with MemoryStore.restore_backup(file, call.path) as store:
        version = store.version
    answer(call, {"path": call.path, "version": version}, f"restored {call.path} at version {version}")


@verb("import", scoping="filled")
@click.argument("file")
@click.option("--format", "kind", type=click.Choice(FORMATS), help="What FILE is.  [default: told by how it begins]")
@click.option("--table", help="Of a SQLite file: the table that holds the texts.")
@click.option("--column", help="Of a SQLite file: the column that holds the texts.")
@click.option("--source", help="Who says so, for texts that do not say it themselves.")
@click.option("--ttl-ms", type=int, metavar="MS", help="For texts that do not have their own.")
@click.option("--metadata", metavar="JSON", help="For texts that do not have their own.")
def import_(
    call: Call,
    file: str,
    kind: str | None,
    table: str | None,
    column: str | None,
    source: str | None,
    ttl_ms: int | None,
    metadata: str | None,
) -> None:
    """Take an export, or remember the texts in FILE. All or nothing; "-" is standard input.

    Texts come as plain lines; as lines of JSON, each a string or an object with content (or text) and any argument of remember;
    or in a column of a SQLite file. They need an agent and a user, their own or the ones given here.
    """
    given = {"source": source, "ttl_ms": ttl_ms, "metadata": json_object(metadata, "--metadata")}
    common = {name: value for name, value in given.items() if value is not None}
    if file != STDIN:
        _refuse_store(call, file)
    texts = load(file, kind, table, column)
    if texts is not None:
        _import_texts(call, texts, common)
        return
    if common:
        raise InvalidInput(f"{file} is an export, which is taken as it is: --source, --ttl-ms and --metadata are for texts")
    with call.store() as store:
        taken = store.import_(file)
    document = {"format": LOG, "added": taken.added, "known": taken.known}
    answer(call, document, f"took {counted(taken.added, 'event', 'events')}; {taken.known} known already")


def _check_target(file: str) -> None:
    if file == STDIN:
        raise InvalidInput("the result goes to a file, not to standard output: give its path (./- for one of that name)")


def _refuse_store(call: Call, file: str) -> None:
    """Before anything opens the file: it must not be the store, which only the store's own connections may open."""
    try:
        same = os.path.exists(call.path) and os.path.samefile(file, call.path)
    except OSError as error:
        raise StoreUnavailable(f"cannot read {file}: {error.strerror}") from error
    if same:
        raise InvalidInput(f"{file} is the store itself: import takes an export or texts")


def _import_texts(call: Call, texts: Texts, common: dict[str, Any]) -> None:
    # What stands on the command line binds every item; what the environment says is for items that do not say it themselves.
    bound = {name: value for name, value in call.scope._asdict().items() if name in call.explicit and value is not UNSET}
    filled = {name: value for name, value in call.scope._asdict().items() if name not in call.explicit and value is not UNSET}
    _check_owners(texts, bound | filled)
    with call.store() as store:
        before = store.version
        with progress("remembering") as moved:
            try:
                records: list[Record] = store.scope(**bound).remember_many(texts.items, moved, **filled, **common)
            except InvalidInput as error:
                raise _placed(error, texts.places) from error
    added = len({record.id for record in records if record.version > before})
    document = {"format": texts.kind, "added": added, "known": len(records) - added}
    answer(call, document, f"remembered {counted(added, 'text', 'texts')}; {len(records) - added} known already")


def _check_owners(texts: Texts, known: dict[str, Any]) -> None:
    for item, place in zip(texts.items, texts.places, strict=True):
        for name in REQUIRED_FIELDS:
            if name not in known and name not in item:
                raise InvalidInput(f"{place}: {missing(name, OWNED)}")


def _placed(error: InvalidInput, places: Sequence[str]) -> InvalidInput:
    """The error with the place in the file instead of the item's number."""
    found = re.match(r"item (\d+)(?=[: ])", str(error))
    return error if found is None else InvalidInput(places[int(found[1])] + str(error)[found.end() :])


COMMANDS = by_name(export, import_, backup, restore_backup)
