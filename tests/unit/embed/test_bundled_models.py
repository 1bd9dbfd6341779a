"""What the bundled models give: the reference vectors, one text at a time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indelible.embed import Embedder, OnnxEmbedder, StaticEmbedder, StaticQueryEmbedder
from indelible.errors import InvalidInput

BOTH = ["onnx", "static"]


@pytest.fixture(params=BOTH)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    given_embedder: Embedder = request.getfixturevalue(request.param)
    return given_embedder


def test_vectors_are_the_reference_vectors(embedder: Embedder, reference: dict[str, Any]) -> None:
    """Quantised sums differ a little between processors and releases of onnxruntime; the static table is plain arithmetic."""
    least = 0.99 if embedder.id == "bge-256" else 0.9999
    expected = np.array(reference[embedder.id], dtype=np.float32)
    vectors = embedder.embed_documents(reference["texts"])
    cosines = (vectors * expected).sum(axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > least


def test_vectors_are_float32_unit_rows_of_the_stated_size(embedder: Embedder, reference: dict[str, Any]) -> None:
    vectors = embedder.embed_documents(reference["texts"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(reference["texts"]), embedder.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_vector_does_not_depend_on_neighbours_or_order(embedder: Embedder, reference: dict[str, Any]) -> None:
    texts = list(reference["texts"])
    alone = {text: embedder.embed_documents([text])[0] for text in texts}
    random.Random(7).shuffle(texts)
    together = embedder.embed_documents([*texts, "a longer neighbour " * 60])
    for text, vector in zip(texts, together, strict=False):
        assert np.array_equal(vector, alone[text]), text


def test_a_query_and_a_document_have_the_same_vector(embedder: Embedder) -> None:
    text = "Ada's favourite colour is blue."
    assert np.array_equal(embedder.embed_query(text), embedder.embed_documents([text])[0])


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 256)


def test_one_worker_and_several_give_the_same(onnx: OnnxEmbedder, reference: dict[str, Any]) -> None:
    texts = reference["texts"]
    assert np.array_equal(OnnxEmbedder(workers=1).embed_documents(texts), onnx.embed_documents(texts))


def test_static_queries_find_documents_of_the_full_model(onnx: OnnxEmbedder, static: StaticEmbedder) -> None:
    mixed = StaticQueryEmbedder(onnx, static)
    facts = ["Ada's favourite colour is blue.", "The disk of the server is full.", "The cat sleeps on the sofa."]
    documents, query = mixed.embed_documents(facts), mixed.embed_query("Which colour does Ada like?")
    assert np.array_equal(documents, onnx.embed_documents(facts))
    assert np.array_equal(query, static.embed_query("Which colour does Ada like?"))
    assert int((documents @ query).argmax()) == 0
    assert (mixed.id, mixed.space, mixed.dim) == (onnx.id, static.space, 256)
    assert mixed.windows("short") == ["short"]


def test_special_tokens_in_a_text_are_ordinary_words(embedder: Embedder) -> None:
    """A text cannot end its own sentence: ``[SEP]`` in it is read as the letters it is written with."""
    assert np.allclose(embedder.embed_query("one [SEP] two"), embedder.embed_query("one [ SEP ] two"), atol=1e-6)
    assert embedder.embed_query("one [SEP] two") @ embedder.embed_query("one two") < 0.9999


def test_text_beyond_256_tokens_is_not_read_by_one_vector(embedder: Embedder) -> None:
    long = "tree " * 300
    assert np.array_equal(embedder.embed_query(long), embedder.embed_query(long + "and quite another thing"))
    assert not np.array_equal(embedder.embed_query("tree " * 200), embedder.embed_query("tree " * 200 + "and quite another thing"))


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_has_a_finite_unit_vector(text: str) -> None:
    vector = _STATIC.embed_query(text)
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


_STATIC = StaticEmbedder()


@pytest.mark.parametrize("texts", ["one text", b"bytes", None, 3, iter(["a"]), {"a"}, ["a", None], ["a", b"b"], ["\ud800"]])
def test_what_is_not_a_list_of_proper_text_is_refused(embedder: Embedder, texts: Any) -> None:
    with pytest.raises(InvalidInput):
        embedder.embed_documents(texts)


@pytest.mark.parametrize("text", [None, b"bytes", 3, ["a"], "half a pair \udc00"])
def test_a_query_that_is_not_proper_text_is_refused(embedder: Embedder, text: Any) -> None:
    with pytest.raises(InvalidInput):
        embedder.embed_query(text)
    with pytest.raises(InvalidInput):
        embedder.windows(text)


@pytest.mark.parametrize("workers", [0, -1, True, 1.0, "2"])
def test_workers_must_be_a_positive_int(workers: Any) -> None:
    with pytest.raises(InvalidInput, match="workers"):
        OnnxEmbedder(workers=workers)
