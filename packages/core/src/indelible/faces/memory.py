"""Session memory: a key/value memory that lives as long as the process."""

from __future__ import annotations

from typing import Any, NoReturn

from indelible.base.canonical import MAX_LABEL_BYTES, check_text
from indelible.errors import InvalidInput, NoSuchAttribute


def check_key(key: object) -> str:
    """A key of a key/value memory: any text, also empty.

    Raises:
        InvalidInput: not a ``str``, too long, or with a NUL or lone surrogate.
    """
    if not isinstance(key, str):
        raise InvalidInput(f"a key must be a str, got {type(key).__name__}")
    return check_text(key, "a key", max_bytes=MAX_LABEL_BYTES)


class Memory:
    """A session's key/value memory. It holds any object, by reference, and ends with the process.

    Args:
        name: for people; two memories of one name are two memories.
        kind: free text such as ``"working"`` or ``"episodic"``; a hint that nothing checks.

    Example:
        >>> notes = Memory(kind="working")
        >>> notes.remember("topic", "sense keywords")
        >>> notes.recall("topic")
        'sense keywords'
    """

    def __init__(self, name: str | None = None, kind: str | None = None) -> None:
        self._name = None if name is None else check_text(name, "name")
        self._kind = kind
        self._values: dict[str, Any] = {}

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def kind(self) -> str | None:
        """What was said at creation, ``None`` if nothing was."""
        return self._kind

    @property
    def path(self) -> NoReturn:
        raise NoSuchAttribute("a session memory has no path: it is not kept; PersistentMemory is")

    def remember(self, key: str, value: Any) -> None:
        """Keep a value under a key."""
        self._values[check_key(key)] = value

    def recall(self, key: str) -> Any:
        """The value of a key, ``None`` if it was never remembered or was forgotten."""
        return self._values.get(check_key(key))

    def forget(self, key: str) -> None:
        """Remove a key; one that is not there is fine."""
        self._values.pop(check_key(key), None)

    def keys(self) -> list[str]:
        """Keys in the order in which they were first remembered."""
        return list(self._values)

    def items(self) -> list[tuple[str, Any]]:
        """Keys and values, in the order of ``keys``."""
        return list(self._values.items())

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return True  # an empty memory is still a memory

    def __repr__(self) -> str:
        kind = f" kind={self._kind!r}" if self._kind is not None else ""
        return f"<Memory {self._name or ''}{kind} {len(self._values)} keys>"
