"""Metadata of slices, kept in this process and kept fresh, so that a filter reads no record it has read before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.base.canonical import loads
from indelible.faces.slice_cache import PatientCache
from indelible.search.filter_index import FilterIndex, has_predicate, scan
from indelible.search.filter_tree import Filter

if TYPE_CHECKING:
    from indelible.faces.request import FilterOn

MAX_BYTES = 128 << 20
MAX_RECORDS = 100_000


class SliceMetadata(NamedTuple):
    """The metadata of a slice.

    Attributes:
        metadata: by version of the records.
        versions: which version each record stands in.
    """

    metadata: FilterIndex
    versions: dict[bytes, int]


class FilterCache(PatientCache[SliceMetadata]):
    """The metadata, or the values, of slices."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes, MAX_RECORDS)

    def match(self, selection: Selection, filters: Filter, on: FilterOn, mark: Mark) -> set[int] | None:
        """The versions of the records of a slice that a filter matches, expired ones included; ``None`` where they have to be read.

        Args:
            selection: the slice.
            filters: what they must satisfy.
            on: what it is about.
            mark: where the store is.

        Raises:
            InvalidInput: a function in the filter raised.
        """
        key = (selection.namespace, selection.prefix, selection.scope, selection.version, on)
        with self._lock:
            known = self._known(key, selection, on, mark)
            if known is None:
                return None
            if not has_predicate(filters):
                found = known.metadata.match(filters)
                # It may have made columns.
                self._keep(key, self._entries[key])
                return found
            everything = known.metadata.records()
        # A caller's function may take its time, ask this store, write to it or wait for a thread that does: nothing is held meanwhile.
        return scan(filters, everything)

    def _empty(self) -> SliceMetadata:
        return SliceMetadata(FilterIndex(), {})

    def _size(self, kept: SliceMetadata) -> int:
        return len(kept.versions)

    def _refresh(self, kept: SliceMetadata, changed: set[bytes], selection: Selection, made_for: object) -> SliceMetadata:
        for record in changed & kept.versions.keys():
            kept.metadata.remove(kept.versions.pop(record))
        for row in self._backend.select(selection):
            found = loads(row.body).get(made_for)
            kept.versions[row.standing.record] = row.standing.version
            kept.metadata.add(row.standing.version, found if isinstance(found, dict) else {})
        return kept

    def _nbytes(self, kept: SliceMetadata) -> int:
        return kept.metadata.nbytes
