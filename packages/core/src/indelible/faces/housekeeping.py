"""Verbs that act on many memories: withdraw, forget what expired, prune, erase. Manual, previewed where they destroy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from indelible.backend.interface import Row, Selection
from indelible.base.canonical import check_text, loads
from indelible.base.clock import ms_from_datetime
from indelible.base.event import STATE_OPS, Op, PurgeReason
from indelible.base.ids import id_text
from indelible.base.plan import Draft, Written
from indelible.base.record import UNSET, Change, Namespace, ScopeFilter
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_choice, check_when
from indelible.faces.facts_write import FactWrites
from indelible.faces.fields import changes_of
from indelible.faces.scoping import ScopeValue, check_filter, narrowed
from indelible.search.keyword import KeywordQuery, counts, matches, parse_query
from indelible.search.normalise import tokens

SAMPLE = 10
NOT_REACHED = (
    "backups and exports made before",
    "other devices and copies of this file",
    "what models and programs were already told",
    "snapshots of the file system and blocks that a solid-state disk has remapped",
)
"""What no deletion in this file can reach."""
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Pruned:
    """What ``prune`` did or, as a dry run, would do.

    Attributes:
        count: how many memories, exactly.
        sample: ids of the first few.
        done: whether it was done.
        hard: whether they were, or would be, destroyed and not only forgotten.
    """

    count: int
    sample: tuple[str, ...]
    done: bool
    hard: bool


@dataclass(frozen=True, slots=True)
class Erased:
    """The receipt of ``erase``.

    Attributes:
        count: how many records, in all namespaces.
        namespaces: how many in each.
        done: whether it was done; without ``confirm=True`` it is a preview.
        not_reached: what this cannot reach.
    """

    count: int
    namespaces: dict[Namespace, int]
    done: bool
    not_reached: tuple[str, ...] = NOT_REACHED


class Housekeeping(FactWrites):
    """The verbs on many memories, within a view's reach."""

    def forget_expired(
        self,
        *,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
    ) -> int:
        """Append a tombstone for every memory that has expired. One that is given more time at this very moment stays.

        Returns:
            How many.
        """
        scope = check_filter(agent_id, user_id, org_id, workspace_id)
        return len(self._forget(lambda done: self._engine.backend.select(self._reach(scope, expiry="expired"))))

    def withdraw(self, source: str, since: int | datetime | None = None, derived: bool = False, restore: bool = False) -> int:
        """Forget everything a source wrote: every memory whose current state came from it. ``undo`` brings each back.

        What somebody else edits at this very moment is judged by what it says then.

        Args:
            source: as it was given when writing.
            since: only what was written at or after this version or time.
            derived: also what names one of these, or the source itself, as parent, and so on.
            restore: of what others had written before, bring back the last state that is not the source's, also where the source
                forgot it; only what the source began is forgotten.

        Returns:
            How many memories were forgotten or brought back.
        """
        check_text(source, "source", empty=False)
        if since is not None:
            check_when(since, "since")

        def choose(done: Sequence[Row]) -> list[Row]:
            rows = self._engine.backend.select(self._reach(expiry="all", hidden=bool(restore)))
            chosen = [row for row in rows if loads(row.body).get("source") == source and _is_since(row, since)]
            return _with_derived(rows, chosen, source, done) if derived else chosen

        return len(self._each(choose, lambda row: self._before(row, source, since)) if restore else self._forget(choose))

    def _before(self, row: Row, source: str, since: int | datetime | None) -> Draft:
        """What takes a record back to where it stood before a source wrote to it."""
        record = row.standing.record
        states = [change for change in changes_of(self._engine.backend.events(record=record)) if change.op in STATE_OPS]
        while states and states[-1].source == source and _changed_since(states[-1], since):
            states = _without_last(states)
        last = states[-1] if states and loads(row.body).get("source") == source else None
        if last is None or last.record is None:
            return Draft(Op.FORGET, row.standing.namespace, within=self._within, record=record, if_missing="ignore")
        return Draft(Op.RESTORE, row.standing.namespace, within=self._within, record=record, restore_version=last.version)

    def prune(
        self,
        *,
        agent_id: ScopeValue = UNSET,
        user_id: ScopeValue = UNSET,
        org_id: ScopeValue = UNSET,
        workspace_id: ScopeValue = UNSET,
        keywords: str | None = None,
        expired_only: bool = False,
        before: datetime | None = None,
        dry_run: bool = True,
        confirm: bool = False,
        hard: bool = False,
        yes_i_really_want_to_delete: bool = False,
        reason: str = "request",
    ) -> Pruned:
        """Forget, or destroy, the memories that meet every given condition. Without ``dry_run=False`` it only counts.

        What changes at this very moment goes only if it meets them as it then stands.

        Args:
            agent_id, user_id, org_id, workspace_id: this scope; ``None`` for those where it is not set.
            keywords: whose content holds all these words; of what is forgotten, any content that it ever had.
            expired_only: only what has expired.
            before: only what was last changed before this time.
            dry_run: count, and change nothing.
            confirm: must be ``True`` to change anything.
            hard: destroy (purge) instead of forgetting; also takes memories that are already forgotten.
            yes_i_really_want_to_delete: must be ``True`` to destroy anything.
            reason: of a hard prune, as for ``purge``.

        Raises:
            InvalidInput: no condition at all, or a change asked for without the confirmations it needs.
        """
        scope = check_filter(agent_id, user_id, org_id, workspace_id)
        reach = narrowed(self._within, scope)
        if reach == ScopeFilter() and keywords is None and not expired_only and before is None:
            raise InvalidInput(
                "prune needs a condition: a scope, keywords, expired_only or before; erase() and purge() name what they take"
            )
        code = PurgeReason(check_choice(reason, "reason", tuple(PurgeReason)))
        # Only the very values that the words promise: a text such as "no" is true, too.
        dry_run = dry_run is not False
        if not dry_run and confirm is not True:
            raise InvalidInput("prune changes nothing without confirm=True: look at the dry run, then say so")
        if not dry_run and hard and yes_i_really_want_to_delete is not True:
            raise InvalidInput("a hard prune cannot be undone: it needs yes_i_really_want_to_delete=True as well")
        query = None if keywords is None else parse_query(keywords)
        limit = None if before is None else ms_from_datetime(before, "before")

        def choose(done: Sequence[Row] = ()) -> list[Row]:
            selection = self._reach(scope, expiry="expired" if expired_only else "all", hidden=bool(hard))
            return [row for row in self._engine.backend.select(selection) if self._meets(row, query, limit)]

        if dry_run:
            rows = choose()
        elif hard:
            rows = self._each(choose, lambda row: _purge_of(row, self._within, code))
        else:
            rows = self._forget(choose)
        return Pruned(len(rows), tuple(id_text(row.standing.record) for row in rows[:SAMPLE]), not dry_run, bool(hard))

    def erase(
        self,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        confirm: bool = False,
        reason: str = "request",
    ) -> Erased:
        """Destroy everything of a scope in every namespace: facts, collections, forgotten and expired records.

        Args:
            agent_id, user_id, org_id, workspace_id: the scope; at least one must be given.
            confirm: must be ``True`` to do it; else it is a preview.
            reason: as for ``purge``.

        Returns:
            A receipt of what was and was not reached.
        """
        asked = ScopeFilter(*(UNSET if value is None else value for value in (agent_id, user_id, org_id, workspace_id)))
        if asked == ScopeFilter():
            raise InvalidInput("erase needs a scope: give user_id=, agent_id=, org_id= or workspace_id=")
        code = PurgeReason(check_choice(reason, "reason", tuple(PurgeReason)))
        reach = narrowed(self._within, check_filter(*asked))
        rows = self._everything(reach)
        if confirm is True:
            # Nothing but the scope decides, and no record ever changes that: what is edited meanwhile goes all the same, and what is
            # added meanwhile is looked for once more.
            found, rows = rows, []
            for _ in range(_ROUNDS):
                self._write_all([_purge_of(row, reach, code) for row in found])
                rows += found
                if not (found := self._everything(reach)):
                    break
        namespaces: dict[Namespace, int] = {}
        for row in rows:
            namespaces[row.standing.namespace] = namespaces.get(row.standing.namespace, 0) + 1
        return Erased(len(rows), namespaces, confirm is True)

    def _everything(self, reach: ScopeFilter) -> list[Row]:
        return self._engine.backend.select(Selection(namespace=None, scope=reach, expiry="all", hidden=True))

    def _meets(self, row: Row, query: KeywordQuery | None, before_ms: int | None) -> bool:
        if before_ms is not None and row.standing.updated // 1000 >= before_ms:
            return False
        return query is None or any(matches(query, counts(query, tokens(text))) for text in self._texts(row))

    def _texts(self, row: Row) -> list[str]:
        """What a memory says, or of a forgotten one, what it ever said."""
        if row.standing.visible:
            return [str(loads(row.body).get("content", ""))]
        events = self._engine.backend.events(record=row.standing.record)
        return [str(event.payload.fields.get("content", "")) for event in events if event.payload is not None]

    def _reach(self, scope: ScopeFilter | None = None, **more: object) -> Selection:
        reach = self._within if scope is None else narrowed(self._within, scope)
        return Selection(namespace=self._namespace, scope=reach, now_ms=self._engine.now_ms(), **more)  # type: ignore[arg-type]  # ours

    def _forget(self, choose: Callable[[Sequence[Row]], list[Row]]) -> list[Row]:
        return self._each(
            choose,
            lambda row: Draft(Op.FORGET, row.standing.namespace, within=self._within, record=row.standing.record, if_missing="ignore"),
        )

    def _each(self, choose: Callable[[Sequence[Row]], list[Row]], draft: Callable[[Row], Draft]) -> list[Row]:
        """Write a draft for each record that is chosen, as long as it stands as it was chosen; of the others choose again.

        Args:
            choose: reads the records, given those that are done.
            draft: what to write for one.

        Returns:
            The records that were changed, as they were.
        """
        done: list[Row] = []
        while True:
            gone = {row.standing.record for row in done}
            rows = [row for row in choose(done) if row.standing.record not in gone]
            drafts = [replace(draft(row), chosen=row.standing) for row in rows]
            written = self._write_all(drafts)
            for row, made, item in zip(rows, drafts, written, strict=True):
                # A purge takes along what was under the same key.
                if item.changed or (made.op is Op.PURGE and item.record is None):
                    done.append(row)
            if not any(item.stale for item in written):
                return done

    def _write_all(self, drafts: list[Draft]) -> list[Written]:
        written = self._engine.backend.append(drafts)
        changed = {item.record: item.standing for item in written if item.changed and item.record is not None}
        back = [record for record, standing in changed.items() if standing is not None and standing.visible]
        self._refresh_context(list(changed), back)
        return written


