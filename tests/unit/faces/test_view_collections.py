"""Collections of a bound view: the view's records, and no way out."""

from __future__ import annotations

import pytest

from indelible import InvalidInput, MemoryStore, UnsupportedOperation


def test_s62_a_views_collection_is_the_views(store: MemoryStore) -> None:
    """S62: what is not given is as the view is bound; the store finds the same records under the same scope."""
    view = store.scope(agent_id="helper", user_id="ada")
    view.collection("notes").put("k", "hers")
    store.collection("notes").put("k", "nobody's")
    assert view.collection("notes").get("k").content == "hers"
    assert store.collection("notes", agent_id="helper", user_id="ada").get("k").content == "hers"
    assert store.collection("notes").get("k").content == "nobody's"
    narrower = view.collection("notes", workspace_id="w")
    assert (narrower.scope.user_id, narrower.scope.workspace_id, narrower.get("k")) == ("ada", "w", None)


def test_s62_a_collection_does_not_leave_its_view(store: MemoryStore) -> None:
    """S62: another user's is refused, and so is a cache, which has no scopes."""
    view = store.scope(user_id="ada")
    with pytest.raises(InvalidInput, match="bound"):
        view.collection("notes", user_id="bob")
    with pytest.raises(UnsupportedOperation, match="no scope"):
        view.collection("cache", cache=True)
