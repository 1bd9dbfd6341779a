"""Files of a model's own under ``/memories``, as Anthropic's memory tool (``memory_20250818``) has them, in the versioned store.

The commands and the texts of their answers are those that Anthropic documents and its client's own file tool gives. There is no file
system: a path is a key, a directory is there as long as something is below it, and every change is a version with its session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from indelible.base.record import Record
from indelible.errors import InvalidInput, RecordNotFound, VersionConflict
from indelible.faces.operations import Delete, Put
from indelible.tools.description import Call
from indelible.tools.listing import directory_lines, numbered, snippet
from indelible.tools.paths import ROOT, key_of, path_of
from indelible.tools.provenance import labels_of, signed

NAMESPACE = ("indelible", "files")
MOST_LINES = 999_999
_ATTEMPTS = 5
_SCREENED = 2000
"""Characters on either side of a change that are looked at together with it."""


def check(arguments: Mapping[str, Any]) -> None:
    """Whether a command has what it needs, and paths that are plain names below the root.

    Raises:
        InvalidInput: it has not; the text is for the model.
    """
    command = arguments["command"]
    takes, _ = _COMMANDS[command]
    given = {name: value for name, value in arguments.items() if value is not None and name != "command"}
    for name in takes:
        if name not in given and name != "view_range":
            raise InvalidInput(f"{command} needs {name}")
    for name in given:
        if name not in takes:
            raise InvalidInput(f"{command} has no argument {name!r}: it takes {', '.join(takes)}")
    for name in ("path", "old_path", "new_path"):
        if name in given:
            key_of(given[name])


def run(call: Call, command: str, **arguments: Any) -> str:
    """Carry out a command of the memory tool.

    Args:
        call: where, and on whose account.
        command: ``view create str_replace insert delete rename``.
        **arguments: of the command, as documented; ``None`` for not given.

    Raises:
        InvalidInput: an argument is missing or refused; the text is for the model.
        RecordNotFound: there is no such file or directory.
    """
    check({"command": command, **arguments})
    _, carry_out = _COMMANDS[command]
    given = {name: value for name, value in arguments.items() if value is not None}
    for attempt in range(_ATTEMPTS):
        try:
            return carry_out(Files(call), **given)
        except VersionConflict:  # somebody else changed the same file in between: look again
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError  # pragma: no cover - the loop returns or raises


def pieces(call: Call, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """What stands around a change of a file before and after it: half of a text may be there already."""
    if arguments["command"] not in ("str_replace", "insert"):
        return "", ""
    given = {name: value for name, value in arguments.items() if value is not None and name != "command"}
    return Files(call).around(**given)


class Files:
    """The files of one view.

    Args:
        call: where, and on whose account.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._kept = call.view.collection(*NAMESPACE)

    def view(self, path: str, view_range: list[int] | None = None) -> str:
        """A file with line numbers, or a directory's contents up to two levels deep."""
        key = key_of(path)
        record = self._kept.get(key) if key else None
        if record is not None:
            return _shown(record, path, view_range)
        below = self._below(key)
        if key and not below:
            raise _missing(path)
        sizes = {_key(one)[len(key) + 1 if key else 0 :]: len(one.content.encode()) for one in below}
        header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([header, *directory_lines(path, sizes)])

    def create(self, path: str, file_text: str) -> str:
        """Make a file that is not there yet."""
        key = self._free(path, f"File {path} already exists")
        self._put(key, file_text, expected_version=0)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a piece of a file that occurs in it exactly once."""
        record = self._file(path)
        changed, place = _replaced(record.content, path, old_str, new_str)
        self._put(_key(record), changed, record)
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return "\n".join([head, *snippet(changed, record.content.count("\n", 0, place))])

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Put text after a line; 0 for the beginning."""
        record = self._file(path)
        self._put(_key(record), _inserted(record.content, insert_line, insert_text)[0], record)
        return f"The file {path} has been edited."

    def around(self, path: str, **change: Any) -> tuple[str, str]:
        """What stands around a change before and after it; both empty for one that will be refused."""
        record = self._kept.get(key_of(path))
        if record is None:
            return "", ""
        before = record.content
        try:
            after, place = _inserted(before, **change) if "insert_line" in change else _replaced(before, path, **change)
        except InvalidInput:
            return "", ""
        start, left = max(0, place - _SCREENED), len(before) - place
        grown = len(after) - len(before)
        end = place + min(left, len(change.get("old_str", "")) + _SCREENED)
        return before[start:end], after[start : end + grown]

    def delete(self, path: str) -> str:
        """Forget a file, or a directory with all that is below it; their histories stay."""
        key = key_of(path)
        if not key:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        records = self._all(key)
        if not records:
            raise RecordNotFound(f"The path {path} does not exist")
        self._kept.batch([Delete(_key(one), one.version, source=self._call.session) for one in records])
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a directory with all that is below it, to where nothing is."""
        old, new = key_of(old_path), key_of(new_path)
        if not old:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        if not new or self._all(new):
            raise InvalidInput(f"The destination {new_path} already exists")
        records = self._all(old)
        if not records:
            raise RecordNotFound(f"The path {old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise InvalidInput(f"Cannot rename {old_path} to {new_path}, which is inside it")
        self._free(new_path, f"The destination {new_path} already exists")
        moved: list[Put | Delete] = []
        for one in records:
            moved.append(self._written(new + _key(one)[len(old) :], one.content, one, expected_version=0))
            moved.append(Delete(_key(one), one.version, source=self._call.session))
        self._kept.batch(moved)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Forget every file. For programs; no command of a model does this."""
        self._kept.batch([Delete(_key(one), source=self._call.session) for one in self._kept.list()])
        return "All memory cleared"

    def _file(self, path: str) -> Record:
        key = key_of(path)
        record: Record | None = self._kept.get(key) if key else None
        if record is None and (not key or self._below(key)):
            raise InvalidInput(f"The path {path} is not a file.")
        if record is None:
            raise _missing(path)
        return record

    def _free(self, path: str, taken: str) -> str:
        """The key of a path where nothing is, and where something can be."""
        key = key_of(path)
        if not key or self._all(key):
            raise InvalidInput(taken)
        names = key.split("/")
        for depth in range(1, len(names)):
            above = "/".join(names[:depth])
            if self._kept.get(above) is not None:
                raise InvalidInput(f"The path {path_of(above)} is a file, so nothing can be below it")
        return key

    def _below(self, key: str) -> list[Record]:
        """What is below a directory, in the order of its paths."""
        start = f"{key}/" if key else ""
        return sorted((one for one in self._kept.list() if _key(one).startswith(start)), key=lambda one: _key(one).split("/"))

    def _all(self, key: str) -> list[Record]:
        record = self._kept.get(key)
        return self._below(key) if record is None else [record]

    def _written(self, key: str, text: str, before: Record | None, expected_version: int) -> Put:
        labels = signed(self._call, labels_of(before.metadata) if before else None)
        return Put(key, text, metadata=labels, source=self._call.session, expected_version=expected_version)

    def _put(self, key: str, text: str, before: Record | None = None, *, expected_version: int | None = None) -> None:
        expected = before.version if before is not None else expected_version or 0
        if before is None or before.content != text:
            self._kept.batch([self._written(key, text, before, expected)])


