"""Answering: JSON for programs, a table on a terminal, the same table as tab-separated lines anywhere else.

Nothing that was remembered is obeyed: it is printed as text without markup, every control character as an escape.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from indelible.base.record import Change, Hit, Record, escape_line
from indelible.cli.call import Call
from indelible.cli.documents import change_document, hit_document, json_text, record_document

SHOWN_CHARACTERS = 400
"""Of one cell of a list on a terminal; what is left out is said. Everything is in --json and in piped output."""
Progress = Callable[[int, int], object]
Row = Sequence[object]


def put(line: str) -> None:
    """Write a line of the result."""
    _escape_what_cannot_be_encoded()
    sys.stdout.write(line + "\n")


def _escape_what_cannot_be_encoded() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """Tell a person at the terminal something that is not the result."""
    if sys.stderr.isatty():
        sys.stderr.write(escape_line(line) + "\n")


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many}"


def answer(call: Call, document: object, sentence: str) -> None:
    """Answer with a document, or for people with a sentence."""
    put(_json(document) if call.as_json else escape_line(sentence))


def answer_table(call: Call, document: object, columns: Sequence[str], rows: Sequence[Row], *, whole: bool = False) -> None:
    """Answer with a document, or for people with a table.

    Args:
        call: says which.
        document: the machine's form.
        columns, rows: the people's form; columns named ``id`` are never broken.
        whole: on a terminal, show long cells whole and their line breaks as such.
    """
    if call.as_json:
        put(_json(document))
    elif sys.stdout.isatty():
        _put_table(columns, rows, whole)
    else:
        for row in (columns, *rows):
            put("\t".join(escape_line(_cell(value)) for value in row))


def answer_fields(call: Call, document: dict[str, Any], fields: dict[str, object] | None = None) -> None:
    """Answer with a document, or for people with its fields one below the other.

    Args:
        call: says which.
        document: the machine's form.
        fields: what people see; the document when omitted.
    """
    shown = document if fields is None else fields
    answer_table(call, document, ("field", "value"), [*shown.items()], whole=True)


def answer_record(call: Call, record: Record) -> None:
    """Answer with one record."""
    document = record_document(record)
    answer_fields(call, document, {name: value for name, value in document.items() if value not in (None, {}, [])})


def answer_records(call: Call, records: Sequence[Record]) -> None:
    """Answer with a list of records."""
    rows = [(record.id, f"{record.updated_at:%Y-%m-%d}", record.content) for record in records]
    answer_table(call, [record_document(record) for record in records], ("id", "updated", "content"), rows)
    if not records:
        say("no memories")


def answer_hits(call: Call, hits: Sequence[Hit]) -> None:
    """Answer with what was found, best first."""
    rows = [(f"{hit.rank_score:.4f}", hit.id, hit.content) for hit in hits]
    answer_table(call, [hit_document(hit) for hit in hits], ("score", "id", "content"), rows)
    if not hits:
        say("nothing found")


def answer_history(call: Call, changes: Sequence[Change]) -> None:
    """Answer with everything that happened to a record."""
    if call.as_json:
        put(_json([change_document(change) for change in changes]))
        return
    for change in changes:
        put(escape_line(str(change)))


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """A bar on a terminal's standard error, moved by calling it with (done, in all); elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _json(document: object) -> str:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return json_text(document, unicode=encoding.startswith("utf"))


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else json_text(value)


def _put_table(columns: Sequence[str], rows: Sequence[Row], whole: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    _escape_what_cannot_be_encoded()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name in ("id", "field"), overflow="fold")
    for row in rows:
        # Text objects and not strings: a string would be read for markup.
        table.add_row(*(Text(_shown(_cell(value), whole)) for value in row))
    Console(file=sys.stdout, highlight=False, markup=False, emoji=False).print(table)


def _shown(cell: str, whole: bool) -> str:
    if whole:
        return "\n".join(map(escape_line, cell.split("\n")))
    left_out = len(cell) - SHOWN_CHARACTERS
    return escape_line(cell) if left_out <= 0 else f"{escape_line(cell[:SHOWN_CHARACTERS])} … ({left_out} more characters)"
