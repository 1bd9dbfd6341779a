"""Moving memories to another model: resumable, while the old one goes on answering."""

from __future__ import annotations

from collections.abc import Callable

from indelible.backend.interface import Row, Selection
from indelible.base.canonical import loads
from indelible.base.record import Namespace
from indelible.faces.engine import Engine
from indelible.faces.indexing import Indexing, Space

CHUNK = 128
Progress = Callable[[int, int], object]


def reindex(engine: Engine, namespace: Namespace, indexing: Indexing, progress: Progress | None) -> int:
    """Make the vectors of a namespace with a model, every version's, so that the past can be searched too.

    Vectors of the new model are added beside the old ones, a chunk a transaction; only when all are there does the namespace move to the
    new space and are the old ones dropped. Interrupted anywhere, it goes on where it stopped when called again.

    Returns:
        How many states were embedded.
    """
    model = indexing.embedder()
    space = Space(model.space, model.dim)
    name = space.model(model.id)
    everything = Selection(namespace=namespace, expiry="all", every_version=True)
    pending = [row for row in _pending(engine, everything, name) if _has_text(indexing, row)]
    for start in range(0, len(pending), CHUNK):
        chunk = pending[start : start + CHUNK]
        made = indexing.vectors_many(namespace, [indexing.texts_of(row) for row in chunk], settle=False)
        engine.backend.put_vectors([(row.doc, vector) for row, found in zip(chunk, made, strict=True) for vector in found])
        if progress is not None:
            progress(min(start + CHUNK, len(pending)), len(pending))
    indexing.resettle(namespace, space)
    engine.backend.drop_vectors(everything, [other for other in engine.backend.models() if other != name])
    return len(pending)


def _pending(engine: Engine, everything: Selection, model: str) -> list[Row]:
    """States without a vector of the model, each document once, and current ones with context, whose neighbours may have changed."""
    rows = engine.backend.unembedded(everything, [model])
    current = Selection(namespace=everything.namespace, expiry="all")
    rows += [row for row in engine.backend.select(current) if "context" in loads(row.body)]
    return list({row.doc: row for row in rows}.values())


def _has_text(indexing: Indexing, row: Row) -> bool:
    content, parts = indexing.texts_of(row)
    return bool(content.strip()) or any(part.text.strip() for part in parts)
