"""Laws of namespaces: which there may be, and how they are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp

from langchain_indelible.testing.laws.base import StoreLaws, keys_of

BAD_LABELS = {"empty": "", "period": "a.b", "NUL": "a\x00b", "number": 5, "none": None}
VERBS: dict[str, Callable[[BaseStore, Any], object]] = {
    "put": lambda store, name: store.put(name, "k", {"x": 1}),
    "get": lambda store, name: store.get(name, "k"),
    "delete": lambda store, name: store.delete(name, "k"),
    "search": lambda store, name: store.search(name),
    "list prefix": lambda store, name: store.list_namespaces(prefix=name),
    "list suffix": lambda store, name: store.list_namespaces(suffix=name),
}
OPS: dict[str, Callable[[Any], Op]] = {
    "put": lambda name: PutOp(name, "k", {"x": 1}),
    "get": lambda name: GetOp(name, "k"),
    "delete": lambda name: PutOp(name, "k", None),
    "search": lambda name: SearchOp(name),
    "list": lambda name: ListNamespacesOp((MatchCondition("prefix", name),)),
}


def _bad(label: str) -> tuple[Any, ...]:
    return ("fine", BAD_LABELS[label])


class NamespaceLaws(StoreLaws):
    """A namespace is a tuple of labels."""

    @pytest.mark.parametrize("label", BAD_LABELS)
    @pytest.mark.parametrize("verb", VERBS)
    def test_bad_labels_are_refused(self, store: BaseStore, verb: str, label: str) -> None:
        """Labels are non-empty text without a period or NUL, in every verb."""
        with pytest.raises(InvalidNamespaceError):
            VERBS[verb](store, _bad(label))

    @pytest.mark.parametrize("label", BAD_LABELS)
    @pytest.mark.parametrize("op", OPS)
    def test_batch_refuses_bad_labels(self, store: BaseStore, op: str, label: str) -> None:
        """An operation given to ``batch`` itself is held to the same rules."""
        with pytest.raises(InvalidNamespaceError):
            store.batch([OPS[op](_bad(label))])

    @pytest.mark.parametrize("name", [(), ("langgraph",), ("langgraph", "x")], ids=str)
    def test_some_namespaces_cannot_be_written_to(self, store: BaseStore, name: tuple[str, ...]) -> None:
        """The empty one, and the root that LangGraph keeps for itself; reading there finds nothing."""
        with pytest.raises(InvalidNamespaceError):
            store.put(name, "k", {"x": 1})
        assert store.get(name, "k") is None
        store.delete(name, "k")

    @pytest.mark.parametrize("name", [(), ("langgraph",)], ids=str)
    def test_batch_cannot_write_there_either(self, store: BaseStore, name: tuple[str, ...]) -> None:
        """Nor through ``batch``."""
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(name, "k", {"x": 1})])

    @pytest.mark.parametrize("verb", ["put", "get", "search", "delete"])
    def test_a_bare_text_is_no_namespace(self, store: BaseStore, verb: str) -> None:
        """``"abc"`` is not taken apart into ``("a", "b", "c")``."""
        with pytest.raises((ValueError, TypeError)):
            VERBS[verb](store, "abc")

    def test_labels_are_literal(self, store: BaseStore) -> None:
        """No character of a label is a pattern, and case counts."""
        labels = ["a", "A", "a%", "a_", "a*", "*", "?", "[a]", "a\\b", "a'b", 'a"b', "a b", "ä", "鍵", "🔑", "a:b", "a/b"]
        for label in labels:
            store.put(("root", label), "k", {"label": label})
        for label in labels:
            assert [item.value["label"] for item in store.search(("root", label))] == [label]
        assert sorted(name[1] for name in store.list_namespaces(prefix=("root",))) == sorted(labels)

    # Listing

    @pytest.fixture
    def tree(self, store: BaseStore) -> BaseStore:
        for name in (
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
            ("a", "b", "f"),
            ("a", "c", "f"),
            ("b", "c"),
            ("users", "f"),
        ):
            store.put(name, "k", {"x": 1})
        return store

    def test_all_are_listed_sorted(self, tree: BaseStore) -> None:
        """Each namespace that holds an item, once, in the order of tuples."""
        tree.put(("b", "c"), "other", {"x": 1})
        assert tree.list_namespaces() == [
            ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"), ("b", "c"), ("users", "f"),
        ]  # fmt: skip

    def test_a_prefix_is_whole_labels(self, tree: BaseStore) -> None:
        """It is met label by label; one longer than the name is not met."""
        tree.put(("ab", "x"), "k", {"x": 1})
        assert tree.list_namespaces(prefix=("a", "b", "d")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
        assert ("ab", "x") not in tree.list_namespaces(prefix=("a",))
        assert tree.list_namespaces(prefix=("b", "c", "d")) == []

    def test_a_suffix_is_whole_labels(self, tree: BaseStore) -> None:
        """Likewise from the end."""
        assert tree.list_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f"), ("users", "f")]
        assert tree.list_namespaces(suffix=("c", "f")) == [("a", "c", "f")]

    def test_prefix_and_suffix_are_both_met(self, tree: BaseStore) -> None:
        """They may overlap in the name."""
        assert tree.list_namespaces(prefix=("a",), suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]

    def test_a_star_stands_for_one_label(self, tree: BaseStore) -> None:
        """Exactly one, in a prefix and in a suffix."""
        assert tree.list_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
        assert tree.list_namespaces(suffix=("d", "*")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
        assert tree.list_namespaces(prefix=("b", "*", "*")) == []

    def test_several_conditions_are_all_met(self, tree: BaseStore) -> None:
        """Also several of one kind, which only an operation can have."""
        op = ListNamespacesOp(
            (MatchCondition("prefix", ("a", "*")), MatchCondition("prefix", ("*", "b")), MatchCondition("suffix", ("f",)))
        )
        assert tree.batch([op]) == [[("a", "b", "f")]]

    def test_max_depth_cuts_and_names_each_once(self, tree: BaseStore) -> None:
        """Names are cut after the conditions were met, then doubles go."""
        assert tree.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]
        assert tree.list_namespaces(max_depth=1) == [("a",), ("b",), ("users",)]

    def test_pages_of_namespaces_reach_all(self, tree: BaseStore) -> None:
        """Limit and offset apply last, to what is listed."""
        listed = [tree.list_namespaces(max_depth=2, limit=2, offset=offset) for offset in (0, 2, 4)]
        assert listed == [[("a", "b"), ("a", "c")], [("b", "c"), ("users", "f")], []]

    def test_only_what_holds_items_is_listed(self, tree: BaseStore) -> None:
        """A namespace whose last item was deleted is gone."""
        tree.delete(("b", "c"), "k")
        assert ("b", "c") not in tree.list_namespaces()

    def test_reading_makes_no_namespace(self, store: BaseStore) -> None:
        """Nor does deleting what is not there."""
        store.get(("ghost",), "k")
        store.search(("ghost", "two"))
        store.delete(("ghost", "three"), "k")
        assert store.list_namespaces() == []

    def test_a_namespace_may_be_deep(self, store: BaseStore) -> None:
        """Twenty labels."""
        name = tuple(f"label{number}" for number in range(20))
        store.put(name, "k", {"x": 1})
        assert keys_of(store.search(name[:10])) == ["k"]
        assert store.list_namespaces(prefix=name) == [name]
