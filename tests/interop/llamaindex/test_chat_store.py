"""The chat stores of the new memory and of the buffers: order, atomicity, whole messages, one set of rows."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store.base_db import MessageStatus

from indelible import InvalidInput, MemoryStore, UnsupportedOperation
from indelible.testing import FakeClock
from llama_index_indelible import IndelibleBufferChatStore, IndelibleChatStore
from tests.architecture.source_tree import ROOT
from tests.interop.llamaindex.chats import assistant, blocks, texts, user

ACTIVE, ARCHIVED = MessageStatus.ACTIVE, MessageStatus.ARCHIVED


class Twins:
    """The buffers' store as the new one is called: through its coroutines, or through its plain methods."""

    def __init__(self, store: IndelibleBufferChatStore, *, plain: bool) -> None:
        self.store = store
        self.plain = plain

    async def call(self, name: str, twin: str, *arguments: Any) -> Any:
        return getattr(self.store, name)(*arguments) if self.plain else await getattr(self.store, twin)(*arguments)

    async def get_messages(self, key: str) -> list[ChatMessage]:
        found: list[ChatMessage] = await self.call("get_messages", "aget_messages", key)
        return found

    async def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        await self.call("set_messages", "aset_messages", key, messages)

    async def add_message(self, key: str, message: ChatMessage) -> None:
        await self.call("add_message", "async_add_message", key, message)

    async def delete_messages(self, key: str) -> Any:
        return await self.call("delete_messages", "adelete_messages", key)

    async def delete_message(self, key: str, index: int) -> Any:
        return await self.call("delete_message", "adelete_message", key, index)

    async def get_keys(self) -> Any:
        return await self.call("get_keys", "aget_keys")


Store = IndelibleChatStore | Twins


@pytest.fixture(params=["memory", "buffer", "buffer, async"])
def chats(request: pytest.FixtureRequest, file: str) -> Store:
    """Each of the ways to call a chat store."""
    if request.param == "memory":
        return IndelibleChatStore(file)
    return Twins(IndelibleBufferChatStore(file), plain=request.param == "buffer")


@pytest.fixture
def store(file: str) -> IndelibleChatStore:
    return IndelibleChatStore(file)


# What both do


async def test_messages_come_back_in_their_order(chats: Store) -> None:
    """Also of one moment: the clock stands still in some of these."""
    for number in range(5):
        await chats.add_message("s", user(str(number)))
    assert texts(await chats.get_messages("s")) == ["0", "1", "2", "3", "4"]


async def test_an_unknown_conversation_is_empty(chats: Store) -> None:
    assert await chats.get_messages("nobody") == []
    assert await chats.delete_message("nobody", 0) is None
    assert await chats.delete_messages("nobody") is None
    assert await chats.get_keys() == []


async def test_setting_replaces(chats: Store) -> None:
    """Another store for SQLite appends."""
    await chats.set_messages("s", [user("a"), assistant("b")])
    await chats.set_messages("s", [user("c"), assistant("d"), user("e")])
    assert texts(await chats.get_messages("s")) == ["c", "d", "e"]


async def test_setting_to_nothing_empties(chats: Store) -> None:
    """It is an error in others."""
    await chats.set_messages("s", [user("a")])
    await chats.set_messages("s", [])
    assert await chats.get_messages("s") == []
    assert await chats.get_keys() == []


async def test_a_message_that_cannot_be_kept_changes_nothing(chats: Store) -> None:
    """LlamaIndex's own store has deleted the history by the time that it notices."""
    await chats.set_messages("s", [user("a"), assistant("b")])
    for bad in (user("c", thing=object()), user("c", deep={1: "a"}), "no message"):
        with pytest.raises(InvalidInput):
            await chats.set_messages("s", [user("new"), bad])  # type: ignore[list-item]
        with pytest.raises(InvalidInput):
            await chats.add_message("s", bad)  # type: ignore[arg-type]
    assert texts(await chats.get_messages("s")) == ["a", "b"]


