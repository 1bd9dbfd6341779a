"""Memory as tools for a model: each described once, for whatever loop, framework or server runs them.

Describing and checking needs pydantic, ``pip install "indelible[tools]"``; it is loaded when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indelible.tools.catalogue import (
    ALL_TOOLS,
    EDIT,
    FACT_TOOLS,
    FEEDBACK,
    FILES,
    FORGET,
    HISTORY,
    LIST,
    READ_TOOLS,
    RECALL,
    RECALL_FACT,
    REMEMBER,
    REMEMBER_FACT,
    SEARCH,
    SEARCH_SEMANTIC,
    TOOLS,
)
from indelible.tools.description import Argument, Call, MemoryTool
from indelible.tools.loop import Message, Reply, ToolAnswer, ToolModel, ToolUse, ask_with_tools
from indelible.tools.policy import Policy, ToolCall
from indelible.tools.quarantine import Held, Quarantine
from indelible.tools.schema import schema, schemas
from indelible.tools.scope import REQUIRED_FIELDS, tool_view
from indelible.tools.toolbox import Toolbox, ToolResult
from indelible.tools.withdrawal import withdraw

if TYPE_CHECKING:
    from indelible.tools.anthropic_tool import AnthropicMemoryTool

__all__ = [
    "ALL_TOOLS",
    "EDIT",
    "FACT_TOOLS",
    "FEEDBACK",
    "FILES",
    "FORGET",
    "HISTORY",
    "LIST",
    "READ_TOOLS",
    "RECALL",
    "RECALL_FACT",
    "REMEMBER",
    "REMEMBER_FACT",
    "REQUIRED_FIELDS",
    "SEARCH",
    "SEARCH_SEMANTIC",
    "TOOLS",
    "AnthropicMemoryTool",
    "Argument",
    "Call",
    "Held",
    "MemoryTool",
    "Message",
    "Policy",
    "Quarantine",
    "Reply",
    "ToolAnswer",
    "ToolCall",
    "ToolModel",
    "ToolResult",
    "ToolUse",
    "Toolbox",
    "ask_with_tools",
    "schema",
    "schemas",
    "tool_view",
    "withdraw",
]


def __getattr__(name: str) -> Any:
    # Anthropic's client is loaded only by those who use it.
    if name == "AnthropicMemoryTool":
        from indelible.tools.anthropic_tool import AnthropicMemoryTool

        return AnthropicMemoryTool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
