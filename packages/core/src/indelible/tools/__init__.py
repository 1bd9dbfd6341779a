"""Memory as tools for a model: each described once, for whatever loop, framework or server runs them.

Describing and checking needs pydantic, ``pip install "indelible[tools]"``; it is loaded when first needed.
"""

from __future__ import annotations

from indelible.tools.catalogue import (
    EDIT,
    FACT_TOOLS,
    FEEDBACK,
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
from indelible.tools.policy import Policy, ToolCall
from indelible.tools.quarantine import Held, Quarantine
from indelible.tools.schema import schema, schemas
from indelible.tools.scope import REQUIRED_FIELDS, tool_view
from indelible.tools.toolbox import Toolbox, ToolResult
from indelible.tools.withdrawal import withdraw

__all__ = [
    "EDIT",
    "FACT_TOOLS",
    "FEEDBACK",
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
    "Argument",
    "Call",
    "Held",
    "MemoryTool",
    "Policy",
    "Quarantine",
    "ToolCall",
    "ToolResult",
    "Toolbox",
    "schema",
    "schemas",
    "tool_view",
    "withdraw",
]
