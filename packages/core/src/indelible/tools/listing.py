"""How files and directories are shown to a model: pure text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NUMBER_WIDTH = 6
DEPTH = 2
_UNITS = ("B", "K", "M", "G")
_AROUND = 2
"""Lines shown before and after a changed one."""


def numbered(lines: Sequence[str], first: int) -> list[str]:
    """Lines with their numbers."""
    return [f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]


def snippet(text: str, changed: int) -> list[str]:
    """The lines around a changed one, counted from 0, with their numbers."""
    lines = text.split("\n")
    start = max(0, changed - _AROUND)
    return numbered(lines[start : changed + _AROUND + 1], start + 1)


def directory_lines(path: str, sizes: Mapping[str, int]) -> list[str]:
    """A directory and what is in it up to two levels deep, with sizes; a directory's size is that of all below it.

    Args:
        path: of the directory, as it was asked for.
        sizes: bytes of each file below it, by path relative to it.
    """
    entries: dict[tuple[str, ...], int] = {}
    for key, size in sizes.items():
        names = key.split("/")
        for depth in range(1, min(len(names), DEPTH) + 1):
            # A directory and a file may have the same name for a moment, if two programs make them at once.
            place = (*names[:depth], "") if depth < len(names) else tuple(names)
            entries[place] = entries.get(place, 0) + size
    seen = [place for place in sorted(entries) if not any(name.startswith(".") for name in place)]
    return [f"{_size(sum(sizes.values()))}\t{path}", *(f"{_size(entries[place])}\t{path}/{'/'.join(place)}" for place in seen)]


def _size(count: int) -> str:
    """Bytes in the unit that keeps the number short."""
    unit = 0
    size = float(count)
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