async def test_a_message_that_contains_itself_is_refused(chats: Store) -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    with pytest.raises(InvalidInput, match="contains itself"):
        await chats.add_message("s", user("x", circle=circle))


async def test_what_is_read_is_a_copy(chats: Store) -> None:
    """Memory and agents edit the messages they are given."""
    message = user("a", tag=["x"])
    await chats.add_message("s", message)
    message.blocks.append(TextBlock(text="later"))
    (read,) = await chats.get_messages("s")
    read.blocks[0] = TextBlock(text="edited")
    read.additional_kwargs["tag"].append("y")
    (again,) = await chats.get_messages("s")
    assert (again.content, again.additional_kwargs) == ("a", {"tag": ["x"]})


async def test_deleting_is_by_position(chats: Store) -> None:
    await chats.set_messages("s", [user("a"), user("b"), user("c")])
    assert (await chats.delete_message("s", 1)).content == "b"  # type: ignore[union-attr]
    assert (await chats.delete_message("s", 1)).content == "c"  # type: ignore[union-attr]
    assert await chats.delete_message("s", 1) is None
    assert texts(await chats.get_messages("s")) == ["a"]
    for bad in ("0", 1.0, True, None):
        with pytest.raises(InvalidInput):
            await chats.delete_message("s", bad)  # type: ignore[arg-type]


async def test_conversations_are_apart(chats: Store) -> None:
    keys = ["a", "a.b", "a/b", "it's", 'x" OR 1=1 --', "ключ", "%", "_", "*", " "]
    for key in keys:
        await chats.add_message(key, user(f"in {key}"))
    assert await chats.get_keys() == sorted(keys)
    for key in keys:
        assert texts(await chats.get_messages(key)) == [f"in {key}"]
    await chats.delete_messages("%")
    assert await chats.get_keys() == sorted(set(keys) - {"%"})


@pytest.mark.parametrize("key", ["", None, 3])
async def test_a_key_must_be_text(chats: Store, key: Any) -> None:
    with pytest.raises(InvalidInput):
        await chats.add_message(key, user("a"))


# Statuses


async def test_archived_messages_keep_their_places(store: IndelibleChatStore) -> None:
    await store.add_messages("s", [user(str(number)) for number in range(5)])
    assert texts(await store.archive_oldest_messages("s", 2)) == ["0", "1"]
    assert texts(await store.get_messages("s")) == ["2", "3", "4"]
    assert texts(await store.get_messages("s", status=ARCHIVED)) == ["0", "1"]
    assert texts(await store.get_messages("s", status=None)) == ["0", "1", "2", "3", "4"]
    assert [await store.count_messages("s", status) for status in (ACTIVE, ARCHIVED, None)] == [3, 2, 5]
    assert texts(await store.get_messages("s", None, limit=2, offset=1)) == ["1", "2"]
    assert (await store.delete_message("s", 0)).content == "2"  # type: ignore[union-attr]
    await store.delete_messages("s", status=ARCHIVED)
    assert texts(await store.get_messages("s", status=None)) == ["3", "4"]


async def test_the_oldest_are_the_active_ones(store: IndelibleChatStore) -> None:
    await store.add_message("s", user("archived"), status=ARCHIVED)
    await store.add_messages("s", [user("a"), user("b")])
    assert texts(await store.delete_oldest_messages("s", 1)) == ["a"]
    assert texts(await store.archive_oldest_messages("s", 9)) == ["b"]
    assert await store.archive_oldest_messages("s", 9) == []
    assert await store.delete_oldest_messages("s", 0) == await store.delete_oldest_messages("s", -1) == []
    assert texts(await store.get_messages("s", None)) == ["archived", "b"]


async def test_setting_replaces_archived_messages_too(store: IndelibleChatStore) -> None:
    await store.add_messages("s", [user("a"), user("b")])
    await store.archive_oldest_messages("s", 1)
    await store.set_messages("s", [user("c")], status=ARCHIVED)
    assert texts(await store.get_messages("s", None)) == ["c"]
    assert await store.get_messages("s") == []


