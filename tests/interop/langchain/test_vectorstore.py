"""The vector store beyond the standard tests, writing and sharing: what its users were bitten by elsewhere."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from indelible import EmbedderMismatch, InvalidInput, MemoryStore
from indelible.embed.callable_embedder import CallableEmbedder
from langchain_indelible import IndelibleByteStore, IndelibleChatMessageHistory, IndelibleStore, IndelibleVectorStore
from tests.interop.langchain.models import WordEmbeddings, open_store, texts

# Writing


def test_a_generator_of_texts_is_added_whole(documents: IndelibleVectorStore) -> None:
    """Elsewhere the generator was consumed before it was read, and nothing was stored."""
    ids = documents.add_texts(text for text in ("red fox", "blue whale"))
    assert texts(documents.get_by_ids(ids)) == ["red fox", "blue whale"]


@pytest.mark.parametrize("short", [{"ids": ["1"]}, {"metadatas": [{"n": 1}]}, {"ids": ["1", "2", "3"]}, {"ids": []}, {"metadatas": []}])
def test_lists_of_another_length_are_refused(documents: IndelibleVectorStore, short: dict[str, Any]) -> None:
    """Two texts with one id are not one document."""
    with pytest.raises(ValueError, match="give one for each"):
        documents.add_texts(["red fox", "blue whale"], **short)
    assert documents.collection.list() == []


def test_one_text_is_not_its_letters(documents: IndelibleVectorStore) -> None:
    """A str where several texts, or several ids, were meant is refused."""
    with pytest.raises(InvalidInput, match="put it into a list"):
        documents.add_texts("red fox")
    with pytest.raises(InvalidInput, match="put it into a list"):
        documents.delete("red")  # type: ignore[arg-type]  # the mistake itself
    with pytest.raises(InvalidInput, match="put it into a list"):
        documents.get_by_ids("red")


def test_ids_are_those_given_then_the_documents_own_then_new(documents: IndelibleVectorStore) -> None:
    """In the order of the documents, which stay as they were."""
    added = [Document(id="own", page_content="a"), Document(page_content="b"), Document(id="hidden", page_content="c")]
    before = [document.model_copy(deep=True) for document in added]
    first, second, third = documents.add_documents(added, ids=[None, None, "given"])
    assert (first, third) == ("own", "given")
    assert second
    assert documents.get_by_ids([second])[0].page_content == "b"
    assert documents.get_by_ids(["hidden"]) == []
    assert added == before


def test_of_one_id_twice_the_last_is_written(documents: IndelibleVectorStore) -> None:
    """One event, as for any batch."""
    assert documents.add_texts(["old", "new"], ids=["1", "1"]) == ["1", "1"]
    assert texts(documents.get_by_ids(["1"])) == ["new"]
    assert len(documents.collection.history("1")) == 1


def test_a_document_that_cannot_be_kept_leaves_none(documents: IndelibleVectorStore, store: MemoryStore) -> None:
    """All or none, with the reason."""
    with pytest.raises(InvalidInput, match="metadata"):
        documents.add_documents([Document(page_content="a"), Document(page_content="b", metadata={"at": object()})])
    assert store.version == 0


METADATA = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


def exact(value: Any) -> Any:
    """A value with its types spelled out: 1, 1.0 and True are equal, and are not the same."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


@given(METADATA)
def test_metadata_comes_back_exactly(metadata: dict[str, Any]) -> None:
    """Every type and nesting, and nothing added."""
    with open_store() as store:
        documents = IndelibleVectorStore(store)
        documents.add_documents([Document(id="1", page_content="red fox", metadata=metadata)])
        (found,) = documents.similarity_search("fox")
        assert exact(found.metadata) == exact(metadata)


def test_an_id_again_is_a_new_version(documents: IndelibleVectorStore) -> None:
    """The new text is found and the old is not, by its vector either; history has both."""
    documents.add_texts(["red fox"], ids=["1"])
    documents.add_texts(["blue whale"], ids=["1"])
    assert [(doc.page_content, round(score, 6)) for doc, score in documents.similarity_search_with_score("blue whale")] == [
        ("blue whale", 1.0)
    ]
    assert documents.similarity_search_with_score("red fox")[0][1] < 0.5
    assert [change.record.content for change in documents.collection.history("1") if change.record] == ["red fox", "blue whale"]


def test_delete_forgets_some_or_all_and_never_says_false(documents: IndelibleVectorStore) -> None:
    """The indexing API takes False for a failure; ids that are not there are none."""
    documents.add_texts(["a", "b", "c"], ids=["1", "2", "3"])
    assert documents.delete(["1", "nowhere"]) is True
    assert documents.delete([]) is True
    assert len(documents.collection.list()) == 2
    assert documents.delete() is True
    assert documents.collection.list() == []
    assert documents.similarity_search("a") == []
    assert [change.op for change in documents.collection.history("2")] == ["remember", "forget"]


