"""Putting a block of memories ahead of messages."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

NOTIFICATION = "lc_source"
"""Marks a message that the harness wrote in the user's name."""


def said_by_user(message: BaseMessage) -> bool:
    """Whether a message is a person's own words."""
    return isinstance(message, HumanMessage) and NOTIFICATION not in message.additional_kwargs


def question_of(messages: Sequence[BaseMessage]) -> str:
    """What the user said last, empty if nothing."""
    return next((str(message.text) for message in reversed(messages) if said_by_user(message)), "")


def with_block(system: SystemMessage | None, block: str) -> SystemMessage | None:
    """A system message with a block at its end, where a cache of what stands before it still holds.

    Args:
        system: the message, which is not changed.
        block: the text; nothing is added if it is empty.
    """
    if not block:
        return system
    if system is None:
        return SystemMessage(content=block)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{block}" if system.content else block})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": block}]})


def ahead_of(messages: Sequence[BaseMessage], block: str) -> list[BaseMessage]:
    """Messages with a block in their system message, which is made if there is none."""
    first = messages[0] if messages else None
    system = with_block(first if isinstance(first, SystemMessage) else None, block)
    rest = messages[1:] if isinstance(first, SystemMessage) else messages
    return [*([] if system is None else [system]), *rest]
