"""Values made on first use, once per process: by one thread of many, and anew in a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OncePerProcess(Generic[T]):
    """Holds what ``make`` gives. A call that fails keeps nothing, so the next one tries again.

    After ``fork`` a native session may hold locks whose owners do not exist in the child. The child therefore forgets the
    value and makes its own on the next use. It does not destroy the inherited one: a destructor could wait for such a lock.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._value: T | None = None
        _living.add(self)

    def get(self) -> T:
        """Give the value, made now if this process has none yet. Raises what ``make`` raises."""
        value = self._value  # read once: a reference is enough, even if a fork empties the field meanwhile
        if value is None:
            with self._lock:
                value = self._value
                if value is None:
                    value = self._value = self._make()
        return value

    @property
    def loaded(self) -> bool:
        """Whether this process has made the value."""
        return self._value is not None

    def _forget(self) -> None:
        if self._value is not None:
            _inherited.append(self._value)
        self._value = None
        self._lock = threading.Lock()  # the old one may be held by a thread that was not copied


_living: weakref.WeakSet[OncePerProcess[Any]] = weakref.WeakSet()
_inherited: list[Any] = []  # kept for the life of the child, see above


def _after_fork_in_child() -> None:
    for once in list(_living):
        once._forget()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork_in_child)
