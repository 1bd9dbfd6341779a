"""Laws of search by meaning: what is embedded, and how it ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp

from langchain_indelible.testing.embeddings import RecordingEmbeddings
from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, flat, keys_of, pages

VALUE: dict[str, Any] = {
    "text": "whole",
    "author": {"name": "ada", "born": 1815},
    "parts": [{"body": "first"}, {"body": "second"}, {"body": "third"}],
    "tags": ["x", "y"],
    "secret": "hunter2",
}
PATHS: dict[str, list[str]] = {
    "text": ["whole"],
    "author.name": ["ada"],
    "author.born": ["1815"],
    "parts[0].body": ["first"],
    "parts[-1].body": ["third"],
    "parts[*].body": ["first", "second", "third"],
    "tags[*]": ["x", "y"],
    "{text,author.name}": ["whole", "ada"],
    "author.*": ["ada", "1815"],
    "tags": [json.dumps(["x", "y"])],
    "missing": [],
    "author.missing.deeper": [],
    "parts[9].body": [],
}


class IndexLaws(StoreLaws):
    """A query ranks by the best vector of each item."""

    def test_the_nearest_comes_first(self, indexed: BaseStore) -> None:
        """Scores are cosines, highest first, and equal texts score 1."""
        for key, text in {"tea": "green tea", "cat": "sleeping cat", "both": "green cat"}.items():
            indexed.put(NAMESPACE, key, {"text": text})
        found = indexed.search(NAMESPACE, query="green tea")
        scores = [item.score for item in found if item.score is not None]
        assert keys_of(found) == ["tea", "both", "cat"]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == pytest.approx(1, abs=1e-4)
        assert all(-1.0001 <= score <= 1.0001 for score in scores)

    @pytest.mark.parametrize("path", PATHS)
    def test_only_the_paths_are_embedded(self, embeddings: RecordingEmbeddings, path: str) -> None:
        """Exactly the texts at the configured paths; what is missing is skipped, nothing else leaves the store."""
        with self.open_store(index={"dims": embeddings.dims, "embed": embeddings, "fields": [path]}) as store:
            store.put(NAMESPACE, "k", VALUE)
        assert sorted(embeddings.documents) == sorted(PATHS[path])

    def test_without_fields_the_whole_value_is_embedded(self, embeddings: RecordingEmbeddings) -> None:
        """As one JSON text, keys sorted, characters as they are."""
        with self.open_store(index={"dims": embeddings.dims, "embed": embeddings}) as store:
            store.put(NAMESPACE, "k", {"b": "ä", "a": 1})
        assert embeddings.documents == ['{"a": 1, "b": "ä"}']

    def test_an_item_may_name_its_own_paths(self, indexed: BaseStore, embeddings: RecordingEmbeddings) -> None:
        """``index=[...]`` takes the place of the configured fields."""
        indexed.put(NAMESPACE, "k", VALUE, index=["author.name", "tags[*]"])
        assert sorted(embeddings.documents) == ["ada", "x", "y"]

    def test_an_item_may_ask_for_the_whole(self, indexed: BaseStore, embeddings: RecordingEmbeddings) -> None:
        """``index=["$"]`` means the same as in the configuration."""
        indexed.put(NAMESPACE, "k", {"b": 1}, index=["$"])
        assert embeddings.documents == ['{"b": 1}']

    def test_queries_are_embedded_as_queries(self, indexed: BaseStore, embeddings: RecordingEmbeddings) -> None:
        """Once, by ``embed_query``; documents by ``embed_documents``."""
        indexed.put(NAMESPACE, "k", {"text": "tea"})
        indexed.search(NAMESPACE, query="what to drink")
        assert (embeddings.documents, embeddings.queries) == (["tea"], ["what to drink"])

    def test_an_item_appears_once(self, indexed: BaseStore) -> None:
        """With the score of its best vector, however many it has."""
        indexed.put(NAMESPACE, "many", {"parts": [{"body": "green tea"}, {"body": "sleeping cat"}]}, index=["parts[*].body"])
        indexed.put(NAMESPACE, "one", {"text": "green cat"})
        found = indexed.search(NAMESPACE, query="sleeping cat")
        assert keys_of(found) == ["many", "one"]
        assert found[0].score == pytest.approx(1, abs=1e-4)

    def test_unindexed_items_come_last(self, indexed: BaseStore) -> None:
        """``index=False`` keeps an item from being embedded, not from being found: it follows without a score."""
        indexed.put(NAMESPACE, "hidden", {"text": "green tea"}, index=False)
        indexed.put(NAMESPACE, "shown", {"text": "sleeping cat"})
        found = indexed.search(NAMESPACE, query="green tea")
        assert keys_of(found) == ["shown", "hidden"]
        assert found[1].score is None

    def test_pages_of_a_query_reach_everything(self, indexed: BaseStore) -> None:
        """Items with many vectors do not shrink a page, and those without any are each reached once."""
        for number in range(7):
            indexed.put(NAMESPACE, f"many{number}", {"parts": [f"tea {n}" for n in range(6)]}, index=["parts[*]"])
            indexed.put(NAMESPACE, f"none{number}", {"text": "tea"}, index=False)
        found = pages(indexed, 3, query="tea")
        assert [len(page) for page in found] == [3, 3, 3, 3, 2]
        assert len(set(flat(found))) == 14

    def test_ties_have_a_fixed_order(self, indexed: BaseStore) -> None:
        """Items of one text come on every page in the same order."""
        for number in range(10):
            indexed.put(NAMESPACE, f"k{number}", {"text": "green tea"})
        whole = keys_of(indexed.search(NAMESPACE, query="tea", limit=10))
        assert [flat(pages(indexed, size, query="tea")) for size in (1, 3, 4)] == [whole] * 3

    def test_a_query_respects_the_namespace(self, indexed: BaseStore) -> None:
        """The nearest of another namespace is not found, and uses up no page."""
        for number in range(10):
            indexed.put(("other",), f"near{number}", {"text": "green tea"})
        indexed.put(("mine",), "far", {"text": "sleeping cat"})
        assert keys_of(indexed.search(("mine",), query="green tea", limit=3)) == ["far"]

    def test_filters_come_before_the_ranking_is_cut(self, indexed: BaseStore) -> None:
        """One match among many nearer ones is found."""
        for number in range(30):
            indexed.put(NAMESPACE, f"near{number}", {"text": "green tea", "wanted": False})
        indexed.put(NAMESPACE, "far", {"text": "sleeping cat", "wanted": True})
        assert keys_of(indexed.search(NAMESPACE, query="green tea", filter={"wanted": True}, limit=2)) == ["far"]

    # Vectors follow their item

    def test_a_new_text_takes_a_new_vector(self, indexed: BaseStore) -> None:
        """After a put, the old text no longer scores."""
        indexed.put(NAMESPACE, "k", {"text": "green tea"})
        indexed.put(NAMESPACE, "k", {"text": "sleeping cat"})
        assert indexed.search(NAMESPACE, query="sleeping cat")[0].score == pytest.approx(1, abs=1e-4)
        assert (indexed.search(NAMESPACE, query="green tea")[0].score or 0) < 0.9

    def test_an_item_can_leave_the_index(self, indexed: BaseStore) -> None:
        """A put with ``index=False`` removes the vectors of the old value."""
        indexed.put(NAMESPACE, "k", {"text": "green tea"})
        indexed.put(NAMESPACE, "k", {"text": "green tea"}, index=False)
        assert [item.score for item in indexed.search(NAMESPACE, query="green tea")] == [None]

    def test_a_key_used_again_has_no_old_vectors(self, indexed: BaseStore) -> None:
        """After a delete, likewise."""
        indexed.put(NAMESPACE, "k", {"text": "green tea"})
        indexed.delete(NAMESPACE, "k")
        assert indexed.search(NAMESPACE, query="green tea") == []
        indexed.put(NAMESPACE, "k", {"text": "sleeping cat"}, index=False)
        assert [item.score for item in indexed.search(NAMESPACE, query="green tea")] == [None]

    def test_a_shrunk_list_has_no_old_vectors(self, indexed: BaseStore) -> None:
        """Vectors of members that are gone are gone."""
        indexed.put(NAMESPACE, "k", {"parts": ["sleeping cat", "green tea", "old hat"]}, index=["parts[*]"])
        indexed.put(NAMESPACE, "k", {"parts": ["sleeping cat", "black coffee"]}, index=["parts[*]"])
        assert indexed.search(NAMESPACE, query="black coffee")[0].score == pytest.approx(1, abs=1e-4)
        assert max(indexed.search(NAMESPACE, query=gone)[0].score or 0 for gone in ("green tea", "old hat")) < 0.9

    # What the embedding function may do

    def test_equal_texts_in_one_batch(self, indexed: BaseStore) -> None:
        """Two items may have the same text."""
        indexed.batch([PutOp(NAMESPACE, key, {"text": "green tea"}) for key in ("a", "b")])
        assert [item.score for item in indexed.search(NAMESPACE, query="green tea")] == pytest.approx([1, 1], abs=1e-4)

    @pytest.mark.parametrize("made", [[], [[1.0, 0.0]] * 3], ids=["too few", "too many"])
    def test_a_wrong_number_of_vectors_is_refused(self, made: list[list[float]]) -> None:
        """It raises, and nothing of the batch is stored."""
        with self.open_store(index={"dims": 2, "embed": lambda texts: made, "fields": ["text"]}) as store:
            with pytest.raises((ValueError, IndexError)):
                store.batch([PutOp(NAMESPACE, key, {"text": key}) for key in ("a", "b")])
            assert store.list_namespaces() == []

    def test_a_vector_of_another_size_is_refused(self) -> None:
        """It raises, and what is stored can still be searched."""
        sizes = {"good": 2, "bad": 3}
        with self.open_store(
            index={"dims": 2, "embed": lambda texts: [[1.0] * sizes.get(t, 2) for t in texts], "fields": ["text"]}
        ) as store:
            store.put(NAMESPACE, "good", {"text": "good"})
            with pytest.raises(ValueError, match=r".+"):
                store.put(NAMESPACE, "bad", {"text": "bad"})
            assert keys_of(store.search(NAMESPACE, query="good")) == ["good"]

    def test_a_zero_vector_breaks_nothing(self) -> None:
        """An item whose vector has no direction is stored, and the search goes on."""
        vectors = {"nothing": [0.0, 0.0]}
        with self.open_store(
            index={"dims": 2, "embed": lambda texts: [vectors.get(t, [1.0, 0.0]) for t in texts], "fields": ["text"]}
        ) as store:
            store.put(NAMESPACE, "zero", {"text": "nothing"})
            store.put(NAMESPACE, "some", {"text": "something"})
            assert keys_of(store.search(NAMESPACE, query="something")) == ["some", "zero"]

    def test_an_embedding_error_stores_nothing(self) -> None:
        """What the function raises reaches the caller, and the old item stays."""

        def fail(texts: Sequence[str]) -> list[list[float]]:
            if "bad" in texts:
                raise RuntimeError("the service is down")
            return [[1.0, 0.0] for _ in texts]

        with self.open_store(index={"dims": 2, "embed": fail, "fields": ["text"]}) as store:
            store.put(NAMESPACE, "k", {"text": "good"})
            with pytest.raises(RuntimeError, match="the service is down"):
                store.put(NAMESPACE, "k", {"text": "bad"})
            assert [item.value for item in store.search(NAMESPACE)] == [{"text": "good"}]
