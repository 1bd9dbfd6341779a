"""Whose memory a call is about."""

from __future__ import annotations

import os
from functools import lru_cache

from indelible.base.record import SCOPE_FIELDS, UNSET, Scope, ScopeFilter, Unset, check_scope_value
from indelible.errors import InvalidInput

DEFAULT_SCOPE_VALUE = "default"
_VARIABLES = {"agent_id": "MEMORY_AGENT_ID", "user_id": "MEMORY_USER_ID"}
ScopeValue = str | None | Unset


def check_filter(agent_id: ScopeValue, user_id: ScopeValue, org_id: ScopeValue, workspace_id: ScopeValue) -> ScopeFilter:
    """A filter of scope fields: ``UNSET`` for any, ``None`` for "not set".

    Raises:
        InvalidInput: a value that is neither text nor ``None``.
    """
    given = (agent_id, user_id, org_id, workspace_id)
    try:
        return _checked(given)
    except TypeError:  # what cannot be hashed is no text either
        return _checked.__wrapped__(given)


# Every call names its scope, mostly one of few: looked at once.
@lru_cache(maxsize=1024)
def _checked(given: tuple[ScopeValue, ...]) -> ScopeFilter:
    return ScopeFilter(*(v if isinstance(v, Unset) else check_scope_value(v, n) for n, v in zip(SCOPE_FIELDS, given, strict=True)))


def narrowed(bound: ScopeFilter, asked: ScopeFilter) -> ScopeFilter:
    """A filter inside another.

    Raises:
        InvalidInput: it asks for something outside; a view cannot be left.
    """
    values: list[ScopeValue] = []
    for name, fixed, wanted in zip(SCOPE_FIELDS, bound, asked, strict=True):
        if fixed is not UNSET and wanted is not UNSET and fixed != wanted:
            raise InvalidInput(f"this view is bound to {name}={fixed!r} and cannot reach {name}={wanted!r}: use the store itself")
        values.append(wanted if fixed is UNSET else fixed)
    return ScopeFilter(*values)


def writing_scope(bound: ScopeFilter, given: ScopeFilter, *, required: bool) -> Scope:
    """The exact scope of something to be remembered: given, or bound by a view, or from the environment, or ``"default"``.

    Args:
        bound: the view's.
        given: the call's; ``None`` and ``UNSET`` both mean not given.
        required: whether agent and user must be given or bound.

    Raises:
        InvalidInput: they must and are not, or the call contradicts the view.
    """
    environment = os.environ.get
    return _settled(
        bound, given, required, environment("MEMORY_AGENT_ID") or DEFAULT_SCOPE_VALUE, environment("MEMORY_USER_ID") or DEFAULT_SCOPE_VALUE
    )


@lru_cache(maxsize=1024)
def _settled(bound: ScopeFilter, given: ScopeFilter, required: bool, *defaults: str) -> Scope:
    asked = ScopeFilter(*(UNSET if value is None else value for value in given))
    known = narrowed(bound, asked)
    fallback = dict(zip(_VARIABLES, defaults, strict=True))
    values: list[str | None] = []
    for name, value in zip(SCOPE_FIELDS, known, strict=True):
        if not isinstance(value, Unset):
            values.append(value)
        elif name not in _VARIABLES:
            values.append(None)
        elif required:
            raise InvalidInput(
                f"{name} is missing: this store was opened with require_scope=True, so give it or use store.scope({name}=...)"
            )
        else:
            values.append(check_scope_value(fallback[name], _VARIABLES[name]))
    return Scope(*values)
