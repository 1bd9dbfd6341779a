"""From ``embedder=`` to an embedder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from indelible.embed import CallableEmbedder, OnnxEmbedder, StaticEmbedder, StaticQueryEmbedder, resolve_embedder
from indelible.errors import InvalidInput
from indelible.testing.embedder import HashEmbedder


@pytest.mark.parametrize(
    ("spec", "kind", "id", "space"),
    [
        (None, OnnxEmbedder, "bge-256", "bge-256"),
        ("bge-256", OnnxEmbedder, "bge-256", "bge-256"),
        ("static", StaticEmbedder, "static-bge-256", "bge-256"),
        ("static-bge-256", StaticEmbedder, "static-bge-256", "bge-256"),
        ("static-query", StaticQueryEmbedder, "bge-256", "bge-256"),
    ],
)
def test_names(spec: str | None, kind: type, id: str, space: str) -> None:
    embedder = resolve_embedder(spec)
    assert isinstance(embedder, kind)
    assert (embedder.id, embedder.space, embedder.dim) == (id, space, 256)


def test_a_name_shares_one_model_in_the_process() -> None:
    assert resolve_embedder() is resolve_embedder("bge-256")
    mixed = resolve_embedder("static-query")
    assert isinstance(mixed, StaticQueryEmbedder)
    assert mixed._documents is resolve_embedder("bge-256")
    assert mixed._queries is resolve_embedder("static")


@pytest.mark.parametrize("own", [OnnxEmbedder(), StaticEmbedder(), StaticQueryEmbedder(), CallableEmbedder(len, id="x")])
def test_our_own_come_back_as_they_are(own: Any) -> None:
    assert resolve_embedder(own) is own


def test_others_are_wrapped_and_checked() -> None:
    model = HashEmbedder(32)
    embedder = resolve_embedder(model)
    assert isinstance(embedder, CallableEmbedder)
    assert embedder.wrapped is model
    assert (embedder.id, embedder.dim, embedder.space) == ("hash-32", 32, "hash-32")
    assert np.allclose(embedder.embed_query("a b"), model.embed_query("a b"), atol=1e-7)


@pytest.mark.parametrize("spec", ["", "BGE-256", "openai", "bge"])
def test_an_unknown_name_lists_the_known(spec: str) -> None:
    with pytest.raises(InvalidInput, match="bge-256, static, static-query"):
        resolve_embedder(spec)


@pytest.mark.parametrize("spec", [3, object(), OnnxEmbedder, True])
def test_what_is_no_embedder_is_refused(spec: object) -> None:
    with pytest.raises(InvalidInput):
        resolve_embedder(spec)
