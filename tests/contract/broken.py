"""Stores with one bug each, as small as a bug can be. No test of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from sqlite3 import Connection
from typing import Any

from indelible.backend.interface import Backend, CountedRecords, Mark, Row, Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.documents import Documents
from indelible.backend.sqlite.transaction import Transaction
from indelible.base.canonical import dumps
from indelible.base.draft import Draft, PartVector, Written
from indelible.base.event import Event, Op
from indelible.base.record import ANY_SCOPE
from indelible.errors import IndelibleError, RecordNotFound, VersionConflict
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, ReferenceBackend
from indelible.testing.contract.drivers import FilePlace, ReferencePlace


class DropsHistory(ReferenceBackend):
    """Keeps the newest event of a key only."""

    def events(self, **which: Any) -> list[Event]:
        found = super().events(**which)
        return found[-1:] if "key" in which else found


class ReordersChanges(ReferenceBackend):
    """Tells a history the wrong way round."""

    def events(self, **which: Any) -> list[Event]:
        return super().events(**which)[::-1]


class LeaksScope(ReferenceBackend):
    """Reads whoever's it is."""

    def select(self, selection: Selection) -> list[Row]:
        return super().select(replace(selection, scope=ANY_SCOPE))


class MatchesScopesLoosely(ReferenceBackend):
    """Compares scopes without regard to case."""

    def select(self, selection: Selection) -> list[Row]:
        wanted = str(selection.scope).lower()
        return [row for row in super().select(replace(selection, scope=ANY_SCOPE)) if str(row.standing.scope)[5:].lower() == wanted[11:]]


class IsOffByOne(ReferenceBackend):
    """Reads the version before."""

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        return super().position(version=version if version is None else version - 1, at_ms=at_ms)


class RoundsTimes(ReferenceBackend):
    """Takes a time in the past for a whole day."""

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        return super().position(version=version, at_ms=None if at_ms is None else at_ms + 86_400_000)


class ReturnsTombstones(ReferenceBackend):
    """Shows what was forgotten."""

    def select(self, selection: Selection) -> list[Row]:
        return super().select(replace(selection, hidden=True))


class ForgetsExpiry(ReferenceBackend):
    """Shows what has expired."""

    def select(self, selection: Selection) -> list[Row]:
        return super().select(replace(selection, expiry="all"))


class ExpiresLate(ReferenceBackend):
    """Shows what expires now."""

    def select(self, selection: Selection) -> list[Row]:
        return super().select(replace(selection, now_ms=selection.now_ms - 1))


