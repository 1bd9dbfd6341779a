"""Calls that were kept aside: recorded in the log, seen by no recall, carried out once a person has approved them.

What is kept is the call and not its effect, as a record of its own in a namespace of its own. So whatever reads memories (recall, both
searches, lists, prompts, now or in the past, on every backend) passes over it without knowing of it, no score depends on it, a memory
that was to be edited goes on saying what it said, and approving is nothing but making the call. Its history says when it was kept and
when that ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from indelible.base.canonical import encode
from indelible.base.record import Record
from indelible.errors import InvalidInput, RecordNotFound
from indelible.faces.store import ScopedView
from indelible.tools.catalogue import ALL_TOOLS
from indelible.tools.description import Call, MemoryTool

NAMESPACE = ("indelible", "quarantine")


@dataclass(frozen=True, slots=True)
class Held:
    """A call that was kept aside.

    Attributes:
        id: to approve or reject it by.
        tool, arguments: the call.
        reasons: why it was kept aside.
        session, model: who made it.
        at: when.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    reasons: tuple[str, ...]
    session: str | None
    model: str | None
    at: datetime


class Quarantine:
    """What was kept aside in a view. For people and programs, never a tool of a model.

    Args:
        view: whose; the view of the toolbox, or a view that was bound alike.
        tools: which can be carried out.

    Example:
        >>> for held in Quarantine(store.scope("assistant", "ada")).list():
        ...     print(held.id, held.tool, held.arguments, held.reasons)
    """

    def __init__(self, view: ScopedView, tools: Iterable[MemoryTool] = ALL_TOOLS) -> None:
        self._view = view
        self._tools = {tool.name: tool for tool in tools}
        self._kept = view.collection(*NAMESPACE)

    def hold(self, call: Call, arguments: Mapping[str, Any], reasons: Iterable[str]) -> str:
        """Keep a call aside; the same call of the same session again is the same one.

        Returns:
            The id to approve it by.
        """
        value = {"tool": call.tool, "arguments": dict(arguments), "reasons": list(reasons), "model": call.model}
        text = encode([call.tool, value["arguments"], call.session], "the arguments")
        id = str(UUID(bytes=sha256(text.encode()).digest()[:16]))
        if self._kept.get(id) is None:
            self._kept.put(id, value=value, source=call.session)
        return id

    def list(self) -> list[Held]:
        """What waits, the oldest first."""
        return [_held(record) for record in self._kept.list()]

    def approve(self, id: str) -> Any:
        """Carry a call out, on the account of the session that made it, and end its quarantine.

        Returns:
            The tool's answer.

        Raises:
            RecordNotFound: nothing waits under this id; or what the call is about is no longer there.
            InvalidInput: its tool is not among these tools.
        """
        held = self._waiting(id)
        tool = self._tools.get(held.tool)
        if tool is None:
            raise InvalidInput(f"the tool {held.tool!r} is not here: give Quarantine the tools of the toolbox that kept this")
        # First the call, which can be repeated, then its end: a crash in between loses nothing.
        answer = tool.verb(Call(self._view, held.tool, held.session, held.model), **held.arguments)
        self._kept.delete(id)
        return answer

    def reject(self, id: str) -> None:
        """End the quarantine of a call without making it. What it said stays in the log until ``purge``.

        Raises:
            RecordNotFound: nothing waits under this id.
        """
        self._waiting(id)
        self._kept.delete(id)

    def purge(self, id: str, reason: str = "poisoned") -> int:
        """Destroy what a call said, waiting or not; 1 if it was there."""
        return int(self._kept.purge(id, reason))

    def _waiting(self, id: str) -> Held:
        record = self._kept.get(id)
        if record is None:
            raise RecordNotFound(f"nothing waits under the id {str(id)[:80]!r} in this scope: list() shows what does")
        return _held(record)


def _held(record: Record) -> Held:
    value = record.value
    return Held(
        record.key or "", value["tool"], value["arguments"], tuple(value["reasons"]), record.source, value["model"], record.updated_at
    )
