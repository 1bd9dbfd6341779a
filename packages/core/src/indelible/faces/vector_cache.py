"""Vectors of slices, kept in this process and kept fresh."""

from __future__ import annotations

from typing import Any

from indelible.backend.interface import Backend, Mark, Selection
from indelible.backend.large import Embedded
from indelible.faces.slice_cache import Key, SliceCache
from indelible.faces.vectors import Vectors, arrange, first_rows, rearrange

MAX_BYTES = 256 << 20


class VectorCache(SliceCache[Vectors]):
    """The vectors of slices, by the models that made them."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)

    def get(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> Vectors:
        """The vectors of a selection's slice as it stands, expired records included.

        Args:
            selection: its slice.
            models: whose vectors.
            dim: of the vectors.
            mark: where the store was before; what is read is as it was then, or later.
        """
        return self._current(_key(selection, dim), selection, (dim, *models), mark)

    def fresh(self, selection: Selection, models: list[str], dim: int, mark: Mark) -> Vectors | None:
        """The vectors of a selection's slice, if nothing was written between their last reading and a mark."""
        return self._fresh(_key(selection, dim), selection, (dim, *models), mark)

    def _read(self, selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        dim, *models = made_for
        found = self._backend.embedded(selection, models)
        vectors = arrange(found.documents, found.vectors, dim)
        vectors.lacking, vectors.unchecked = _lacking(found), found.linked
        return vectors

    def _refresh(self, kept: Vectors, changed: set[bytes], selection: Selection, made_for: tuple[Any, ...]) -> Vectors:
        _, *models = made_for
        found = self._backend.embedded(selection, models)
        vectors = rearrange(kept, changed, found.documents, found.vectors)
        # Vectors of a context go missing only together with a new epoch, and then everything is read anew.
        vectors.unchecked = kept.unchecked
        vectors.lacking = (*(record for record in kept.lacking if record not in changed), *_lacking(found))
        return vectors

    def _nbytes(self, kept: Vectors) -> int:
        return kept.nbytes


def _key(selection: Selection, dim: int) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version, dim)


def _lacking(found: Embedded) -> tuple[bytes, ...]:
    """The records that have no vectors."""
    import numpy as np

    documents, docs = found.documents, found.vectors.docs
    if len(docs) == len(documents.docs) and found.vectors.parts is None and len(first_rows(docs)) == len(docs):
        return ()
    without = ~np.isin(documents.docs, docs)
    return tuple(map(bytes, documents.records[without]))
