"""Which stores there are, by name."""

from __future__ import annotations

from importlib import import_module

from benchmarks.speed.engine import Engine

OURS, PHYSICAL = "indelible", "numpy"
PLACES = {
    OURS: ("ours", "Indelible"),
    PHYSICAL: ("plain", "Numpy"),
    "chroma": ("chroma", "Chroma"),
    "lancedb": ("lance", "Lance"),
    "sqlite-vec": ("vec", "SqliteVec"),
    "langgraph": ("langgraph", "LangGraph"),
}
"""By name: the module and the class."""
PEERS = tuple(name for name in PLACES if name not in (OURS, PHYSICAL))


def engine_class(name: str) -> type[Engine]:
    """The class of a store."""
    module, kind = PLACES[name]
    found: type[Engine] = getattr(import_module(f"benchmarks.speed.{module}"), kind)
    return found
