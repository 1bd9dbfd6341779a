"""What every verb is given: which store, whose memories, and how to answer."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from indelible.base.record import ANY_SCOPE, SCOPE_FIELDS, UNSET, ScopeFilter
from indelible.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from indelible.faces.store import MemoryStore, ScopedView

DB_HELP = "The store's file.  [default: MEMORY_DB_PATH, else ~/.memory/default.db]"
REQUIRED_FIELDS = ("agent_id", "user_id")
OWNED = "a new memory must be somebody's"
Scoping = Literal["required", "filled", "optional", "none"]
Verb = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Call:
    """The part that all verbs share.

    Attributes:
        db: the file as it was given; ``None`` for the default.
        as_json: answer with one JSON document.
        scope: whose memories; what is not narrowed is ``UNSET``.
        explicit: the scope fields that stand on the command line, not in the environment.
    """

    db: str | None
    as_json: bool
    scope: ScopeFilter = ANY_SCOPE
    explicit: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        """The store's file."""
        from indelible.faces.arguments import check_path
        from indelible.faces.location import store_path

        return store_path() if self.db is None else check_path(self.db)

    def store(self, *, embedder: object = None) -> MemoryStore:
        """Open the store; it is created if need be."""
        from indelible.faces.store import MemoryStore

        return MemoryStore(self.path, embedder=embedder)

    def existing_store(self) -> MemoryStore:
        """Open a store that must be there: what looks after a store should not make an empty one of a misspelt path.

        Raises:
            StoreUnavailable: there is no such file.
        """
        if not os.path.exists(self.path):
            raise StoreUnavailable(f"there is no store at {self.path}: give --db, or set MEMORY_DB_PATH")
        return self.store()

    def view(self, store: MemoryStore) -> ScopedView:
        """The slice of a store that this call may see and touch."""
        return store.scope(*self.scope)

    def writer(self, store: MemoryStore) -> ScopedView:
        """The slice to write into.

        Raises:
            InvalidInput: agent or user is left open, and a new memory must be somebody's.
        """
        for name in REQUIRED_FIELDS:
            if getattr(self.scope, name) is UNSET:
                raise InvalidInput(missing(name, OWNED))
        return self.view(store)


def flag_of(name: str) -> str:
    """The option of a scope field."""
    return "--" + name.replace("_", "-")


def variable_of(name: str) -> str:
    """The variable that fills a scope field."""
    return "MEMORY_" + name.upper()


def missing(name: str, why: str) -> str:
    """What to say about a scope field that is needed."""
    return f"{name} is missing: give {flag_of(name)} or set {variable_of(name)}; {why}"


def _scope_option(name: str, from_environment: bool) -> click.Option:
    whose = name.removesuffix("_id")
    return click.Option(
        [flag_of(name), name],
        envvar=variable_of(name) if from_environment else None,
        show_envvar=from_environment,
        metavar="ID",
        help=f"Only this {whose}; an empty value means any.",
    )


_COMMON = [
    click.Option(["--json", "as_json"], is_flag=True, help="Answer with one JSON document."),
    click.Option(["--db"], metavar="PATH", help=DB_HELP),
]
_FILLED = [_scope_option(name, from_environment=True) for name in SCOPE_FIELDS]
_SCOPES: dict[Scoping, list[click.Option]] = {
    "required": _FILLED,
    "filled": _FILLED,
    "optional": [_scope_option(name, from_environment=False) for name in SCOPE_FIELDS],
    "none": [],
}


def verb(name: str, scoping: Scoping = "required") -> Callable[[Verb], click.Command]:
    """Make a command of a function whose first argument is the ``Call``, and give it the options that all verbs share.

    Args:
        name: of the verb.
        scoping: ``"required"`` for verbs on facts: agent and user must be said, on the command line or by the environment, though an
            explicit empty value says "any". ``"filled"``: the same without that demand. ``"optional"``: what is on the command line
            narrows, the environment does not. ``"none"`` for verbs on the whole store.
    """

    def decorate(function: Verb) -> click.Command:
        @functools.wraps(function)
        def run(*, db: str | None, as_json: bool, **given: Any) -> None:
            context = click.get_current_context()
            asked = {field: given.pop(field) for field in SCOPE_FIELDS if scoping != "none"}
            if scoping == "required":
                for field in REQUIRED_FIELDS:
                    if asked[field] is None:
                        raise InvalidInput(missing(field, "an explicit empty value means any"))
            explicit = frozenset(field for field in asked if context.get_parameter_source(field) is click.core.ParameterSource.COMMANDLINE)
            scope = ScopeFilter(*(asked.get(field) or UNSET for field in SCOPE_FIELDS))
            function(Call(context.obj if db is None else db, as_json, scope, explicit), **given)

        command = click.command(name)(run)
        command.params += [*_SCOPES[scoping], *_COMMON]
        return command

    return decorate


def by_name(*commands: click.Command) -> dict[str, click.Command]:
    """A module's commands, as the application looks them up."""
    return {str(command.name): command for command in commands}
