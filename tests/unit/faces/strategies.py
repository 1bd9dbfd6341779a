"""What hypothesis makes for the tests of faces, and how it is compared. No test of its own."""

from __future__ import annotations

import math

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
"""Any text that can be kept: every script and every line break, no NUL and no lone surrogate."""

LARGE = [10**4000, 1 - 10**4000, -(2**63), 2**63, 2**53 + 1]
"""Not larger: hypothesis writes its examples down, and the interpreter refuses to write longer integers."""
NUMBERS = st.one_of(st.integers(), st.sampled_from(LARGE), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4), max_leaves=12)
"""Any value of a persistent memory."""

KEYS = st.one_of(
    st.sampled_from(["", " a", "A", "a", "a ", "ä", "a\u0308", "'; DROP TABLE event; --", "%", "_", "a\nb", "\u202e", "🗝"]), TEXTS
)
"""Keys, among them those that a careless store takes for each other or for something else."""

JSON = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)), max_leaves=8)
"""Any value of a collection."""


def same(one: object, other: object) -> bool:
    """Whether two values are equal type for type and sign for sign, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other
