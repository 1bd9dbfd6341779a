"""From times to figures: percentiles, ratios, the share of right answers. Nothing but arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from benchmarks.measuring import median, percentile

Cell: TypeAlias = dict[str, Any]
"""What one store did in one row: ``p50``, ``p95`` and ``n``, and perhaps ``aside`` or ``recall``; or ``reason``."""
Cells: TypeAlias = Mapping[str, Cell]


def cell(numbers: Sequence[float], **more: Any) -> Cell:
    """A store's figures of a row.

    Args:
        numbers: one a round.
        **more: kept beside them.
    """
    return {"p50": median(numbers), "p95": percentile(numbers, 95), "n": len(numbers), **more}


def right(found: Iterable[Sequence[int]], exact: Iterable[Sequence[int]]) -> float:
    """The mean share of the exact answers that are among those found; of no question it is 1."""
    shares = [len(set(one) & set(other)) / len(other) for one, other in zip(found, exact, strict=False) if other]
    return sum(shares) / len(shares) if shares else 1.0


class Ratios(NamedTuple):
    """Ours as a multiple of others; ``None`` where there is nothing to divide by."""

    peer: str | None
    to_peer: float | None
    to_physical: float | None
    to_int8: float | None


def ratios(row: Cells, figure: str, ours: str, physical: str, int8: str) -> Ratios:
    """How a row of ours stands: 2 is twice as slow, or as large.

    Args:
        row: the cells by store.
        figure: ``p50`` or ``p95``.
        ours, physical, int8: names of the three that are no peers.
    """
    value = row.get(ours, {}).get(figure)
    peers = {
        name: found[figure]
        for name, found in row.items()
        if name not in (ours, physical, int8) and figure in found and "aside" not in found
    }
    best = min(peers, key=lambda name: peers[name], default=None)
    if value is None:
        return Ratios(best, None, None, None)
    bare, whole = (row.get(name, {}).get(figure) for name in (physical, int8))
    return Ratios(
        best, value / peers[best] if best and peers[best] else None, value / bare if bare else None, value / whole if whole else None
    )
