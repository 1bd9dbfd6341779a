"""Words of slices, kept in this process and kept fresh, so that keyword search reads no text it has read before."""

from __future__ import annotations

from typing import NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.faces.slice_cache import Key, PatientCache
from indelible.search.keyword import CorpusStats, Counted, KeywordQuery
from indelible.search.word_index import WordIndex

MAX_BYTES = 128 << 20
MAX_RECORDS = 20_000
"""The index of the backend finds in a larger slice without reading everything."""


class SliceWords(NamedTuple):
    """The words of a slice.

    Attributes:
        words: its documents, numbered by version.
        versions, records: which version each record stands in, and the other way round.
    """

    words: WordIndex
    versions: dict[bytes, int]
    records: dict[int, bytes]


class Counts(NamedTuple):
    """What a query finds in a slice: the counted documents, the slice's statistics if they are asked for, and each document's record."""

    counted: list[Counted]
    stats: CorpusStats | None
    records: dict[int, bytes]


class WordCache(PatientCache[SliceWords]):
    """The words of slices."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes, MAX_RECORDS)

    def count(self, selection: Selection, query: KeywordQuery, mark: Mark) -> Counts | None:
        """Count a query's words in a slice as it stands; ``None`` where the backend's index has to.

        Args:
            selection: the slice, with whether what has expired counts.
            query: a parsed query.
            mark: where the store is.
        """
        key = _key(selection)
        now_ms = selection.now_ms if selection.expiry == "live" else None
        with self._lock:
            known = self._known(key, selection, None, mark)
            if known is None:
                return None
            counted = known.words.count(query, now_ms)
            stats = known.words.stats(query, counted, now_ms)
            return Counts(counted, stats, {document: known.records[document] for document, _, _ in counted})

    def is_too_large(self, selection: Selection) -> bool:
        """Whether a slice has more records than the words are kept of. Once it had, it is not looked at again."""
        key = _key(selection)
        with self._lock:
            if key in self._entries:
                return False
            if self._asked.get(key) is False:
                return True
        if not self._backend.exceeds(selection, self.max_records):
            return False
        with self._lock:
            self._note(key, worth_reading=False)
        return True

    def _empty(self) -> SliceWords:
        return SliceWords(WordIndex(), {}, {})

    def _size(self, kept: SliceWords) -> int:
        return len(kept.records)

    def _refresh(self, kept: SliceWords, changed: set[bytes], selection: Selection, made_for: object) -> SliceWords:
        for record in changed & kept.versions.keys():
            version = kept.versions.pop(record)
            del kept.records[version]
            kept.words.remove(version)
        for record, version, words, expires_at in self._backend.words(selection):
            kept.versions[record] = version
            kept.records[version] = record
            kept.words.add(version, words, expires_at)
        return kept

    def _nbytes(self, kept: SliceWords) -> int:
        return 100 * kept.words.size + 2 * kept.words.characters + 500 * len(kept.records)


def _key(selection: Selection) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version)
