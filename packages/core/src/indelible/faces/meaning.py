"""The semantic channel of recall: the vectors of a selection, what is asked of them, and which of them may be hits."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.backend.interface import Mark, Selection
from indelible.errors import InvalidInput
from indelible.faces.coded_vectors import CodedVectors
from indelible.faces.contexts import has_text
from indelible.faces.engine import Engine
from indelible.faces.indexing import Indexing, Space
from indelible.faces.request import Request
from indelible.faces.vectors import Vectors, arrange

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ATTEMPTS = 5
"""How often vectors are read again because views were made anew meanwhile; somebody who does that all the time must not stop recall."""


class SemanticChannel:
    """Compares with the vectors of one store.

    Args:
        engine: the store's.
        indexing: how the collection's vectors are made.
    """

    def __init__(self, engine: Engine, indexing: Indexing) -> None:
        self._engine = engine
        self._backend = engine.backend
        self._indexing = indexing

    def asked(self, selection: Selection, request: Request, mark: Mark) -> tuple[Vectors | CodedVectors, npt.NDArray[np.float32]]:
        """The vectors of a selection, and that of a request.

        Raises:
            InvalidInput: the request's has another dimension.
            EmbedderMismatch: the namespace lives in another vector space.
        """
        space = self._indexing.space(request.vector)
        vectors = self._vectors(selection, space, mark)
        query = self.query(request)
        if len(query) != space.dim:
            raise InvalidInput(f"the query's vector has {len(query)} numbers, the vectors here have {space.dim}")
        return vectors, query

    def query(self, request: Request) -> npt.NDArray[np.float32]:
        """The unit vector of what is asked."""
        import numpy as np

        if request.vector is None:
            # A copy: what is found out about an array is remembered by it, and a model may fill the same one each time.
            return self._indexing.embedder().embed_query(request.query or "").copy()
        query = np.frombuffer(struct.pack(f"{len(request.vector)}d", *request.vector))
        # As numpy.linalg.norm does it, which takes longer to find out that it should.
        return (query / math.sqrt(query.dot(query))).astype(np.float32)

    def coverage(self, request: Request) -> float:
        """How much of the question the model can read; all of it, where it does not say or the caller brought the vector."""
        if request.vector is None and request.query:
            model = self._indexing.embedder()
            # Asking whether it is a ``Reading`` takes as long as its answer.
            coverage: Callable[[str], float] | None = getattr(model, "coverage", None)
            if coverage is not None:
                return coverage(request.query)
        return 1.0

    def wanted(self, vectors: Vectors | CodedVectors, selection: Selection, allowed: set[int] | None) -> npt.NDArray[np.bool_] | None:
        """Which records may be hits, by expiry and among the versions that are allowed; ``None`` where all may."""
        import numpy as np

        wanted = None
        if selection.expiry == "expired":
            wanted = vectors.expires <= selection.now_ms
        elif selection.expiry == "live" and vectors.soonest <= selection.now_ms:
            wanted = vectors.expires > selection.now_ms
        if allowed is None:
            return wanted
        inside = np.isin(vectors.versions, np.fromiter(allowed, np.int64, len(allowed)))
        return inside if wanted is None else inside & wanted

    def _vectors(self, selection: Selection, space: Space, mark: Mark) -> Vectors | CodedVectors:
        """The vectors of a selection, read while nothing was moved to another model."""
        namespace = selection.namespace or ()
        narrow = selection.records is not None or selection.parent is not None
        may_make = self._indexing.default_mode is not None and selection.version is None
        large = self._engine.large_vectors
        cache = large if not narrow and large.is_large(selection, space.dim, mark) else self._engine.vector_cache
        vectors: Vectors | CodedVectors
        for attempt in range(_ATTEMPTS):
            models = self._indexing.models(namespace, space, mark)
            if narrow:
                found = self._backend.embedded(selection, models)
                vectors = arrange(found.documents, found.vectors, space.dim)
            else:
                kept = cache.fresh(selection, models, space.dim, mark)
                if kept is not None and not (may_make and kept.is_due):
                    return kept
                # Kept under the mark of before, so that what is overtaken is looked at again.
                vectors = cache.get(selection, models, space.dim, mark) if kept is None else kept
                if may_make and vectors.is_due:
                    self._fill_in(selection, models, vectors)
            # A reindex that ended in between has taken the old model's vectors away: then look again, which says so; likewise at what was
            # made just now.
            now = self._backend.mark()
            if now.epoch == mark.epoch or attempt == _ATTEMPTS - 1:
                break
            mark = now
        return vectors

    def _fill_in(self, selection: Selection, models: list[str], vectors: Vectors | CodedVectors) -> None:
        """Embed what was written without vectors, or without those of its context: imported, before there was a model, or overtaken."""
        # Which of many records are lacking is known; all of a small slice are looked through as fast.
        lacking = None if vectors.unchecked and isinstance(vectors, Vectors) else vectors.lacking
        wanted = replace(selection, expiry="all", records=lacking)
        pending = [row for row in self._backend.unembedded(wanted, models, context=vectors.unchecked) if has_text(row)]
        elsewhere = self._indexing.elsewhere({row.standing.namespace for row in pending}, selection.namespace or ())
        pending = [row for row in pending if row.standing.namespace not in elsewhere]
        for start in range(0, len(pending), 500):
            self._indexing.embed_rows(pending[start : start + 500], selection.namespace or (), models)
        vectors.lacking, vectors.unchecked = (), False
