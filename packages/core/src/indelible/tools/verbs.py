"""What the tools do: verbs of a view, with short answers that lead from one call to the next."""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from typing import Any, Literal

from indelible.base.canonical import encode
from indelible.base.event import Op
from indelible.base.record import UNSET, Record, Unset
from indelible.errors import InvalidInput, MissingExtra, RecordNotFound, VersionConflict
from indelible.tools.conditions import conditions
from indelible.tools.description import Call
from indelible.tools.provenance import labels_of, signed

MOST_SHOWN = 4000
"""Characters of one memory that an answer shows."""
MOST_CHANGES = 50
LONGEST_CHANGE = 1000
"""How many changes of a memory an answer shows, the latest, and how many characters of each."""
UNKNOWN = "(unknown)"
_ATTEMPTS = 5


def shown(record: Record) -> dict[str, Any]:
    """A memory as a model sees it."""
    about: dict[str, Any] = {"id": record.id, "content": record.content[:MOST_SHOWN], "date": f"{record.occurred_at:%Y-%m-%d}"}
    if len(record.content) > MOST_SHOWN:
        about["cut_after"] = f"{MOST_SHOWN} of {len(record.content)} characters"
    if record.source:
        about["source"] = record.source
    labels = labels_of(record.metadata)
    return about | ({"metadata": labels} if labels else {})


def not_found(id: str) -> RecordNotFound:
    """What is said of an id that is unknown, forgotten or another scope's: always the same."""
    return RecordNotFound(f"no memory with id {str(id)[:80]!r} in this scope: recall or search first, and use an id from there")


def _written(record: Record) -> dict[str, Any]:
    return {"id": record.id, "version": record.version}


def remember(call: Call, content: str, metadata: dict[str, Any] | None = None, ttl_ms: int | None = None) -> dict[str, Any]:
    """The same text with the same labels again, in one session, is a retry: the memory that it made answers, as long as it is there."""
    labels = signed(call, metadata)
    said = encode([call.tool, call.session, content, metadata or {}, ttl_ms], "what is to be remembered")
    digest = sha256(said.encode()).hexdigest()
    for life in count():
        # A time to live may be over before the text is embedded and written; that memory is not to be told again for ever.
        before = None if ttl_ms is None else call.view.count(include_expired=True)
        kept = call.view.remember(content, metadata=labels, ttl_ms=ttl_ms, source=call.session, idempotency_key=f"{digest}/{life}")
        now = call.view.get(kept.id)
        if now is not None and now.content == content and labels_of(now.metadata) == labels_of(labels):
            return _written(now)
        if before is not None and call.view.count(include_expired=True) > before:
            return _written(kept)
    raise AssertionError  # pragma: no cover - the count has no end


def recall(call: Call, query: str, limit: int = 5) -> list[dict[str, Any]]:
    with _by_meaning():
        return [shown(hit.record) for hit in call.view.recall(query, mode="hybrid", limit=limit, rerank=call.rerank)]


def search(call: Call, query: str, limit: int = 10, filters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [shown(hit.record) for hit in call.view.search(query, filters=conditions(filters), limit=limit)]


def search_semantic(call: Call, query: str, filters: dict[str, Any] | None = None, limit: int = 5) -> list[dict[str, Any]]:
    with _by_meaning():
        hits = call.view.search_semantic(query, filters=conditions(filters), limit=limit, rerank=call.rerank)
    return [shown(hit.record) | ({} if hit.score is None else {"score": round(hit.score, 3)}) for hit in hits]


def edit(
    call: Call, id: str, content: str | None = None, metadata: dict[str, Any] | None = None, ttl_ms: int | None | Unset = UNSET
) -> dict[str, Any]:
    """The very same state again is a retry and no new version, unless it is to last for another while."""
    if content is None and metadata is None and ttl_ms is UNSET:
        raise InvalidInput("edit changes nothing: give content, metadata or ttl_ms")
    for _ in range(_ATTEMPTS):
        before = call.view.get(id)
        if before is None:
            raise not_found(id)
        text = before.content if content is None else content
        labels = labels_of(before.metadata) if metadata is None else metadata
        if ttl_ms is UNSET and before.content == text and labels_of(before.metadata) == labels:
            return _written(before)
        try:
            signature = signed(call, labels)
            return _written(call.view.edit(id, text, signature, ttl_ms, expected_version=before.version, source=call.session))
        except VersionConflict:  # somebody else was faster: their labels count
            continue
        except RecordNotFound:
            break
    raise not_found(id)


def forget(call: Call, id: str) -> dict[str, Any]:
    """Again is a retry, if this very session forgot it."""
    if not call.view.forget(id, source=call.session):
        changes = call.view.history(id)
        if not changes or changes[-1].op is not Op.FORGET or call.session is None or changes[-1].source != call.session:
            raise not_found(id)
    return {"forgotten": id}


def history(call: Call, id: str) -> list[str]:
    changes = call.view.history(id)
    if not changes:
        raise not_found(id)
    lines = [_cut(str(change)) for change in changes[-MOST_CHANGES:]]
    left_out = len(changes) - len(lines)
    return [f"({left_out} earlier changes not shown)", *lines] if left_out else lines


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_CHANGE else f"{line[: LONGEST_CHANGE - 3]}..."


def feedback(call: Call, id: str, vote: Literal["up", "down"], note: str | None = None) -> dict[str, Any]:
    """The same vote again, with nothing in between, is a retry."""
    if call.view.get(id) is None:
        raise not_found(id)
    last = call.view.history(id)[-1]
    if last.op is not Op.VOTE or (last.vote, last.note, last.source) != (vote, note, call.session):
        call.view.feedback(id, vote, note, source=call.session)
    return {"id": id, "vote": vote}


def list_memories(call: Call, limit: int = 20, offset: int = 0, filters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    records = call.view.list(conditions(filters), order="updated", descending=True, limit=limit, offset=offset)
    return [shown(record) for record in records]


# Key and value


def remember_fact(call: Call, key: str, value: str) -> str:
    """A fact under a key: ``key: value`` is what recall and search find. The same value again is a retry."""
    content = fact(key, value)
    if not key.strip():
        raise InvalidInput("the key is empty: name what the value is")
    found = call.view.list(key=key)
    if not found or found[0].content != content:
        metadata = signed(call, labels_of(found[0].metadata) if found else None)
        call.view.remember(content, key=key, metadata=metadata, source=call.session)
    return "ok"


def recall_fact(call: Call, key: str) -> str:
    """The value, or ``(unknown)``."""
    found = call.view.list(key=key)
    if not found:
        return UNKNOWN
    return found[0].content.removeprefix(fact(key, ""))[:MOST_SHOWN] or UNKNOWN


def fact(key: str, value: str) -> str:
    """A value under a key, as recall and search find it."""
    return f"{key}: {value}"


class _by_meaning:
    """Around a recall: without the model, say what works without it."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MissingExtra):
            raise MissingExtra("finding by meaning is not available here: use search, which finds words") from error