async def test_adding_nothing_is_fine(store: IndelibleChatStore) -> None:
    await store.add_messages("s", [])
    assert await store.get_keys() == []


# The same rows


async def test_each_reads_what_the_other_wrote(file: str, tmp_path: Path) -> None:
    """Over two handles on a file, or two objects on one store."""
    new, old = IndelibleChatStore(file), IndelibleBufferChatStore(file)
    await new.add_message("s", ChatMessage(role="user", blocks=blocks(tmp_path)))
    old.add_message("s", assistant("b", x=b"1"))
    await new.add_message("s", user("c"))
    assert old.get_messages("s") == await new.get_messages("s")
    assert [message.role.value for message in old.get_messages("s")] == ["user", "assistant", "user"]
    await new.archive_oldest_messages("s", 1)
    assert len(old.get_messages("s")) == 3
    assert old.delete_last_message("s") == user("c")
    assert texts(await new.get_messages("s")) == ["b"]
    same = IndelibleBufferChatStore(store=new.client)
    assert same.get_messages("s") == old.get_messages("s")


def test_the_last_of_nothing_is_none(file: str) -> None:
    chats = IndelibleBufferChatStore(file)
    assert chats.delete_last_message("s") is None
    chats.set_messages("s", [user("a"), user("b")])
    assert chats.delete_messages("s") == [user("a"), user("b")]
    assert chats.delete_messages("s") is None


def test_a_buffer_works_on_it(file: str) -> None:
    """``ChatMemoryBuffer``, sync; another one on the file goes on with it, and dumping it works on every pydantic."""
    memory = ChatMemoryBuffer.from_defaults(chat_store=IndelibleBufferChatStore(file), chat_store_key="s", token_limit=3000)
    memory.put(user("a"))
    memory.put_messages([assistant("b"), user("c")])
    again = ChatMemoryBuffer.from_defaults(chat_store=IndelibleBufferChatStore(file), chat_store_key="s", token_limit=3000)
    assert texts(again.get()) == texts(again.get_all()) == ["a", "b", "c"]
    assert file in memory.to_string()
    memory.reset()
    assert again.get_all() == []


# The past, scopes, expiry, copies


async def test_a_conversation_can_be_read_as_it_was(store: IndelibleChatStore) -> None:
    await store.set_messages("s", [user("a"), user("b")])
    before = store.client.version
    await store.delete_messages("s")
    assert await store.get_messages("s") == []
    assert texts(await store.get_messages("s", as_of=before)) == ["a", "b"]
    assert texts(IndelibleBufferChatStore(store=store.client).get_messages("s", as_of=before)) == ["a", "b"]


def test_scopes_are_exact(file: str) -> None:
    ada = IndelibleBufferChatStore(file, user_id="ada")
    ada.add_message("s", user("mine"))
    for other in (IndelibleBufferChatStore(file), IndelibleBufferChatStore(file, user_id="bob")):
        assert other.get_messages("s") == []
        assert other.get_keys() == []
    with pytest.raises(TypeError):
        IndelibleBufferChatStore(file, user="ada")  # type: ignore[call-arg]


def test_messages_expire(file: str) -> None:
    clock = FakeClock()
    with MemoryStore(file, clock=clock) as kept:
        chats = IndelibleBufferChatStore(store=kept, ttl_ms=1000)
        chats.add_message("s", user("a"))
        assert texts(chats.get_messages("s")) == ["a"]
        clock.advance(ms=2000)
        assert chats.get_messages("s") == []


@pytest.mark.parametrize("kind", [IndelibleChatStore, IndelibleBufferChatStore])
async def test_copies_and_pickles_are_the_same_place(kind: type[Any], file: str) -> None:
    made = kind(file, namespace=("a", "b"), user_id="ada", ttl_ms=10**9)
    IndelibleBufferChatStore(file, namespace=("a", "b"), user_id="ada").add_message("s", user("x"))
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert other.model_dump() == made.model_dump()
        found = other.get_messages("s")
        assert texts(found if isinstance(found, list) else await found) == ["x"]
    with pytest.raises(UnsupportedOperation):
        pickle.dumps(kind(":memory:"))


