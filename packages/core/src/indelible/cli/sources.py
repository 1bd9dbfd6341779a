"""Where texts to import come from: plain lines, lines of JSON, a column of a SQLite file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indelible.base.canonical import loads_foreign
from indelible.cli.values import STDIN, decoded, stdin_text, time_of
from indelible.errors import InvalidInput, StoreUnavailable

LOG, LINES, JSONL, SQLITE = "log", "lines", "jsonl", "sqlite"
FORMATS = (LOG, JSONL, LINES, SQLITE)
_SQLITE_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Texts:
    """What an import shall remember.

    Attributes:
        kind: the format they came in.
        items: the arguments of ``remember`` for each.
        places: where each stands, for messages.
    """

    kind: str
    items: list[dict[str, Any]]
    places: list[str]


def load(file: str, kind: str | None, table: str | None, column: str | None) -> Texts | None:
    """Read the texts of a file, or of standard input for ``-``.

    Args:
        file: its path.
        kind: its format; ``None`` to tell by how it begins: an export and a database say what they are, lines of JSON begin with an
            object or a string, anything else is plain lines.
        table, column: where the texts of a database are.

    Returns:
        The texts; ``None`` for an export, which the store reads by itself.

    Raises:
        InvalidInput: the file is not what it should be; the message names the line.
        StoreUnavailable: it cannot be read.
    """
    kind = kind or (None if file == STDIN or _is_stream(file) else _by_header(file))
    if file == STDIN and kind in (LOG, SQLITE):
        raise InvalidInput(f"{kind} cannot come on standard input: give the path of the file")
    if kind != SQLITE and (table is not None or column is not None):
        raise InvalidInput(f"--table and --column are for SQLite files, and {_name(file)} is none")
    if kind == LOG:
        return None
    if kind == SQLITE:
        return _from_sqlite(file, table, column)
    lines = _lines(stdin_text() if file == STDIN else decoded(_bytes(file), file), _name(file))
    if kind == JSONL or (kind is None and (file.endswith((".jsonl", ".ndjson")) or _is_json(lines))):
        return Texts(JSONL, [_item(text, place) for place, text in lines], [place for place, _ in lines])
    return Texts(LINES, [{"content": text} for _, text in lines], [place for place, _ in lines])


def _name(file: str) -> str:
    return "standard input" if file == STDIN else file


def _is_stream(file: str) -> bool:
    """Whether what is read once is gone, as from a pipe: then only the text itself can tell what it is."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def _by_header(file: str) -> str | None:
    from indelible.faces.transfer import is_export

    if is_export(file):
        return LOG
    return SQLITE if _bytes(file, len(_SQLITE_HEADER)) == _SQLITE_HEADER else None


def _bytes(file: str, most: int = -1) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise StoreUnavailable(f"cannot read {file}: {error.strerror}") from error


def _lines(text: str, name: str) -> list[tuple[str, str]]:
    """Lines that are not blank, each with its place. Only a line feed ends one, as JSON lines want it."""
    numbered = enumerate(text.split("\n"), 1)
    return [(f"line {number} of {name}", line.strip()) for number, line in numbered if line.strip()]


def _is_json(lines: list[tuple[str, str]]) -> bool:
    if not lines or lines[0][1][0] not in '{"':
        return False
    try:
        loads_foreign(lines[0][1], "the first line")
    except InvalidInput:
        return False
    return True


def _item(text: str, place: str) -> dict[str, Any]:
    value = loads_foreign(text, place)
    if isinstance(value, str):
        return {"content": value}
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must be a JSON string or object, got {type(value).__name__}")
    # What is null is as good as left out; names that begin with _ are never arguments.
    item = {name: entry for name, entry in value.items() if entry is not None}
    private = next((name for name in item if name.startswith("_")), None)
    if private is not None:
        raise InvalidInput(f"{place}: remember has no argument {private!r}")
    if "text" in item:
        if "content" in item:
            raise InvalidInput(f"{place} has both content and text: keep one")
        item["content"] = item.pop("text")
    if isinstance(item.get("occurred_at"), str):
        item["occurred_at"] = time_of(item["occurred_at"], f"{place}: occurred_at")
    return item


def _from_sqlite(file: str, table: str | None, column: str | None) -> Texts:
    from indelible.backend.sqlite.foreign import read_texts

    found = read_texts(file, table, column)
    return Texts(SQLITE, [{"content": text} for _, text in found], [f"row {number} of {file}" for number, _ in found])
