"""The command line: one verb of the store a call, a table for people or JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells give it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one call.

    Args:
        arguments: what stands after the program's name; ``sys.argv`` when omitted.

    Returns:
        The exit code; ``indelible --help`` lists them.
    """
    try:
        # Imported here, so that a Ctrl-C during the imports is answered like any other.
        from indelible.cli.application import run

        return run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
