"""Chat messages as JSON and back, by a schema of our own: nothing in stored data can name a class or a module to load."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

from llama_index.core.base.llms.types import (
    AudioBlock,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from indelible import InvalidInput, Record

SCHEMA: Final = 1
_BLOCKS: Final[dict[str, type[BaseModel]]] = {
    kind.model_fields["block_type"].default: kind
    for kind in (
        TextBlock, ImageBlock, AudioBlock, VideoBlock, DocumentBlock, CachePoint, CitableBlock, CitationBlock, ThinkingBlock, ToolCallBlock,
    )
}  # fmt: skip
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
"""What JSON in the log may not hold, and the text of a tool may."""
_INSIDE: Final = {"citable": "content", "citation": "cited_content"}


def to_value(message: ChatMessage) -> dict[str, Any]:
    """A message as a JSON object with every block and every one of its ``additional_kwargs``; it is not changed.

    Bytes, paths, times, tuples, numbers that are not finite and the order of dicts come back as they were; an object of pydantic as a dict
    of its fields.

    Raises:
        InvalidInput: it is no message, or holds something that cannot be written down.
    """
    if not isinstance(message, ChatMessage):
        raise InvalidInput(f"a message must be a ChatMessage, got {type(message).__name__}")
    try:
        blocks = [{name: _plain(field) for name, field in block.model_dump().items()} for block in message.blocks]
        # Not by the message's own dump, which would make text of bytes.
        more = _plain(message.additional_kwargs)
    except RecursionError:
        raise InvalidInput("a message is nested too deeply, or contains itself") from None
    return {"schema": SCHEMA, "role": message.role.value, "blocks": blocks, "additional_kwargs": more}


def searched(message: ChatMessage) -> str:
    """The text that a message is found by."""
    return _UNSTORABLE.sub("\ufffd", message.content or "")


def of_record(record: Record) -> ChatMessage:
    """A fresh message of a record. One that was not written here is read by its content and ``metadata["role"]``.

    Raises:
        InvalidInput: it was written by a newer release.
    """
    value = record.value
    if not isinstance(value, Mapping) or "schema" not in value:
        role = record.metadata.get("role")
        known = role in {each.value for each in MessageRole}
        return ChatMessage(role=MessageRole(role) if known else MessageRole.USER, content=record.content)
    if value["schema"] != SCHEMA:
        raise InvalidInput(f"message {record.key!r} has a form that this release does not know: schema {value['schema']!r}")
    message = ChatMessage(role=MessageRole(value["role"]))
    message.blocks = [_block_of(_lively(fields)) for fields in value["blocks"]]
    # Set afterwards: the constructor would make blocks of what is called "images" here, again each time.
    message.additional_kwargs = _lively(value["additional_kwargs"])
    return message


def _block_of(fields: dict[str, Any]) -> Any:
    kind = fields.pop("block_type")
    inside = _INSIDE.get(kind)
    if inside is not None:
        content = fields[inside]
        fields[inside] = [_block_of(each) for each in content] if isinstance(content, list) else _block_of(content)
    path = fields.pop("path", None)
    block: Any = _BLOCKS[kind](**fields)
    if path is not None:
        block.path = path  # the constructor would want the file to be there still
    return block


def _plain(value: Any) -> Any:
    """The same as JSON, with what JSON has not as a dict of one name that begins with ``$``."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        text = str.__str__(value)  # of an enum or another kind of text: plain text
        return {"$text": _encoded(text.encode("utf-8", "surrogatepass"))} if _UNSTORABLE.search(text) else text
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, dict):
        items = {_name(key): _plain(item) for key, item in value.items()}
        return items if _is_itself(list(items)) else {"$dict": [[key, item] for key, item in items.items()]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, BaseModel):
        return _plain(value.model_dump())
    for kind, (name, write, _) in _TAGS.items():
        if isinstance(value, kind):
            return {name: write(value)}
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        raise InvalidInput(f"a message holds a {type(value).__name__}, which cannot be written down: leave it out") from None


def _is_itself(names: list[str]) -> bool:
    """Whether a dict of these names comes back from JSON in the log as it is, in its order, and is not taken for one of our marks."""
    return names == sorted(names) and all(map(str.isascii, names)) and not (len(names) == 1 and names[0].startswith("$"))


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"a message holds a dict with the key {key!r}: keys must be str")
    return str.__str__(key)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _lively(value: Any) -> Any:
    if isinstance(value, list):
        return [_lively(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        name, item = next(iter(value.items()))
        if name == "$dict":
            return {key: _lively(each) for key, each in item}
        if name in _READ:
            return _READ[name](item)
    return {key: _lively(item) for key, item in value.items()}


_TAGS: Final[dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    bytes: ("$bytes", _encoded, base64.b64decode),
    tuple: ("$tuple", lambda value: [_plain(item) for item in value], lambda items: tuple(map(_lively, items))),
    PurePath: ("$path", str, Path),
    datetime: ("$time", datetime.isoformat, datetime.fromisoformat),
}
_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "$float": float,
    "$text": lambda data: base64.b64decode(data).decode("utf-8", "surrogatepass"),
    **{name: read for name, _, read in _TAGS.values()},
}
