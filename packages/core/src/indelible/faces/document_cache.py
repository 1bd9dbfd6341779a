"""The documents of selections that are too large to keep their words: numbers alone, kept in this process and kept fresh."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.backend.interface import Backend, Documents, Mark, Selection
from indelible.faces.slice_cache import SliceCache

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_BYTES = 128 << 20


class DocumentCache(SliceCache[Documents]):
    """Which documents a selection has, with their versions, times of expiry and lengths."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)

    def get(self, selection: Selection, mark: Mark) -> Documents:
        """The documents of a selection as it stands, expired ones included.

        Args:
            selection: a slice, or many.
            mark: where the store is; what is read is as it was then, or later.
        """
        return self._current((selection.namespace, selection.prefix, selection.scope, selection.version), selection, None, mark)

    def _read(self, selection: Selection, made_for: object) -> Documents:
        return self._backend.documents(selection)

    def _refresh(self, kept: Documents, changed: set[bytes], selection: Selection, made_for: object) -> Documents:
        import numpy as np

        # Whatever documents these records have or had.
        theirs = self._backend.documents(replace(selection, version=None, hidden=True, every_version=True))
        fresh = self._backend.documents(selection)
        stays = ~np.isin(kept.docs, theirs.docs)
        at = np.searchsorted(kept.docs[stays], fresh.docs)
        return Documents(*(_inserted(old[stays], at, new) for old, new in zip(kept, fresh, strict=True)))

    def _nbytes(self, kept: Documents) -> int:
        return sum(int(column.nbytes) for column in kept)


def _inserted(old: npt.NDArray[np.int64], at: npt.NDArray[np.int64], new: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.insert(old, at, new)