def _purge_of(row: Row, within: ScopeFilter, reason: PurgeReason) -> Draft:
    return Draft(Op.PURGE, None, within=within, record=row.standing.record, reason=reason)


def _is_since(row: Row, since: int | datetime | None) -> bool:
    if since is None:
        return True
    if isinstance(since, datetime):
        return row.standing.updated // 1000 >= ms_from_datetime(since, "since")
    return row.standing.version >= since


def _without_last(states: list[Change]) -> list[Change]:
    """What stood before the last state; a restored one stands for the state that it brought back, and what lies between was undone."""
    last = states.pop()
    if last.op is Op.RESTORE:
        while states and not _same_state(states[-1], last):
            states.pop()
        del states[-1:]
    return states


def _same_state(one: Change, other: Change) -> bool:
    shown = [(it.content, it.metadata, it.value, it.source, it.parent) for it in (one.record, other.record) if it is not None]
    return len(shown) == 2 and shown[0] == shown[1]


def _changed_since(change: Change, since: int | datetime | None) -> bool:
    if since is None:
        return True
    return change.at >= since if isinstance(since, datetime) else change.version >= since


def _with_derived(rows: Sequence[Row], chosen: Sequence[Row], source: str, done: Sequence[Row]) -> list[Row]:
    parents = {source} | {id_text(row.standing.record) for row in (*chosen, *done)}
    found = list(chosen)
    taken = {row.standing.record for row in chosen}
    while True:
        more = [row for row in rows if row.standing.parent in parents and row.standing.record not in taken]
        if not more:
            return found
        found += more
        taken |= {row.standing.record for row in more}
        parents |= {id_text(row.standing.record) for row in more}