def _key(record: Record) -> str:
    return record.key or ""


def _missing(path: str) -> RecordNotFound:
    return RecordNotFound(f"The path {path} does not exist. Please provide a valid path.")


def _shown(record: Record, path: str, view_range: list[int] | None) -> str:
    lines = record.content.split("\n")
    if len(lines) > MOST_LINES:
        raise InvalidInput(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = view_range or (1, -1)
    start = max(1, first) - 1
    chosen = lines[start : len(lines) if last == -1 else last]
    return "\n".join([f"Here's the content of {path} with line numbers:", *numbered(chosen, start + 1)])


def _replaced(content: str, path: str, old_str: str, new_str: str) -> tuple[str, int]:
    """A text with a piece of it replaced, and where."""
    if not old_str:
        raise InvalidInput("No replacement was performed: old_str is empty")
    places = _places(content, old_str)
    if not places:
        raise InvalidInput(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
    if len(places) > 1 and content.count(old_str) > 1:
        lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
        raise InvalidInput(
            f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. Please ensure it is unique"
        )
    return content.replace(old_str, new_str), places[0]


def _inserted(content: str, insert_line: int, insert_text: str) -> tuple[str, int]:
    """A text with lines put after one of its lines, and where."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= insert_line <= len(lines):
        raise InvalidInput(f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}].")
    place = sum(len(line) + 1 for line in lines[:insert_line])
    lines.insert(insert_line, insert_text.rstrip("\n"))
    changed = "\n".join(lines)
    return changed if changed.endswith("\n") else f"{changed}\n", place


def _places(content: str, piece: str) -> list[int]:
    """Where a piece begins, overlapping ones included."""
    found, place = [], content.find(piece)
    while place != -1:
        found.append(place)
        place = content.find(piece, place + 1)
    return found


_COMMANDS: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "view": (("path", "view_range"), Files.view),
    "create": (("path", "file_text"), Files.create),
    "str_replace": (("path", "old_str", "new_str"), Files.str_replace),
    "insert": (("path", "insert_line", "insert_text"), Files.insert),
    "delete": (("path",), Files.delete),
    "rename": (("old_path", "new_path"), Files.rename),
}
COMMANDS = tuple(_COMMANDS)