def test_delete_all_takes_the_expired_too(store: MemoryStore, documents: IndelibleVectorStore) -> None:
    """Nothing comes back when a clock does."""
    documents.add_texts(["a"], ids=["1"], ttl_ms=1)
    documents.delete()
    assert documents.collection.get("1", include_expired=True) is None


def test_unknown_arguments_are_refused(documents: IndelibleVectorStore) -> None:
    """A misspelt argument neither widens a search nor loses what it meant."""
    for call in (
        lambda: documents.add_documents([], idz=[]),
        lambda: documents.delete(ids=[], where="x"),
        lambda: documents.similarity_search("a", filters={}),
    ):
        with pytest.raises(TypeError, match="argument"):
            call()


# Models


def test_texts_are_embedded_together_and_queries_as_queries(documents: IndelibleVectorStore, embeddings: WordEmbeddings) -> None:
    """One call of the model for a batch, and one of ``embed_query`` for a question."""
    documents.add_texts(["red fox", "blue whale"])
    documents.similarity_search("fox")
    documents.max_marginal_relevance_search("whale")
    assert embeddings.documents == [["red fox", "blue whale"]]
    assert set(embeddings.queries) == {"fox", "whale"}


def test_another_model_on_the_same_documents_is_refused(documents: IndelibleVectorStore, store: MemoryStore) -> None:
    """Vectors of two spaces are never compared."""
    documents.add_texts(["red fox"])
    other = IndelibleVectorStore(store, WordEmbeddings(32))
    with pytest.raises(EmbedderMismatch):
        other.add_texts(["blue whale"])
    with pytest.raises(EmbedderMismatch):
        other.similarity_search("fox")
    with pytest.raises(InvalidInput, match="64"):
        documents.similarity_search_by_vector([1.0, 0.0])
    assert texts(documents.similarity_search("fox")) == ["red fox"]


def test_the_stores_own_model_serves_too(store: MemoryStore) -> None:
    """Without an embedding the store's embedder is used, and shown as one of LangChain's."""
    documents = IndelibleVectorStore(store)
    (id,) = documents.add_texts(["red fox"])
    record = documents.collection.get(id, with_vectors=True)
    assert record is not None
    assert record.vectors is not None
    assert documents.embeddings.embed_query("red fox") == pytest.approx(record.vectors[""])
    assert texts(documents.similarity_search("fox")) == ["red fox"]


# Making one, sharing one


async def test_from_texts_and_documents(embeddings: WordEmbeddings, tmp_path: Path) -> None:
    """With and without ids, in a store, a file or nowhere, sync and async."""
    made = IndelibleVectorStore.from_texts(["red fox"], embeddings, [{"n": 1}], ids=["1"])
    assert made.similarity_search("fox") == [Document(id="1", page_content="red fox", metadata={"n": 1})]
    also = await IndelibleVectorStore.afrom_documents([Document(id="2", page_content="red fox"), Document(page_content="owl")], embeddings)
    assert texts(also.get_by_ids(["2"])) == ["red fox"]
    kept = IndelibleVectorStore.from_texts(["red fox"], embeddings, path=tmp_path / "kept.db", namespace=("animals", "wild"))
    for opened in (made, also, kept):
        opened.store.close()
    with open_store(tmp_path / "kept.db") as store:
        assert texts(IndelibleVectorStore(store, embeddings, namespace=["animals", "wild"]).similarity_search("fox")) == ["red fox"]
        assert IndelibleVectorStore(store, embeddings).similarity_search("fox") == []


def test_what_is_no_document_is_refused(documents: IndelibleVectorStore, store: MemoryStore) -> None:
    """By what it is, before anything is written."""
    with pytest.raises(InvalidInput, match="got str: texts are added by add_texts"):
        documents.add_documents([Document(page_content="a"), "b"])  # type: ignore[list-item]  # the mistake itself
    assert store.version == 0