# At once


async def test_twenty_first_uses_at_once(file: str) -> None:
    """LlamaIndex's own store says "no such table", and stays broken."""
    stores = [IndelibleChatStore(file) for _ in range(4)]
    await asyncio.gather(*(stores[number % 4].add_message("s", user(str(number))) for number in range(20)))
    reads = await asyncio.gather(*(stores[number % 4].get_messages("s") for number in range(20)))
    assert {tuple(sorted(texts(read), key=int)) for read in reads} == {tuple(map(str, range(20)))}


async def test_no_message_is_taken_twice(file: str) -> None:
    store, other = IndelibleChatStore(file), IndelibleChatStore(file)
    await store.add_messages("s", [user(str(number)) for number in range(12)])
    taken = await asyncio.gather(
        *(each.archive_oldest_messages("s", 2) for each in (store, other) for _ in range(2)),
        *(each.delete_oldest_messages("s", 2) for each in (store, other)),
    )
    assert sorted((text for each in taken for text in texts(each)), key=int) == list(map(str, range(12)))
    assert await store.count_messages("s") == 0
    assert await store.count_messages("s", None) == 8


def test_of_settings_at_once_one_stands(file: str) -> None:
    """Whole: never a mixture."""
    chats = [IndelibleBufferChatStore(file) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: chats[number].set_messages("s", [user(f"{number} {n}") for n in range(3)]), range(4)))
    found = texts(chats[0].get_messages("s"))
    assert found in [[f"{number} {n}" for n in range(3)] for number in range(4)]


_WRITER = """
import asyncio, sys
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index_indelible import IndelibleChatStore
async def write():
    memory = Memory.from_defaults(session_id="s", chat_store=IndelibleChatStore(sys.argv[1]), tokenizer_fn=str.split)
    for number in range(10**6):
        await memory.aput(ChatMessage(role="user", content=str(number)))
        print(number, flush=True)
asyncio.run(write())
"""


def test_a_message_is_there_after_kill(file: str) -> None:
    """``aput`` returned, the process was killed, and another one, which writes to the file at the same time, sees the message."""
    with subprocess.Popen([sys.executable, "-c", _WRITER, file], stdout=subprocess.PIPE, cwd=ROOT, text=True) as writer:
        assert writer.stdout is not None
        seen = [writer.stdout.readline().strip() for _ in range(5)]
        mine = IndelibleBufferChatStore(file)
        mine.add_message("mine", user("x"))
        os.kill(writer.pid, signal.SIGKILL)
        seen += writer.stdout.read().split()
    assert len(seen) >= 5
    found = texts(mine.get_messages("s"))
    assert found[: len(seen)] == seen == list(map(str, range(len(seen))))
    assert len(found) - len(seen) in (0, 1)  # written, and killed before it could say so
    assert texts(mine.get_messages("mine")) == ["x"]
    assert mine.client.verify().ok


_FIRST = """
import sys
from llama_index.core.llms import ChatMessage
from llama_index_indelible import IndelibleBufferChatStore
input()
chats = IndelibleBufferChatStore(sys.argv[1])
for number in range(20):
    chats.add_message("s", ChatMessage(role="user", content=f"{sys.argv[2]} {number}"))
"""


def test_two_processes_use_a_new_file_at_once(file: str) -> None:
    """Both make it, neither notices; each one's messages are there in their order."""
    command = [sys.executable, "-c", _FIRST, file]
    both = [subprocess.Popen([*command, name], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True) for name in "ab"]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate()[1] for process in both] == ["", ""]
    assert [process.returncode for process in both] == [0, 0]
    found = texts(IndelibleBufferChatStore(file).get_messages("s"))
    for name in "ab":
        assert [text for text in found if text.startswith(name)] == [f"{name} {number}" for number in range(20)]
    assert len(found) == 40
