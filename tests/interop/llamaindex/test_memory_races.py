"""The memory block and a whole memory at once from many places, and after a kill."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from llama_index.core.memory import Memory

from indelible import MemoryStore
from llama_index_indelible import IndelibleMemoryBlock, memory
from tests.architecture.source_tree import ROOT
from tests.interop.llamaindex.chats import assistant, open_store, texts, user


def block_on(store: MemoryStore) -> IndelibleMemoryBlock:
    return IndelibleMemoryBlock(store=store, tokenizer_fn=str.split)


async def test_twenty_first_uses_at_once(file: str) -> None:
    """Of blocks and memories, over several handles on a file that is not there yet: reads and writes, each whole."""
    stores = [open_store(file) for _ in range(4)]

    async def first(number: int) -> str:
        store = stores[number % 4]
        session = memory(None, f"s{number}", store=store, tokenizer_fn=str.split)
        await asyncio.gather(session.aput(user(f"said {number}")), block_on(store).aput([user(f"fact {number}")], session_id=f"s{number}"))
        return "\n".join(texts(await session.aget(input="fact?")))

    shown = await asyncio.gather(*map(first, range(20)))
    for number, text in enumerate(shown):
        assert f"said {number}" in text
        assert f"- fact {number} (" in text
        assert text.count("\n- fact") == 1
    assert stores[0].count() == 20
    assert stores[0].verify().ok
    for store in stores:
        store.close()


_WRITER = """
import asyncio, sys
from indelible import MemoryStore
from indelible.testing import HashEmbedder
from llama_index.core.llms import ChatMessage
from llama_index_indelible import IndelibleMemoryBlock
path, name, last = sys.argv[1:]
async def write():
    block = IndelibleMemoryBlock(store=MemoryStore(path, embedder=HashEmbedder(64)), tokenizer_fn=str.split)
    input()
    for number in range(int(last)):
        batch = [ChatMessage(role="user", content=f"fact {number}"), ChatMessage(role="assistant", content=f"noted {number}")]
        await block.aput(batch, session_id="s")
        await block.aput([ChatMessage(role="user", content=f"{name} {number}")], session_id=name)
        print(number, flush=True)
asyncio.run(write())
"""


def begun(file: str, name: str, last: int) -> subprocess.Popen[str]:
    """A process that writes once it is told to."""
    command = [sys.executable, "-c", _WRITER, file, name, str(last)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True)


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_deliver_the_same(file: str) -> None:
    """On a new file, at once: what both deliver is kept once, what each has of its own is kept too."""
    both = [begun(file, name, 15) for name in "ab"]
    for process in both:
        tell(process)
    assert [process.communicate()[1] for process in both] == ["", ""]
    with open_store(file) as store:
        common = [record.content for record in store.list(workspace_id="s")]
        assert sorted(common) == sorted(f"{what} {number}" for what in ("fact", "noted") for number in range(15))
        for name in "ab":
            assert [record.content for record in store.list(workspace_id=name)] == [f"{name} {number}" for number in range(15)]
        assert store.verify().ok


def test_what_a_block_took_is_there_after_a_kill(file: str) -> None:
    """``aput`` of the block returned, the process was killed: its batch is there whole, and delivering it again adds nothing."""
    with begun(file, "own", 10**6) as process:
        tell(process)
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(5)]
        process.kill()
        seen += [int(line) for line in process.stdout.read().split()]
    with open_store(file) as store:
        kept = [record.content for record in store.list(workspace_id="s")]
        assert kept[: 2 * len(seen)] == [f"{what} {number}" for number in seen for what in ("fact", "noted")]
        assert len(kept) % 2 == 0
        asyncio.run(block_on(store).aput([user(f"fact {seen[-1]}"), assistant(f"noted {seen[-1]}")], session_id="s"))
        assert store.count(workspace_id="s") == len(kept)
        assert store.verify().ok


_ENDLESS = """
import asyncio, sys
from llama_index.core.llms import ChatMessage
from llama_index_indelible import memory
async def write():
    session = memory(sys.argv[1], "s", memory_blocks=[], tokenizer_fn=str.split, token_limit=200, token_flush_size=20)
    for number in range(10**6):
        await session.aput_messages([ChatMessage(role="user", content=f"u {number}"), ChatMessage(role="assistant", content=f"a {number}")])
        print(number, flush=True)
asyncio.run(write())
"""


@pytest.mark.parametrize("turns", [3, 70])
def test_a_session_goes_on_after_a_kill(file: str, turns: int) -> None:
    """Also one that has let go of its oldest messages: in another process each acknowledged one is there, once and in its order."""
    with subprocess.Popen([sys.executable, "-c", _ENDLESS, file], stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(turns)]
        process.kill()
        seen += [int(line) for line in process.stdout.read().split()]

    async def go_on() -> None:
        session: Memory = memory(file, "s", memory_blocks=[], tokenizer_fn=str.split)
        kept = texts(await session.aget_all())
        assert kept[: 2 * len(seen)] == [f"{who} {number}" for number in seen for who in "ua"]
        active = texts(await session.aget())
        assert active == kept[-len(active) :]
        assert turns < 70 or len(active) < len(kept)
        await session.aput(user("after"))
        assert texts(await session.aget_all()) == [*kept, "after"]

    asyncio.run(go_on())
