"""The tools as JSON Schema, in the forms that model providers take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from indelible.errors import InvalidInput
from indelible.tools.description import MemoryTool

Form = Literal["openai", "anthropic"]
FORMS = ("openai", "anthropic")


def schemas(tools: Iterable[MemoryTool], form: Form = "openai") -> list[dict[str, Any]]:
    """What a provider is told of tools.

    Args:
        tools: which.
        form: ``"openai"`` for ``tools`` of chat completions, ``"anthropic"`` for ``tools`` of messages.

    Raises:
        InvalidInput: another form.
        MissingExtra: pydantic is not installed.
    """
    if form not in FORMS:
        raise InvalidInput(f"form must be one of {', '.join(map(repr, FORMS))}, got {form!r}")
    return [_openai(tool) if form == "openai" else _anthropic(tool) for tool in tools]


def schema(tool: MemoryTool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments: an object with nothing besides them.

    Raises:
        MissingExtra: pydantic is not installed.
    """
    made = tool.arguments.model_json_schema()
    return {
        "type": "object",
        "properties": {name: _untitled(about) for name, about in made.get("properties", {}).items()},
        "required": made.get("required", []),
        "additionalProperties": False,
    }


def _untitled(about: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic derives from names: they cost tokens and say nothing."""
    return {name: value for name, value in about.items() if name != "title"}


def _openai(tool: MemoryTool) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": schema(tool)}}


def _anthropic(tool: MemoryTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": schema(tool)}
