"""Which store an object lies in, and how another process finds it again."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from indelible import InvalidInput, MemoryStore, UnsupportedOperation
from indelible.base.record import SCOPE_FIELDS

PathLike = str | os.PathLike[str]
_MEMORY = ":memory:"


def opened(path: PathLike | None, store: MemoryStore | None) -> MemoryStore:
    """The store that was given, or the one at a path, opened; without either the default one.

    Raises:
        InvalidInput: a path and a store of another file.
    """
    if store is None:
        made = MemoryStore(path)
        # LlamaIndex never closes anything: the file is closed when nothing uses the store any more, or when the program ends.
        weakref.finalize(made._engine, made._engine.backend.close)
        return made
    if path is not None and _absolute(os.fspath(path)) != _absolute(store.path):
        raise InvalidInput(f"path is {os.fspath(path)!r}, but the store is at {store.path!r}: give one of the two")
    return store


def path_of(store: MemoryStore) -> str:
    """The store's file, in a form that means the same from every folder."""
    return _absolute(store.path)


def _absolute(path: str) -> str:
    return path if path == _MEMORY else os.path.abspath(os.path.expanduser(path))


def check_kept(path: str, what: object) -> None:
    """Refuse to write down an object whose store lives in this process only.

    Raises:
        UnsupportedOperation: it would come back empty.
    """
    if path == _MEMORY:
        raise UnsupportedOperation(f"a {type(what).__name__} of a store in memory cannot be pickled: open the store at a path")


def labels_of(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """A namespace given as one label or several."""
    return (namespace,) if isinstance(namespace, str) else tuple(namespace)


def narrowed_scope(bound: Mapping[str, str | None], given: Mapping[str, Any]) -> dict[str, str | None]:
    """A scope with more of its fields set.

    Raises:
        InvalidInput: an unknown field, or one that is set already to something else: there is no way out of a scope.
    """
    unknown = set(given) - set(SCOPE_FIELDS)
    if unknown:
        raise InvalidInput(f"a scope has {', '.join(SCOPE_FIELDS)}, not {sorted(unknown)[0]!r}")
    for name, value in given.items():
        if bound[name] is not None and value != bound[name]:
            raise InvalidInput(f"{name} is bound to {bound[name]!r} already")
    return {**bound, **given}


class Kept:
    """A plain object on a store: its place, and pickles that open the same place again.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where it lies, in place of a path.
        namespace: a label or several.
        **scope: ``agent_id``, ``user_id``, ``org_id``, ``workspace_id``: whose it is, matched exactly.
    """

    def __init__(self, path: PathLike | None, store: MemoryStore | None, namespace: str | Sequence[str], **scope: str | None) -> None:
        self.store = opened(path, store)
        self.namespace = labels_of(namespace)
        self.scope: dict[str, Any] = scope

    def _state(self) -> dict[str, Any]:
        """The arguments that make an equal object."""
        return {"path": path_of(self.store), "namespace": self.namespace, **self.scope}

    def __getstate__(self) -> dict[str, Any]:
        check_kept(self.store.path, self)
        return self._state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # unpickling makes the object without it

    def __copy__(self) -> Kept:
        return self.__deepcopy__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Kept:
        state = {**self._state(), "path": None, "store": self.store}
        return type(self)(**state)


class KeptModel:
    """The same of a pydantic model with a ``path``, all of whose fields are arguments: put it before the model among the bases."""

    path: str

    def __getstate__(self) -> dict[Any, Any]:
        check_kept(self.path, self)
        return {"__dict__": dict(self.__dict__)}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        self.__init__(**state["__dict__"])  # type: ignore[misc]  # pydantic makes the object before it calls this

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        return copy(self)
