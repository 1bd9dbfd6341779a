"""What stands between a model and the store: who may do what, how much, and what is kept aside until a person has seen it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from indelible.errors import InvalidInput, PolicyError
from indelible.tools.screening import screen

Decision = Literal["allow", "deny", "ask"]
DECISIONS = ("allow", "deny", "ask")
MOST_ITEMS = 4_000_000
"""Of all the arguments of a call."""
_LARGEST = 10**20
"""Numbers below it may be those of a card or an account."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model wants to do, for whoever decides.

    Attributes:
        name: of the tool.
        arguments: as checked.
        read_only: it would change nothing.
        destructive: it may take something out of sight.
        session, model: on whose account.
    """

    name: str
    arguments: Mapping[str, Any]
    read_only: bool = False
    destructive: bool = False
    session: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class Policy:
    """What a model may do with a memory.

    Attributes:
        decide: per call ``"allow"``, ``"deny"`` or ``"ask"``; or the same per tool's name, where a name that is not there is allowed.
        confirm: asked about what was decided ``"ask"``; without it such a call is denied.
        max_writes: how many writing calls a session may make; ``None`` for any number.
        max_chars: the longest text of one writing call, all its arguments together; ``None`` for what the store takes.
        screen: from a text to reasons for keeping it aside; ``None`` to keep nothing aside.

    Raises:
        InvalidInput: an attribute of another kind.
    """

    decide: Callable[[ToolCall], Decision] | Mapping[str, Decision] | None = None
    confirm: Callable[[ToolCall], bool] | None = None
    max_writes: int | None = 200
    max_chars: int | None = 20_000
    screen: Callable[[str], Sequence[str]] | None = screen

    def __post_init__(self) -> None:
        if isinstance(self.decide, Mapping):
            for name, decision in self.decide.items():
                _checked(decision, f"decide[{name!r}]")
        elif self.decide is not None and not callable(self.decide):
            raise InvalidInput(f"decide must be a function of a call or a dict by tool name, got {type(self.decide).__name__}")
        for name in ("confirm", "screen"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InvalidInput(f"{name} must be a function, got {type(getattr(self, name)).__name__}")
        for name in ("max_writes", "max_chars"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise InvalidInput(f"{name} must be an int of at least 0 or None, got {value!r}")

    def check(self, call: ToolCall) -> None:
        """Whether a call may go on.

        Raises:
            PolicyError: it may not; the message is for the model.
            InvalidInput: the hook gave no decision.
        """
        decision = self._decision(call)
        if decision == "ask" and self.confirm is not None and self.confirm(call) is True:
            return
        if decision == "ask":
            raise PolicyError(f"{call.name} needs a person's consent, which was not given: go on without it, and do not try again")
        if decision == "deny":
            raise PolicyError(f"{call.name} is not allowed here: go on without it, and do not try again")

    def check_size(self, call: ToolCall) -> None:
        """Whether a writing call is small enough.

        Raises:
            PolicyError: it is not.
        """
        size = sum(map(len, texts(list(call.arguments.values()))))
        if self.max_chars is not None and size > self.max_chars:
            raise PolicyError(f"{call.name} was given {size} characters, the limit is {self.max_chars}: shorten it, or keep it in pieces")

    def check_quota(self, call: ToolCall, written: int) -> None:
        """Whether a session may write once more.

        Raises:
            PolicyError: it may not.
        """
        if self.max_writes is not None and written >= self.max_writes:
            raise PolicyError(f"this session has written {written} times, which is its limit: it can only read now")

    def reasons(self, call: ToolCall, kept: Sequence[str], pieces: tuple[str, str] = ("", "")) -> list[str]:
        """Why a writing call should be kept aside; empty if nothing speaks against it.

        Each text is looked at alone, and all of them in a row, as a reader sees them: what is in two halves is whole there.

        Args:
            call: what a model wants to write.
            kept: names of arguments that nobody will read as a memory.
            pieces: what stood there before and what will: only what was not there before speaks against it.
        """
        if self.screen is None:
            return []
        screened = [value for name, value in call.arguments.items() if name not in kept]
        found = [reason for text in [*texts(screened), in_a_row(screened)] for reason in self.screen(text)]
        before, after = pieces
        if before != after:
            had = self.screen(before)
            found += [reason for reason in self.screen(after) if reason not in had]
        return list(dict.fromkeys(found))

    def _decision(self, call: ToolCall) -> Decision:
        if self.decide is None:
            return "allow"
        if isinstance(self.decide, Mapping):
            return self.decide.get(call.name, "allow")
        return _checked(self.decide(call), "a decision")


def texts(value: object) -> list[str]:
    """Every text in a JSON value, names of fields included; not recursive, so that no depth is too deep.

    Raises:
        InvalidInput: it contains itself, or is as large as if it did.
    """
    found: list[str] = []
    pending = [value]
    for _ in range(MOST_ITEMS):
        if not pending:
            return found
        item = pending.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, Mapping):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            pending += item
    raise InvalidInput(f"the arguments hold more than {MOST_ITEMS} values, or contain themselves: give less")


def in_a_row(values: Sequence[object]) -> str:
    """The texts and numbers of JSON values in their order, a field as ``name: value``; not recursive either."""
    words = ["it"]  # so that a label that comes first does not look like the speaker of a turn
    pending: list[object] = [value for value in reversed(values) if not isinstance(value, int | float)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            words.append(item)
        elif isinstance(item, int) and not isinstance(item, bool) and abs(item) < _LARGEST:
            words.append(str(item))
        elif isinstance(item, Mapping):
            for name, value in reversed(list(item.items())):
                pending += [value, f"{name}:" if isinstance(name, str) else name]
        elif isinstance(item, list | tuple):
            pending += reversed(item)
    return " ".join(words)


def _checked(decision: object, what: str) -> Decision:
    if decision not in DECISIONS or not isinstance(decision, str):
        raise InvalidInput(f"{what} must be one of {', '.join(map(repr, DECISIONS))}, got {type(decision).__name__}")
    return decision  # type: ignore[return-value]  # one of them, as checked
