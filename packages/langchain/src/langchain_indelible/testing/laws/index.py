"""Laws of search by meaning: what is embedded, and how it ranks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.store.base import BaseStore

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
