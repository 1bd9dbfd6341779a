"""Whose memories a tool reaches: settled by whoever runs it, never an argument of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping

from indelible.base.record import SCOPE_FIELDS, UNSET
from indelible.errors import InvalidInput
from indelible.faces.scoping import ScopeValue
from indelible.faces.store import ScopedView

REQUIRED_FIELDS = ("agent_id", "user_id")


def tool_view(store: ScopedView, scope: Mapping[str, ScopeValue]) -> ScopedView:
    """Narrow a store to whom a call of a tool is for.

    A field that is neither given nor bound by the store is filled from ``MEMORY_AGENT_ID``, ``MEMORY_USER_ID``, ``MEMORY_ORG_ID`` or
    ``MEMORY_WORKSPACE_ID``. Agent and user must come from somewhere.

    Args:
        store: a store or a view of one, whose bounds cannot be left.
        scope: fields as given; ``None`` for "any", ``UNSET`` or absent for "not given".

    Raises:
        InvalidInput: agent or user is missing, or a field contradicts the view.
    """
    values: list[ScopeValue] = []
    for name, bound in zip(SCOPE_FIELDS, store.bound, strict=True):
        value = scope.get(name, UNSET)
        if value is UNSET and bound is UNSET:
            value = os.environ.get(f"MEMORY_{name.upper()}") or UNSET
            if value is UNSET and name in REQUIRED_FIELDS:
                raise InvalidInput(f"{name} is missing: a tool must know whose memories it reaches; give it, or None for any")
        values.append(UNSET if value is None else value)
    return store.scope(*values)
