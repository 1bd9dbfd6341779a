"""A store filled with facts of many users, for the benchmarks that read."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measuring import Plan
from benchmarks.texts import sentences
from indelible import MemoryStore

FACTS = 20_000
SLICE = 1_000
"""Facts of one user."""


def filled(plan: Plan) -> Path:
    """The file of a store with ``FACTS`` facts, ``SLICE`` a user, with vectors of the bundled static model.

    Those lie in the space of the bundled default model, so recall by that one finds them, and making them takes seconds and not minutes.
    """
    path = plan.folder / "filled.db"
    if not path.exists():
        size = plan.times(SLICE, least=50)
        with MemoryStore(path, embedder="static") as store:
            for user in range(FACTS // SLICE):
                store.remember_many(sentences(size, seed=user), agent_id="bench", user_id=f"user {user}")
            store.vacuum()
    return path
