"""Random metadata and random filters over it, from few keys and values so that they meet. No test of its own."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from indelible.search.filters import OPERATORS, And, Compare, Filter, Not, Or

SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 1.0, -0.0, 2**53, 2**53 + 1, 2.0**53, 10**400, 1.5, "", "a", "A", "ab", "1", "\uffff", "\U0001f60d"]
)
LISTS = st.lists(SCALARS, max_size=3)
KEYS = st.sampled_from(["a", "b", "", "a.b", "'"])
METADATA: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    KEYS, SCALARS | LISTS | st.dictionaries(KEYS, SCALARS | LISTS, max_size=2), max_size=3
)
PATHS = st.lists(KEYS, min_size=1, max_size=2).map(tuple)
ORDERED = SCALARS.filter(lambda value: value is not None and not isinstance(value, bool))
OPERANDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("eq", "ne"), SCALARS | LISTS.map(tuple)),
    **dict.fromkeys(("lt", "lte", "gt", "gte"), ORDERED),
    **dict.fromkeys(("in", "nin", "any", "all"), LISTS.map(tuple)),
    "contains": SCALARS,
    **dict.fromkeys(("text_match", "text_match_insensitive"), st.sampled_from(["", "a", "A", "%"])),
    **dict.fromkeys(("exists", "is_empty"), st.booleans()),
}
COMPARISONS = st.sampled_from(sorted(OPERATORS)).flatmap(lambda op: st.builds(Compare, PATHS, st.just(op), OPERANDS[op]))
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(*(st.builds(kind, st.lists(inner, max_size=3)) for kind in (And, Or, Not))),
    max_leaves=8,
)
