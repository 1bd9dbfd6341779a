"""The embedder for tests."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.embed.checks import unit_vectors
from indelible.errors import InvalidInput
from indelible.testing.embedder import HashEmbedder, _words

MODEL = HashEmbedder()


@given(text=st.text(max_size=200), dim=st.integers(2, 70))
def test_any_text_has_a_repeatable_unit_vector(text: str, dim: int) -> None:
    vector = HashEmbedder(dim).embed_query(text)
    assert vector.dtype == np.float32
    assert vector.shape == (dim,)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    assert np.array_equal(vector, HashEmbedder(dim).embed_documents(["other", text])[1])


def test_the_vectors_are_the_same_on_every_machine() -> None:
    assert np.allclose(HashEmbedder(4).embed_query("Ada likes blue"), [-0.31276, -0.33113, -0.88968, 0.03157], atol=1e-4)


def test_texts_that_share_words_are_near() -> None:
    fact, near, far = MODEL.embed_documents(["Ada likes green tea", "GREEN tea, likes Bob!", "the server is down again"])
    assert fact @ near > 0.5 > 0.4 > fact @ far
    assert MODEL.embed_query("tea green likes Ada") @ fact > 0.999


def test_another_seed_is_another_model() -> None:
    other = HashEmbedder(seed=7)
    assert (MODEL.id, other.id, other.space) == ("hash-64", "hash-64-7", "hash-64-7")
    assert abs(float(other.embed_query("one two three") @ MODEL.embed_query("one two three"))) < 0.5


def test_shapes_and_windows() -> None:
    assert MODEL.embed_documents([]).shape == (0, 64)
    assert MODEL.windows("short") == ["short"]
    assert len(MODEL.windows("many words " * 500)) > 1


@pytest.mark.parametrize("dim", [1, 0, -2, True, 2.0, "8"])
def test_bad_sizes_are_refused(dim: Any) -> None:
    with pytest.raises(InvalidInput):
        HashEmbedder(dim)


@pytest.mark.parametrize("texts", ["one", [None], None])
def test_bad_texts_are_refused(texts: Any) -> None:
    with pytest.raises(InvalidInput):
        MODEL.embed_documents(texts)


@given(
    texts=st.lists(st.lists(st.sampled_from(["tea", "milk", "Ünï", "one", "two", "!"]), max_size=6).map(" ".join), min_size=1, max_size=6)
)
def test_words_that_were_met_before_count_the_same(texts: list[str]) -> None:
    """Whatever an embedder has kept of earlier texts: one that can keep a single word, and one that is new."""
    small = HashEmbedder(8)
    small._most_known = 1
    for text in texts:
        assert small.embed_query(text).tobytes() == HashEmbedder(8).embed_query(text).tobytes()
    assert small.embed_documents(texts).tobytes() == HashEmbedder(8).embed_documents(texts).tobytes()


@given(text=st.text(max_size=300), dim=st.sampled_from([2, 3, 64, 65]))
def test_a_text_is_the_sum_of_its_words(text: str, dim: int) -> None:
    words = _words(text)
    rows = [np.frombuffer(hashlib.shake_256(f"hash-{dim}\0{word}".encode()).digest(4 * dim), "<i4").astype(float) for word in words]
    expected = unit_vectors([sum(rows), sum(rows)], count=2, dim=dim, name="test")
    assert HashEmbedder(dim).embed_query(text).tobytes() == expected[0].tobytes()


def test_what_is_kept_of_words_is_bounded() -> None:
    large = HashEmbedder(1 << 20)
    large.embed_documents(["one two"])
    assert len(large._known) == 1
