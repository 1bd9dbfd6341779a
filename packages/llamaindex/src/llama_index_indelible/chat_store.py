"""Chat stores for LlamaIndex's memories: the new one and the buffers, over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypedDict, Unpack

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, PrivateAttr
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from indelible import Collection, MemoryStore
from indelible.faces.threads import on_a_thread
from llama_index_indelible.conversations import Conversations
from llama_index_indelible.opening import KeptModel, PathLike, labels_of, opened, path_of

ACTIVE = MessageStatus.ACTIVE
When = int | datetime


class Place(TypedDict, total=False):
    """The arguments besides ``path``, for type checkers."""

    store: MemoryStore | None
    namespace: str | Sequence[str]
    agent_id: str | None
    user_id: str | None
    org_id: str | None
    workspace_id: str | None
    ttl_ms: int | None


class _Chats(KeptModel, BaseModel):
    """Where conversations lie, and how another process finds them again."""

    path: str
    namespace: tuple[str, ...]
    agent_id: str | None
    user_id: str | None
    org_id: str | None
    workspace_id: str | None
    ttl_ms: int | None
    _store: MemoryStore = PrivateAttr()
    _chats: Conversations = PrivateAttr()

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        namespace: str | Sequence[str] = ("messages",),
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        ttl_ms: int | None = None,
    ) -> None:
        scope: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
        labels = labels_of(namespace)
        kept = opened(path, store)
        chats = Conversations(kept.collection(*labels, **scope), ttl_ms)
        fields: dict[str, Any] = {"path": path_of(kept), "namespace": labels, "ttl_ms": ttl_ms, **scope}
        super().__init__(**fields)
        self._store = kept
        self._chats = chats

    @property
    def client(self) -> MemoryStore:
        """The store that holds the messages."""
        return self._store

    def collection(self, key: str) -> Collection:
        """The collection of the core that holds a conversation: its history, and its past."""
        return self._chats.of(key)

    def __copy__(self) -> Any:
        fields: dict[str, Any] = {**self.__dict__, "path": None}
        return type(self)(store=self._store, **fields)


class IndelibleChatStore(_Chats, AsyncDBChatStore):
    """The chat store of ``Memory``: ``Memory.from_defaults(session_id=..., chat_store=IndelibleChatStore(path))``.

    What is written is on disk when the call returns, and every version of it is kept. Messages come back in the order in which they went
    in, whole, and as fresh copies. No call blocks the event loop, and any thread or loop may call.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where the messages live, in place of a path.
        namespace: a label or several.
        agent_id, user_id, org_id, workspace_id: whose conversations these are, matched exactly.
        ttl_ms: milliseconds until a message is no longer shown; ``None`` for never.

    Raises:
        InvalidInput: a bad path, namespace or scope.
    """

    def __init__(self, path: PathLike | None = None, **place: Unpack[Place]) -> None:
        super().__init__(path, **place)

    @classmethod
    def class_name(cls) -> str:
        """Its name in what LlamaIndex writes down."""
        return "IndelibleChatStore"

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
        *,
        as_of: When | None = None,
    ) -> list[ChatMessage]:
        """Messages, oldest first; ``status=None`` for all, ``as_of`` a version or time for what stood then."""
        return await on_a_thread(partial(self._chats.messages, key, status, limit=limit, offset=offset or 0, as_of=as_of))

    async def count_messages(self, key: str, status: MessageStatus | None = ACTIVE) -> int:
        """How many messages ``get_messages`` gives."""
        return len(await on_a_thread(partial(self._chats.records, key, status)))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = ACTIVE) -> None:
        """Append a message.

        Raises:
            InvalidInput: it holds something that cannot be written down.
        """
        await self.add_messages(key, [message], status)

    async def add_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = ACTIVE) -> None:
        """Append messages, all or none."""
        await on_a_thread(partial(self._chats.add, key, messages, status))

    async def set_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = ACTIVE) -> None:
        """Put messages in the place of all there are, of any status: all or none."""
        await on_a_thread(partial(self._chats.replace, key, messages, status))

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Forget the message at a position in ``get_messages(key)``, and give it; ``None`` if there is none."""
        return await on_a_thread(partial(self._chats.delete_at, key, idx, ACTIVE))

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Forget messages of a status, or all."""
        await on_a_thread(partial(self._chats.delete, key, status))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Forget the oldest active messages, and give them."""
        return await on_a_thread(partial(self._chats.take_oldest, key, n, archive=False))

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest active messages, and give them; they keep their places in the conversation."""
        return await on_a_thread(partial(self._chats.take_oldest, key, n, archive=True))

    async def get_keys(self) -> list[str]:
        """The conversations that hold messages, sorted."""
        return await on_a_thread(self._chats.keys)


class IndelibleBufferChatStore(_Chats, BaseChatStore):
    """The chat store of ``ChatMemoryBuffer`` and ``ChatSummaryMemoryBuffer``, over the same rows as ``IndelibleChatStore``.

    The buffers know nothing of archived messages: they see the whole conversation, and cut it themselves. The same arguments.
    """

    def __init__(self, path: PathLike | None = None, **place: Unpack[Place]) -> None:
        super().__init__(path, **place)

    @classmethod
    def class_name(cls) -> str:
        """Its name in what LlamaIndex writes down."""
        return "IndelibleBufferChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Put messages in the place of all there are: all or none."""
        self._chats.replace(key, messages, ACTIVE)

    def get_messages(self, key: str, *, as_of: When | None = None) -> list[ChatMessage]:
        """The messages, oldest first; ``as_of`` a version or time for what stood then."""
        return self._chats.messages(key, None, as_of=as_of)

    def add_message(self, key: str, message: ChatMessage) -> None:
        """Append a message."""
        self._chats.add(key, [message], ACTIVE)

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Forget a conversation, and give its messages; ``None`` if there are none."""
        return self._chats.delete(key, None) or None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Forget the message at a position in ``get_messages(key)``, and give it; ``None`` if there is none."""
        return self._chats.delete_at(key, idx, None)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Forget the last message, and give it; ``None`` if there is none."""
        return self._chats.delete_at(key, -1, None)

    def get_keys(self) -> list[str]:
        """The conversations that hold messages, sorted."""
        return self._chats.keys()

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """See ``set_messages``."""
        await on_a_thread(partial(self.set_messages, key, messages))

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        """See ``get_messages``."""
        return await on_a_thread(partial(self.get_messages, key))

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        """See ``add_message``."""
        await on_a_thread(partial(self.add_message, key, message))

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """See ``delete_messages``."""
        return await on_a_thread(partial(self.delete_messages, key))

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """See ``delete_message``."""
        return await on_a_thread(partial(self.delete_message, key, idx))

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """See ``delete_last_message``."""
        return await on_a_thread(partial(self.delete_last_message, key))

    async def aget_keys(self) -> list[str]:
        """See ``get_keys``."""
        return await on_a_thread(self.get_keys)
