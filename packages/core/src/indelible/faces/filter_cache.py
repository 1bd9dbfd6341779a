"""Metadata of slices, kept in this process and kept fresh, so that a filter reads no record it has read before."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.base.canonical import loads
from indelible.faces.slice_cache import MAX_NOTED, Key, PatientCache
from indelible.search.filter_index import FilterIndex, scan
from indelible.search.filter_tree import Filter
from indelible.search.filters import has_predicate

if TYPE_CHECKING:
    from indelible.faces.request import FilterOn

MAX_BYTES = 128 << 20
MAX_RECORDS = 100_000
LEAST_LISTED = 1000
"""Of fewer records a scan is as fast as keeping what is known of them fresh."""


class _Place(NamedTuple):
    """Where a record stands in a listing."""

    record: bytes
    created: int
    updated: int
    expires_at: int | None


class SliceMetadata(NamedTuple):
    """The metadata of a slice.

    Attributes:
        metadata: by version of the records.
        versions: which version each record stands in.
        places: by version.
    """

    metadata: FilterIndex
    versions: dict[bytes, int]
    places: dict[int, _Place]


class FilterCache(PatientCache[SliceMetadata]):
    """The metadata, or the values, of slices."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes, MAX_RECORDS)
        self.least_listed = LEAST_LISTED
        # How many records slices had, and the version of the store then: each event since has added one at most.
        self._sizes: OrderedDict[Key, tuple[int, int]] = OrderedDict()

    def match(self, selection: Selection, filters: Filter, on: FilterOn, mark: Mark) -> set[int] | None:
        """The versions of the records of a slice that a filter matches; ``None`` where they have to be read.

        There may be expired ones among them, but no function in the filter is asked about what the selection leaves out.

        Args:
            selection: the slice, with expiry.
            filters: what they must satisfy.
            on: what it is about.
            mark: where the store is.

        Raises:
            InvalidInput: a function in the filter raised.
        """
        key = _key(selection, on)
        with self._lock:
            known = self._known(key, selection, on, mark)
            if known is None:
                return None
            if not has_predicate(filters):
                return self._match(key, known, filters)
            records = known.metadata.records()
            # As where they are read: what has expired may not be what the function expects.
            everything = [(version, metadata) for version, metadata in records if _is_due(known.places[version], selection)]
        # A caller's function may take its time, ask this store, write to it or wait for a thread that does: nothing is held meanwhile.
        return scan(filters, everything)

    def page(self, selection: Selection, filters: Filter, on: FilterOn, mark: Mark) -> list[bytes] | None:
        """The records of a selection that a filter matches, in its order, as far as its limit and offset go.

        ``None`` where they have to be read: for the first time, because the slice is small or too large to be kept, or because the filter
        holds a function, which is asked once about each record that is shown, and not about what has expired.

        Args:
            selection: a slice, with expiry, order and bounds.
            filters: what they must satisfy.
            on: what it is about.
            mark: where the store is; if it is still there afterwards, so is the page.
        """
        if has_predicate(filters):
            return None
        key = _key(selection, on)
        with self._lock:
            size, version = self._sizes.get(key, (0, 0))
            if size + mark.version - version < self.least_listed:
                return None
            known = self._known(key, replace(selection, limit=None, offset=0), on, mark)
            if known is None:
                return None
            self._note_size(key, len(known.versions), mark)
            places = [known.places[version] for version in self._match(key, known, filters)]
        return _page(places, selection)

    def _match(self, key: Key, known: SliceMetadata, filters: Filter) -> set[int]:
        found = known.metadata.match(filters)
        # It may have made columns.
        self._keep(key, self._entries[key])
        return found

    def _note_size(self, key: Key, size: int, mark: Mark) -> None:
        self._sizes[key] = size, mark.version
        self._sizes.move_to_end(key)
        while len(self._sizes) > MAX_NOTED:
            self._sizes.popitem(last=False)

    def _empty(self) -> SliceMetadata:
        return SliceMetadata(FilterIndex(), {}, {})

    def _size(self, kept: SliceMetadata) -> int:
        return len(kept.versions)

    def _refresh(self, kept: SliceMetadata, changed: set[bytes], selection: Selection, made_for: object) -> SliceMetadata:
        for record in changed & kept.versions.keys():
            version = kept.versions.pop(record)
            kept.metadata.remove(version)
            del kept.places[version]
        for row in self._backend.select(selection):
            found = loads(row.body).get(made_for)
            standing = row.standing
            kept.versions[standing.record] = standing.version
            kept.places[standing.version] = _Place(standing.record, standing.created, standing.updated, standing.expires_at)
            kept.metadata.add(standing.version, found if isinstance(found, dict) else {})
        return kept

    def _nbytes(self, kept: SliceMetadata) -> int:
        return kept.metadata.nbytes + 250 * len(kept.places)


def _key(selection: Selection, on: FilterOn) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version, on)


def _is_due(place: _Place, selection: Selection) -> bool:
    if selection.expiry == "all":
        return True
    expired = place.expires_at is not None and place.expires_at <= selection.now_ms
    return expired == (selection.expiry == "expired")


def _page(found: list[_Place], selection: Selection) -> list[bytes]:
    places = [place for place in found if _is_due(place, selection)]
    end = len(places) if selection.limit is None else selection.offset + selection.limit
    first = nlargest if selection.descending else nsmallest
    chosen = first(end, places, key=_by_update if selection.order == "updated" else _by_creation)
    return [place.record for place in chosen[selection.offset :]]


def _by_creation(place: _Place) -> tuple[int, bytes]:
    return place.created, place.record


def _by_update(place: _Place) -> tuple[int, bytes]:
    return place.updated, place.record
