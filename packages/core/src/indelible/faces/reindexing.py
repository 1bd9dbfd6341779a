"""Moving memories to another model: resumable, while the old one goes on answering."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indelible.backend.interface import Row, Selection
from indelible.base.canonical import loads
from indelible.base.record import Namespace
from indelible.errors import InvalidInput
from indelible.faces.contexts import embedded_texts, has_text
from indelible.faces.engine import Engine
from indelible.faces.indexing import Indexing, Space

CHUNK = 128
_ROUNDS = 5
"""How often it looks again for what others wrote meanwhile; the rest is left to recall."""
Progress = Callable[[int, int], object]


def reindex(engine: Engine, namespace: Namespace, indexing: Indexing, progress: Progress | None) -> int:
    """Make the vectors of a namespace with a model, every version's, so that the past can be searched too.

    Vectors of the new model are added beside the old ones, a chunk a transaction; only when all are there does the namespace move to the
    new space and are the old ones dropped. Interrupted anywhere, it goes on where it stopped when called again.

    Args:
        engine: the store's.
        namespace: that of facts, or that of a collection, which takes those below along unless they have models of their own.
        indexing: with the new model.
        progress: called with (states embedded, states in all).

    Returns:
        How many states were embedded.

    Raises:
        InvalidInput: ``progress`` is no function, or there are vectors without text, which only their owner can make.
    """
    if progress is not None and not callable(progress):
        raise InvalidInput(f"progress must be a function of two numbers, got {type(progress).__name__}")
    model = indexing.embedder()
    space = Space(model.space, model.dim)
    name = space.model(model.id)
    places = [Selection(namespace=place, expiry="all", every_version=True) for place in _namespaces(engine, namespace, indexing)]
    pending = [row for place in places for row in _pending(engine, place, name)]
    done: set[int] = set()
    for _ in range(_ROUNDS):
        for start in range(0, len(pending), CHUNK):
            done.update(indexing.embed_rows(pending[start : start + CHUNK], namespace, (name,), settle=False))
            if progress is not None:
                progress(min(start + CHUNK, len(pending)), len(pending))
        # What was written meanwhile, and what was not kept because its neighbours changed.
        pending = [row for place in places for row in _missing(engine, place, name)]
        if not indexing.pending(pending, (name,)):
            break
    indexing.resettle(namespace, space)
    for place in places:
        engine.backend.drop_vectors(place, [other for other in engine.backend.models() if other != name])
    return len(done)


def _namespaces(engine: Engine, namespace: Namespace, indexing: Indexing) -> Sequence[Namespace]:
    """A namespace and, below that of a collection, those that hold records and have no model of their own."""
    if not namespace:
        return [namespace]
    below = {name for name, _, _ in engine.backend.slices(Selection(namespace=namespace, prefix=True, expiry="all", every_version=True))}
    return sorted({namespace, *below} - indexing.elsewhere(below, namespace))


def _pending(engine: Engine, place: Selection, model: str) -> list[Row]:
    """States without a vector of the model, each document once, and current ones with context, whose neighbours may have changed."""
    current = engine.backend.select(Selection(namespace=place.namespace, expiry="all"))
    if any(_has_vectors_without_text(engine, row) for row in current):
        raise InvalidInput("some records here have vectors that you gave and no text to make others of: they cannot move to another model")
    rows = [*_missing(engine, place, model), *(row for row in current if '"context":' in row.body and "context" in loads(row.body))]
    return list({row.doc: row for row in rows}.values())


def _missing(engine: Engine, place: Selection, model: str) -> list[Row]:
    """States that lack a vector of the model, each document once."""
    rows = engine.backend.unembedded(place, [model], context=True)
    return list({row.doc: row for row in rows if has_text(row)}.values())


def _has_vectors_without_text(engine: Engine, row: Row) -> bool:
    content, parts = embedded_texts(row, ())
    without = {part.name for part in parts if not part.text.strip()} if parts else {""} if not content.strip() else set()
    return bool(without) and any(vector.part in without for vector in engine.backend.stored_vectors(row.doc))
