"""A model that calls the tools it was told to call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indelible.errors import InvalidInput
from indelible.tools import MemoryTool, Message, Reply, ToolUse

Said = str | Reply | ToolUse | Sequence[ToolUse] | BaseException
Step = Said | Callable[[Sequence[Message]], Said]


class ScriptedToolModel:
    """A model for ``ask_with_tools`` that follows a script.

    Args:
        steps: one per call, in order: text; a ``Reply``; one ``ToolUse`` or several; an exception, which is raised; or a function from the
            messages so far to one of these, for what depends on a result.

    Attributes:
        seen: the messages of each call, in order.
        tools: the tools of the last call.

    Example:
        >>> model = ScriptedToolModel(ToolUse("remember", {"content": "Ada prefers tea"}), "noted")
    """

    def __init__(self, *steps: Step) -> None:
        self._steps = steps
        self.seen: list[tuple[Message, ...]] = []
        self.tools: tuple[MemoryTool, ...] = ()

    def __call__(self, messages: Sequence[Message], tools: Sequence[MemoryTool], /) -> Reply:
        if len(self.seen) >= len(self._steps):
            raise InvalidInput(f"the script has {len(self._steps)} steps, and the model was asked once more")
        step = self._steps[len(self.seen)]
        self.seen.append(tuple(messages))
        self.tools = tuple(tools)
        said: Said = step(messages) if callable(step) else step
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, Reply):
            return said
        if isinstance(said, str):
            return Reply(said)
        return Reply(uses=(said,) if isinstance(said, ToolUse) else tuple(said))

    def __repr__(self) -> str:
        return f"<ScriptedToolModel {len(self.seen)} of {len(self._steps)} steps>"
