"""Namespaces: which LangGraph allows, and which a condition names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
    validate_op_namespace,
)

from indelible.errors import InvalidInput

_RESERVED = "langgraph"
Namespace = tuple[str, ...]


def check_namespace(op: Op) -> None:
    """Hold an operation to the rules that the store's own methods check, since ``batch`` can be called directly.

    Raises:
        InvalidNamespaceError: not a tuple of labels that are non-empty ``str`` without ``.`` or NUL; or, to be written to, without any
            label, or with the root that LangGraph keeps for itself.
        InvalidInput: no operation.
    """
    if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
        raise InvalidInput(f"a batch takes GetOp, SearchOp, PutOp and ListNamespacesOp, got {type(op).__name__}")
    for labels in _named_by(op):
        if not isinstance(labels, tuple):
            raise InvalidNamespaceError(f"a namespace must be a tuple of str, got {type(labels).__name__}: one label is written ('users',)")
    validate_op_namespace(op)
    if isinstance(op, PutOp) and op.value is not None:
        if not op.namespace:
            raise InvalidNamespaceError("Namespace cannot be empty.")
        if op.namespace[0] == _RESERVED:
            raise InvalidNamespaceError(f'Root label for namespace cannot be "{_RESERVED}". Got: {op.namespace}')


def _named_by(op: Op) -> list[object]:
    if isinstance(op, ListNamespacesOp):
        return [condition.path for condition in op.match_conditions or ()]
    return [op.namespace_prefix if isinstance(op, SearchOp) else op.namespace]


def literal_prefix(op: ListNamespacesOp) -> Namespace:
    """Labels that every namespace asked for begins with, so that the others need not be listed first."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            return tuple(itertools.takewhile(lambda label: label != "*", condition.path))
    return ()


def chosen(op: ListNamespacesOp, names: Iterable[Namespace]) -> list[Namespace]:
    """The namespaces that an operation asks for.

    Raises:
        InvalidInput: a bound out of range, or an unknown kind of condition.
    """
    if op.limit < 0 or op.offset < 0:
        raise InvalidInput(f"limit and offset must be at least 0, got {op.limit} and {op.offset}")
    if op.max_depth is not None and op.max_depth < 1:
        raise InvalidInput(f"max_depth must be at least 1, got {op.max_depth}")
    conditions = op.match_conditions or ()
    for condition in conditions:
        if condition.match_type not in ("prefix", "suffix"):
            raise InvalidInput(f"unknown match type {condition.match_type!r}: use 'prefix' or 'suffix'")
    found = {name[: op.max_depth] for name in names if all(_matches(condition, name) for condition in conditions)}
    return sorted(found)[op.offset : op.offset + op.limit]


def _matches(condition: MatchCondition, name: Namespace) -> bool:
    path = condition.path
    if len(name) < len(path):
        return False
    part = name[: len(path)] if condition.match_type == "prefix" else name[len(name) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
