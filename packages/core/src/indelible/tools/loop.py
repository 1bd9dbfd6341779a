"""A model, a prompt and tools: asked again and again, until it answers without calling any.

A model is anything that can be called with the messages so far and the tools, and says what it wants. What it writes to memory it writes
by calling a tool; its free text never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from indelible.errors import InvalidInput, ModelError
from indelible.faces.arguments import check_whole
from indelible.faces.ask import Gate, check_gate, model_name, note_call
from indelible.faces.store import ScopedView
from indelible.tools.description import MemoryTool
from indelible.tools.scope import tool_view
from indelible.tools.toolbox import Toolbox, ToolResult

DEFAULT_ROUNDS = 10
MOST_CALLS = 64
"""Calls of one round that are carried out; a model that wants more is told so."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that a model asks for.

    Attributes:
        name: of the tool, as the model wrote it.
        arguments: a mapping, or JSON text of one, as the model wrote it.
        id: by which its result is found; given by the loop where the model gives none.
    """

    name: str
    arguments: Mapping[str, Any] | str | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says: text, calls of tools, or both.

    Attributes:
        text: free text; the answer, if there are no calls.
        uses: the calls that it asks for.
    """

    text: str = ""
    uses: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the exchange, as a model is shown it.

    Attributes:
        role: who speaks.
        text: what is said; of a tool, its result.
        uses: the calls that an assistant's message asks for.
        use_id: which of them a tool's message answers.
        name: of the tool that answers.
        is_error: the call did nothing.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    uses: tuple[ToolUse, ...] = ()
    use_id: str = ""
    name: str = ""
    is_error: bool = False


class ToolModel(Protocol):
    """A model that can call tools: a function, or an object that can be called like one."""

    def __call__(self, messages: Sequence[Message], tools: Sequence[MemoryTool], /) -> Reply | str:
        """What the model says next.

        Args:
            messages: all so far, the oldest first.
            tools: what it may call; ``schemas(tools, form)`` describes them to a provider.

        Returns:
            A reply, or text alone for one without calls.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What came of it.

    Attributes:
        value: the model's last text.
        messages: the whole exchange.
        rounds: how many times tools were called.
    """

    value: str
    messages: tuple[Message, ...]
    rounds: int

    def __str__(self) -> str:
        return self.value


def ask_with_tools(
    prompt: str,
    tools: Toolbox | ScopedView,
    model: ToolModel,
    max_rounds: int = DEFAULT_ROUNDS,
    *,
    system: str | None = None,
    gate: Gate | None = None,
) -> ToolAnswer:
    """Ask a model that may use tools on the way to its answer.

    What goes wrong with a call (an unknown tool, wrong arguments, a denial, a tool that raises) is its result, and the model goes on.
    What a round wrote stays, whatever becomes of the rest.

    Args:
        prompt: the question.
        tools: a toolbox; or a bound view, for the tools and the policy that ``Toolbox`` takes by default. Of a store, agent and user come
            from the environment.
        model: as ``ToolModel`` describes.
        max_rounds: how many times the model may call tools; each round may hold several calls.
        system: what is said to the model before the question.
        gate: may refuse the prompt before the model sees it.

    Raises:
        InvalidInput: an argument is refused.
        PolicyError: the gate refused; the model was not called.
        ModelError: the model failed, gave something else than a reply, or still called tools after ``max_rounds``.
    """
    for what, text in (("a prompt", prompt), *((("the system text", system),) if system is not None else ())):
        if not isinstance(text, str):
            raise InvalidInput(f"{what} must be a str, got {type(text).__name__}")
    toolbox = Toolbox(tool_view(tools, {})) if isinstance(tools, ScopedView) else tools
    if not isinstance(toolbox, Toolbox):
        raise InvalidInput(f"tools must be a Toolbox or a bound view of a store, got {type(tools).__name__}")
    if not callable(model):
        raise InvalidInput(f"a model is called with messages and tools, got {type(model).__name__}, which cannot be called")
    check_whole(max_rounds, "max_rounds")
    check_gate(gate, prompt)
    messages = [Message("system", system)] if system is not None else []
    messages.append(Message("user", prompt))
    for number in range(max_rounds + 1):
        reply = _asked(model, messages, toolbox)
        messages.append(Message("assistant", reply.text, reply.uses))
        if not reply.uses:
            return ToolAnswer(reply.text, tuple(messages), number)
        if number < max_rounds:
            messages += _results(reply.uses, toolbox)
    raise ModelError(
        f"the model {model_name(model)} still called tools after {max_rounds} rounds: what it wrote stays; allow more by max_rounds"
    )


def _asked(model: ToolModel, messages: Sequence[Message], toolbox: Toolbox) -> Reply:
    try:
        reply = _checked(model(tuple(messages), toolbox.tools), len(messages))
    except Exception as error:
        raise ModelError(f"the model {model_name(model)} failed: {type(error).__name__}: {error}") from error
    size = sum(len(message.text) for message in messages)
    note_call("ask_with_tools", model, f"{size} characters, {len(reply.uses)} calls of tools")
    return reply


def _checked(reply: object, number: int) -> Reply:
    """A reply with calls that each have an id of their own."""
    if isinstance(reply, str):
        return Reply(str.__str__(reply))
    if not isinstance(reply, Reply) or not isinstance(reply.text, str):
        raise TypeError(f"a model gives a Reply or a str, got {type(reply).__name__}")
    uses: list[ToolUse] = []
    for place, use in enumerate(reply.uses):
        if not isinstance(use, ToolUse):
            raise TypeError(f"the calls of a reply are ToolUse, got {type(use).__name__}")
        taken = not isinstance(use.id, str) or not use.id or use.id in {other.id for other in uses}
        uses.append(replace(use, id=f"call_{number}_{place}") if taken else use)
    return Reply(reply.text, tuple(uses))


def _results(uses: Sequence[ToolUse], toolbox: Toolbox) -> list[Message]:
    results: list[Message] = []
    for place, use in enumerate(uses):
        if place < MOST_CALLS:
            result = toolbox.call(use.name, use.arguments)
        else:
            result = ToolResult(f"not done: {MOST_CALLS} calls are carried out at a time; ask again for the rest", True)
        results.append(Message("tool", result.text, use_id=use.id, name=str(use.name)[:80], is_error=result.is_error))
    return results
