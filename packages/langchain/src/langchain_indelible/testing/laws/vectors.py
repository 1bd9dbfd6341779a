"""Laws of vectors: that they follow their item, and what may come of the function that makes them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langgraph.store.base import BaseStore, PutOp

from langchain_indelible.testing.laws.base import NAMESPACE, StoreLaws, keys_of


class VectorLaws(StoreLaws):
    """What is found by a query is what is stored now."""

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
