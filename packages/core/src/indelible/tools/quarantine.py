"""Calls that were kept aside: recorded in the log, seen by no recall, carried out once a person has approved them.

What is kept is the call and not its effect, as a record of its own in a namespace of its own. So whatever reads memories (recall, both
searches, lists, prompts, now or in the past, on every backend) passes over it without knowing of it, no score depends on it, a memory
that was to be edited goes on saying what it said, and approving is nothing but making the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from indelible.base.canonical import encode
from indelible.base.record import UNSET, Record, Scope
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
        scope: whose memories it is about.
        at: when.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    reasons: tuple[str, ...]
    session: str | None
    model: str | None
    scope: Scope
    at: datetime


class Quarantine:
    """What was kept aside in a view. For people and programs, never a tool of a model.

    Args:
        view: whose; a store itself for everybody's.
        tools: which can be carried out.

    Example:
        >>> for held in Quarantine(store).list():
        ...     print(held.id, held.scope.user_id, held.tool, held.arguments, held.reasons)
    """

    def __init__(self, view: ScopedView, tools: Iterable[MemoryTool] = ALL_TOOLS) -> None:
        self._view = view
        self._tools = {tool.name: tool for tool in tools}
        self._kept = view.scope(namespace=NAMESPACE)

    def hold(self, call: Call, arguments: Mapping[str, Any], reasons: Iterable[str]) -> str:
        """Keep a call aside; the same call of the same session again is the same one.

        Returns:
            The id to approve it by.
        """
        kept = self._view.collection(*NAMESPACE)
        value = {"tool": call.tool, "arguments": dict(arguments), "reasons": list(reasons), "model": call.model}
        text = encode([call.tool, value["arguments"], call.session, list(kept.scope)], "the arguments")
        id = str(UUID(bytes=sha256(text.encode()).digest()[:16]))
        if kept.get(id) is None:
            kept.put(id, value=value, source=call.session)
        return id

    def list(self) -> list[Held]:
        """What waits, the oldest first."""
        return [_held(record) for record in self._kept.list()]

    def approve(self, id: str, *, by: str | None = None) -> Any:
        """Carry a call out, on the account of the session that made it, and end its quarantine.

        What it says is then said by the memory alone: the copy here is destroyed, so that a purge of the memory leaves nothing of it.

        Args:
            id: which.
            by: who approves it, noted with what is written.

        Returns:
            The tool's answer.

        Raises:
            RecordNotFound: nothing waits under this id; or what the call is about is no longer there.
            InvalidInput: its tool is not among these tools.
        """
        record = self._waiting(id)
        held = _held(record)
        tool = self._tools.get(held.tool)
        if tool is None:
            raise InvalidInput(f"the tool {held.tool!r} is not here: give Quarantine the tools of the toolbox that kept this")
        whose = self._view.scope(*(UNSET if value is None else value for value in held.scope))
        # First the call, which can be repeated, then its end: a crash in between loses nothing.
        answer = tool.verb(Call(whose, held.tool, held.session, held.model, by), **held.arguments)
        self._kept.purge(record.id)
        return answer

    def reject(self, id: str, *, by: str | None = None) -> None:
        """End the quarantine of a call without making it. What it said stays in the log; ``purge`` instead would destroy it.

        Args:
            id: which.
            by: who rejects it, noted in its history.

        Raises:
            RecordNotFound: nothing waits under this id.
        """
        self._kept.forget(self._waiting(id).id, source=by)

    def purge(self, id: str, reason: str = "poisoned") -> None:
        """Destroy what a waiting call says.

        Raises:
            RecordNotFound: nothing waits under this id.
        """
        self._kept.purge(self._waiting(id).id, reason)

    def _waiting(self, id: str) -> Record:
        found = self._kept.list(key=id)
        if not found:
            raise RecordNotFound(f"nothing waits under the id {str(id)[:80]!r} in this scope: list() shows what does")
        return found[0]


def _held(record: Record) -> Held:
    value = record.value
    reasons = tuple(value["reasons"])
    return Held(
        record.key or "", value["tool"], value["arguments"], reasons, record.source, value["model"], record.scope, record.updated_at
    )
