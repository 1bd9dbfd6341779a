"""Models in both directions."""

from __future__ import annotations

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from indelible import InvalidInput, MemoryStore, ModelError
from indelible.embed import resolve_embedder
from langchain_indelible import IndelibleEmbeddings, IndelibleVectorStore, as_embedder
from tests.interop.langchain.models import WordEmbeddings


@pytest.mark.parametrize("model", ["bge-256", "static"])
async def test_the_bundled_models(model: str) -> None:
    """Unit vectors of plain floats, the same alone and together, sync and async, and the same as the core's."""
    embeddings = IndelibleEmbeddings(model)
    vectors = embeddings.embed_documents(["red fox", "blue whale", ""])
    assert [sum(number * number for number in vector) for vector in vectors] == pytest.approx([1.0] * 3, abs=1e-5)
    assert embeddings.embed_documents(["red fox"])[0] == pytest.approx(vectors[0], abs=1e-5)
    assert await embeddings.aembed_query("red fox") == embeddings.embed_query("red fox")
    assert embeddings.embed_query("red fox") == resolve_embedder(model).embed_query("red fox").tolist()
    assert embeddings.embed_documents([]) == []


def test_an_unknown_model() -> None:
    """Is named at once, with those there are."""
    with pytest.raises(InvalidInput, match="bge-256"):
        IndelibleEmbeddings("no-such-model")


def test_any_embeddings_serve_the_core() -> None:
    """Documents as documents and questions as questions, through the store's own verbs."""
    model = WordEmbeddings()
    with MemoryStore(":memory:", embedder=as_embedder(model)) as store:
        store.remember("red fox")
        assert [hit.content for hit in store.recall("fox")] == ["red fox"]
    assert model.documents == [["red fox"]]
    assert model.queries == ["fox"]
    with MemoryStore(":memory:", embedder=model) as bare:  # the core knows such a model by its methods, too
        bare.remember("red fox")
        assert [hit.content for hit in bare.recall("fox")] == ["red fox"]


def test_names_tell_models_apart() -> None:
    """By class and model name, or as given."""
    assert as_embedder(WordEmbeddings(32)).id == "WordEmbeddings:words-32"
    assert as_embedder(WordEmbeddings(32)).dim == 32
    named = as_embedder(DeterministicFakeEmbedding(size=6), id="fake-6", space="fakes")
    assert (named.id, named.space, named.dim) == ("fake-6", "fakes", 6)


def test_our_own_model_is_not_wrapped_twice() -> None:
    """A vector store with the bundled model and the store's own search one space."""
    ours = IndelibleEmbeddings("static")
    assert as_embedder(ours) is ours.embedder
    with MemoryStore(":memory:", embedder="static") as store:
        IndelibleVectorStore(store, ours).add_texts(["red fox"])
        assert [document.page_content for document in IndelibleVectorStore(store).similarity_search("fox")] == ["red fox"]


def test_a_model_that_fails_is_named() -> None:
    """With its error as the cause, and nothing written."""

    class Broken(Embeddings):
        model = "broken-1"

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise TimeoutError("no answer")

        def embed_query(self, text: str) -> list[float]:
            return [float("nan")]

    with MemoryStore(":memory:") as store:
        documents = IndelibleVectorStore(store, Broken())
        with pytest.raises(ModelError, match=r"broken-1.*no answer") as caught:
            documents.add_texts(["red fox"])
        assert isinstance(caught.value.__cause__, TimeoutError)
        assert store.version == 0
        with pytest.raises(ModelError):
            documents.similarity_search("fox")


def test_what_is_no_model() -> None:
    """Is refused when the vector store is made."""
    with MemoryStore(":memory:") as store, pytest.raises(InvalidInput, match="embedder"):
        IndelibleVectorStore(store, 7).add_texts(["x"])  # type: ignore[arg-type]  # the mistake itself
