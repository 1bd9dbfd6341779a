"""What a chat store keeps of a message: everything."""

from __future__ import annotations

import copy
import math
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.schema import ImageDocument
from llama_index.core.storage.chat_store.base_db import MessageStatus

from indelible import InvalidInput
from llama_index_indelible import IndelibleBufferChatStore, IndelibleChatStore
from llama_index_indelible.messages import of_record, to_value
from tests.interop.llamaindex.chats import assistant, blocks, user


def test_every_block_comes_back(file: str, tmp_path: Path) -> None:
    """Equal and of the same kind, each by itself and all together."""
    chats = IndelibleBufferChatStore(file)
    everything = blocks(tmp_path)
    messages = [ChatMessage(role="assistant", blocks=[block]) for block in everything] + [ChatMessage(role="user", blocks=everything)]
    before = copy.deepcopy(messages)
    chats.set_messages("s", messages)
    found = chats.get_messages("s")
    assert found == before == messages
    assert [repr(block) for block in found[-1].blocks] == [repr(block) for block in everything]


def test_a_message_outlives_its_file(file: str, tmp_path: Path) -> None:
    """LlamaIndex checks that the file of a block is there whenever the block is made."""
    chats = IndelibleBufferChatStore(file)
    messages = [ChatMessage(role="user", blocks=blocks(tmp_path)), user("after")]
    chats.set_messages("s", messages)
    (tmp_path / "picture.png").unlink()
    assert chats.get_messages("s") == messages


@pytest.mark.parametrize("role", list(MessageRole))
def test_every_role_comes_back(role: MessageRole) -> None:
    chats = IndelibleBufferChatStore(":memory:")
    chats.add_message("s", ChatMessage(role=role, content="x"))
    (found,) = chats.get_messages("s")
    assert found.role is role


_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.binary(max_size=8)
    | st.datetimes(timezones=st.just(UTC)).map(lambda time: time.replace(fold=0))
)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\0\ud800"), max_size=8)
_KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
_NAMES = _KEYS | st.sampled_from(["$bytes", "$dict", "$tuple", "$path", "$time", "$float", "session_id", "images"])
_VALUES = st.recursive(
    _LEAVES | _TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=2) | st.tuples(inner), max_leaves=6
)
_MORE = st.dictionaries(_NAMES.filter(lambda name: name != "images"), _VALUES, max_size=3)


@settings(max_examples=40, deadline=None)
@given(text=_TEXT, more=_MORE)
def test_everything_in_additional_kwargs_comes_back(text: str, more: dict[str, Any]) -> None:
    """Bytes (a model's signatures are), tuples, times and the order of names included, and names that look like our own."""
    chats = IndelibleBufferChatStore(":memory:")
    message = ChatMessage(role="user", content=text, additional_kwargs=more)
    chats.add_message("s", message)
    (found,) = chats.get_messages("s")
    assert found == message
    assert repr(found.additional_kwargs) == repr(more)


def test_numbers_that_are_not_finite_come_back(file: str) -> None:
    """A model's log probabilities may be."""
    chats = IndelibleBufferChatStore(file)
    chats.add_message("s", user("x", low=-math.inf, none=math.nan))
    (found,) = chats.get_messages("s")
    assert found.additional_kwargs["low"] == -math.inf
    assert math.isnan(found.additional_kwargs["none"])


def test_a_providers_object_comes_back_as_its_fields(file: str) -> None:
    chats = IndelibleBufferChatStore(file)
    call = TextBlock(text="any model of pydantic")
    chats.add_message("s", assistant("x", tool_calls=[call]))
    (found,) = chats.get_messages("s")
    assert found.additional_kwargs["tool_calls"] == [{"block_type": "text", "text": "any model of pydantic"}]


def test_images_of_old_times_do_not_multiply(file: str) -> None:
    """LlamaIndex makes a block of each whenever such a message is made."""
    chats = IndelibleBufferChatStore(file)
    message = user("look", images=[ImageDocument(image=None, text="", image_path=None, metadata={}, image_url=None, id_="i")])
    message.blocks = message.blocks[:1]
    for _ in range(3):
        chats.set_messages("s", [message])
        (message,) = chats.get_messages("s")
    assert len(message.blocks) == 1
    assert message.additional_kwargs["images"][0]["id_"] == "i"


async def test_rows_of_others_are_active(file: str) -> None:
    """They have no status: ``Memory`` sees them as the buffers do, until it archives them."""
    chats = IndelibleChatStore(file)
    chats.collection("s").put("1", "hello", metadata={"role": "user"})
    await chats.add_message("s", assistant("hi"))
    assert [message.content for message in await chats.get_messages("s")] == ["hello", "hi"]
    assert await chats.archive_oldest_messages("s", 1) == [user("hello")]
    assert [message.content for message in await chats.get_messages("s")] == ["hi"]
    assert await chats.get_messages("s", MessageStatus.ARCHIVED) == [user("hello")]


def test_rows_of_others_are_read(file: str) -> None:
    """By their content and role; a form of the future is an error that says so."""
    chats = IndelibleBufferChatStore(file)
    where = chats.collection("s")
    where.put("1", "hello", metadata={"role": "assistant"})
    where.put("2", "there", metadata={"role": "nobody"})
    assert [(message.role.value, message.content) for message in chats.get_messages("s")] == [("assistant", "hello"), ("user", "there")]
    record = where.put("3", "x", value={**to_value(user("x")), "schema": 2})
    with pytest.raises(InvalidInput, match="schema 2"):
        of_record(record)
