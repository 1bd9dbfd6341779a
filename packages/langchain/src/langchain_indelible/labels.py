"""Namespaces as they are given."""

from __future__ import annotations

from collections.abc import Sequence

from indelible import InvalidInput


def labels_of(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """The labels of a namespace: one may be given as text, which is not its letters.

    Raises:
        InvalidInput: neither text nor several of them.
    """
    if isinstance(namespace, str):
        return (namespace,)
    if not isinstance(namespace, list | tuple):
        raise InvalidInput(f"a namespace must be a label or a tuple of labels, got {type(namespace).__name__}")
    return tuple(namespace)
