"""Models in both directions: embeddings, and language models that the core asks."""

from __future__ import annotations

import pickle

import pytest
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode

from indelible import InvalidInput, MemoryStore, ModelError, ask, ask_with_memory, delegation
from indelible.embed import resolve_embedder
from llama_index_indelible import IndelibleEmbedding, IndelibleKVStore, as_embedder
from tests.interop.llamaindex.models import ScriptedCompletion
from tests.interop.llamaindex.samples import WordEmbedding


@pytest.mark.parametrize("model", ["bge-256", "static"])
async def test_the_bundled_models(model: str) -> None:
    """Unit vectors of plain floats, the same alone and together, sync, async and pickled, and the same as the core's."""
    embedding = IndelibleEmbedding(model)
    vectors = embedding.get_text_embedding_batch(["red fox", "blue whale", ""])
    assert [sum(number * number for number in vector) for vector in vectors] == pytest.approx([1.0] * 3, abs=1e-5)
    assert embedding.get_text_embedding("red fox") == pytest.approx(vectors[0], abs=1e-5)
    assert await embedding.aget_text_embedding("red fox") == embedding.get_text_embedding("red fox")
    assert await embedding.aget_text_embedding_batch(["red fox"]) == [embedding.get_text_embedding("red fox")]
    query = embedding.get_query_embedding("red fox")
    assert type(query[0]) is float
    assert await embedding.aget_query_embedding("red fox") == query
    assert query == resolve_embedder(model).embed_query("red fox").tolist()
    again = pickle.loads(pickle.dumps(embedding))
    assert again.get_query_embedding("red fox") == query
    assert IndelibleEmbedding.from_dict(embedding.to_dict()).model_name == model


def test_it_is_a_transformation_with_a_cache() -> None:
    """Nodes get their vectors, and the cache is filled although it is empty at first."""
    cache = IndelibleKVStore(":memory:", cache=True)
    embedding = IndelibleEmbedding("static", embeddings_cache=cache)
    (node,) = embedding([TextNode(text="red fox")])
    assert len(node.get_embedding()) == resolve_embedder("static").dim
    assert len(cache.get_all("embeddings")) == 1


def test_an_unknown_model() -> None:
    """Is named at once, with those there are."""
    with pytest.raises(InvalidInput, match="bge-256"):
        IndelibleEmbedding("no-such-model")


def test_any_embedding_serves_the_core() -> None:
    """With or without the adapter, which only gives it names; its errors are the core's."""
    for model in (as_embedder(WordEmbedding()), WordEmbedding()):
        with MemoryStore(":memory:", embedder=model) as store:
            store.remember("red fox")
            store.remember("blue whale")
            assert [hit.content for hit in store.recall("fox", limit=1)] == ["red fox"]
    named = as_embedder(MockEmbedding(6), id="fake-6", space="fakes")
    assert (named.id, named.space, named.dim) == ("fake-6", "fakes", 6)
    assert as_embedder(WordEmbedding()).id == "WordEmbedding:words"
    with pytest.raises(InvalidInput):
        as_embedder("bge")  # type: ignore[arg-type]
    ours = IndelibleEmbedding("static")
    assert as_embedder(ours) is ours.embedder


def test_any_llm_answers_with_memory() -> None:
    """``ask_with_memory`` takes LlamaIndex's models as they are."""
    with MemoryStore(":memory:", embedder=as_embedder(WordEmbedding())) as store:
        store.remember("The fox is red")
        llm = ScriptedCompletion(answer="red")
        answer = ask_with_memory("Which colour is the fox?", store, model=llm)
        assert answer.value == "red"
        assert llm.prompts == [answer.prompt]
        assert "The fox is red" in answer.prompt
        assert [getattr(used, "content", "") for used in answer.used] == ["The fox is red"]
        echoed = ask_with_memory("Which colour is the fox?", store, model=MockLLM())
        assert echoed.value == echoed.prompt == answer.prompt
        with delegation(llm):
            assert ask_with_memory("again?", store).value == "red"
    assert ask("hello", model=MockLLM()).value == "hello"


def test_a_failing_llm_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="ScriptedCompletion failed: RuntimeError: out of order"):
        ask("x", model=ScriptedCompletion(answer="fail"))
