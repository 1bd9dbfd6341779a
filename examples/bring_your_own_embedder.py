"""Any function from texts to vectors can be the embedder; vectors of two models are never mixed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from indelible import EmbedderMismatch, MemoryStore, Part

TOPICS = {
    "food": {"tea", "coffee", "breakfast", "bread", "drink", "eat"},
    "travel": {"train", "flight", "oslo", "station", "trip", "ticket"},
    "money": {"revenue", "invoice", "tax", "quarter", "pay", "cost"},
}


def embed(texts: list[str]) -> list[list[float]]:
    """How much each text is about each topic: a model of three dimensions. Yours has more, and is called the same way."""
    return [[0.1 + len(words & set(text.casefold().split())) for words in TOPICS.values()] for text in texts]


def another(texts: list[str]) -> list[list[float]]:
    """A model with a space of its own."""
    return [[1.0, 0.5] for _ in texts]


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "memory.db"
    with MemoryStore(path, embedder=embed) as store:
        store.remember_many(["Ada takes tea for breakfast", "The train to Oslo leaves at noon", "The invoice for the quarter is paid"])
        hit = store.recall("which flight or station for the trip")[0]
        print(hit.content, round(hit.score or 0, 2))
        # -> The train to Oslo leaves at noon 1.0

        # A collection may have vectors that come with its parts; then no model is called at all.
        images = store.collection("images")
        images.put("sunset.png", "a red sky over the sea", parts=[Part("thumbnail", "", (0.9, 0.1, 0.0))])
        images.put("forest.png", "tall trees in the fog", parts=[Part("thumbnail", "", (0.0, 0.2, 0.9))])
        print([hit.record.key for hit in images.search(vector=(0.8, 0.2, 0.1), limit=1)])
        # -> ['sunset.png']

    # Another model has another space: it is refused until the store is moved to it with reindex().
    with MemoryStore(path, embedder=another) as store:
        try:
            store.recall("anything")
        except EmbedderMismatch:
            print("another model: refused")
        # -> another model: refused

        # What needs no model goes on working.
        print([hit.content for hit in store.search("oslo")])
        # -> ['The train to Oslo leaves at noon']
