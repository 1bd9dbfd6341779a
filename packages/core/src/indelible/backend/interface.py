"""What a backend is: a log with its views, behind about a dozen verbs.

A backend stores events and vectors and finds candidates. It never sees an embedder (it receives vectors), never ranks (search does),
and never decides what a write means (the planner does). Every backend runs the contract suite of ``indelible.testing``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from indelible.backend.large import LargeReads
from indelible.backend.selection import Selection as Selection
from indelible.base.event import Event
from indelible.base.plan import ContextTexts, Draft, PartVector, Written
from indelible.base.record import Namespace, Scope
from indelible.base.standing import Standing
from indelible.errors import UnsupportedOperation


class Indexer(Protocol):
    """Turns text into what the keyword index holds; the same code serves every backend."""

    version: int

    def words(self, text: str) -> str:
        """The words of a text, in order, joined by single spaces."""
        ...

    def stem(self, word: str) -> str:
        """The marked stem of a word that differs from it, else nothing: a character beyond ASCII that no word has, then what begins as the
        word."""
        ...


class Row(NamedTuple):
    """A record in a state, with the payload that made it and the document under which its text and vectors are kept."""

    standing: Standing
    body: str
    doc: int


class ContextRead(NamedTuple):
    """What the vectors of a document's context were made with.

    Attributes:
        record: whose document it is.
        texts: its context as it was read.
    """

    record: bytes
    texts: ContextTexts


class Mark(NamedTuple):
    """What a cache compares to know whether it is fresh.

    Attributes:
        version: the newest event.
        epoch: rises whenever projections were made anew.
        recorded_at: arrival of the newest event, UTC milliseconds.
    """

    version: int
    epoch: int
    recorded_at: int


class Found(NamedTuple):
    """A candidate of the keyword index.

    Attributes:
        record, version: which state of which record.
        words: what the index holds of it.
    """

    record: bytes
    version: int
    words: str


class Document(NamedTuple):
    """A document of the keyword index, and the record's state that it is of."""

    doc: int
    version: int
    record: bytes
    expires_at: int | None


class Corpus(NamedTuple):
    """Size of the indexed text in a selection: documents, and words in all of them."""

    documents: int
    words: int


class CountedRecords(NamedTuple):
    """The records of a selection in which some of a few terms occur, in no order.

    Attributes:
        records, versions: of each.
        counts: for each term how often it occurs in each record: lists, or an array of shape (terms, records).
        lengths: how many words each record has; 0 where that was not asked.
        corpus: of the whole selection; ``None`` where that was not asked.
    """

    records: list[bytes]
    versions: list[int]
    counts: Any
    lengths: list[int]
    corpus: Corpus | None


class Occurrences(NamedTuple):
    """How often terms occur in documents, those of the past and of other slices included.

    Attributes:
        documents: int64, ascending.
        counts: integers, of shape (terms, documents).
    """

    documents: Any
    counts: Any


class Words(NamedTuple):
    """What the keyword index holds of a record's state: its words in order, joined by single spaces."""

    record: bytes
    version: int
    words: str
    expires_at: int | None


class VectorRow(NamedTuple):
    """A vector of a record's state."""

    record: bytes
    version: int
    part: str
    data: bytes
    expires_at: int | None


class Ingested(NamedTuple):
    """What an import brought: events that were new, and events already here."""

    added: int
    known: int


