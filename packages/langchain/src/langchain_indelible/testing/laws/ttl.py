"""Laws of the time to live, in minutes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, keys_of


class TtlLaws(StoreLaws):
    """An item lives for its time after it was last put or, where reads refresh it, read; then it is not shown."""

    def test_a_time_to_live_is_kept_or_refused(self) -> None:
        """A store says whether it can; one that cannot raises rather than keep an item for ever."""
        with self.open_store() as store:
            assert store.supports_ttl is self.has_ttl
            with suppress(NotImplementedError) if self.has_ttl else pytest.raises(NotImplementedError):
                store.put(NAMESPACE, "k", {"x": 1}, ttl=1)
            store.put(NAMESPACE, "for ever", {"x": 1}, ttl=None)
            assert store.get(NAMESPACE, "for ever") is not None

    def test_an_item_lives_for_its_minutes(self, ttl_store: BaseStore) -> None:
        """Shown just before, hidden just after; a fraction of a minute counts."""
        ttl_store.put(NAMESPACE, "two", {"x": 1}, ttl=2)
        ttl_store.put(NAMESPACE, "half", {"x": 1}, ttl=0.5)
        self.advance(0.4)
        assert _shown(ttl_store) == ["half", "two"]
        self.advance(0.2)
        assert _shown(ttl_store) == ["two"]
        self.advance(1.3)
        assert _shown(ttl_store) == ["two"]
        self.advance(0.2)
        assert _shown(ttl_store) == []

    def test_without_one_an_item_lives_for_ever(self, ttl_store: BaseStore) -> None:
        """The default of a store without a default."""
        ttl_store.put(NAMESPACE, "k", {"x": 1})
        self.advance(60 * 24 * 365)
        assert _shown(ttl_store) == ["k"]

    def test_an_expired_item_is_nowhere(self, ttl_store: BaseStore) -> None:
        """Not by get, not by search, and its namespace is not listed."""
        ttl_store.put(("gone",), "k", {"x": 1}, ttl=1)
        ttl_store.put(("here",), "k", {"x": 1})
        self.advance(2)
        assert ttl_store.get(("gone",), "k") is None
        assert [item.namespace for item in ttl_store.search(())] == [("here",)]
        assert ttl_store.list_namespaces() == [("here",)]

    def test_expired_items_use_up_no_page(self, ttl_store: BaseStore) -> None:
        """They are left out before the limit."""
        for number in range(10):
            ttl_store.put(NAMESPACE, f"old{number}", {"x": 1}, ttl=1)
        ttl_store.put(NAMESPACE, "new", {"x": 1})
        self.advance(2)
        assert keys_of(ttl_store.search(NAMESPACE, limit=1)) == ["new"]
        assert ttl_store.list_namespaces(limit=1) == [NAMESPACE]

    def test_the_default_is_the_configured_one(self) -> None:
        """A put without ``ttl`` takes it, one with ``None`` lives for ever, one with its own keeps that."""
        self.needs_ttl()
        with self.open_store(ttl={"default_ttl": 5, "refresh_on_read": False, "omit_expired": True}) as store:
            store.put(NAMESPACE, "default", {"x": 1})
            store.put(NAMESPACE, "never", {"x": 1}, ttl=None)
            store.put(NAMESPACE, "long", {"x": 1}, ttl=10)
            self.advance(6)
            assert _shown(store) == ["long", "never"]
            self.advance(5)
            assert _shown(store) == ["never"]

    def test_a_put_begins_anew(self, ttl_store: BaseStore) -> None:
        """With the new put's time, or for ever."""
        for key in ("again", "for ever"):
            ttl_store.put(NAMESPACE, key, {"x": 1}, ttl=2)
        self.advance(1.5)
        ttl_store.put(NAMESPACE, "again", {"x": 2}, ttl=2)
        ttl_store.put(NAMESPACE, "for ever", {"x": 2}, ttl=None)
        self.advance(1.5)
        assert _shown(ttl_store) == ["again", "for ever"]
        self.advance(1)
        assert _shown(ttl_store) == ["for ever"]

    @pytest.mark.parametrize("verb", ["get", "search"])
    def test_reading_refreshes(self, ttl_store: BaseStore, verb: str) -> None:
        """By default the time begins anew with each read."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=2)
        for _ in range(4):
            self.advance(1.5)
            found = [ttl_store.get(NAMESPACE, "k")] if verb == "get" else list(ttl_store.search(NAMESPACE))
            assert [item and item.key for item in found] == ["k"]
        self.advance(2.5)
        assert _shown(ttl_store) == []

    @pytest.mark.parametrize("verb", ["get", "search"])
    def test_a_read_may_ask_not_to_refresh(self, ttl_store: BaseStore, verb: str) -> None:
        """``refresh_ttl=False`` wins over the configuration."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=2)
        self.advance(1.5)
        _ = ttl_store.get(NAMESPACE, "k", refresh_ttl=False) if verb == "get" else ttl_store.search(NAMESPACE, refresh_ttl=False)
        self.advance(1)
        assert _shown(ttl_store) == []

    @pytest.mark.parametrize("verb", ["get", "search"])
    def test_a_read_may_ask_to_refresh(self, verb: str) -> None:
        """``refresh_ttl=True`` wins over a configuration that says otherwise."""
        self.needs_ttl()
        with self.open_store(ttl={"refresh_on_read": False, "omit_expired": True}) as store:
            store.put(NAMESPACE, "asked", {"x": 1}, ttl=2)
            store.put(("unasked",), "unasked", {"x": 1}, ttl=2)
            self.advance(1.5)
            _ = store.get(NAMESPACE, "asked", refresh_ttl=True) if verb == "get" else store.search(NAMESPACE, refresh_ttl=True)
            store.get(("unasked",), "unasked")
            self.advance(1)
            assert keys_of(store.search((), refresh_ttl=False)) == ["asked"]

    def test_each_operation_of_a_batch_refreshes_for_itself(self, ttl_store: BaseStore) -> None:
        """One that asks not to is not refreshed because of another that does."""
        for key in ("yes", "no"):
            ttl_store.put(NAMESPACE, key, {"x": 1}, ttl=2)
        self.advance(1.5)
        ttl_store.batch([GetOp(NAMESPACE, "yes", True), GetOp(NAMESPACE, "no", False)])
        self.advance(1)
        assert _shown(ttl_store) == ["yes"]

    def test_reading_does_not_bring_back(self, ttl_store: BaseStore) -> None:
        """What has expired stays hidden, however often it is asked for."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=1)
        self.advance(2)
        ttl_store.batch([GetOp(NAMESPACE, "k", True), SearchOp(NAMESPACE, refresh_ttl=True)])
        assert ttl_store.get(NAMESPACE, "k", refresh_ttl=True) is None
        assert _shown(ttl_store) == []

    def test_a_read_does_not_undo_a_put_of_its_batch(self, ttl_store: BaseStore) -> None:
        """A batch that reads a key and puts it for ever leaves it for ever."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=1)
        ttl_store.batch([GetOp(NAMESPACE, "k", True), PutOp(NAMESPACE, "k", {"x": 2}, ttl=None)])
        self.advance(10)
        assert _shown(ttl_store) == ["k"]

    def test_reading_changes_nothing_else(self, ttl_store: BaseStore) -> None:
        """A refresh leaves the value and its times alone."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=2)
        before = ttl_store.get(NAMESPACE, "k", refresh_ttl=False)
        self.advance(1.5)
        ttl_store.get(NAMESPACE, "k", refresh_ttl=True)
        assert ttl_store.get(NAMESPACE, "k", refresh_ttl=False) == before

    def test_an_expired_key_can_be_put_again(self, ttl_store: BaseStore) -> None:
        """It then is as any other."""
        ttl_store.put(NAMESPACE, "k", {"x": 1}, ttl=1)
        self.advance(2)
        ttl_store.put(NAMESPACE, "k", {"x": 2})
        assert [item.value for item in ttl_store.search(NAMESPACE)] == [{"x": 2}]


def _shown(store: BaseStore) -> list[str]:
    """Keys that search shows, which get must agree with; without refreshing anything."""
    keys = sorted(keys_of(store.search(NAMESPACE, limit=100, refresh_ttl=False)))
    assert all(store.get(NAMESPACE, key, refresh_ttl=False) is not None for key in keys)
    return keys
