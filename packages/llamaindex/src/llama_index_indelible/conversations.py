"""The messages of conversations: rows that several kinds of chat stores share."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base_db import MessageStatus

from indelible import Collection, Delete, InvalidInput, Put, Record, VersionConflict, where
from indelible.faces.operations import Read
from llama_index_indelible.messages import of_record, searched, to_value

_ARCHIVED: Final = MessageStatus.ARCHIVED.value
_FILTERS: Final = {MessageStatus.ARCHIVED: where("status").eq(_ARCHIVED), MessageStatus.ACTIVE: where("status").ne(_ARCHIVED)}


class Conversations:
    """Messages in the order in which they came, by conversation. Every write is one transaction; what is read is a fresh copy.

    Args:
        collection: below it, each conversation has a namespace of its own.
        ttl_ms: milliseconds until a message is no longer shown; ``None`` for never.
    """

    def __init__(self, collection: Collection, ttl_ms: int | None = None) -> None:
        self.collection = collection
        self._ttl_ms = ttl_ms

    def of(self, key: str) -> Collection:
        """The collection of the core that holds a conversation."""
        if not isinstance(key, str):
            raise InvalidInput(f"a conversation's key must be a str, got {type(key).__name__}")
        return self.collection.below(key)

    def records(self, key: str, status: MessageStatus | None, **more: Any) -> list[Record]:
        """What stands in a conversation, oldest first; ``None`` for any status. What others wrote without one is active."""
        return self.of(key).list(filters=None if status is None else _FILTERS[MessageStatus(status)], **more)

    def messages(self, key: str, status: MessageStatus | None, **more: Any) -> list[ChatMessage]:
        """The messages of ``records``."""
        return [of_record(record) for record in self.records(key, status, **more)]

    def add(self, key: str, messages: Sequence[ChatMessage], status: MessageStatus) -> None:
        """Append messages: all or none."""
        self.of(key).batch(self._puts(messages, status))

    def replace(self, key: str, messages: Sequence[ChatMessage], status: MessageStatus) -> None:
        """Put messages in the place of all that stand there: all or none."""
        puts = self._puts(messages, status)
        conversation = self.of(key)
        known = conversation.list(include_expired=True)
        before = conversation.batch([Read(lambda seen: seen.list(include_expired=True)), *_deletes(known), *puts])[0]
        # What somebody else added between the two reads came before these messages, and so is replaced by them as well.
        gone = {record.key for record in known}
        conversation.batch(_deletes([record for record in before if record.key not in gone]))

    def delete(self, key: str, status: MessageStatus | None) -> list[ChatMessage]:
        """Forget messages, and give them."""
        records = self.records(key, status, include_expired=True)
        self.of(key).batch(_deletes(records))
        return [of_record(record) for record in records]

    def delete_at(self, key: str, index: int, status: MessageStatus | None) -> ChatMessage | None:
        """Forget the message at a position, and give it; -1 for the last. ``None`` where there is none."""
        if isinstance(index, bool) or not isinstance(index, int):
            raise InvalidInput(f"a message's position must be an int, got {index!r}")
        place: dict[str, Any] = {"descending": True, "offset": -1 - index} if index < 0 else {"offset": index}
        taken = self._taken(key, status, {"limit": 1, **place}, archive=False)
        return taken[0] if taken else None

    def take_oldest(self, key: str, count: int, *, archive: bool) -> list[ChatMessage]:
        """Archive or forget the oldest active messages, and give them: no two calls get the same one."""
        return self._taken(key, MessageStatus.ACTIVE, {"limit": max(count, 0)}, archive=archive)

    def keys(self) -> list[str]:
        """The conversations that hold messages, sorted."""
        depth = len(self.collection.namespace) + 1
        return sorted({name[depth - 1] for name in self.collection.namespaces() if len(name) >= depth})

    def _taken(self, key: str, status: MessageStatus | None, selection: dict[str, Any], *, archive: bool) -> list[ChatMessage]:
        conversation = self.of(key)
        while True:
            records = self.records(key, status, **selection)
            messages = [of_record(record) for record in records]
            try:
                conversation.batch([_archived(record) if archive else Delete(record.key or "", record.version) for record in records])
            except VersionConflict:  # somebody else took one of them: look anew
                continue
            return messages

    def _puts(self, messages: Sequence[ChatMessage], status: MessageStatus) -> list[Put]:
        values = [to_value(message) for message in messages]
        state = MessageStatus(status).value
        return [
            Put(
                str(uuid.uuid4()),
                searched(message),
                value=value,
                metadata={"role": value["role"], "status": state},
                ttl_ms=self._ttl_ms,
            )
            for message, value in zip(messages, values, strict=True)
        ]


def _deletes(records: Sequence[Record]) -> list[Delete]:
    return [Delete(record.key or "") for record in records]


def _archived(record: Record) -> Put:
    return Put(
        record.key or "",
        record.content,
        value=record.value,
        metadata={**record.metadata, "status": _ARCHIVED},
        parent=record.parent,
        source=record.source,
        expires_at=record.expires_at,
        expected_version=record.version,
    )
