"""Reading what stands on the command line."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

from indelible.base.canonical import loads_foreign
from indelible.errors import InvalidInput

STDIN = "-"


def json_object(text: str | None, option: str) -> dict[str, Any] | None:
    """A JSON object; ``None`` if the option was not given.

    Raises:
        InvalidInput: anything else.
    """
    if text is None:
        return None
    value = loads_foreign(text, option)
    if not isinstance(value, dict):
        raise InvalidInput(f'{option} must be a JSON object such as {{"topic": "tea"}}, got {text[:60]!r}')
    return value


def time_of(text: str, option: str) -> datetime:
    """An ISO 8601 time with a timezone.

    Raises:
        InvalidInput: it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{option} must be a time such as 2026-01-31T12:00:00Z, got {text[:60]!r}") from None
    if found.utcoffset() is None:
        raise InvalidInput(f"{option} {text!r} has no timezone: add one, Z for UTC or an offset such as +02:00")
    return found


def when_of(text: str | None, option: str) -> int | datetime | None:
    """A version or a time; ``None`` if it was not given.

    Raises:
        InvalidInput: it is neither.
    """
    if text is None:
        return None
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) <= 4000:
        return int(text)
    try:
        return time_of(text, option)
    except InvalidInput as error:
        raise InvalidInput(f"{error}; or give a version, a whole number") from None


def text_of(given: str) -> str:
    """The text of an argument; that of standard input, without its last line break, for ``-``."""
    return stdin_text().removesuffix("\n").removesuffix("\r") if given == STDIN else given


def stdin_text() -> str:
    """All of standard input.

    Raises:
        InvalidInput: it is not UTF-8.
    """
    return decoded(sys.stdin.buffer.read(), "standard input")


def decoded(data: bytes, name: str) -> str:
    """UTF-8 text, a byte order mark left out.

    Raises:
        InvalidInput: it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from None
