"""What a tool is, in one description that every framework and server renders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from indelible.base.record import UNSET
from indelible.errors import InvalidInput, MissingExtra
from indelible.faces.request import Rerank
from indelible.faces.store import ScopedView

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Argument:
    """What a model may say to a tool.

    Attributes:
        name: of the argument.
        type: its type, as pydantic understands it: ``str``, ``int``, ``dict[str, Any]``, ``Literal["up", "down"]``.
        description: for the model.
        default: ``UNSET`` if it must be given; with ``None`` the argument may be null, too.
        least, most: of an ``int``.
        items: how many items a list has.
    """

    name: str
    type: Any
    description: str
    default: Any = UNSET
    least: int | None = None
    most: int | None = None
    items: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, for its verb: where it works and on whose account.

    Attributes:
        view: whose memories it reaches.
        tool: the tool's name.
        session: noted as the source of what is written.
        model: the model's name, noted with what is written.
        approved_by: who approved it after it had been kept aside, noted with what is written.
        rerank: how what is found by meaning is looked at once more.
    """

    view: ScopedView
    tool: str = ""
    session: str | None = None
    model: str | None = None
    approved_by: str | None = None
    rerank: Rerank | None = None


@dataclass(frozen=True)
class MemoryTool:
    """A verb that a model may call.

    Attributes:
        name: of the tool.
        title: for people who are asked whether a model may use it.
        description: for the model.
        fields: what it takes.
        read_only: it changes nothing.
        destructive: it takes something out of sight. Nothing that ``TOOLS`` do destroys: the history keeps it.
        idempotent: calling it again with the same arguments changes nothing more.
        verb: takes a ``Call`` and the arguments; returns JSON, or text to be shown as it is.
        reads: whether a call with these arguments changes nothing, for a tool that both reads and writes.
        kept: names of arguments that nobody will read as a memory, such as an id; they are not screened.
        check: raises ``InvalidInput`` for arguments of the right types that the tool refuses all the same, before anything is decided.
        pieces: texts before and after a call, where what it writes joins with what was written before; what is new in them is screened
            as well.
    """

    name: str
    title: str
    description: str
    fields: tuple[Argument, ...]
    verb: Callable[..., Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    reads: Callable[[Mapping[str, Any]], bool] | None = None
    kept: tuple[str, ...] = field(default=("id",))
    check: Callable[[Mapping[str, Any]], object] | None = None
    pieces: Callable[[Call, Mapping[str, Any]], tuple[str, str]] | None = None

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The arguments as a pydantic model: strict, and with nothing besides them.

        Raises:
            MissingExtra: pydantic is not installed.
        """
        with needs_tools_extra():
            from pydantic import ConfigDict, Field, create_model
        fields: dict[str, Any] = {}
        for argument in self.fields:
            kind: Any = argument.type | None if argument.default is None else argument.type
            default = ... if argument.default is UNSET else argument.default
            limits: dict[str, Any] = {"ge": argument.least, "le": argument.most}
            if argument.items is not None:
                limits = {"min_length": argument.items, "max_length": argument.items}
            fields[argument.name] = (kind, Field(default, description=argument.description, **limits))
        name = "".join(word.title() for word in self.name.split("_")) + "Arguments"
        return create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that were given, if the tool takes them.

        Raises:
            InvalidInput: one is missing, unknown or wrong; the message names it.
            MissingExtra: pydantic is not installed.
        """
        model = self.arguments
        from pydantic import ValidationError

        known = {argument.name for argument in self.fields}
        for name in arguments:
            if name not in known:
                raise InvalidInput(f"{self.name} has no argument {str(name)[:80]!r}: it takes {', '.join(sorted(known)) or 'none'}")
        for argument in self.fields:
            if argument.default is UNSET and argument.name not in arguments:
                raise InvalidInput(f"{self.name} needs {argument.name}: {argument.description}")
        try:
            found = model.model_validate(dict(arguments)).model_dump(exclude_unset=True)
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors(include_url=False))
            raise InvalidInput(f"{self.name}: " + "; ".join(problems)) from None
        if self.check is not None:
            self.check(found)
        return found

    def is_read(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments changes nothing."""
        return self.read_only or (self.reads is not None and self.reads(arguments))

    def run(self, view: ScopedView, arguments: Mapping[str, Any], *, source: str | None = None) -> Any:
        """Call it without a policy and without the provenance that a ``Toolbox`` notes.

        Args:
            view: whose memories it reaches, from ``tool_view``.
            arguments: as the model gave them.
            source: noted on what is written.

        Raises:
            InvalidInput: an argument that it does not take, or that is refused.
            RecordNotFound: no such memory within reach; the message says what to do.
        """
        return self.verb(Call(view, session=source), **self.checked(arguments))


@contextmanager
def needs_tools_extra() -> Iterator[None]:
    """Around an import of pydantic: when it fails, say what to install.

    Raises:
        MissingExtra: it cannot be imported; why is kept as the cause.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f'tools need the package pydantic, which cannot be imported ({error}): pip install "indelible[tools]"'
        ) from error
