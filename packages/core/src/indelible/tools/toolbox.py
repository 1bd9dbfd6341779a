"""The tools of one view, as a model's loop or a server calls them: whatever goes wrong is an answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import category

from indelible.base.canonical import check_text, loads_foreign
from indelible.embed.onnx_reranker import bundled_reranker
from indelible.errors import IndelibleError, InvalidInput
from indelible.faces.request import Rerank, checked_rerank
from indelible.faces.store import ScopedView
from indelible.tools.catalogue import TOOLS
from indelible.tools.description import Call, MemoryTool
from indelible.tools.policy import Policy, ToolCall, texts
from indelible.tools.quarantine import Quarantine

if TYPE_CHECKING:
    from indelible.embed.reranker import Reranker

LONGEST_ERROR = 500
LONGEST_ARGUMENTS = 4_000_000
"""Characters of JSON text that are read as arguments, and of all texts in them, also of a call that only reads."""

_LOCKS = 64


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a model is told.

    Attributes:
        text: short JSON, or what went wrong and what to do.
        is_error: the call did nothing.
    """

    text: str
    is_error: bool = False


class Toolbox:
    """Tools bound to whose memories they reach.

    Args:
        view: a bound view of a store, from ``store.scope(...)`` or ``tool_view``; a store itself would reach everybody's memories.
        tools: which; by default all nine, none of which destroys anything.
        policy: what the model may do; by default ``Policy()``.
        model: its name, noted with what it writes.
        session: noted as the source of what it writes, so that ``withdraw(source=session)`` undoes it all. Quotas are per session.
        rerank: ``True``, ``Rerank(pool=...)`` or a reranker of yours, which reads the query beside each of the best that ``recall`` and
            ``search_semantic`` find, as for ``recall`` of a store; the model has no say in it.

    Raises:
        InvalidInput: an argument of another kind, or two tools of one name.
        MissingExtra: pydantic is not installed, or the bundled reranker if that is asked for.

    Example:
        >>> toolbox = Toolbox(store.scope("assistant", "ada"), session="monday")
        >>> toolbox.call("remember", {"content": "Ada prefers tea"}).text
        '{"id": "...", "version": 1}'
    """

    def __init__(
        self,
        view: ScopedView,
        *,
        tools: Sequence[MemoryTool] = TOOLS,
        policy: Policy | None = None,
        model: str | None = None,
        session: str | None = None,
        rerank: bool | Rerank | Reranker | None = None,
    ) -> None:
        if not isinstance(view, ScopedView):
            raise InvalidInput(f"view must be a store or a view of one, got {type(view).__name__}")
        if policy is not None and not isinstance(policy, Policy):
            raise InvalidInput(f"policy must be a Policy, got {type(policy).__name__}")
        self.view = view
        self.tools = tuple(tools)
        self.policy = Policy() if policy is None else policy
        self.model = None if model is None else check_text(model, "model", empty=False)
        self.session = None if session is None else check_text(session, "session", empty=False)
        self.rerank = checked_rerank(rerank)
        self._named = {tool.name: tool for tool in self.tools}
        if len(self._named) != len(self.tools):
            raise InvalidInput("two tools have the same name: rename one")
        for tool in self.tools:
            _ = tool.arguments  # what is not installed or cannot be described is the program's trouble and not the model's
        if self.rerank is not None and self.rerank.reranker is None:
            bundled_reranker().check_installed()
        self._shared = _Shared()

    def within(self, view: ScopedView, *, session: str | None = None, model: str | None = None) -> Toolbox:
        """The same tools and policy for another view or session; quotas are counted together, per session."""
        other = Toolbox(view, tools=self.tools, policy=self.policy, model=model or self.model, session=session or self.session)
        other._shared, other.rerank = self._shared, self.rerank
        return other

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """Call a tool.

        Args:
            name: of the tool.
            arguments: a mapping, or JSON text of one; ``None`` or nothing for none.

        Returns:
            Its answer; also of whatever went wrong, in words that a model can act on. Only what ends a program, such as
            ``KeyboardInterrupt``, is raised.
        """
        try:
            return ToolResult(shown(self.run(name, arguments)))
        except IndelibleError as error:
            return ToolResult(_short(str(error)), True)
        except Exception as error:
            return ToolResult(_short(f"the tool failed with {type(error).__name__}: {error}"), True)

    def run(self, name: object, arguments: object = None) -> Any:
        """Call a tool, and let what goes wrong be raised: for frameworks that tell a model of errors themselves.

        Args:
            name, arguments: as for ``call``.

        Returns:
            Its answer, as JSON; ``shown`` makes the text of it that ``call`` gives.

        Raises:
            InvalidInput: no such tool, or arguments that it does not take.
            RecordNotFound: no such memory within reach; the message says what to do.
            PolicyError: the policy forbids it.
        """
        tool = self._named.get(name) if isinstance(name, str) else None
        if tool is None:
            raise InvalidInput(f"there is no tool {str(name)[:80]!r}: there are {', '.join(self._named)}")
        checked = tool.checked(_mapping(arguments, tool.name))
        is_read = tool.is_read(checked)
        asked = ToolCall(tool.name, checked, is_read, tool.destructive, self.session, self.model)
        if sum(map(len, texts(list(checked.values())))) > LONGEST_ARGUMENTS:
            raise InvalidInput(f"the arguments of {tool.name} have more than {LONGEST_ARGUMENTS} characters: shorten them")
        self.policy.check(asked)
        call = Call(self.view, tool.name, self.session, self.model, rerank=self.rerank)
        if is_read:
            return tool.verb(call, **checked)
        self.policy.check_size(asked)
        with self._shared.turn(self.session):  # one after the other, so that a retry sees what it repeats
            pieces = ("", "") if tool.pieces is None else tool.pieces(call, checked)
            reasons = self.policy.reasons(asked, tool.kept, pieces)
            self._shared.count(self.session, self.policy, asked)
            if reasons:
                return _kept_aside(self.quarantine.hold(call, checked, reasons), reasons)
            return tool.verb(call, **checked)

    @property
    def quarantine(self) -> Quarantine:
        """What was kept aside in this view, to be approved or rejected by a person."""
        return Quarantine(self.view, self.tools)

    def __repr__(self) -> str:
        return f"<Toolbox {', '.join(self._named)} on {self.view!r}>"


