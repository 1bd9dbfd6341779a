"""The table, as cells, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.speed.engines import INT8, OURS, PHYSICAL, REFERENCES
from benchmarks.speed.figures import Cell, ratios


def number(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def shown(cell: Cell | None) -> str:
    """A cell: p50 and p95; in brackets what does not count."""
    if cell is None or "reason" in cell:
        return "-"
    both = number(cell["p50"]) if cell["n"] == 1 else f"{number(cell['p50'])} / {number(cell['p95'])}"
    return f"({both})" if "aside" in cell else both


def multiple(*values: float | None) -> str:
    """Ratios of p50 and of p95."""
    kept = [value for value in values if value is not None]
    return " / ".join(f"{value:.2f}" if value < 10 else f"{value:,.0f}" for value in kept)


def columns(written: dict[str, Any]) -> list[str]:
    """The heads of a run's table."""
    to_int8 = ["to the int8 pass"] if INT8 in written["versions"] else []
    return ["p50 / p95, ms", *_stores(written), "to the best peer", f"to {PHYSICAL}", *to_int8, "recall@10 below 1"]


def _stores(written: dict[str, Any]) -> list[str]:
    return [OURS, PHYSICAL, *(name for name in written["versions"] if name not in (OURS, *REFERENCES))]


def lines(written: dict[str, Any]) -> list[list[str]]:
    """The rows of a run's table."""
    stores, with_int8 = _stores(written), INT8 in written["versions"]
    found = []
    for what, row in written["rows"].items():
        unit = next((cell["unit"] for cell in row.values() if "unit" in cell), "ms")
        middle, high = (ratios(row, figure, OURS, PHYSICAL, INT8) for figure in ("p50", "p95"))
        several = row.get(OURS, {}).get("n", 1) > 1
        to_peer = multiple(middle.to_peer, high.to_peer if several else None)
        to_now = row.get(OURS, {}).get("to_now")
        found.append(
            [
                what if unit == "ms" else f"{what}, {unit}",
                *(shown(row.get(name)) for name in stores),
                f"{multiple(to_now)} to now" if to_now else f"{to_peer} ({middle.peer})" if to_peer else "",
                multiple(middle.to_physical, high.to_physical if several else None),
                *([multiple(middle.to_int8)] if with_int8 else []),
                ", ".join(f"{name} {cell['recall']:.4g}" for name, cell in row.items() if cell.get("recall", 1) < 1),
            ]
        )
    return found


def notes(written: dict[str, Any]) -> list[str]:
    """What the table leaves out, and why; and what bytes on disk are for."""
    found = [f"{name}: skipped, {why}" for name, why in written["skipped"].items()]
    for what, row in written["rows"].items():
        if "p50" in row.get(INT8, {}):
            by = f"the pass alone by {written['versions'][INT8]}"
            found.append(f"{INT8}: {shown(row[INT8])} ms in {what}, {by}; approximate, and a reference only")
    kept = written.get("kept", {})
    for day in sorted(set(kept.values())):
        names = ", ".join(name for name in kept if kept[name] == day)
        found.append(f"filled on {day} and kept since, figures of filling included: {names}")
    for key, verb in (("reason", "left out"), ("aside", "in brackets")):
        seen: dict[tuple[str, str], list[str]] = {}
        for what, row in written["rows"].items():
            for name, cell in row.items():
                if key in cell:
                    seen.setdefault((name, cell[key]), []).append(what)
        found += [f"{name} is {verb} in {'; '.join(rows)}: {why}" for (name, why), rows in seen.items()]
    for name, parts in written["parts"].items():
        sizes = sorted(parts.items(), key=lambda item: -item[1])
        found.append(f"{name}, bytes a record: {', '.join(f'{part} {size:,.0f}' for part, size in sizes if size >= 0.5)}")
    return found


def markdown(written: dict[str, Any]) -> str:
    """A run as a table of the readme with its notes."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    heads = columns(written)
    parts = [f"**{written['size']:,} records of {written['users']:,} users**", "", line(heads), f"|{'---|' * len(heads)}"]
    parts += [line(cells) for cells in lines(written)]
    return "\n".join([*parts, "", *(f"- {note}" for note in notes(written))])
