"""The keyword verbs of the reference backend: every text is cut and counted anew at each question."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from indelible.backend.interface import Backend, Corpus, CountedRecords, Document, Found, Indexer, Occurrences, Selection, Words
from indelible.base.standing import Standing
from indelible.testing.reference_log import Medium

if TYPE_CHECKING:
    from indelible.backend.large import Integers


class ReferenceWords(Backend):
    """Finds and counts words by looking at everything."""

    _indexer: Indexer

    @abstractmethod
    def _open(self) -> AbstractContextManager[Medium]:
        """The medium, held for one call."""

    def find(self, selection: Selection, terms: Sequence[Sequence[Sequence[str]]], *, match: Literal["all", "any"]) -> list[Found]:
        hold = all if match == "all" else any
        found = []
        for row, _, words in self._texts(selection):
            if terms and hold(any(set(self._listed(words)).issuperset(run) for run in term) for term in terms):
                found.append(Found(row.record, row.version, words))
        return found

    def counted(self, selection: Selection, terms: Sequence[Sequence[str]], *, lengths: bool) -> CountedRecords | None:
        found: list[tuple[bytes, int, list[int], int]] = []
        for row, _, words in self._texts(selection):
            there = Counter(self._listed(words))
            counts = [sum(there[word] for word in dict.fromkeys(term)) for term in terms]
            if any(counts):
                found.append((row.record, row.version, counts, len(words.split()) if lengths else 0))
        return CountedRecords(
            [record for record, _, _, _ in found],
            [version for _, version, _, _ in found],
            [[counts[number] for _, _, counts, _ in found] for number in range(len(terms))],
            [length for _, _, _, length in found],
            self.corpus(selection) if lengths else None,
        )

    def occurrences(self, terms: Sequence[Sequence[str]]) -> Occurrences:
        import numpy as np

        everything = Selection(namespace=None, expiry="all", every_version=True)
        texts = {doc: Counter(self._listed(words)) for _, doc, words in self._texts(everything)}
        counts = {doc: [sum(there[word] for word in dict.fromkeys(term)) for term in terms] for doc, there in texts.items()}
        held = sorted(doc for doc, of_terms in counts.items() if any(of_terms))
        shape = (len(held), len(terms))
        return Occurrences(np.array(held, np.int64), np.array([counts[doc] for doc in held], np.int64).reshape(shape).T)

    def resolve(self, selection: Selection, docs: Sequence[int]) -> list[Document]:
        with self._open() as medium:
            rows = [medium.row(piece) for piece in medium.view().select(selection)]
        found = {row.doc: row.standing for row in rows if row.doc in docs}
        return [Document(doc, standing.version, standing.record, standing.expires_at) for doc, standing in found.items()]

    def _listed(self, words: str) -> list[str]:
        """Words and marked stems, once for each occurrence."""
        split = words.split()
        return split + [mark for word in split if (mark := self._indexer.stem(word))]

    def words(self, selection: Selection) -> list[Words]:
        found = [Words(row.record, row.version, words, row.expires_at) for row, _, words in self._texts(selection)]
        return found[selection.offset :][: selection.limit]

    def corpus(self, selection: Selection) -> Corpus:
        lengths = [len(words.split()) for _, _, words in self._texts(selection)]
        return Corpus(len(lengths), sum(lengths))

    def _texts(self, selection: Selection) -> Iterator[tuple[Standing, int, str]]:
        """Records with words in them, their documents, and what an index would hold of each."""
        with self._open() as medium:
            pieces = [(piece, medium.row(piece).doc) for piece in medium.view().select(selection)]
        for piece, doc in pieces:
            words = self._indexer.words(piece.text)
            if words:
                yield piece.standing, doc, words

    def lengths(self, docs: Integers) -> Integers:
        import numpy as np

        everything = Selection(namespace=None, expiry="all", every_version=True)
        lengths = {doc: len(words.split()) for _, doc, words in self._texts(everything)}
        return np.array([lengths.get(doc, 0) for doc in docs.tolist()], np.int64)
