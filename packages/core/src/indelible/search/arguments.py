"""Checks of arguments that several modules of this layer share."""

from __future__ import annotations

import math

from indelible.errors import InvalidInput


def shown(value: object) -> str:
    """A value for an error message: short, and safe for values whose own text would be endless or refused by the interpreter."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "\u2026")
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int) and value.bit_length() <= 128:
        return str(value)
    return type(value).__name__


def check_count(value: object, what: str, *, least: int = 0) -> int:
    """A plain int that is not too small.

    Raises:
        InvalidInput: another type (a bool is no count), or less than ``least``.
    """
    if type(value) is not int or value < least:
        raise InvalidInput(f"{what} must be an int of at least {least}, got {shown(value)}")
    return value


def check_number(value: object, what: str, least: float, most: float) -> float:
    """A finite number in a closed range.

    Raises:
        InvalidInput: another type (a bool is no number), or outside.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most or not math.isfinite(value):
        raise InvalidInput(f"{what} must be a number from {least:g} to {most:g}, got {shown(value)}")
    return float(value)
