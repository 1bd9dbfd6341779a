"""What the tests of chat stores and memories share. No test of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    CitableBlock,
    CitationBlock,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.llms import ChatMessage

from indelible import MemoryStore
from indelible.testing import HashEmbedder
from tests.interop.llamaindex.samples import DIM

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000049454e44ae426082")


def open_store(path: object) -> MemoryStore:
    """A store with an embedding model that loads nothing."""
    return MemoryStore(str(path), embedder=HashEmbedder(DIM))


@contextmanager
def own_loop() -> Iterator[None]:
    """An event loop for the plain methods of a memory: LlamaIndex would make one and never close it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)


def said(role: str, text: str, **more: Any) -> ChatMessage:
    return ChatMessage(role=role, content=text, additional_kwargs=more)


def user(text: str, **more: Any) -> ChatMessage:
    return said("user", text, **more)


def assistant(text: str, **more: Any) -> ChatMessage:
    return said("assistant", text, **more)


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


def blocks(folder: Path) -> list[ContentBlock]:
    """A block of every kind; one of them is a file in a folder."""
    picture = folder / "picture.png"
    picture.write_bytes(PNG)
    return [
        TextBlock(text="hello"),
        ImageBlock(image=PNG, detail="low"),
        ImageBlock(url="https://example.org/a.png"),
        ImageBlock(path=picture),
        AudioBlock(audio=b"RIFF\0\xff", format="wav"),
        VideoBlock(video=b"\0\1\2\xff", fps=2),
        DocumentBlock(data=b"%PDF-1.4 x", title="a title"),
        DocumentBlock(path="notes/of the day.txt"),
        CachePoint(cache_control=CacheControl(type="ephemeral", ttl="1h")),
        CitableBlock(title="t", source="s", content=[TextBlock(text="q"), ImageBlock(path=picture)]),
        CitationBlock(cited_content=TextBlock(text="z"), source="s", title="t", additional_location_info={"page": 1}),
        ThinkingBlock(content="hm", num_tokens=3, additional_information={"signature": b"\xff\0", "$bytes": "no"}),
        ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"q": [1, 2.5, None, True]}),
        ToolCallBlock(tool_call_id="2", tool_name="search", tool_kwargs='{"q": '),
    ]