def test_a_store_or_a_path(embeddings: WordEmbeddings, store: MemoryStore, tmp_path: Path) -> None:
    """Of two places one would be ignored."""
    with pytest.raises(InvalidInput, match="not both"):
        IndelibleVectorStore.from_texts(["a"], embeddings, store=store, path=tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_one_label_is_not_its_letters(store: MemoryStore) -> None:
    """A namespace may be given as text, here and in every class that takes one; what is neither is refused."""
    IndelibleVectorStore(store, namespace="notes").add_texts(["a"], ids=["1"])
    IndelibleChatMessageHistory(store, "s", namespace="talks").add_user_message("hi")
    IndelibleByteStore(store, namespace="files").mset([("k", b"x")])
    with IndelibleStore(store, namespace="items") as items:
        items.put(("users",), "k", {"x": 1})
    assert store.collection().namespaces() == [("items", "users"), ("notes",), ("talks", "s")]
    assert store.collection("files", cache=True).get("k") == b"x"
    makers: list[Any] = [IndelibleVectorStore, IndelibleByteStore, IndelibleStore, lambda store, namespace: history_in(store, namespace)]
    for make in makers:
        with pytest.raises(InvalidInput, match="label"):
            make(store, namespace=5)


def history_in(store: MemoryStore, namespace: Any) -> IndelibleChatMessageHistory:
    return IndelibleChatMessageHistory(store, "s", namespace=namespace)


def test_scopes_and_namespaces_are_apart(store: MemoryStore, embeddings: WordEmbeddings) -> None:
    """One id in two scopes is two documents; a namespace below is not this one."""
    ada, bob = (IndelibleVectorStore(store, embeddings, user_id=user) for user in ("ada", "bob"))
    below = IndelibleVectorStore(store, embeddings, namespace=("documents", "deep"), user_id="ada")
    ada.add_texts(["red fox"], ids=["1"])
    bob.add_texts(["red whale"], ids=["1"])
    below.add_texts(["red owl"], ids=["1"])
    assert texts(ada.similarity_search("red")) == ["red fox"]
    bob.delete()
    assert texts(ada.get_by_ids(["1"])) == ["red fox"]
    ada.delete()
    assert texts(below.similarity_search("red")) == ["red owl"]


def test_calls_from_many_threads(documents: IndelibleVectorStore) -> None:
    """As the async methods and a parallel chain make them."""

    def work(worker: int) -> int:
        documents.add_texts([f"text {worker} {number}" for number in range(5)])
        return len(documents.similarity_search(f"text {worker}", k=3))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [3] * 16
    assert len(documents.collection.list()) == 80


async def test_async_twins_answer_the_same(documents: IndelibleVectorStore) -> None:
    """Many at once, on one loop."""
    ids = await documents.aadd_texts(text for text in ("red fox", "blue whale"))
    assert texts(await documents.aget_by_ids(ids)) == ["red fox", "blue whale"]
    found = await asyncio.gather(*(documents.asimilarity_search_with_score("red fox", k=1) for _ in range(8)))
    assert found == [documents.similarity_search_with_score("red fox", k=1)] * 8
    assert await documents.adelete(ids) is True
    assert await documents.aget_by_ids(ids) == []


def test_many_documents_and_ids_at_once(few_variables: int, embeddings: WordEmbeddings) -> None:
    """No limit of the engine on bound values shows."""
    ids = [f"id {number}" for number in range(10 * few_variables)]
    with open_store() as store:
        documents = IndelibleVectorStore(store, embeddings)
        documents.add_texts([f"text {number}" for number in range(len(ids))], ids=ids)
        assert len(documents.get_by_ids(ids * 3)) == len(ids)
        assert len(documents.similarity_search("text", k=2 * len(ids))) == len(ids)
        documents.delete(ids)
        assert documents.collection.list() == []


@pytest.mark.parametrize("text", ["", " ", "日本語のテキスト", "🦊" * 10, "a\nb\tc", "'; DROP TABLE event; --", "x" * 5000])
def test_any_text_comes_back(documents: IndelibleVectorStore, text: str) -> None:
    """Also one that nothing can be found by."""
    documents.add_texts([text], ids=[text[:100]])
    assert documents.get_by_ids([text[:100]]) == [Document(id=text[:100], page_content=text)]


# Parity with the core


def test_what_the_vector_store_writes_the_core_reads(
    documents: IndelibleVectorStore, store: MemoryStore, embeddings: WordEmbeddings
) -> None:
    """The same namespace, key, content and metadata, found with the same score."""
    documents.add_documents([Document(id="1", page_content="red fox", metadata={"n": 1})], source="import")
    collection = store.collection("documents", model=CallableEmbedder(embeddings))
    record = collection.get("1")
    assert record is not None
    assert (record.key, record.content, record.metadata, record.source) == ("1", "red fox", {"n": 1}, "import")
    assert [(hit.id, hit.score) for hit in collection.search("fox")] == [(record.id, documents.similarity_search_with_score("fox")[0][1])]


def test_what_the_core_writes_the_vector_store_reads(
    documents: IndelibleVectorStore, store: MemoryStore, embeddings: WordEmbeddings
) -> None:
    """And follows what the core does to it."""
    collection = store.collection("documents", model=CallableEmbedder(embeddings))
    collection.put("1", "red fox", metadata={"n": 1})
    assert documents.similarity_search("fox") == [Document(id="1", page_content="red fox", metadata={"n": 1})]
    collection.delete("1")
    assert documents.similarity_search("fox") == []
    collection.undo("1")
    assert texts(documents.get_by_ids(["1"])) == ["red fox"]
    collection.purge("1")
    assert documents.get_by_ids(["1"]) == []
