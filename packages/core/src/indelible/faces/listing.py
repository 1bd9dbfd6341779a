"""Records that meet conditions, in order and in pages."""

from __future__ import annotations

from dataclasses import replace

from indelible.backend.interface import Backend, Row, Selection
from indelible.base.canonical import loads
from indelible.errors import InvalidInput
from indelible.faces.engine import Engine
from indelible.faces.fields import record_of
from indelible.faces.request import Accept, FilterOn
from indelible.search.filter_tree import Filter
from indelible.search.filters import equalities, matching

MAX_PAGE = 1000
"""A longer page is not read record by record."""


def filtered_rows(
    engine: Engine, selection: Selection, filters: Filter | None, accept: Accept | None = None, on: FilterOn = "metadata"
) -> list[Row]:
    """Records of a selection that a filter matches and a function accepts, paged after filtering.

    Which of a large slice match is known from the cache of filters; then only the page is read.
    """
    if filters is None and accept is None:
        return engine.backend.select(selection)
    if filters is not None and accept is None and is_whole(selection):
        rows = _known_rows(engine, selection, filters, on)
        if rows is not None:
            return rows
    return scanned_rows(engine.backend, selection, filters, accept, on)


def is_whole(selection: Selection) -> bool:
    """Whether a selection takes all that stands in its slice, but for expiry and paging."""
    return selection.records is None and selection.keys is None and selection.parent is None


def _known_rows(engine: Engine, selection: Selection, filters: Filter, on: FilterOn) -> list[Row] | None:
    """The page as the cache knows it; ``None`` where the records have to be read."""
    mark = engine.backend.mark()
    page = engine.filter_cache.page(selection, filters, on, mark)
    if page is None or len(page) > MAX_PAGE:
        return None
    rows = engine.backend.select(replace(selection, records=tuple(page), limit=None, offset=0)) if page else []
    # If somebody wrote meanwhile, what was known and what was read may be of different moments.
    return rows if engine.backend.mark() == mark else None


def scanned_rows(backend: Backend, selection: Selection, filters: Filter | None, accept: Accept | None, on: FilterOn) -> list[Row]:
    """The same by reading every record that may match."""
    everything = replace(selection, limit=None, offset=0, equals=tuple(equalities(filters)), equals_on=on)
    rows = chosen(backend.select(everything), filters, accept, on)
    return rows[selection.offset :] if selection.limit is None else rows[selection.offset : selection.offset + selection.limit]


def chosen(rows: list[Row], filters: Filter | None, accept: Accept | None, on: FilterOn) -> list[Row]:
    """Those of some records that meet the conditions."""
    if filters is not None:
        rows = matching(filters, ((row, found if isinstance(found := loads(row.body).get(on), dict) else {}) for row in rows))
    return rows if accept is None else [row for row in rows if _accepts(accept, row)]


def _accepts(accept: Accept, row: Row) -> bool:
    try:
        return bool(accept(record_of(row.standing, row.body)))
    except Exception as error:
        raise InvalidInput(f"the accept function failed with {type(error).__name__}: {error}") from error
