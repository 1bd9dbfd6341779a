"""A collection's vectors: what has none, and which model's they are."""

from __future__ import annotations

import pytest

from indelible import Collection, EmbedderMismatch, Hit, MemoryStore, Part, Put
from indelible.testing import HashEmbedder, ReferenceBackend
from indelible.testing.fakes import FakeClock

VECTOR = HashEmbedder().embed_query("tea").tolist()


def keys(hits: list[Hit]) -> list[str | None]:
    return [hit.record.key for hit in hits]


@pytest.fixture(params=["sqlite", "reference"])
def mixed(request: pytest.FixtureRequest, store: MemoryStore, clock: FakeClock) -> Collection:
    """Three records with vectors and three without, in two namespaces."""
    if request.param == "reference":
        store = MemoryStore(":memory:", backend=ReferenceBackend(clock=clock), clock=clock, embedder=HashEmbedder())
    notes: Collection = store.collection("notes", model="store")
    for number, (text, place) in enumerate([("", ()), ("tea", ()), ("", ("in",)), ("green tea", ("in",)), ("", ()), ("coffee", ())]):
        parts = [Part("text", text)] if text else None
        notes.batch([Put(f"k{number}", value={"n": number}, parts=parts, namespace=place)])
    return notes


def test_what_has_no_vector_follows_in_the_order_of_the_list(mixed: Collection) -> None:
    """Without a score; left out unless asked for."""
    hits = mixed.search("tea", unscored=True)
    assert keys(hits) == ["k1", "k3", "k5", "k0", "k2", "k4"]
    assert [hit.score is None for hit in hits] == [False] * 3 + [True] * 3
    assert keys(mixed.search("tea")) == ["k1", "k3", "k5"]


def test_pages_go_on_from_ranked_to_unranked(mixed: Collection) -> None:
    """Each record once, whatever the size of a page."""
    whole = keys(mixed.search("tea", unscored=True, limit=None))
    for size in (1, 2, 4, 6):
        pages = [mixed.search("tea", unscored=True, limit=size, offset=start) for start in range(0, 8, size)]
        assert [key for page in pages for key in keys(page)] == whole
    assert keys(mixed.search(vector=VECTOR, unscored=True, limit=None, offset=4)) == whole[4:]


def test_filters_and_namespaces_narrow_both(mixed: Collection) -> None:
    """What is ranked and what is not."""
    assert keys(mixed.below("in").search("tea", unscored=True)) == ["k3", "k2"]
    assert keys(mixed.search("tea", unscored=True, prefix=False)) == ["k1", "k5", "k0", "k4"]
    assert keys(mixed.search("tea", unscored=True, filters={"n": 4}, filter_on="value")) == ["k4"]
    assert keys(mixed.search("tea", unscored=True, accept=lambda record: record.value["n"] in (3, 4))) == ["k3", "k4"]


def test_the_past_has_its_own_without_vectors(mixed: Collection) -> None:
    """A record that lost its vector since had it then."""
    mixed.put("k1", value={"n": 1})
    assert keys(mixed.search("tea", unscored=True)) == ["k3", "k5", "k0", "k1", "k2", "k4"]
    assert keys(mixed.search("tea", unscored=True, as_of=6)) == ["k1", "k3", "k5", "k0", "k2", "k4"]


def test_a_collection_has_one_model_in_all_its_namespaces(store: MemoryStore) -> None:
    """Vectors of another are refused in a namespace that has none yet, and a search from the root refuses them, too."""
    store.collection("notes", model=HashEmbedder(32)).batch([Put("k", "tea", namespace=("ada",))])
    other = store.collection("notes", model=HashEmbedder(16))
    with pytest.raises(EmbedderMismatch):
        other.batch([Put("k", "tea", namespace=("bob",))])
    for place in (other, other.below("ada"), other.below("bob")):
        with pytest.raises(EmbedderMismatch):
            place.search("tea")


def test_the_model_of_a_collection_outlives_a_purge_elsewhere(store: MemoryStore) -> None:
    """What a purge sweeps up is what belongs to namespaces without any record, here or below."""
    notes = store.collection("notes", model=HashEmbedder(32))
    notes.batch([Put("k", "tea", namespace=("ada",))])
    store.collection("other").put("k", "text")
    store.collection("other").purge("k")
    with pytest.raises(EmbedderMismatch):
        store.collection("notes", model=HashEmbedder(16)).put("l", "tea")


def test_the_texts_of_a_batch_are_embedded_together(store: MemoryStore) -> None:
    """Also those of several namespaces."""
    calls: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        calls.append(list(texts))
        return [[1.0, 2.0] for _ in texts]

    store.collection("notes", model=embed).batch([Put("k", "tea", namespace=("ada",)), Put("k", "coffee", namespace=("bob",))])
    assert calls == [["tea", "coffee"]]
