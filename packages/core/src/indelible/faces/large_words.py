"""Words of a selection too large to keep: hits are found and scored by counting alone, and no text is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Document, Mark, Selection
from indelible.backend.large import places_of
from indelible.faces.document_cache import DocumentCache
from indelible.faces.word_cache import WordHits
from indelible.search.bm25 import Bm25
from indelible.search.keyword import KeywordQuery, Scoring, find_words

if TYPE_CHECKING:
    from indelible.backend.large import Bytes, Integers

_STEPS = (1, 8, 64)
"""After so many times the hits that are wanted were looked up one by one, all candidates are."""
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


def all_by_words(
    backend: Backend, cache: DocumentCache, selection: Selection, query: KeywordQuery, scoring: Scoring, mark: Mark
) -> WordHits | None:
    """Every hit of a query with its score, to the last bit as ``rank_counted`` says, and the statistics of the whole selection.

    Args:
        backend: what is searched.
        cache: knows the documents of the selection.
        selection: where, with whether what has expired counts.
        query: a parsed query.
        scoring: term frequency, or bm25.
        mark: where the store is.

    Returns:
        ``None`` if the query has phrases, for which texts have to be read.
    """
    words = find_words(query)
    if words is None:
        return None
    import numpy as np

    there, all_lengths = cache.get(selection, mark)
    counted = all_lengths > 0
    if selection.expiry == "live":
        counted &= there.expires > selection.now_ms
    elif selection.expiry == "expired":
        counted &= there.expires <= selection.now_ms
    found = backend.occurrences(words)
    places = places_of(there.docs, found.documents)
    hits = np.flatnonzero(places >= 0)
    if not counted.all():
        hits = hits[counted[places[hits]]]
    if len(hits) == len(places):
        counts = found.counts
    else:
        places, counts = places[hits], found.counts[:, hits]
    n, length = int(np.count_nonzero(counted)), int(all_lengths.sum(where=counted))
    held = [np.flatnonzero(of_term) for of_term in counts]
    bm25 = Bm25(n, length / n if n else 0.0, tuple(map(len, held))) if scoring == "bm25" else None
    scores = np.zeros(len(places))
    for number, (of_term, at) in enumerate(zip(counts, held, strict=True)):
        often = of_term[at].astype(np.float64)
        scores[at] += often if bm25 is None else bm25.parts(number, often, bm25.held_back(all_lengths[places[at]].astype(np.float64)))
    if query.match == "all":
        whole = np.flatnonzero((counts > 0).all(axis=0))
        places, scores = places[whole], scores[whole]
    versions = there.versions[places]
    return WordHits(versions, slice(None), scores, bm25, _Records(versions, there.records[places]))


class _Records(Mapping[int, bytes]):
    """The records of versions: of many hits few are shown, so that no dictionary is made of them."""

    def __init__(self, versions: Integers, records: Bytes) -> None:
        self._versions = versions
        self._records = records

    def __getitem__(self, version: int) -> bytes:
        import numpy as np

        place = np.flatnonzero(self._versions == version)
        if not len(place):
            raise KeyError(version)
        return bytes(self._records[place[0]])

    def __iter__(self) -> Iterator[int]:
        return iter(self._versions.tolist())

    def __len__(self) -> int:
        return len(self._versions)


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
