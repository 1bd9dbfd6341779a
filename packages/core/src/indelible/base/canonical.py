"""The one gate for text and JSON, and the one way both are written down.

Canonical JSON: object keys sorted by code point, no spaces, UTF-8, shortest float that reads back equal, integers exact
whatever their size. What passes the gate reads back equal, type for type; everything else is refused before any I/O.
"""

from __future__ import annotations

import json
import math
from typing import Any

from indelible.errors import InvalidInput

MAX_TEXT_BYTES = 1 << 20
"""Largest content, in UTF-8 bytes (1 MiB)."""
MAX_METADATA_BYTES = 64 << 10
"""Largest metadata object, in bytes of canonical JSON (64 KiB)."""
MAX_METADATA_DEPTH = 32
MAX_VALUE_BYTES = 16 << 20
"""Largest opaque value, in bytes of canonical JSON (16 MiB)."""
MAX_VALUE_DEPTH = 64
MAX_LABEL_BYTES = 4096
"""Largest key, scope value, namespace label, source or parent, in UTF-8 bytes."""
MAX_ROW_BYTES = 64 << 20
"""Largest row of a table, and largest value in one, in bytes (64 MiB)."""
MAX_RECORD_BYTES = MAX_ROW_BYTES - (64 << 10)
"""Largest record with all its fields, and most text that is indexed for one, in UTF-8 bytes: what else stands in a row is far smaller."""

# The interpreter refuses to convert longer integers to and from text; we go through pieces below that length.
_DIGITS_PER_PIECE = 4000
_PIECE = 10**_DIGITS_PER_PIECE


def check_text(value: object, what: str, *, max_bytes: int = MAX_LABEL_BYTES, empty: bool = True) -> str:
    """Return ``value`` if it is text that every part of the system can hold.

    Args:
        value: what the caller gave.
        what: its name, for the message.
        max_bytes: the longest accepted UTF-8 encoding.
        empty: whether ``""`` is accepted.

    Raises:
        InvalidInput: not a ``str``, too long, empty where it may not be, or with a NUL or a lone surrogate.
    """
    if type(value) is not str:
        if not isinstance(value, str):
            raise InvalidInput(f"{what} must be a str, got {type(value).__name__}: convert it before the call")
        value = str.__str__(value)
    if not value and not empty:
        raise InvalidInput(f"{what} must not be empty")
    if "\x00" in value:
        raise InvalidInput(f"{what} holds a NUL character: remove it or replace it by U+FFFD")
    # ASCII text needs no encoding to be measured or checked, and most text is ASCII.
    size = len(value) if value.isascii() else _encoded_size(value, what)
    if size > max_bytes:
        raise InvalidInput(f"{what} is {size} bytes long, the limit is {max_bytes}: shorten or split it")
    return value


def check_fits(what: str, *texts: str) -> None:
    """Make sure that a row can hold texts that were checked.

    Args:
        what: their name, for the message.
        *texts: what is to be stored.

    Raises:
        InvalidInput: they are too long.
    """
    # A character takes four bytes at most: hardly any text has to be measured.
    if 4 * sum(map(len, texts)) > MAX_RECORD_BYTES:
        size = sum(len(text) if text.isascii() else len(text.encode()) for text in texts)
        if size > MAX_RECORD_BYTES:
            raise InvalidInput(f"{what} takes {size} bytes, the limit is {MAX_RECORD_BYTES}: split it over several records")


