"""Messages as JSON and back, by a schema of our own: nothing in stored data can name a class or a module to load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)

from indelible import InvalidInput, Record

SCHEMA = 1
_CLASSES: dict[str, type[BaseMessage]] = {
    "ai": AIMessage,
    "ai chunk": AIMessageChunk,
    "chat": ChatMessage,
    "chat chunk": ChatMessageChunk,
    "function": FunctionMessage,
    "function chunk": FunctionMessageChunk,
    "human": HumanMessage,
    "human chunk": HumanMessageChunk,
    "remove": RemoveMessage,
    "system": SystemMessage,
    "system chunk": SystemMessageChunk,
    "tool": ToolMessage,
    "tool chunk": ToolMessageChunk,
}
_NAMES = {kind: name for name, kind in _CLASSES.items()}
_ROLES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}


def to_value(message: BaseMessage) -> dict[str, Any]:
    """A message as a JSON object with every field it has.

    A subclass defined elsewhere is kept as the message class it derives from; its fields stay.

    Raises:
        InvalidInput: it is no message.
    """
    if not isinstance(message, BaseMessage):
        raise InvalidInput(f"a message must be a BaseMessage, got {type(message).__name__}")
    name = next((_NAMES[kind] for kind in type(message).__mro__ if kind in _NAMES), None)
    if name is None:
        raise InvalidInput(f"{type(message).__name__} derives from none of LangChain's kinds of messages")
    fields = message.model_dump(warnings=False)
    fields.pop("type", None)  # fixed by the class
    return {"schema": SCHEMA, "class": name, "fields": _plain(fields)}


def of_record(record: Record) -> BaseMessage:
    """The message of a record. One that was not written here is read by its content and ``metadata["role"]``.

    Raises:
        InvalidInput: it was written by a newer release, or is no message.
    """
    value = record.value
    if not isinstance(value, Mapping) or "schema" not in value:
        role = record.metadata.get("role", "user")
        kind = _ROLES.get(role)
        return ChatMessage(role=str(role), content=record.content) if kind is None else kind(content=record.content)
    kind = _CLASSES.get(value.get("class", ""))
    if value["schema"] != SCHEMA or kind is None:
        raise InvalidInput(f"message {record.key!r} has a form that this release does not know: schema {value['schema']!r}")
    return kind(**value["fields"])


def _plain(value: Any) -> Any:
    """The same with subclasses of ``str``, as ``message.text`` is one, as plain ``str``."""
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if type(value) is list else value
