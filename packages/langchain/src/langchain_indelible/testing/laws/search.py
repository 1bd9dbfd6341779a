"""Laws of search without a query: what is reached, and in which order."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, fill, flat, keys_of, pages


class SearchLaws(StoreLaws):
    """A search reaches a namespace and all below it, page by page."""

    def test_a_prefix_reaches_all_below(self, store: BaseStore) -> None:
        """The namespace itself, its children and theirs."""
        for name in (("a",), ("a", "b"), ("a", "b", "c"), ("b",)):
            store.put(name, "/".join(name), {"x": 1})
        assert sorted(keys_of(store.search(("a",)))) == ["a", "a/b", "a/b/c"]
        assert sorted(keys_of(store.search(("a", "b")))) == ["a/b", "a/b/c"]

    def test_a_prefix_does_not_leak_to_a_sibling(self, store: BaseStore) -> None:
        """``("acme",)`` is met by no label that only begins so."""
        for label in ("acme", "acme-corp", "acme corp", "acmeX", "acm", "ACME"):
            store.put((label, "x"), label, {"x": 1})
        assert keys_of(store.search(("acme",))) == ["acme"]

    @pytest.mark.parametrize("pattern", ["%", "_", "*", "?", "a%", "acm_", "acm*", "acm?", "[a]cme"])
    def test_a_prefix_is_no_pattern(self, store: BaseStore, pattern: str) -> None:
        """Characters that some engine takes for wildcards stand for themselves."""
        store.put(("acme",), "k", {"x": 1})
        assert store.search((pattern,)) == []

    def test_the_empty_prefix_reaches_everything(self, store: BaseStore) -> None:
        """``()``."""
        for label in "abc":
            store.put((label,), label, {"x": 1})
        assert sorted(keys_of(store.search(()))) == ["a", "b", "c"]

    def test_pages_reach_each_item_once(self, store: BaseStore) -> None:
        """Reading pages until a short one gives every item exactly once: the order is total."""
        keys = fill(store, 20)
        found = pages(store, 3)
        assert [len(page) for page in found] == [3] * 6 + [2]
        assert sorted(flat(found)) == keys

    def test_the_order_is_stable(self, store: BaseStore) -> None:
        """Asking again gives the same order, and pages of any size are pieces of it."""
        fill(store, 12)
        order = keys_of(store.search(NAMESPACE, limit=100))
        assert keys_of(store.search(NAMESPACE, limit=100)) == order
        assert [flat(pages(store, size)) for size in (1, 5, 7)] == [order] * 3

    def test_an_update_does_not_disturb_pages(self, store: BaseStore) -> None:
        """Changing what was already read does not make a later page miss or repeat an item."""
        keys = fill(store, 9)
        first = keys_of(store.search(NAMESPACE, limit=3))
        for key in first:
            store.put(NAMESPACE, key, {"n": -1})
        rest = keys_of(store.search(NAMESPACE, limit=100, offset=3))
        assert sorted(first + rest) == keys

    def test_the_default_page_has_ten_items(self, store: BaseStore) -> None:
        """As the interface says."""
        fill(store, 12)
        assert len(store.search(NAMESPACE)) == 10

    def test_a_page_of_none(self, store: BaseStore) -> None:
        """Limit 0, or an offset beyond the end, is an empty list."""
        fill(store, 3)
        assert store.search(NAMESPACE, limit=0) == []
        assert store.search(NAMESPACE, offset=3) == []
        assert store.search(NAMESPACE, offset=10_000) == []

    def test_a_huge_limit_gives_all(self, store: BaseStore) -> None:
        """It is a bound, not a size."""
        assert keys_of(store.search(NAMESPACE, limit=2**40)) == []
        assert len(fill(store, 15)) == len(store.search(NAMESPACE, limit=2**40))

    @pytest.mark.parametrize("query", ["words", "", " "])
    def test_a_query_needs_an_index(self, store: BaseStore, query: str) -> None:
        """Without one, it is ignored: items come in their usual order, without scores."""
        keys = fill(store, 4)
        found = store.search(NAMESPACE, query=query)
        assert sorted(keys_of(found)) == keys
        assert keys_of(found) == keys_of(store.search(NAMESPACE))
        assert [item.score for item in found] == [None] * 4

    @pytest.mark.parametrize("query", ["", None])
    def test_no_query_means_no_ranking(self, indexed: BaseStore, query: Any) -> None:
        """With an index, too: the usual order, no scores."""
        keys = fill(indexed, 4)
        found = indexed.search(NAMESPACE, query=query)
        assert sorted(keys_of(found)) == keys
        assert [item.score for item in found] == [None] * 4