class _Shared:
    """What the toolboxes of one program have in common."""

    def __init__(self) -> None:
        # Many sessions share few locks: seldom do two of them wait for each other, and none is left over when a session ends.
        self._turns = [threading.RLock() for _ in range(_LOCKS)]
        self._counting = threading.Lock()
        self._written: dict[str | None, int] = {}

    def turn(self, session: str | None) -> threading.RLock:
        """What a session's writing calls hold, one after the other."""
        return self._turns[hash(session) % _LOCKS]

    def count(self, session: str | None, policy: Policy, call: ToolCall) -> None:
        """Count a writing call, what is kept aside as well: that, too, could be too much.

        Raises:
            PolicyError: the session has none left.
        """
        if policy.max_writes is None:
            return
        with self._counting:
            written = self._written.get(session, 0)
            policy.check_quota(call, written)
            self._written[session] = written + 1


def _kept_aside(id: str, reasons: Sequence[str]) -> dict[str, Any]:
    note = "kept aside until a person approves it; nothing was changed, so go on without it and do not send it again"
    return {"quarantined": id, "reasons": list(reasons), "note": note}


def _mapping(arguments: object, name: str) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        if len(arguments) > LONGEST_ARGUMENTS:
            raise InvalidInput(f"the arguments of {name} have {len(arguments)} characters, the limit is {LONGEST_ARGUMENTS}: shorten them")
        arguments = loads_foreign(arguments, f"what {name} was given") if arguments.strip() else None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise InvalidInput(f"the arguments of {name} must be a JSON object, got {type(arguments).__name__}")
    return arguments


def shown(answer: object) -> str:
    """An answer as text for a model: text as it is, everything else as JSON. What cannot be seen is written as escapes."""
    if isinstance(answer, str):
        return _visible(answer)
    return "".join(c if c.isprintable() or category(c) == "Zs" else _json_escape(c) for c in json.dumps(answer, ensure_ascii=False))


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" or category(c) == "Zs" else _json_escape(c) for c in text)


def _json_escape(character: str) -> str:
    # As JSON writes it, so that whoever reads the text as JSON gets the character back.
    return json.dumps(character)[1:-1]


def _short(text: str) -> str:
    return _visible(text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 3] + "...")