class JudgesThePastByToday(ReferenceBackend):
    """Hides in a view of the past what has expired since."""

    def position(self, *, version: int | None = None, at_ms: int | None = None) -> Mark:
        return super().position(version=version, at_ms=at_ms)._replace(recorded_at=self._clock.now_us() // 1000)


class ForgetsTheOrder(ReferenceBackend):
    """Lists by latest change."""

    def select(self, selection: Selection) -> list[Row]:
        return super().select(replace(selection, order="updated"))


class ShowsHalfABatch(ReferenceBackend):
    """Writes each item of a batch in a transaction of its own."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        return [super(ShowsHalfABatch, self).append([draft])[0] for draft in drafts]


class LetsAVoteRevive(ReferenceBackend):
    """Brings back what is voted on."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        try:
            return super().append(drafts)
        except RecordNotFound:
            return super().append([replace(draft, op=Op.RESTORE, fields={}) if draft.op is Op.VOTE else draft for draft in drafts])


class SkipsTheCompare(ReferenceBackend):
    """Writes although somebody else was faster."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        try:
            return super().append(drafts)
        except VersionConflict:
            return super().append([replace(draft, expected_version=None) for draft in drafts])


class RepeatsARetry(ReferenceBackend):
    """Takes a retry for a new write."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        return super().append([replace(draft, idempotency_key=None) for draft in drafts])


class SwallowsAnEqualText(ReferenceBackend):
    """Thinks that telling the same again is nothing."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        last = self.medium.log[-1].payload if self.medium.log else None
        news = [draft for draft in drafts if last is None or not draft.fields or draft.fields.get("content", "") not in last.body]
        return super().append(news) or [Written(None, 0, False)] * len(drafts)


class CountsStrangers(ReferenceBackend):
    """Adds the words of other scopes to each document."""

    def counted(self, selection: Selection, terms: Sequence[Sequence[str]], *, lengths: bool) -> CountedRecords | None:
        everywhere = super().counted(replace(selection, scope=ANY_SCOPE), terms, lengths=lengths)
        found = super().counted(selection, terms, lengths=lengths)
        if everywhere is None or found is None:
            return None
        return found._replace(counts=[[sum(counts)] * len(found.records) for counts in everywhere.counts])


class KeepsTheOldVector(ReferenceBackend):
    """Goes on meaning what it meant when it was new."""

    def stored_vectors(self, doc: int) -> list[PartVector]:
        record = self.medium.log[doc - 1].record
        first = next(event.version for event in self.medium.log if event.record == record)
        return super().stored_vectors(first)


class BringsBackAPurgedRecord(ReferenceBackend):
    """Hides what should be destroyed."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        return super().append([replace(draft, op=Op.FORGET, if_missing="ignore") if draft.op is Op.PURGE else draft for draft in drafts])


class _KeepsDocuments(Documents):
    """Index documents of which a purge takes only the vectors."""

    def drop_record(self, record: bytes) -> None:
        self._keeps = True
        super().drop_record(record)
        self._keeps = False

    def unindex(self, doc: int) -> None:
        if not getattr(self, "_keeps", False):
            super().unindex(doc)


class LeavesKeywordText(SqliteBackend):
    """Purges everything but what the keyword index holds: the words of a document and the index's own entries for them."""

    def _transaction(self, connection: Connection) -> Transaction:
        transaction = super()._transaction(connection)
        transaction.documents = _KeepsDocuments(connection, self._indexer)
        return transaction


class LeavesIndexEntries(SqliteBackend):
    """Deletes the documents of a purge, but not what the index lists for their words."""

    def _transaction(self, connection: Connection) -> Transaction:
        transaction = super()._transaction(connection)
        transaction.documents = _KeepsEntries(connection, self._indexer)
        return transaction


class _KeepsEntries(Documents):
    def drop_record(self, record: bytes) -> None:
        self._connection.execute("DELETE FROM keyword WHERE doc IN (SELECT doc FROM state WHERE record = ?)", (record,))
        super().drop_record(record)


class ReadsAStaleCache(SqliteBackend):
    """Believes what it read until it writes itself."""

    def select(self, selection: Selection) -> list[Row]:
        known = self.__dict__.setdefault("known", {})
        asked = replace(selection, now_ms=0)
        if asked not in known:
            known[asked] = super().select(selection)
        return list(known[asked])

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        self.__dict__.pop("known", None)
        return super().append(drafts)


class NeverNoticesOthers(SqliteBackend):
    """Answers "has anything changed?" from memory, so vectors of other writers are not read."""

    def mark(self) -> Mark:
        marks: dict[str, Mark] = self.__dict__.setdefault("marks", {})
        return marks.setdefault("first", super().mark())

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        self.__dict__.pop("marks", None)
        return super().append(drafts)


class LosesWhatIsLast(SqliteBackend):
    """Acknowledges the last write of a life without making it."""

    def append(self, drafts: Sequence[Draft]) -> list[Written]:
        self.__dict__["last"] = [draft for draft in drafts if draft.op is Op.REMEMBER] or self.__dict__.get("last", [])
        return super().append(drafts)

    def close(self) -> None:
        for draft in self.__dict__.pop("last", ()):
            super().append([Draft(Op.FORGET, draft.namespace, draft.scope, key=draft.key, if_missing="ignore")])
        super().close()


class ImportsAnything(ReferenceBackend):
    """Takes whatever it is given."""

    def ingest(self, events: Any, vectors: Any = ()) -> Any:
        try:
            return super().ingest(events, vectors)
        except IndelibleError:
            super().append([Draft(Op.REMEMBER, fields={"content": dumps("whatever")})])


class OnReference(ReferencePlace):
    """The reference's medium under a broken backend."""

    def __init__(self, backend: type[ReferenceBackend]) -> None:
        super().__init__()
        self._backend = backend

    def open(self, clock: FakeClock) -> Backend:
        return self._backend(self.medium, clock=clock)


class OnFile(FilePlace):
    """A file under a broken backend."""

    def __init__(self, path: str, backend: type[SqliteBackend]) -> None:
        super().__init__(path)
        self._backend = backend

    def open(self, clock: FakeClock) -> Backend:
        return self._backend(self.path, TextIndexer(), clock=clock)
