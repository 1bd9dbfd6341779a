"""The documents of selections that are too large to keep their words: numbers alone, kept in this process and kept fresh."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.backend.large import Documents
from indelible.faces.slice_cache import SliceCache

if TYPE_CHECKING:
    from indelible.backend.large import Integers

MAX_BYTES = 128 << 20


class Measured(NamedTuple):
    """The documents of a selection.

    Attributes:
        documents: ascending.
        lengths: how many words each has; 0 for none.
    """

    documents: Documents
    lengths: Integers


class DocumentCache(SliceCache[Measured]):
    """Which documents a selection has, with their versions, times of expiry and lengths."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)

    def get(self, selection: Selection, mark: Mark) -> Measured:
        """The documents of a selection as it stands, expired ones included.

        Args:
            selection: a slice, or many.
            mark: where the store is; what is read is as it was then, or later.
        """
        return self._current((selection.namespace, selection.prefix, selection.scope, selection.version), selection, None, mark)

    def _read(self, selection: Selection, made_for: object) -> Measured:
        found = self._backend.documents(selection)
        return Measured(found, self._backend.lengths(found.docs))

    def _refresh(self, kept: Measured, changed: set[bytes], selection: Selection, made_for: object) -> Measured:
        import numpy as np

        # Whatever documents these records have or had.
        theirs = self._backend.documents(replace(selection, namespace=None, version=None, hidden=True, every_version=True))
        fresh = self._read(selection, made_for)
        stays = ~np.isin(kept.documents.docs, theirs.docs)
        at = np.searchsorted(kept.documents.docs[stays], fresh.documents.docs)
        old, new = kept.documents.only(stays), fresh.documents
        documents = Documents(
            np.insert(old.docs, at, new.docs),
            np.insert(old.versions, at, new.versions),
            np.insert(old.expires, at, new.expires),
            np.insert(old.records, at, new.records, axis=0),
        )
        return Measured(documents, np.insert(kept.lengths[stays], at, fresh.lengths))

    def _nbytes(self, kept: Measured) -> int:
        return sum(int(column.nbytes) for column in (*kept.documents, kept.lengths))
