"""A conversation's messages, in order, every version kept."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from indelible import Collection, Delete, MemoryStore, Put, Record, UnsupportedOperation
from langchain_indelible.labels import labels_of
from langchain_indelible.messages import of_record, to_value


class IndelibleChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, oldest first.

    ``add_messages`` is one transaction: all or none, and messages of concurrent calls never mix. What comes back is what went in, every
    field of it. ``clear`` forgets the messages; the store's history keeps them.

    With ``RunnableWithMessageHistory``, make a new object for every call, as its ``get_session_history`` is meant to, and pass
    ``pinned=True``. That class reads the history once more when a call ends, to know which of the messages are new; if another turn of the
    same session ended meanwhile, it cuts off too many, and a user's message is lost. It also only logs what ``add_messages`` raises.

    Args:
        store: where.
        session_id: whose conversation.
        namespace: a label or several, before the session's own.
        agent_id, user_id, org_id, workspace_id: whose, matched exactly.
        ttl_ms: milliseconds until a message is no longer shown.
        pinned: read what stood at the first read and what this object added since, and nothing of others.

    Raises:
        InvalidInput: a session id that is no text or is empty.
    """

    def __init__(
        self,
        store: MemoryStore,
        session_id: str,
        *,
        namespace: str | Sequence[str] = ("chat",),
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        ttl_ms: int | None = None,
        pinned: bool = False,
    ) -> None:
        super().__init__()
        self.store = store
        self.session_id = session_id
        self._collection: Collection = store.collection(
            *labels_of(namespace), session_id, agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id
        )
        self._ttl_ms = ttl_ms
        self._pinned = pinned
        self._first_read: int | None = None
        self._added: list[str] = []

    @property
    def collection(self) -> Collection:
        """The collection of the core that holds the messages."""
        return self._collection

    def at(self, when: int | datetime) -> IndelibleChatMessageHistory:
        """The conversation as it was at a version or time; it can only be read."""
        past = object.__new__(type(self))
        past.__dict__.update(self.__dict__, _collection=self._collection.at(when), _pinned=False)
        return past

    @property
    def messages(self) -> list[BaseMessage]:
        """A fresh list of the messages, oldest first."""
        return [of_record(record) for record in self._records()]

    @messages.setter
    def messages(self, value: object) -> None:
        raise UnsupportedOperation("messages cannot be assigned: use add_messages and clear, which keep the history")

    def _records(self) -> list[Record]:
        if not self._pinned:
            return self._collection.list()
        if self._first_read is None:
            self._first_read = self.store.version
        own = self._collection.get_many(self._added)
        return [*self._collection.list(as_of=self._first_read), *(record for record in own if record is not None)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, in one transaction.

        Raises:
            InvalidInput: one of them is no message, or holds something that JSON cannot; none was added.
        """
        values = [to_value(message) for message in messages]
        puts = [
            Put(str(uuid.uuid4()), str(message.text), value=value, metadata={"type": message.type}, ttl_ms=self._ttl_ms)
            for message, value in zip(messages, values, strict=True)
        ]
        self._collection.batch(puts)
        if self._pinned:
            self._added += [put.key for put in puts]

    def clear(self) -> None:
        """Forget every message of the session, in one transaction."""
        self._collection.batch([Delete(record.key or "") for record in self._collection.list(include_expired=True)])
        self._first_read, self._added = None, []
