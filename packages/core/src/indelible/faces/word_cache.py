"""Words of slices, kept in this process and kept fresh, so that keyword search reads no text it has read before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import Backend, Mark, Selection
from indelible.faces.slice_cache import MAX_NOTED, Key, PatientCache
from indelible.search.bm25 import Bm25
from indelible.search.keyword import KeywordQuery, Scoring
from indelible.search.word_index import WordIndex

if TYPE_CHECKING:
    from indelible.search.word_index import Floats, Integers

MAX_BYTES = 128 << 20
MAX_RECORDS = 20_000
"""The index of the backend finds in a larger slice without reading everything."""
PATIENCE = 5
"""So many questions about a slice are counted by the backend's index before its words are read, which takes about as long as they did."""
WITH_LENGTHS = 3
"""For how many of them one counts that has to look up how long each text is."""
_RECORD_BYTES = 250
"""Of a record: its id, its version, and its places in both directions."""


class SliceWords(NamedTuple):
    """The words of a slice.

    Attributes:
        words: its documents, numbered by version.
        versions, records: which version each record stands in, and the other way round; never changed once they are here, so that
            whoever was given them may go on using them.
    """

    words: WordIndex
    versions: dict[bytes, int]
    records: dict[int, bytes]


class WordHits(NamedTuple):
    """What a query finds in a slice.

    Attributes:
        versions: of the hits and maybe more, in no order; as long as a slice that is kept stays as it is, always the same array.
        at: where the hits are among them.
        scores: of each hit.
        bm25: with the statistics of the whole slice; ``None`` for term frequency.
        records: by version, of these hits and maybe more.
    """

    versions: Integers
    at: Integers | slice
    scores: Floats
    bm25: Bm25 | None
    records: Mapping[int, bytes]


class WordCache(PatientCache[SliceWords]):
    """The words of slices."""

    def __init__(self, backend: Backend, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(backend, max_bytes, MAX_RECORDS)
        # How often others were counted, see PATIENCE.
        self._counted_before: OrderedDict[Key, int] = OrderedDict()

    def forget(self) -> None:
        super().forget()
        self._counted_before.clear()

    def score(self, selection: Selection, query: KeywordQuery, scoring: Scoring, mark: Mark) -> WordHits | None:
        """The hits of a query in a slice as it stands; ``None`` where the backend's index has to find them.

        Args:
            selection: the slice, with whether what has expired counts.
            query: a parsed query.
            scoring: term frequency, or bm25.
            mark: where the store is.
        """
        key = _key(selection)
        now_ms = selection.now_ms if selection.expiry == "live" else None
        with self._lock:
            known = self._known(key, selection, None, mark)
            if known is None:
                return None
            found = known.words.score(query, scoring, now_ms)
            if self._entries[key].nbytes != self._counted(known):
                # The stems of all its words were looked up.
                self._keep(key, self._entries[key])
            return WordHits(*found, known.records)

    def is_counted(self, selection: Selection) -> bool:
        """Whether a question about a slice is best counted by the backend: there were few before, and none found it too large."""
        key = _key(selection)
        with self._lock:
            return key not in self._entries and key not in self._asked

    def note_counted(self, selection: Selection, *, lengths: bool) -> None:
        """Remember that a question about a slice was counted, so that it is not too large to be read at one of the next.

        Args:
            selection: the slice.
            lengths: whether the lengths of its texts were looked up.
        """
        key = _key(selection)
        with self._lock:
            times = self._counted_before.pop(key, 0) + (WITH_LENGTHS if lengths else 1)
            if times >= PATIENCE:
                self._note(key, worth_reading=True)
                return
            self._counted_before[key] = times
            while len(self._counted_before) > MAX_NOTED:
                self._counted_before.popitem(last=False)

    def is_too_large(self, selection: Selection) -> bool:
        """Whether a slice has more records than the words are kept of. Once it had, it is not looked at again."""
        key = _key(selection)
        with self._lock:
            if key in self._entries:
                return False
            if self._asked.get(key) is False:
                return True
        if self._backend.size(selection, self.max_records + 1) <= self.max_records:
            return False
        with self._lock:
            self._note(key, worth_reading=False)
        return True

    def _empty(self) -> SliceWords:
        return SliceWords(WordIndex(), {}, {})

    def _size(self, kept: SliceWords) -> int:
        return len(kept.records)

    def _refresh(self, kept: SliceWords, changed: set[bytes], selection: Selection, made_for: object) -> SliceWords:
        versions, records = dict(kept.versions), dict(kept.records)
        for record in changed & versions.keys():
            version = versions.pop(record)
            del records[version]
            kept.words.remove(version)
        for record, version, words, expires_at in self._backend.words(selection):
            versions[record] = version
            records[version] = record
            kept.words.add(version, words, expires_at)
        return SliceWords(kept.words, versions, records)

    def _nbytes(self, kept: SliceWords) -> int:
        return kept.words.nbytes + _RECORD_BYTES * len(kept.records)


def _key(selection: Selection) -> Key:
    return (selection.namespace, selection.prefix, selection.scope, selection.version)