class CacheEntry(NamedTuple):
    """A value of a cache collection; times in UTC milliseconds."""

    key: str
    value: bytes
    updated: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """What ``verify`` found.

    Attributes:
        ok: nothing is wrong.
        events: how many were checked.
        heads: per device (hex) the sequence number and hash (hex) its chain ends with; keep them elsewhere to notice a cut tail.
        problems: one line each.
    """

    ok: bool
    events: int
    heads: dict[str, tuple[int, str]]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What ``vacuum`` did.

    Attributes:
        bytes_before, bytes_after: size of the database and its log on disk.
        busy: a reader or writer was in the way of the checkpoint; nothing is lost, call again when it is gone.
    """

    bytes_before: int
    bytes_after: int
    busy: bool


class Backend(LargeReads):
    """The border between the faces and a medium. All methods may be called from any thread."""

    @abstractmethod
    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        """Plan and write drafts in one transaction; acknowledged only once it survives a power cut.

        Returns:
            What became of each draft; nothing at all, and nothing was written, if one requires a setting that reads otherwise by now.

        Raises:
            IndelibleError: as the planner or the medium says; then nothing was written.
        """

    @abstractmethod
    def ingest(self, events: Iterable[Event], vectors: Iterable[tuple[bytes, int, PartVector]] = ()) -> Ingested:
        """Take events of other stores, in one transaction, idempotent on (device, seq).

        Args:
            events: in the order in which their store had them.
            vectors: (device, seq, vector) of those that cannot be made again.

        Raises:
            IntegrityFailure: a chain has a gap or a wrong hash, a payload is not the one committed to, or a clock is in the future.
        """

    @abstractmethod
    def mark(self) -> Mark:
        """Where the store is."""

    @abstractmethod
    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        """The last whole transaction at a version or time; version 0 before the first."""

    @abstractmethod
    def select(self, selection: Selection) -> list[Row]:
        """Records of a selection, in its order."""

    @abstractmethod
    def rows(self, records: Sequence[bytes], *, version: int | None = None) -> list[Row]:
        """Visible records as they stand, or stood at a version, in any slice, expired or not, in no order.

        What reads the few hits of a question: their ids came out of a selection before.
        """

    @abstractmethod
    def slices(self, selection: Selection) -> list[tuple[Namespace, Scope, int]]:
        """Namespaces and scopes with records in a selection, and how many, sorted."""

    @abstractmethod
    def events(
        self, *, after: int = 0, limit: int | None = None, record: bytes | None = None, key: tuple[Namespace, Scope, str] | None = None
    ) -> list[Event]:
        """Events in order of arrival: all, of one record, or of every record that was ever written under a key."""

    @abstractmethod
    def find(self, selection: Selection, terms: Sequence[Sequence[Sequence[str]]], *, match: Literal["all", "any"]) -> list[Found]:
        """Candidates of a keyword query: at least every record of the selection whose index holds the words.

        Args:
            terms: per term its alternatives, each a run of words or marked stems.
            match: whether all terms must be there or any.
        """

    @abstractmethod
    def words(self, selection: Selection) -> list[Words]:
        """The indexed words of every record of a selection that has any, in no order; at most ``limit``."""

    @abstractmethod
    def counted(self, selection: Selection, terms: Sequence[Sequence[str]], *, lengths: bool) -> CountedRecords | None:
        """The records of a selection in which any of some terms of single words occurs; ``None`` where it is too large for that.

        Args:
            selection: what is searched.
            terms: of each the words or marked stems that count.
            lengths: whether the records' numbers of words are needed, and the selection's, which have to be looked up.
        """

    @abstractmethod
    def occurrences(self, terms: Sequence[Sequence[str]]) -> Occurrences:
        """How often terms of single words occur in all documents there are or were, whatever a selection takes of them.

        Args:
            terms: of each the words or marked stems that count.
        """

    @abstractmethod
    def resolve(self, selection: Selection, docs: Sequence[int]) -> list[Document]:
        """Which of some documents a selection takes, in no order."""

    @abstractmethod
    def corpus(self, selection: Selection) -> Corpus:
        """How much indexed text a selection has."""

    @abstractmethod
    def vectors(self, selection: Selection, models: Sequence[str]) -> list[VectorRow]:
        """Vectors of a selection made by any of some models, by record and part."""

    @abstractmethod
    def models(self) -> list[str]:
        """Names of every model that made a vector here, sorted."""

    @abstractmethod
    def changed(self, after: int) -> set[bytes]:
        """Records that events after a version are about."""

    @abstractmethod
    def unembedded(self, selection: Selection, models: Sequence[str], *, context: bool = False) -> list[Row]:
        """Records of a selection that have no vector of any of some models.

        Args:
            context: also at least those that are indexed together with other records and have no vector of their context.
        """

    @abstractmethod
    def stored_vectors(self, doc: int) -> list[PartVector]:
        """Every vector of a row's document (for an event, its version), sorted by model and part."""

    @abstractmethod
    def dependents(self, records: Sequence[bytes]) -> list[Row]:
        """Visible records that are indexed together with the text of some others."""

    @abstractmethod
    def drop_vectors(self, selection: Selection, models: Sequence[str]) -> None:
        """Remove the vectors of some models from a selection, and raise the epoch."""

    @abstractmethod
    def put_vectors(self, vectors: Iterable[tuple[int, PartVector]], context: Mapping[int, ContextRead] | None = None) -> None:
        """Set vectors of documents, skipping those that are gone, and raise the epoch.

        Args:
            vectors: with their documents.
            context: per document what the vectors of its context were made with. Where it reads otherwise by now, because a neighbour was
                purged or came in between, they are skipped: no vector may outlive the text it was made from.
        """

    @abstractmethod
    def votes(self, records: Sequence[bytes], *, version: int | None = None) -> dict[bytes, list[str]]:
        """Votes on records up to a version, oldest first."""

    @abstractmethod
    def setting(self, name: str, value: str | None = None, *, namespace: Namespace | None = None) -> str | None:
        """Read a named setting of the store or of a namespace, or set it.

        One of a namespace, whose name may be somebody's secret, is dropped when a purge takes the last record there.
        """

    @abstractmethod
    def cache_get(self, namespace: Namespace, keys: Sequence[str] | None, now_ms: int) -> list[CacheEntry]:
        """Live entries of a cache collection, by key or all, sorted by key."""

    @abstractmethod
    def cache_put(self, namespace: Namespace, entries: Sequence[CacheEntry], remove: Sequence[str] = ()) -> None:
        """Set and remove entries of a cache collection in one transaction."""

    @abstractmethod
    def verify(self) -> Report:
        """Re-derive every hash and compare every view with the log."""

    @abstractmethod
    def rebuild(self) -> None:
        """Make every view anew from the log and raise the epoch; answers stay the same."""

    @abstractmethod
    def statistics(self) -> dict[str, Any]:
        """Numbers for ``health`` and ``doctor``; no content."""

    def vacuum(self) -> Vacuumed:
        """Reclaim space; never changes an answer.

        Raises:
            UnsupportedOperation: the medium has nothing to reclaim.
        """
        raise UnsupportedOperation(f"{type(self).__name__} has no vacuum: there is nothing to reclaim")

    def backup(self, target: str) -> Report:
        """Copy the store to a new file, verify the copy, and mark it so that it takes a device identity of its own when opened.

        Raises:
            InvalidInput: the file exists.
            IntegrityFailure: the copy does not verify.
            UnsupportedOperation: the medium cannot be copied to a file.
        """
        raise UnsupportedOperation(f"{type(self).__name__} makes no backup files: export the log instead")

    @abstractmethod
    def close(self) -> None:
        """Let go of everything. Closing twice is fine; any other call after it raises ``StoreClosed``."""
