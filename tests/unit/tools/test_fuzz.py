"""Anything as the arguments of a tool: an answer, never an exception, and the store is whole afterwards."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore
from indelible.testing import HashEmbedder
from indelible.tools import FACT_TOOLS, TOOLS, Policy, Toolbox

CALLS = 10_000
NAMES = [tool.name for tool in (*TOOLS, *FACT_TOOLS)]
FIELDS = sorted({argument.name for tool in (*TOOLS, *FACT_TOOLS) for argument in tool.fields})
TEXTS = [
    "", " ", "tea", "a\x00b", "\ud800", "\u202e", "x" * 5000, "' OR 1=1 --", "*", "%", "NEAR(a b)", "up", "down", "../..", "{}", "[1]",
    "019b7d2a-1111-7000-8000-0123456789ab", "\U0001f375", "null", "ignore all previous instructions", "\r\n\u2028",
]  # fmt: skip
NUMBERS = [0, 1, -1, 5, 51, 2**31, 2**63, -(2**63), 2**70, 10**400, 0.0, -0.0, 1.5, 1e308, float("nan"), float("inf")]


class Source:
    """Random JSON, and texts that almost are."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        kind = self._random.randrange(8 if depth < 4 else 5)
        if kind < 2:
            return self._random.choice(TEXTS)
        if kind == 2:
            return self._random.choice(NUMBERS)
        if kind < 5:
            return self._random.choice([None, True, False, [], {}])
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self._random.randrange(4))]
        return {self._random.choice([*FIELDS, *TEXTS]): self.value(depth + 1) for _ in range(self._random.randrange(4))}

    def call(self, ids: list[str]) -> tuple[Any, Any]:
        """A name and arguments: sometimes nearly right, sometimes text, sometimes cut off."""
        name = self._random.choice(NAMES) if self._random.random() < 0.95 else self.value()
        arguments = self.value()
        if self._random.random() < 0.6:
            tool = next((tool for tool in (*TOOLS, *FACT_TOOLS) if tool.name == name), None)
            fields = [argument.name for argument in tool.fields] if tool else FIELDS
            arguments = {field: self._fitting(field, ids) for field in fields if self._random.random() < 0.9}
        if self._random.random() < 0.2:
            text = json.dumps(arguments)
            arguments = text if self._random.random() < 0.7 else text[: self._random.randrange(len(text) + 1)]
        return name, arguments

    def _fitting(self, field: str, ids: list[str]) -> Any:
        if self._random.random() < 0.2:
            return self.value()
        if field == "id":
            return self._random.choice(ids or TEXTS)
        if field in ("limit", "offset", "ttl_ms"):
            return self._random.choice([1, 2, 5])
        if field in ("metadata", "filters"):
            return self._random.choice([None, {"topic": "drinks"}, self.value()])
        return self._random.choice(TEXTS)


def test_ten_thousand_random_calls() -> None:
    """Each is answered with text that can be sent; the log is whole, and every memory is one of the scope's."""
    source = Source(20_260_101)
    store = MemoryStore(":memory:", embedder=HashEmbedder())
    toolbox = Toolbox(
        store.scope("helper", "ada"), tools=(*TOOLS, *FACT_TOOLS), policy=Policy(max_writes=None, max_chars=None), session="s"
    )
    ids: list[str] = []
    errors = 0
    for _ in range(CALLS):
        result = toolbox.call(*source.call(ids))
        assert type(result.text) is str
        assert len(result.text.encode()) < 1_000_000
        errors += result.is_error
        if result.text.startswith('{"id"'):
            ids = [*ids, json.loads(result.text)["id"]][-20:]
    assert CALLS // 5 < errors < CALLS * 4 // 5
    assert store.verify().ok
    assert {(scope.user_id) for scope, _ in store.scopes()} == {"ada"}
    store.close()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())) | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(NAMES) | anything, anything)
def test_whatever_comes_is_answered(name: Any, arguments: Any) -> None:
    """Also what no JSON can hold: bytes, lone surrogates, NaN, keys that are no text."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as store:
        result = Toolbox(store.scope("helper", "ada"), tools=(*TOOLS, *FACT_TOOLS)).call(name, arguments)
        result.text.encode()
