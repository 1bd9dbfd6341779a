"""Who wrote a memory by a tool: the session as its source, tool and model under a reserved label."""

from __future__ import annotations

from typing import Any

from indelible.errors import InvalidInput
from indelible.tools.description import Call

WRITTEN_BY = "written_by"
"""The reserved label. No model can set it, and what it sees of a memory's labels does not have it."""


def signed(call: Call, labels: dict[str, Any] | None) -> dict[str, Any]:
    """Labels of a model with the provenance of the call; without a tool's name there is none.

    Raises:
        InvalidInput: the model tries to say itself who wrote it.
    """
    if labels and WRITTEN_BY in labels:
        raise InvalidInput(f"the label {WRITTEN_BY!r} is kept by the memory itself: use another name")
    if not call.tool:
        return dict(labels or {})
    known = {"tool": call.tool, "model": call.model, "approved_by": call.approved_by}
    return {**(labels or {}), WRITTEN_BY: {name: value for name, value in known.items() if value}}


def labels_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """The labels without the reserved one."""
    return {name: value for name, value in metadata.items() if name != WRITTEN_BY}
