"""The program: its verbs, loaded when asked for, and how a call ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from indelible._version import __version__
from indelible.base.record import escape_line
from indelible.cli.call import DB_HELP
from indelible.errors import (
    IndelibleError,
    IntegrityFailure,
    InvalidInput,
    MissingExtra,
    ModelError,
    ModelNotFound,
    RecordNotFound,
    StoreError,
    VersionConflict,
)

PROGRAM = "indelible"
COMPLETION_VARIABLE = "_INDELIBLE_COMPLETE"
GENERAL, USAGE, BROKEN_PIPE = 1, 2, 141
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
EXIT_CODES: tuple[tuple[type[IndelibleError] | tuple[type[IndelibleError], ...], int], ...] = (
    (InvalidInput, USAGE),
    (RecordNotFound, 3),
    (VersionConflict, 4),
    (IntegrityFailure, 6),
    (StoreError, 5),  # after IntegrityFailure, which is one
    ((MissingExtra, ModelNotFound, ModelError), 7),
)
EPILOG = """\b
Exit codes:
  0    done
  1    any other error
  2    a bad option or argument; nothing was written
  3    no such memory in this scope
  4    the memory changed meanwhile (--expected-version)
  5    the store cannot be opened, read, locked or written, or the disk is full
  6    stored or imported data does not match its hashes, or verify found a problem
  7    a model or an optional package is missing, or the model failed
  130  interrupted (Ctrl-C)
  141  whoever read the output went away

\b
Text that begins with a dash goes after "--". Tables are for people: programs
read --json, one document on standard output, with times in ISO 8601, UTC."""


def _writing() -> Mapping[str, click.Command]:
    from indelible.cli.writing import COMMANDS

    return COMMANDS


def _reading() -> Mapping[str, click.Command]:
    from indelible.cli.reading import COMMANDS

    return COMMANDS


def _housekeeping() -> Mapping[str, click.Command]:
    from indelible.cli.housekeeping import COMMANDS

    return COMMANDS


def _upkeep() -> Mapping[str, click.Command]:
    from indelible.cli.upkeep import COMMANDS

    return COMMANDS


def _transfer() -> Mapping[str, click.Command]:
    from indelible.cli.transfer import COMMANDS

    return COMMANDS


def _reviewing() -> Mapping[str, click.Command]:
    from indelible.cli.reviewing import COMMANDS

    return COMMANDS


def _serving() -> Mapping[str, click.Command]:
    from indelible.cli.serving import COMMANDS

    return COMMANDS


VERBS: dict[str, Callable[[], Mapping[str, click.Command]]] = {
    **dict.fromkeys(("remember", "edit", "forget", "undo", "restore", "feedback"), _writing),
    **dict.fromkeys(("recall", "search", "search-semantic", "get", "list", "history", "as-of", "scopes"), _reading),
    **dict.fromkeys(("withdraw", "forget-expired", "prune", "purge"), _housekeeping),
    **dict.fromkeys(("export", "import", "backup", "restore-backup"), _transfer),
    **dict.fromkeys(("verify", "rebuild", "reindex", "vacuum", "health", "doctor", "path"), _upkeep),
    "quarantine": _reviewing,
    "mcp": _serving,
}
"""Every verb, in the order of the help, and what loads it: a call pays for the verb it names alone."""


class Application(click.Group):
    """The group of all verbs. However it is called, a call ends in ``run``'s way."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        load = VERBS.get(cmd_name)
        return None if load is None else load()[cmd_name]

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run one call and leave with its exit code."""
        sys.exit(run(args))

    def complete(self) -> NoReturn:
        """Answer a shell that asks how to complete a line."""
        super().main(prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE)
        raise AssertionError("completion ends the process")


@click.group(cls=Application, epilog=EPILOG, no_args_is_help=False, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name=PROGRAM)
@click.option("--db", metavar="PATH", help=DB_HELP)
@click.pass_context
def application(context: click.Context, db: str | None) -> None:
    """A memory for AI agents that keeps every version of everything it was told, in one SQLite file."""
    context.obj = db


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one call and say how it ended: one line on standard error for whatever went wrong, and an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETION_VARIABLE in os.environ:
        application.complete()
    try:
        if not given:
            click.echo(application.get_help(click.Context(application, info_name=PROGRAM, **_SETTINGS)), err=True)
            return USAGE
        code = _invoke(given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as error:  # of standard input or output: what the store met is an error of ours
        _drop_output()
        return _failed(f"standard input or output: {error.strerror or error}", GENERAL)
    except KeyboardInterrupt:
        from indelible.cli import INTERRUPTED

        return INTERRUPTED


def _invoke(arguments: list[str]) -> int:
    try:
        with application.make_context(PROGRAM, arguments) as context:
            application.invoke(context)
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        help_of = error.ctx.command_path if error.ctx is not None else PROGRAM
        return _failed(f"{error.format_message().rstrip('.')} (see '{help_of} --help')", USAGE)
    except IndelibleError as error:
        return _failed(str(error), exit_code(error))


def exit_code(error: IndelibleError) -> int:
    """The exit code of an error, as the help lists them."""
    return next((code for kinds, code in EXIT_CODES if isinstance(error, kinds)), GENERAL)


def _failed(message: str, code: int) -> int:
    click.echo(f"{PROGRAM}: {escape_line(' '.join(message.split()))}", err=True)
    return code


def _drop_output() -> None:
    """Send what is still buffered nowhere: the interpreter flushes once more as it ends, and would complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
