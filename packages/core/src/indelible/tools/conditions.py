"""Filters as models write them: the ones that would find nothing without a word are answered with what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indelible.errors import InvalidInput

_NAMES = ("path", "field", "key", "name", "label")
_OPERATORS = ("op", "operator")


def conditions(filters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The filters, ``None`` for none.

    ``{"path": "topic", "op": "eq", "value": "x"}`` is a condition to whoever writes it, and to the store three labels that a memory must
    have, since a path is a list there. No memory has them, and a model would conclude that there is none on that topic.

    Raises:
        InvalidInput: they are such a condition; the message says how to write it.
    """
    if not filters:
        return None
    operator = next((name for name in _OPERATORS if name in filters), None)
    label = next((name for name in _NAMES if isinstance(filters.get(name), str)), None)
    if operator is not None and label is not None and set(filters) <= {label, operator, "value"}:
        raise InvalidInput(
            f"the filter has its condition in a form that is not known: for a label that equals a value write {{LABEL: VALUE}}, else "
            f'{{"path": [LABEL], "op": "eq", "value": VALUE}}, with the label in a list; {label!r} was text'
        )
    return filters
