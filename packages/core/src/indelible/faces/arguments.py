"""Checks of arguments that many verbs take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from indelible.base.clock import MAX_MS, ms_from_datetime
from indelible.base.ids import id_bytes
from indelible.base.record import UNSET, Unset
from indelible.base.standing import FOREVER
from indelible.errors import InvalidInput, RecordNotFound
from indelible.search.arguments import shown

When = int | datetime
"""A point of the log: a version, or a time."""


def check_id(value: object) -> bytes | None:
    """The bytes of a record id; ``None`` for text that is no id and so names nothing.

    Raises:
        InvalidInput: not a ``str``.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"a record id must be a str, got {type(value).__name__}")
    return id_bytes(value)


def known_id(value: object) -> bytes:
    """The bytes of a record id that must exist.

    Raises:
        InvalidInput: not a ``str``.
        RecordNotFound: text that is no id.
    """
    raw = check_id(value)
    if raw is None:
        raise RecordNotFound(f"no memory with id {str(value)[:80]!r} in this scope: ids are UUIDs, as recall and search return them")
    return raw


def check_whole(value: object, name: str, *, least: int = 0) -> int:
    """A plain ``int`` of at least ``least``.

    Raises:
        InvalidInput: another type (``bool`` included) or too small.
    """
    if type(value) is not int or value < least:
        raise InvalidInput(f"{name} must be an int of at least {least}, got {shown(value)}")
    return value


def check_optional_whole(value: object, name: str, *, least: int = 0) -> int | None:
    return None if value is None else check_whole(value, name, least=least)


def check_state_version(value: object) -> int:
    """The version of a state to go back to.

    Raises:
        InvalidInput: another type than ``int``, or out of the range that versions have.
    """
    version = check_whole(value, "version", least=1)
    if version >= FOREVER:
        raise InvalidInput("version is greater than any version: see the history for those there are")
    return version


def check_version(value: object, name: str = "version") -> int:
    """A version number: any plain ``int``.

    Raises:
        InvalidInput: another type, ``bool`` included.
    """
    if type(value) is not int:
        raise InvalidInput(f"{name} must be an int, got {type(value).__name__}")
    return value


def check_when(value: object, name: str = "as_of") -> When:
    """A version or an aware ``datetime``.

    Raises:
        InvalidInput: neither.
    """
    if isinstance(value, datetime):
        ms_from_datetime(value, name)
        return value
    if type(value) is not int:
        raise InvalidInput(f"{name} must be a version (int) or a timezone-aware datetime, got {type(value).__name__}")
    return value


def check_expires_at(value: object) -> int | None | Unset:
    """An expiry given as an aware ``datetime``; ``None`` never, ``UNSET`` not given.

    Raises:
        InvalidInput: another type, or a time before 1970.
    """
    if value is None or isinstance(value, Unset):
        return value
    ms = ms_from_datetime(value, "expires_at")
    if not 0 < ms <= MAX_MS:
        raise InvalidInput(f"expires_at {shown(value)} is out of range")
    return ms


def check_path(value: object) -> str:
    """A path as text, ``~`` expanded.

    Raises:
        InvalidInput: neither ``str`` nor path-like, empty, or with a NUL.
    """
    try:
        path = os.fspath(value)  # type: ignore[call-overload]  # any object may come; what is not a path raises TypeError
    except TypeError:
        raise InvalidInput(f"a path must be str or path-like, got {type(value).__name__}") from None
    if not isinstance(path, str) or not path or "\x00" in path:
        raise InvalidInput(f"a path must be non-empty text, got {shown(path)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InvalidInput(f"a path must be text that the file system can hold: {error.reason} at position {error.start}") from None
    return os.path.expanduser(path)


def check_many(values: object, what: str) -> list[Any]:
    """Several things, as a list.

    Raises:
        InvalidInput: no iterable, or text, which would be taken letter by letter.
    """
    if isinstance(values, str | bytes | bytearray | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list, got {type(values).__name__}")
    return list(values)


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> Any:
    """One of a few words.

    Raises:
        InvalidInput: another.
    """
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}")
    return value


def given(value: object) -> bool:
    return value is not UNSET