def _encoded_size(text: str, what: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{what} holds a lone surrogate at position {error.start}: replace it by U+FFFD") from None


def encode(value: object, what: str, *, max_bytes: int = MAX_VALUE_BYTES, max_depth: int = MAX_VALUE_DEPTH, objects: bool = True) -> str:
    """Check a JSON value and write it in canonical form.

    Args:
        value: ``None``, ``bool``, ``int``, finite ``float``, ``str``, ``list`` and (with ``objects``) ``dict`` with ``str`` keys,
            nested; exactly these types, since a subclass would not read back as itself.
        what: its name, for the message.
        max_bytes: the longest accepted result.
        max_depth: the deepest accepted nesting.
        objects: whether ``dict`` is accepted.

    Raises:
        InvalidInput: anything else; nothing is coerced.
    """
    kind = type(value)
    if kind is not str and kind is not int and value is not None:
        _check_tree(value, what, max_bytes, max_depth, objects)
    elif kind is str and "\x00" in value:  # type: ignore[operator]  # kind is str
        raise InvalidInput(f"{what} holds a NUL character: remove it or replace it by U+FFFD")
    elif kind is int:
        _check_integer(value, what, max_bytes)  # type: ignore[arg-type]  # kind is int
    text = dumps(value)
    size = len(text) if text.isascii() else _encoded_size(text, what)
    if size > max_bytes:
        raise InvalidInput(f"{what} takes {size} bytes as JSON, the limit is {max_bytes}: make it smaller or split it")
    return text


def _check_integer(value: int, what: str, max_bytes: int) -> None:
    # log10(2) < 0.302: an upper bound of the digits, computed without writing them.
    if value.bit_length() * 302 // 1000 > max_bytes:
        raise InvalidInput(f"{what} holds an integer of more than {max_bytes} digits: the limit of the whole value")


def _check_tree(root: object, what: str, max_bytes: int, max_depth: int, objects: bool) -> None:
    # A list of pending nodes, not recursion: a cycle or a 10,000-deep list must end in an error, not in a crash.
    pending: list[tuple[object, int]] = [(root, 1)]
    nodes = 0
    while pending:
        value, depth = pending.pop()
        nodes += 1
        if nodes > max_bytes:
            raise InvalidInput(f"{what} has more than {max_bytes} elements, or contains itself")
        kind = type(value)
        if kind is str:
            if "\x00" in value:  # type: ignore[operator]  # kind is str
                raise InvalidInput(f"{what} holds a string with a NUL character: remove it or replace it by U+FFFD")
        elif kind is bool or value is None:
            continue
        elif kind is int:
            _check_integer(value, what, max_bytes)  # type: ignore[arg-type]  # kind is int
        elif kind is float:
            if not math.isfinite(value):  # type: ignore[arg-type]  # kind is float
                raise InvalidInput(f"{what} holds {value!r}: only finite numbers can be stored")
        elif kind is list or (kind is dict and objects):
            if depth > max_depth:
                raise InvalidInput(f"{what} is nested deeper than {max_depth} levels, or contains itself")
            if kind is list:
                pending.extend((item, depth + 1) for item in value)  # type: ignore[attr-defined]  # kind is list
            else:
                for key, item in value.items():  # type: ignore[attr-defined]  # kind is dict
                    if type(key) is not str:
                        raise InvalidInput(f"{what} has a key of type {type(key).__name__}: keys must be str")
                    pending.append((key, depth + 1))
                    pending.append((item, depth + 1))
        else:
            allowed = "None, bool, int, float, str, list" + (", dict" if objects else "")
            raise InvalidInput(f"{what} holds a {kind.__name__}, which cannot be stored: use {allowed}")


_quote = json.encoder.encode_basestring
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)


def dumps(value: Any) -> str:
    """Write a value that has passed the gate as canonical JSON."""
    if type(value) is str:
        return _quote(value)
    if value is None:
        return "null"
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _dumps_long(value)


def _dumps_long(value: Any) -> str:
    """The slow way, for integers longer than the interpreter converts in one piece."""
    if type(value) is int:
        return _decimal(value)
    if type(value) is list:
        return "[" + ",".join(_dumps_long(item) for item in value) + "]"
    if type(value) is dict:
        return "{" + ",".join(f"{_ENCODER.encode(key)}:{_dumps_long(value[key])}" for key in sorted(value)) + "}"
    return _ENCODER.encode(value)


def _decimal(number: int) -> str:
    if number.bit_length() < 3 * _DIGITS_PER_PIECE:
        return str(number)
    pieces = []
    rest = abs(number)
    while rest:
        rest, piece = divmod(rest, _PIECE)
        pieces.append(str(piece).zfill(_DIGITS_PER_PIECE))
    return ("-" if number < 0 else "") + "".join(reversed(pieces)).lstrip("0")


def _integer(text: str) -> int:
    negative = text.startswith("-")
    digits = text[1:] if negative else text
    first = len(digits) % _DIGITS_PER_PIECE
    number = int(digits[:first] or "0")
    for start in range(first, len(digits), _DIGITS_PER_PIECE):
        number = number * _PIECE + int(digits[start : start + _DIGITS_PER_PIECE])
    return -number if negative else number


_decode = json.JSONDecoder().raw_decode


def loads(text: str) -> Any:
    """Read canonical JSON that we wrote; integers of any size come back exact."""
    try:
        # Canonical text begins and ends with its value: there are no spaces to be looked for around it.
        value, end = _decode(text)
    except ValueError:
        end = -1
    return value if end == len(text) else json.loads(text, parse_int=_integer)


def loads_foreign(text: str, what: str) -> Any:
    """Read JSON that somebody else wrote.

    Raises:
        InvalidInput: it is not JSON, repeats a key (two readers would disagree on which one counts), or holds NaN or Infinity.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise InvalidInput(f"{what} has an object with a repeated key: keep one")
        return found

    def constant(name: str) -> Any:
        raise InvalidInput(f"{what} holds {name}, which is not JSON")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=_integer)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} is not valid JSON: {error}") from None
