"""Words of slices, kept in this process and kept fresh, so that keyword search reads no text it has read before."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.faces.slice_cache import Key, SliceCache
from indelible.search.keyword import CorpusStats, Counted, KeywordQuery
from indelible.search.word_index import WordIndex

MAX_BYTES = 128 << 20
MAX_DOCUMENTS = 20_000
"""A larger slice is left to the backend's index, which finds without reading everything."""
_MAX_NOTED = 10_000


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


class WordCache(SliceCache[SliceWords]):
    """The words of slices that were asked for more than once and are not too large."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes)
        # Slices that were asked for, and whether it is worth while to read them; not if they are too large.
        self._asked: OrderedDict[Key, bool] = OrderedDict()

    def forget(self) -> None:
        super().forget()
        self._asked.clear()

    def count(self, selection: Selection, query: KeywordQuery, mark: Mark) -> Counts | None:
        """Count a query's words in a slice as it stands; ``None`` where the backend's index has to.

        Args:
            selection: the slice, with whether what has expired counts.
            query: a parsed query.
            mark: where the store is.
        """
        key = (selection.namespace, selection.prefix, selection.scope, selection.version)
        now_ms = selection.now_ms if selection.expiry == "live" else None
        with self._lock:
            if key not in self._entries and not self._worth_reading(key):
                return None
            slice_words = self._current(key, selection, None, mark)
            if len(slice_words.records) > MAX_DOCUMENTS:
                self._asked[key] = False
                del self._entries[key]
                return None
            counted = slice_words.words.count(query, now_ms)
            stats = slice_words.words.stats(query, counted, now_ms)
            return Counts(counted, stats, {document: slice_words.records[document] for document, _, _ in counted})

    def _worth_reading(self, key: Key) -> bool:
        """A program that asks once, such as a command, should not read a whole slice for it."""
        if key in self._asked:
            self._asked.move_to_end(key)
            return self._asked[key]
        self._asked[key] = True
        while len(self._asked) > _MAX_NOTED:
            self._asked.popitem(last=False)
        return False

    def _read(self, selection: Selection, made_for: object) -> SliceWords:
        read = SliceWords(WordIndex(), {}, {})
        return self._refresh(read, set(), replace(selection, limit=MAX_DOCUMENTS + 1), made_for)

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
        return 120 * kept.words.size + 500 * len(kept.records)
