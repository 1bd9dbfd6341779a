"""Writing facts: remember, edit, forget, undo, feedback, and what touches many at once."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

from indelible.backend.interface import Selection
from indelible.base.canonical import check_text, dumps, loads
from indelible.base.clock import expiry_from_ttl
from indelible.base.event import Op, PurgeReason
from indelible.base.ids import id_text
from indelible.base.plan import ContextTexts, Draft, PartVector, Written
from indelible.base.record import UNSET, Record, Scope, ScopeFilter, Unset
from indelible.errors import EmbedderMismatch, InvalidInput, MissingExtra
from indelible.faces.arguments import check_choice, check_id, check_optional_whole, check_state_version, check_when, given, known_id
from indelible.faces.batch import Batch, Prepared, check_items, naming
from indelible.faces.contexts import context_parts, context_texts
from indelible.faces.facts_read import FactReads, PastView
from indelible.faces.fields import check_content, state_fields, without_nulls, written_record
from indelible.faces.memory import check_key
from indelible.faces.turns import turn_item

EMBED_CHUNK = 256
Progress = Callable[[int, int], object]
Vote = Literal["up", "down"]


class FactWrites(FactReads):
    """The writing verbs of a store or of a bound view.

    Every write is one transaction, durable when the call returns, and made of appended events only.
    """

    _require_scope = False

    def remember(
        self,
        content: str,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        ttl_ms: int | None = None,
        key: str | None = None,
        source: str | None = None,
        context: object = None,
        parent: str | None = None,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
        dedup: bool | None = None,
    ) -> Record:
        """Remember a fact.

        Args:
            content: the text, at most 1 MiB.
            agent_id, user_id: whose it is; else what the view is bound to, else ``MEMORY_AGENT_ID`` and ``MEMORY_USER_ID``, else
                ``"default"``.
            org_id, workspace_id: narrower scopes.
            metadata: JSON object to filter by, at most 64 KiB.
            ttl_ms: milliseconds until it is no longer shown; ``None`` for ever. Nothing is deleted by it.
            key: the caller's name for it; an existing key in the same scope makes this a revision of that record.
            source: who says so: user, tool, URL, session.
            context: records, ids of records and dates whose text is indexed with this one and never returned.
            parent: id of the document, session or memory it came from.
            occurred_at: when it happened; now if not given.
            idempotency_key: a call with one seen before in this scope returns the first record.
            dedup: return the oldest memory of this scope with the very same content, if there is one, instead of adding another; two
                programs at the same moment add one between them. Not together with ``key`` or ``idempotency_key``.

        Raises:
            InvalidInput: an argument is refused; nothing was written.
        """
        item = {
            "content": content, "agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id,
            "metadata": metadata, "ttl_ms": ttl_ms, "key": key, "source": source, "context": context, "parent": parent,
            "occurred_at": occurred_at, "idempotency_key": idempotency_key, "dedup": dedup,
        }  # fmt: skip
        batch = Batch(self._engine, self._namespace)
        self._prepare(item, batch)
        return self._write_facts(batch, None)[0]

    def remember_many(
        self, items: Iterable[str | Mapping[str, Any]], progress: Progress | None = None, **common: Any
    ) -> builtins.list[Record]:
        """Remember many facts in one transaction: all or none.

        Args:
            items: texts, or mappings of the arguments of ``remember``.
            progress: called with (facts embedded, facts in all) as the slow part goes on.
            **common: arguments for every item that does not give its own.

        Returns:
            The records, in the order of the items.

        Raises:
            InvalidInput: one item is refused, and says which; nothing was written.
        """
        batch = Batch(self._engine, self._namespace)
        text: Prepared | None = None
        # What makes the items as they are asked for may change the metadata between them.
        is_settled = type(items) in (list, tuple) or common.get("metadata") is None
        for number, item in enumerate(check_items(items, "items")):
            try:
                if text is not None and type(item) is str:
                    batch.add_like(text, check_content(item))
                elif isinstance(item, str):
                    prepared = self._prepare({**common, "content": item}, batch)
                    text = prepared.as_pattern() if is_settled else None
                elif isinstance(item, Mapping):
                    self._prepare({**common, **item}, batch)
                else:
                    raise InvalidInput(f"expected a str or a dict of remember's arguments, got {type(item).__name__}")
            except InvalidInput as error:
                raise InvalidInput(f"item {number}: {error}") from error
        return self._write_facts(batch, progress)

    def remember_turns(
        self,
        turns: Iterable[Mapping[str, Any] | tuple[str, str]],
        *,
        session: str | None = None,
        date: datetime | None = None,
        progress: Progress | None = None,
        **common: Any,
    ) -> builtins.list[Record]:
        """Remember the turns of a conversation, each with the turn before it and the session's date as ``context``.

        Args:
            turns: ``(role, text)`` pairs, or mappings with ``role`` and ``content`` and any argument of ``remember``.
            session: kept as every turn's ``parent``.
            date: when the session was; kept as ``occurred_at``.
            progress, **common: as for ``remember_many``.

        Returns:
            The records, one per turn that says something.
        """
        batch = Batch(self._engine, self._namespace)
        for number, turn in enumerate(check_items(turns, "turns")):
            with naming(f"turn {number}"):
                item = turn_item(turn, session, date)
                if item is not None:
                    self._prepare_turn({**common, **item}, batch)
        return self._write_facts(batch, progress)

    def _prepare_turn(self, item: dict[str, Any], batch: Batch) -> None:
        """Prepare a turn, with what was said before it as its context."""
        known: dict[str, str] = {}
        if "context" not in item:
            happened = item.get("occurred_at")
            item["context"] = [happened] if isinstance(happened, datetime) else []
            if batch.items:
                previous = batch.items[-1]
                item["context"].insert(0, previous.id)
                known = {previous.id: previous.content}
        # Its id is settled before it is written, so that the next turn can name it.
        self._prepare(item, batch, self._engine.new_id(self._engine.clock.now_us()), known)

    def _prepare(
        self, item: Mapping[str, Any], batch: Batch, record: bytes | None = None, known: Mapping[str, str] | None = None
    ) -> Prepared:
        if not item.keys() <= _ARGUMENTS:
            unknown = set(item) - _ARGUMENTS
            raise InvalidInput(f"remember has no argument {min(map(str, unknown))!r}: it takes {', '.join(sorted(_ARGUMENTS))}")
        get = item.get
        content = check_content(get("content"))
        whose = get("agent_id"), get("user_id"), get("org_id"), get("workspace_id")
        scope = batch.scope(whose, self._within, required=self._require_scope)
        fields = state_fields(
            content=content,
            metadata=get("metadata"),
            parent=get("parent"),
            source=get("source"),
            occurred_at=get("occurred_at"),
            context=get("context") or None,
        )
        entries = loads(fields["context"]) if "context" in fields else ()
        context = context_texts(self._engine.backend, entries, self._namespace, scope, known) if entries else ()
        key, ttl_ms, idempotency_key = get("key"), get("ttl_ms"), get("idempotency_key")
        draft = Draft(
            Op.REMEMBER,
            self._namespace,
            scope,
            record=record if record is None or key is None else self._under_key(scope, check_key(key)) or record,
            key=None if key is None else check_key(key),
            fields=without_nulls(fields),
            expires_at=None if ttl_ms is None else expiry_from_ttl(ttl_ms, self._engine.now_ms()),
            idempotency_key=None if idempotency_key is None else check_text(idempotency_key, "idempotency_key", empty=False),
            context=context or None,
        )
        prepared = Prepared(draft, content, context_parts(content, context) if context else ())
        batch.add(prepared, unique=bool(get("dedup")))
        return prepared

    def _under_key(self, scope: Scope, key: str) -> bytes | None:
        """The record that holds a key of a scope."""
        selection = Selection(namespace=self._namespace, scope=ScopeFilter(*scope), keys=(key,), expiry="all", hidden=True)
        rows = self._engine.backend.select(selection)
        return rows[0].standing.record if rows else None

    def _write_facts(self, batch: Batch, progress: Progress | None) -> builtins.list[Record]:
        if progress is not None and not callable(progress):
            raise InvalidInput(f"progress must be a function of two numbers, got {type(progress).__name__}")
        pending = [item for item in batch.items if item.twin is None]
        alone = len(batch.items) == 1
        for start in range(0, len(pending), EMBED_CHUNK):
            chunk = pending[start : start + EMBED_CHUNK]
            made = self._indexing.vectors_many(self._namespace, [(item.content, item.parts) for item in chunk], settle=not alone)
            for item, vectors in zip(chunk, made, strict=True):
                item.draft.vectors = vectors
            if progress is not None:
                progress(min(start + EMBED_CHUNK, len(pending)), len(pending))
        written = self._append_settled(batch.drafts()[0]) if alone else self._engine.backend.append(batch.drafts())
        # Others may be indexed with what was revised under its key.
        changed = [item.record for item in written if item.changed and item.record and item.standing and item.standing.key]
        self._refresh_context(changed, [item.record for item in written if item.stale and item.record])
        left = [outcome.record for item, outcome in zip(batch.items, written, strict=True) if item.twin and outcome.changed]
        if left:
            # They were to repeat a memory that somebody took away at the last moment.
            self._embed_written(tuple(record for record in left if record is not None))
        return [written_record(outcome, item.content, item.draft.fields) for item, outcome in zip(batch.items, written, strict=True)]

    def _append_settled(self, draft: Draft) -> builtins.list[Written]:
        """Write a fact alone: the write looks up whether the space is as it was last seen, while many settle it before the work."""
        draft.requires = self._indexing.settling(self._namespace) if draft.vectors else None
        while not (written := self._engine.backend.append([draft])):
            draft.requires = self._indexing.settling(self._namespace, anew=True)
        return written

    def _embed_written(self, records: tuple[bytes, ...]) -> None:
        rows = self._engine.backend.select(Selection(namespace=self._namespace, expiry="all", records=records))
        self._indexing.embed_rows(rows, self._namespace, ())

    def edit(
        self,
        id: str,
        content: str | Unset = UNSET,
        metadata: dict[str, Any] | None | Unset = UNSET,
        ttl_ms: int | None | Unset = UNSET,
        expected_version: int | None = None,
        *,
        source: str | None = None,
    ) -> Record:
        """Revise a memory: a new version of the same record. What is left out stays as it is.

        Args:
            id: which.
            content: the new text.
            metadata: the new metadata, whole.
            ttl_ms: a new time to live from now; ``None`` for ever.
            expected_version: revise only if the record is at this version.
            source: who says so.

        Raises:
            RecordNotFound: there is no such memory in reach.
            VersionConflict: ``expected_version`` does not hold.
            InvalidInput: an argument is refused, or nothing was given to change.
        """
        raw = known_id(id)
        if not any(map(given, (content, metadata, ttl_ms))):
            raise InvalidInput("nothing to change: give content, metadata or ttl_ms")
        text = content if isinstance(content, Unset) else check_content(content)
        expires_at = ttl_ms if isinstance(ttl_ms, Unset) else expiry_from_ttl(ttl_ms, self._engine.now_ms())
        context, vectors = (None, None) if isinstance(text, Unset) else self._embedded(raw, text)
        draft = Draft(
            Op.REVISE,
            self._namespace,
            within=self._within,
            record=raw,
            fields=state_fields(content=text, metadata=metadata, source=source),
            expires_at=expires_at,
            expected_version=check_optional_whole(expected_version, "expected_version"),
            vectors=vectors,
            context=context,
        )
        return written_record(self._write_one(draft))

    def _embedded(self, record: bytes, content: str) -> tuple[ContextTexts, tuple[PartVector, ...]]:
        """The vectors of a revised memory, with the context that the record has, and that context as it was read."""
        rows = self._engine.backend.select(self._selection(None, True, records=(record,)))
        entries = loads(rows[0].body).get("context", ()) if rows else ()
        context: ContextTexts = ()
        if entries:
            standing = rows[0].standing
            context = context_texts(self._engine.backend, entries, standing.namespace, standing.scope, {id_text(record): content})
        return context, self._indexing.vectors(self._namespace, content, context_parts(content, context))

    def _write_one(self, draft: Draft) -> Written:
        """Write one draft, and bring up to date what is indexed together with its record."""
        written = self._engine.write_one(draft)
        if written.changed and written.record is not None:
            # An old state comes back without the vectors that knew its neighbours as they were, and so may a revision.
            self._refresh_context([written.record], [written.record])
        return written

    def _refresh_context(self, changed: Sequence[bytes], own: Sequence[bytes] = ()) -> None:
        try:
            self._indexing.refresh_context(changed, own)
        except MissingExtra:
            # Without the model there are no vectors to refresh; the keyword index was brought up to date with the write.
            if not self._engine.embedder_is_default:
                raise

    def _refresh_imported(self, after: int) -> None:
        """Embed with their context the memories that have it and, after an import, no vector of it."""
        changed = self._engine.backend.changed(after)
        rows = [
            *self._engine.backend.select(Selection(namespace=None, expiry="all", records=tuple(changed))),
            *self._engine.backend.dependents(tuple(changed)),
        ]
        with suppress(EmbedderMismatch):  # what came is there all the same; whoever recalls it is told
            self._refresh_context((), [row.standing.record for row in rows if self._indexing.lacks_context(row)])

    def forget(self, id: str, *, source: str | None = None) -> bool:
        """Forget a memory: gone from recall and both searches, still in its history.

        Args:
            id: which.
            source: who says so.

        Returns:
            Whether there was something to forget; ``False`` also for an id that is unknown or out of reach.
        """
        raw = check_id(id)
        if raw is None:
            return False
        fields = state_fields(source=source)
        draft = Draft(Op.FORGET, self._namespace, within=self._within, record=raw, fields=fields, if_missing="ignore")
        return self._write_one(draft).changed

    def undo(self, id: str) -> Record | None:
        """Bring back the state before the current one, as a new version; a forgotten memory comes back.

        Returns:
            The record, ``None`` if what came before was nothing.

        Raises:
            RecordNotFound: there is no such memory in reach.
        """
        written = self._write_one(Draft(Op.RESTORE, self._namespace, within=self._within, record=known_id(id)))
        return None if written.standing is None or not written.standing.visible else written_record(written)

    def restore(self, id: str, version: int) -> Record:
        """Bring back the state of a version, as a new version.

        Raises:
            RecordNotFound: there is no such memory in reach.
            InvalidInput: the version is no state of it.
        """
        draft = Draft(Op.RESTORE, self._namespace, within=self._within, record=known_id(id), restore_version=check_state_version(version))
        return written_record(self._write_one(draft))

    def feedback(self, id: str, vote: Vote, note: str | None = None, *, source: str | None = None) -> None:
        """Vote on a memory. Ranking follows votes only where asked to, and a vote never revives a forgotten memory.

        Args:
            id: which.
            vote: ``"up"`` or ``"down"``.
            note: why.
            source: who says so.

        Raises:
            RecordNotFound: there is no such memory in reach.
            InvalidInput: the vote is neither ``"up"`` nor ``"down"``.
        """
        fields = {"vote": dumps(check_choice(vote, "vote", ("up", "down"))), **state_fields(source=source)}
        if note is not None:
            fields["note"] = dumps(check_text(note, "note"))
        self._engine.write_one(Draft(Op.VOTE, self._namespace, within=self._within, record=known_id(id), fields=fields))

    def purge(self, id: str, reason: str = "request") -> int:
        """Destroy every version of a memory: text, metadata, index, vectors. What remains says only that it was purged.

        Args:
            id: which; forgotten and expired ones too.
            reason: one of ``request expired legal secret poisoned mistake``.

        Returns:
            1 if it was destroyed, 0 if there is no such memory in reach.
        """
        code = PurgeReason(check_choice(reason, "reason", tuple(PurgeReason)))
        raw = check_id(id)
        if raw is None:
            return 0
        draft = Draft(Op.PURGE, self._namespace, within=self._within, record=raw, reason=code)
        return int(self._write_one(draft).changed)

    def at(self, when: int | datetime) -> PastView:
        """The same slice as it was at a version or time; it can only be read."""
        return PastView(self._engine, self._namespace, self._within, check_when(when, "when"))


_ARGUMENTS = frozenset(
    "content agent_id user_id org_id workspace_id metadata ttl_ms key source context parent occurred_at idempotency_key dedup".split()
)
