"""Composing what a model is shown: pure text, with recalled text as data that cannot end its block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from indelible.base.canonical import dumps
from indelible.base.record import Record, escape_line

HEADER = "Known information from memory:"
# Every character or pair that some program takes for a line break.
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def neutral(text: str) -> str:
    """Text that stays inside its line of the block.

    Each line break becomes a break and two spaces; control, bidirectional, zero-width, private and tag characters are written as escapes.
    No text, in any script, makes a line that begins with anything but two spaces.
    """
    return "\n  ".join(escape_line(line) for line in _BREAK.split(text))


def value_line(key: str, value: Any) -> str:
    """An entry of a key/value memory: strings bare, everything else as JSON; what JSON does not know, as Python shows it."""
    if isinstance(value, str):
        shown = str(value)
    else:
        try:
            shown = dumps(value)
        except (TypeError, ValueError, RecursionError):
            shown = repr(value)
    return f"- {neutral(key)}: {neutral(shown)}"


def fact_line(record: Record) -> str:
    """A fact with its date and source."""
    about = f"{record.occurred_at:%Y-%m-%d}" + (f", {neutral(record.source)}" if record.source else "")
    return f"- {neutral(record.content)} ({about})"


def compose(prompt: str, lines: Sequence[str], left_out: int = 0) -> str:
    """The block of known information ahead of a prompt; without lines, the prompt as it is.

    Args:
        prompt: what is asked.
        lines: from ``value_line`` or ``fact_line``.
        left_out: how many more there are that are not shown.
    """
    if not lines and not left_out:
        return prompt
    more = [f"- ({left_out} more not shown)"] if left_out else []
    return "\n".join([HEADER, *lines, *more]) + "\n\n" + prompt
