"""Drivers of the contract suite for conversations and the memory block, and twins that read or write through the core.

A conversation has no keys: here each key is a session, and its text what was said last. What forgets a session forgets each of its
messages, so these drivers declare no power that counts events.
"""

from __future__ import annotations

from indelible import Collection
from indelible.faces.store import ScopedView
from indelible.testing.contract import Driver, Power, refuse
from indelible.testing.contract.drivers.base import StoreDriver
from llama_index_indelible import IndelibleBufferChatStore, IndelibleChatStore, IndelibleMemoryBlock
from llama_index_indelible.memory_block import Shown
from tests.interop.llamaindex.chats import user
from tests.interop.llamaindex.samples import awaited

_POWERS = frozenset({Power.VERIFY, Power.TRANSFER})


class SessionsDriver(StoreDriver):
    """What all conversations have in common."""

    face_powers = _POWERS | {Power.EXPIRY, Power.SCOPES}
    whose: str | None = None

    def version(self) -> int:
        refuse(self, Power.VERSION)

    def within(self, whose: str) -> Driver:
        return scoped(self, whose)


def scoped(whole: SessionsDriver, whose: str) -> Driver:
    """The same sessions for one user; closed with the whole."""
    part = object.__new__(type(whole))
    part.store, part.clock, part.whose = whole.store, whole.clock, whose
    part.powers = whole.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}
    return part


# Chat stores


class ChatsDriver(SessionsDriver):
    """``IndelibleChatStore``, as ``Memory`` calls it."""

    elsewhere_program = """
import asyncio, sys
from indelible import MemoryStore
from indelible.testing import FakeClock
from llama_index.core.llms import ChatMessage
from llama_index_indelible import IndelibleChatStore
path, now, key, text = sys.argv[1:]
with MemoryStore(path, clock=FakeClock(int(now))) as store:
    asyncio.run(IndelibleChatStore(store=store).add_message(key, ChatMessage(role="user", content=text)))
"""

    def _chats(self, ttl_ms: int | None = None) -> IndelibleChatStore:
        return IndelibleChatStore(store=self.store, user_id=self.whose, ttl_ms=ttl_ms)

    def remember(self, key: str, text: str) -> None:
        awaited(self._chats().add_message(key, user(text)))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        awaited(self._chats(ttl_ms).add_message(key, user(text)))

    def get(self, key: str) -> str | None:
        messages = awaited(self._chats().get_messages(key))
        return messages[-1].content if messages else None

    def get_expired(self, key: str) -> str | None:
        records = self._chats().collection(key).list(include_expired=True)
        return records[-1].content if records else None

    def forget(self, key: str) -> None:
        awaited(self._chats().delete_messages(key))

    def keys(self) -> list[str]:
        return awaited(self._chats().get_keys())


class BufferChatsDriver(ChatsDriver):
    """``IndelibleBufferChatStore``, as the buffers call it."""

    elsewhere_program = (
        ChatsDriver.elsewhere_program.replace("IndelibleChatStore(store=store).add_message(", "chats.async_add_message(")
        .replace("    asyncio.run(", "    chats = llama_index_indelible.IndelibleBufferChatStore(store=store)\n    asyncio.run(")
        .replace("from llama_index_indelible import IndelibleChatStore", "import llama_index_indelible")
    )

    def _buffer(self, ttl_ms: int | None = None) -> IndelibleBufferChatStore:
        return IndelibleBufferChatStore(store=self.store, user_id=self.whose, ttl_ms=ttl_ms)

    def remember(self, key: str, text: str) -> None:
        self._buffer().add_message(key, user(text))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self._buffer(ttl_ms).add_message(key, user(text))

    def get(self, key: str) -> str | None:
        messages = self._buffer().get_messages(key)
        return messages[-1].content if messages else None

    def forget(self, key: str) -> None:
        self._buffer().delete_messages(key)

    def keys(self) -> list[str]:
        return self._buffer().get_keys()


class WrittenByChatsDriver(ChatsDriver):
    """Written through the chat store, read by the core."""

    def _records(self) -> Collection:
        found: Collection = self.store.collection("messages", user_id=self.whose)
        return found

    def get(self, key: str) -> str | None:
        records = self._records().below(key).list()
        return records[-1].content if records else None

    def keys(self) -> list[str]:
        return [name[-1] for name in self._records().namespaces()]


class ReadByChatsDriver(ChatsDriver):
    """Written by the core, read through the chat store."""

    def _session(self, key: str) -> Collection:
        found: Collection = self.store.collection("messages", key, user_id=self.whose)
        return found

    def remember(self, key: str, text: str) -> None:
        self._session(key).put(f"message {self.store.version}", text)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self._session(key).put(f"message {self.store.version}", text, ttl_ms=ttl_ms)

    def forget(self, key: str) -> None:
        for record in self._session(key).list():
            self._session(key).delete(record.key or "")


class ReadByBufferChatsDriver(BufferChatsDriver):
    """Written by the core, read through the buffers' chat store."""

    _session, remember = ReadByChatsDriver._session, ReadByChatsDriver.remember
    remember_for, forget = ReadByChatsDriver.remember_for, ReadByChatsDriver.forget


class OneWritesDriver(BufferChatsDriver):
    """Written through the buffers' chat store, read through that of ``Memory``."""

    get, keys = ChatsDriver.get, ChatsDriver.keys


# The memory block


class BlockDriver(SessionsDriver):
    """``IndelibleMemoryBlock``: written and shown through the block, forgotten through the view that it hands out."""

    face_powers = _POWERS | {Power.ORDER, Power.SCOPES}
    elsewhere_program = """
import asyncio, sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
from llama_index.core.llms import ChatMessage
from llama_index_indelible import IndelibleMemoryBlock
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    block = IndelibleMemoryBlock(store=store, tokenizer_fn=str.split)
    asyncio.run(block.aput([ChatMessage(role="user", content=text)], session_id=key))
"""

    def _block(self) -> IndelibleMemoryBlock:
        return IndelibleMemoryBlock(store=self.store, user_id=self.whose, limit=1, tokenizer_fn=str.split)

    def _facts(self) -> ScopedView:
        return self.store.scope() if self.whose is None else self.store.scope(user_id=self.whose)

    def remember(self, key: str, text: str) -> None:
        awaited(self._block().aput([user(text)], session_id=key))

    def get(self, key: str) -> str | None:
        shown = awaited(self._block().aget([], session_id=key))
        if not isinstance(shown, Shown):
            return None
        (used,) = shown.known.used
        return used if isinstance(used, str) else used.content

    def forget(self, key: str) -> None:
        view = self._block().view(key)
        for record in view.list():
            view.forget(record.id)

    def keys(self) -> list[str]:
        return list(dict.fromkeys(record.scope.workspace_id or "" for record in self._facts().list()))


class WrittenByBlockDriver(BlockDriver):
    """Written through the block, read by the core."""

    def get(self, key: str) -> str | None:
        records = self._facts().list(workspace_id=key)
        return records[-1].content if records else None


class ReadByBlockDriver(BlockDriver):
    """Written by the core, shown by the block."""

    face_powers = BlockDriver.face_powers | {Power.EXPIRY}

    def remember(self, key: str, text: str) -> None:
        self._facts().remember(text, workspace_id=key)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self._facts().remember(text, workspace_id=key, ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        records = self._facts().list(workspace_id=key, include_expired=True)
        return records[-1].content if records else None
