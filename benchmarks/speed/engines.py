"""Which stores there are, by name."""

from __future__ import annotations

from importlib import import_module

from benchmarks.speed.engine import Engine

OURS, PHYSICAL, INT8 = "indelible", "numpy", "int8"
REFERENCES = (PHYSICAL, INT8)
"""What ours is divided by and that is no store to compare with."""
PLACES = {
    OURS: ("ours", "Indelible"),
    PHYSICAL: ("plain", "Numpy"),
    INT8: ("int8", "Int8"),
    "chroma": ("chroma", "Chroma"),
    "lancedb": ("lance", "Lance"),
    "sqlite-vec": ("vec", "SqliteVec"),
    "langgraph": ("langgraph", "LangGraph"),
}
"""By name: the module and the class."""
PEERS = tuple(name for name in PLACES if name not in (OURS, *REFERENCES))


def engine_class(name: str) -> type[Engine]:
    """The class of a store."""
    module, kind = PLACES[name]
    found: type[Engine] = getattr(import_module(f"benchmarks.speed.{module}"), kind)
    return found
