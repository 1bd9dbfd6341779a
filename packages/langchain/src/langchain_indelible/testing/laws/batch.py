"""Laws of batches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, SearchOp

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, fill, keys_of

BAD_OPS: dict[str, Callable[[], object]] = {
    "operator": lambda: SearchOp(NAMESPACE, {"n": {"$bogus": 1}}),
    "operation": lambda: ("no", "operation"),
    "namespace": lambda: PutOp(("a.b",), "k", {"x": 1}),
    "value": lambda: PutOp(NAMESPACE, "k", {"x": object()}),
}


class BatchLaws(StoreLaws):
    """A batch is one step: its reads see what was before it, its writes come together or not at all."""

    def test_results_are_in_order(self, store: BaseStore) -> None:
        """One result per operation, whatever its kind."""
        store.put(NAMESPACE, "a", {"x": 1})
        ops: list[Op] = [
            SearchOp(NAMESPACE),
            GetOp(NAMESPACE, "a"),
            PutOp(NAMESPACE, "b", {"x": 2}),
            ListNamespacesOp(),
            GetOp(NAMESPACE, "z"),
        ]
        found = store.batch(ops)
        assert isinstance(found[0], list)
        assert isinstance(found[1], Item)
        assert (found[1].key, found[2], found[3], found[4]) == ("a", None, [NAMESPACE], None)

    def test_gets_see_what_was_before(self, store: BaseStore) -> None:
        """Wherever they stand in the batch."""
        store.put(NAMESPACE, "k", {"x": "old"})
        found = store.batch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "k", {"x": "new"}), GetOp(NAMESPACE, "k"), GetOp(NAMESPACE, "k")])
        assert [item.value["x"] for item in (found[0], found[2], found[3]) if isinstance(item, Item)] == ["old"] * 3
        assert store.batch([PutOp(NAMESPACE, "fresh", {"x": 1}), GetOp(NAMESPACE, "fresh")]) == [None, None]

    def test_searches_see_what_was_before(self, store: BaseStore) -> None:
        """Likewise."""
        store.put(NAMESPACE, "old", {"x": 1})
        found = store.batch([PutOp(NAMESPACE, "new", {"x": 1}), PutOp(NAMESPACE, "old", None), SearchOp(NAMESPACE)])
        assert isinstance(found[2], list)
        assert [item.key for item in found[2] if isinstance(item, Item)] == ["old"]
        assert keys_of(store.search(NAMESPACE)) == ["new"]

    def test_listings_see_what_was_before(self, store: BaseStore) -> None:
        """Likewise."""
        store.put(("old",), "k", {"x": 1})
        assert store.batch([PutOp(("new",), "k", {"x": 1}), PutOp(("old",), "k", None), ListNamespacesOp()])[2] == [("old",)]
        assert store.list_namespaces() == [("new",)]

    def test_the_last_put_wins(self, store: BaseStore) -> None:
        """Of several to one key."""
        store.batch([PutOp(NAMESPACE, "k", {"n": number}) for number in range(5)])
        assert [item.value for item in store.search(NAMESPACE)] == [{"n": 4}]

    def test_the_last_of_put_and_delete_wins(self, store: BaseStore) -> None:
        """In either order."""
        store.batch([PutOp(NAMESPACE, "gone", {"x": 1}), PutOp(NAMESPACE, "gone", None)])
        store.put(NAMESPACE, "kept", {"x": 1})
        store.batch([PutOp(NAMESPACE, "kept", None), PutOp(NAMESPACE, "kept", {"x": 2})])
        assert store.get(NAMESPACE, "gone") is None
        assert [item.value for item in store.search(NAMESPACE)] == [{"x": 2}]

    def test_operations_may_come_from_a_generator(self, store: BaseStore) -> None:
        """They are taken once."""
        store.batch(PutOp(NAMESPACE, f"k{number}", {"n": number}) for number in range(3))
        assert len(store.search(NAMESPACE)) == 3

    def test_an_empty_batch(self, store: BaseStore) -> None:
        """Gives no results."""
        assert store.batch([]) == []

    @pytest.mark.parametrize("bad", BAD_OPS)
    @pytest.mark.parametrize("place", ["first", "last"])
    def test_one_bad_operation_undoes_all(self, store: BaseStore, bad: str, place: str) -> None:
        """It raises, and nothing of the batch is stored, wherever the bad one stands."""
        store.put(NAMESPACE, "k", {"x": "old"})
        store.put(NAMESPACE, "doomed", {"x": "old"})
        good: list[object] = [PutOp(NAMESPACE, "k", {"x": "new"}), PutOp(NAMESPACE, "doomed", None), PutOp(NAMESPACE, "fresh", {"x": 1})]
        ops = [BAD_OPS[bad](), *good] if place == "first" else [*good, BAD_OPS[bad]()]
        with pytest.raises((ValueError, TypeError)):
            store.batch(ops)  # type: ignore[arg-type]  # that is the law
        assert {item.key: item.value["x"] for item in store.search(NAMESPACE)} == {"k": "old", "doomed": "old"}

    def test_a_large_batch(self, store: BaseStore) -> None:
        """Three thousand puts, then as many gets, with some keys twice."""
        store.batch([PutOp(NAMESPACE, f"k{number}", {"n": number}) for number in range(3000)])
        found = store.batch([GetOp(NAMESPACE, f"k{number % 2500}") for number in range(3000)])
        assert [item.value["n"] for item in found if isinstance(item, Item)] == [number % 2500 for number in range(3000)]

    def test_results_do_not_share_values(self, store: BaseStore) -> None:
        """Reading a key twice in a batch gives two objects."""
        fill(store, 1)
        one, two = store.batch([GetOp(NAMESPACE, "k00"), GetOp(NAMESPACE, "k00")])
        assert isinstance(one, Item)
        assert isinstance(two, Item)
        one.value["n"] = "changed"
        assert two.value["n"] == 0
