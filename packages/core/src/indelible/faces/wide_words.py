"""Keyword search where a selection is too large to keep its words: the best hits are found by counting alone, and no text is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Document, Selection
from indelible.search.keyword import KeywordQuery, find_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_STEPS = (1, 8, 64)
"""After so many times the hits that are wanted were looked up one by one, all documents of the selection are."""
_AT_ONCE = 256


class BestByWords(NamedTuple):
    """The best hits of a keyword query: versions with their scores, best first, and the record of each."""

    ranked: list[tuple[int, float]]
    records: dict[int, bytes]


def best_by_words(backend: Backend, selection: Selection, query: KeywordQuery, most: int, allowed: set[int] | None) -> BestByWords | None:
    """The first hits of a query by term frequency, the same as of a scan of every text.

    Args:
        backend: what is searched.
        selection: where.
        query: a parsed query.
        most: how many hits are wanted.
        allowed: the versions that may be hits; ``None`` for all.

    Returns:
        ``None`` if the query has phrases, for which texts have to be read.
    """
    words = find_words(query)
    if words is None:
        return None
    import numpy as np

    found = backend.occurrences(words)
    held = found.counts > 0
    hits = np.flatnonzero(held.all(axis=0) if query.match == "all" else held.any(axis=0))
    documents, scores = found.documents[hits], found.counts[:, hits].sum(axis=0)
    versions = documents.copy()
    # What context made of a version has a number of its own below zero.
    own = {place.doc: place for place in backend.resolve(selection, documents[documents < 0].tolist())}
    for index in np.flatnonzero(documents < 0).tolist():
        versions[index] = own[int(documents[index])].version if int(documents[index]) in own else 0
    may = versions > 0
    if allowed is not None:
        may &= np.isin(versions, np.fromiter(allowed, np.int64, len(allowed)))
    return _first(backend, selection, documents[may], versions[may], scores[may], most)


def _first(backend: Backend, selection: Selection, documents: Integers, versions: Integers, scores: Integers, most: int) -> BestByWords:
    """The first of some candidates that the selection takes, best first and the newer of equals first."""
    import numpy as np

    # Distinct keys in the order of the ranking: scores far below 2^20, versions far below 2^43.
    keys = (np.minimum(scores, (1 << 20) - 1) << 43) | versions
    for times in _STEPS:
        wanted = times * (most + _AT_ONCE)
        if wanted >= len(keys):
            break
        best = np.argpartition(keys, len(keys) - wanted)[len(keys) - wanted :]
        ranked = _ranked(documents, versions, scores, best, backend.resolve(selection, documents[best].tolist()))
        if len(ranked.ranked) >= most:
            return BestByWords(ranked.ranked[:most], ranked.records)
    taken = backend.resolve(selection, documents.tolist())
    return _ranked(documents, versions, scores, np.arange(len(documents)), taken, most)


def _ranked(
    documents: Integers, versions: Integers, scores: Integers, chosen: Integers, taken: Sequence[Document], most: int | None = None
) -> BestByWords:
    import numpy as np

    there = chosen[np.isin(documents[chosen], np.array([place.doc for place in taken], np.int64))]
    order = there[np.lexsort((-versions[there], -scores[there]))][:most]
    records = {place.version: place.record for place in taken}
    found = list(zip(versions[order].tolist(), scores[order].astype(float).tolist(), strict=True))
    return BestByWords(found, {version: records[version] for version, _ in found})
