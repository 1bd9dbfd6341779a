"""Everything of LlamaIndex in one file: restart, refresh, pipelines that fail at any point, and the retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import SummaryIndex, VectorStoreIndex, load_index_from_storage
from llama_index.core.ingestion import DocstoreStrategy
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, Document, ImageNode, IndexNode, QueryBundle, TextNode, TransformComponent
from llama_index.core.vector_stores.types import FilterCondition, MetadataFilter, MetadataFilters

from indelible import InvalidInput, MemoryStore
from indelible.testing import HashEmbedder
from llama_index_indelible import IndelibleRetriever, IndelibleStorageContext, IndelibleVectorStore, storage_context
from tests.interop.llamaindex.samples import WordEmbedding, asked, node, vector_of

MODEL = WordEmbedding()


class Trouble(TransformComponent):
    """Fails while told to."""

    on: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        if self.on:
            raise RuntimeError("trouble")
        return nodes


def documents(**texts: str) -> list[Document]:
    return [Document(id_=name, text=text, metadata={"name": name}) for name, text in texts.items()]


def contents(context: IndelibleStorageContext) -> list[str]:
    """What can be found, sorted."""
    nodes = context.vector_store
    assert isinstance(nodes, IndelibleVectorStore)
    return sorted(found.get_content() for found in nodes.get_nodes())


# Indexes


def test_an_index_is_there_after_a_restart(file: str) -> None:
    """Nothing is persisted by hand; refreshing knows what has not changed. Elsewhere it inserts everything again."""
    first = storage_context(file)
    VectorStoreIndex.from_documents(documents(a="red fox", b="blue whale"), storage_context=first, embed_model=MODEL)
    first.vector_store.client.close()
    again = storage_context(file)
    index = load_index_from_storage(again, embed_model=MODEL)
    assert isinstance(index, VectorStoreIndex)
    (found, *_) = index.as_retriever(similarity_top_k=2).retrieve("fox")
    assert (found.get_content(), found.node.ref_doc_id) == ("red fox", "a")
    assert index.refresh_ref_docs(documents(a="red fox", b="blue whale")) == [False, False]
    assert index.refresh_ref_docs(documents(a="red fox", b="grey whale", c="frog")) == [False, True, True]
    assert contents(again) == ["frog", "grey whale", "red fox"]
    index.delete_ref_doc("a", delete_from_docstore=True)
    assert contents(again) == ["frog", "grey whale"]
    assert index.refresh_ref_docs(documents(a="red fox")) == [True]


def test_an_index_that_keeps_its_nodes_knows_its_documents(file: str) -> None:
    """With ``store_nodes_override`` the document store answers what a store of text alone cannot, also after a restart."""
    first = storage_context(file)
    docs = documents(a="red fox", b="blue whale")
    VectorStoreIndex.from_documents(docs, storage_context=first, embed_model=MODEL, store_nodes_override=True)
    index = load_index_from_storage(storage_context(file), embed_model=MODEL, store_nodes_override=True)
    assert {name: len(info.node_ids) for name, info in index.ref_doc_info.items()} == {"a": 1, "b": 1}
    index.delete_ref_doc("a", delete_from_docstore=True)
    assert set(index.ref_doc_info) == {"b"}
    assert [found.get_content() for found in index.as_retriever(similarity_top_k=5).retrieve("fox")] == ["blue whale"]


def test_an_index_that_was_not_finished_is_finished(file: str) -> None:
    """The hashes are written before anything is embedded; elsewhere that makes the next run skip it all."""
    with pytest.raises(RuntimeError, match="trouble"):
        VectorStoreIndex.from_documents(
            documents(a="red fox"), storage_context=storage_context(file), embed_model=MODEL, transformations=[Trouble(on=True)]
        )
    again = storage_context(file)
    index = VectorStoreIndex(nodes=[], storage_context=again, embed_model=MODEL)
    assert index.refresh_ref_docs(documents(a="red fox")) == [True]
    assert index.refresh_ref_docs(documents(a="red fox")) == [False]
    assert contents(again) == ["red fox"]


def test_other_indexes_and_nodes_of_other_kinds(file: str) -> None:
    """A summary index lives beside; a mix of text and index nodes is found whole, through an index that does not restrict by id."""
    context = storage_context(file)
    SummaryIndex.from_documents(documents(a="red fox"), storage_context=context).set_index_id("summary")
    mixed = VectorStoreIndex(
        nodes=[TextNode(id_="t", text="red fox"), IndexNode(id_="i", text="red fox too", index_id="other")],
        storage_context=context,
        embed_model=MODEL,
    )
    mixed.set_index_id("mixed")
    again = storage_context(file)
    summary = load_index_from_storage(again, index_id="summary")
    assert [found.get_content() for found in summary.as_retriever().retrieve("x")] == ["red fox"]
    retriever = IndelibleRetriever(again.vector_store, MODEL)  # type: ignore[arg-type]  # typed as any vector store
    assert {found.node_id for found in retriever.retrieve("red fox")} == {"t", "i"}


def test_nodes_of_other_kinds_have_a_past(file: str) -> None:
    """An index's own retriever takes them from its document store, as they are now, or were before they were deleted; ours does not."""
    context = storage_context(file)
    index = VectorStoreIndex([IndexNode(id_="i", text="red fox", index_id="other")], storage_context=context, embed_model=MODEL)
    nodes = context.vector_store
    assert isinstance(nodes, IndelibleVectorStore)
    version = nodes.client.version
    index.insert_nodes([IndexNode(id_="i", text="grey fox", index_id="other")])
    for _ in range(2):
        past = IndelibleRetriever(nodes, MODEL, as_of=version).retrieve("fox")
        assert [(type(hit.node), hit.get_content()) for hit in past] == [(IndexNode, "red fox")]
        index.delete_nodes(["i"])
    assert IndelibleRetriever(nodes, MODEL).retrieve("fox") == []


def test_images_are_on_disk_too(file: str) -> None:
    """LlamaIndex keeps them in a vector store of their own, by default in memory."""
    image = ImageNode(id_="1", image="aGk=", embedding=[1.0, 2.0])
    storage_context(file).vector_stores["image"].add([image])
    images = storage_context(file).vector_stores["image"]
    assert [found.node_id for found in images.get_nodes()] == ["1"]


def test_contexts_of_two_users_are_apart(file: str) -> None:
    """Nodes, hashes and indexes: what one has read, the other has not."""
    ada, bob = storage_context(file, user_id="ada"), storage_context(file, user_id="bob")
    VectorStoreIndex.from_documents(documents(a="red fox"), storage_context=ada, embed_model=MODEL)
    index = VectorStoreIndex(nodes=[], storage_context=bob, embed_model=MODEL)
    assert contents(bob) == []
    assert index.refresh_ref_docs(documents(a="red fox")) == [True]
    assert contents(bob) == contents(ada) == ["red fox"]


# Pipelines


def run(context: IndelibleStorageContext, docs: list[Document], strategy: str = "upserts", asynchronous: bool = False, **how: Any) -> None:
    trouble = Trouble(on=how.pop("fail", False))
    steps: list[TransformComponent] = [SentenceSplitter(chunk_size=64, chunk_overlap=0), trouble, MODEL]
    parts = {"docstore": context.docstore, "vector_store": context.vector_store} if how.pop("of_llama_index", False) else {}
    options = {"docstore_strategy": DocstoreStrategy(strategy), "disable_cache": how.pop("disable_cache", False), **parts}
    pipeline = context.pipeline(steps, **options)
    if asynchronous:
        asyncio.run(pipeline.arun(documents=docs, **how))
    else:
        pipeline.run(documents=docs, **how)


ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "arun"])
strategies = pytest.mark.parametrize("strategy", ["upserts", "duplicates_only", "upserts_and_delete"])


@ways
@strategies
@pytest.mark.parametrize("store_doc_text", [True, False])
def test_a_second_run_does_nothing(file: str, strategy: str, asynchronous: bool, store_doc_text: bool) -> None:
    """Also after a restart: nothing lost, nothing doubled, not even a new version of a node."""
    docs = documents(a="red fox", b="blue whale", twin="red fox")
    for _ in range(2):
        context = storage_context(file)
        run(context, docs, strategy, asynchronous, store_doc_text=store_doc_text)
        assert contents(context) == ["blue whale", "red fox", "red fox"]
    nodes = context.vector_store
    assert isinstance(nodes, IndelibleVectorStore)
    assert {len(nodes.collection.history(found.node_id)) for found in nodes.get_nodes()} == {1}


@ways
@strategies
def test_a_run_that_failed_is_done_by_the_next(file: str, strategy: str, asynchronous: bool) -> None:
    """Elsewhere hashes noted too early make the next run skip what was never written."""
    with pytest.raises(RuntimeError, match="trouble"):
        run(storage_context(file), documents(a="red fox"), strategy, asynchronous, fail=True)
    run(storage_context(file), documents(a="red fox"), strategy, asynchronous)
    assert contents(storage_context(file)) == ["red fox"]


@strategies
def test_a_run_without_a_model_is_done_by_one_with_it(file: str, strategy: str) -> None:
    """LlamaIndex stores no node that has no vector, and says nothing: what it noted does not count as done."""
    storage_context(file).pipeline([SentenceSplitter()], docstore_strategy=DocstoreStrategy(strategy)).run(documents=documents(a="red fox"))
    assert contents(storage_context(file)) == []
    run(storage_context(file), documents(a="red fox"), strategy)
    assert contents(storage_context(file)) == ["red fox"]


@ways
@pytest.mark.parametrize("strategy", ["upserts", "upserts_and_delete"])
@pytest.mark.parametrize("text", ["red fox", "grey fox"], ids=["as it was", "changed"])
def test_a_change_that_failed_is_done_by_the_next(file: str, strategy: str, asynchronous: bool, text: str) -> None:
    """The pipeline deletes before it makes anew. Whatever the text is by then, it is there after the next run, and the past has the old."""
    run(storage_context(file), documents(a="red fox"), strategy, asynchronous)
    context = storage_context(file)
    version = context.vector_store.client.version
    with pytest.raises(RuntimeError, match="trouble"):
        run(context, documents(a="grey fox"), strategy, asynchronous, fail=True)
    assert contents(context) == []
    assert asked(context.vector_store, "fox", options={"as_of": version}) != []  # type: ignore[arg-type]  # typed as any vector store
    run(storage_context(file), documents(a=text), strategy, asynchronous)
    assert contents(storage_context(file)) == [text]


@ways
@pytest.mark.parametrize("disable_cache", [False, True])
def test_a_run_that_died_between_two_writes(file: str, asynchronous: bool, disable_cache: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the nodes, before their hashes, as only LlamaIndex's own pipeline can: the next run replaces them."""

    def die(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    context = storage_context(file)
    how: dict[str, Any] = {"asynchronous": asynchronous, "disable_cache": disable_cache, "of_llama_index": True}
    with monkeypatch.context() as patch:
        patch.setattr(context.docstore, "set_document_hashes", die)
        patch.setattr(context.docstore, "aset_document_hashes", die)
        with pytest.raises(KeyboardInterrupt):
            run(context, documents(a="red fox"), **how)
    assert contents(context) == ["red fox"]
    for _ in range(2):
        run(storage_context(file), documents(a="red fox"), **how)
        assert contents(storage_context(file)) == ["red fox"]


@ways
def test_what_is_gone_from_the_source_is_deleted(file: str, asynchronous: bool) -> None:
    """Also one of two that say the same, whose hash is the same."""
    run(storage_context(file), documents(a="red fox", b="red fox", c="frog"), "upserts_and_delete", asynchronous)
    run(storage_context(file), documents(a="red fox"), "upserts_and_delete", asynchronous)
    context = storage_context(file)
    assert contents(context) == ["red fox"]
    assert list(context.docstore.docs) == ["a"]


def test_parts_of_one_document_may_come_one_by_one(file: str) -> None:
    """A run with one node of a document leaves those of an earlier run."""
    for name in ("1", "2"):
        pipeline = storage_context(file).pipeline([MODEL])
        pipeline.run(nodes=[node(name, f"part {name}", of="doc").model_copy(update={"embedding": None})])
    assert contents(storage_context(file)) == ["part 1", "part 2"]


def test_the_cache_is_used_after_a_restart(file: str) -> None:
    """The same text is not made twice, whoever asks; workers get it by its path."""
    first = storage_context(file)
    run(first, documents(a="red fox"))
    ids = [found.node_id for found in first.vector_store.get_nodes()]
    first.vector_store.clear()
    again = storage_context(file)
    run(again, documents(a="red fox"))
    assert [found.node_id for found in again.vector_store.get_nodes()] == ids
    assert again.ingestion_cache.cache.get_all("llama_cache")


# The retriever


@pytest.fixture
def animals(nodes: IndelibleVectorStore) -> IndelibleVectorStore:
    nodes.add([node("fox", "red fox", of="x", n=1), node("whale", "blue whale", of="y", n=2), node("dog", "lazy dog", of="x", n=2)])
    return nodes


async def found(retriever: IndelibleRetriever, query: str | QueryBundle) -> list[str]:
    """Ids, the same by both ways."""
    plain = [hit.node_id for hit in retriever.retrieve(query)]
    assert [hit.node_id for hit in await retriever.aretrieve(query)] == plain
    return plain


@pytest.mark.parametrize("mode", ["hybrid", "default", "text_search", "sparse", "mmr"])
async def test_the_retriever_in_every_mode(animals: IndelibleVectorStore, mode: str) -> None:
    """With every condition, now and in the past."""
    version = animals.client.version
    animals.add([node("fox2", "red fox again")])
    assert (await found(IndelibleRetriever(animals, MODEL, mode=mode), "whale"))[0] == "whale"
    assert "fox2" not in await found(IndelibleRetriever(animals, MODEL, mode=mode, as_of=version), "red fox")
    n = MetadataFilters(filters=[MetadataFilter(key="n", value=2)])
    assert "fox" not in await found(IndelibleRetriever(animals, MODEL, mode=mode, filters=n), "red fox")
    assert set(await found(IndelibleRetriever(animals, MODEL, mode=mode, doc_ids=["y"]), "fox whale")) == {"whale"}
    assert set(await found(IndelibleRetriever(animals, MODEL, mode=mode, node_ids=["dog"]), "lazy dog")) == {"dog"}
    assert len(await found(IndelibleRetriever(animals, MODEL, mode=mode, similarity_top_k=1), "fox")) == 1


async def test_a_given_embedding_is_used_and_the_query_left_alone(animals: IndelibleVectorStore) -> None:
    """No model is called for it."""

    class Unwanted(WordEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            raise AssertionError

        _aget_query_embedding = _get_query_embedding  # type: ignore[assignment]  # never reached

    bundle = QueryBundle("whatever", embedding=vector_of("blue whale"))
    assert (await found(IndelibleRetriever(animals, Unwanted(), mode="default"), bundle))[0] == "whale"
    assert await found(IndelibleRetriever(animals, Unwanted(), mode="text_search"), QueryBundle("dog")) == ["dog"]
    plain = QueryBundle("whale")
    await found(IndelibleRetriever(animals, MODEL), plain)
    assert plain.embedding is None


async def test_the_retriever_stays_in_its_scope(file: str) -> None:
    """A narrower one than the vector store's, never another."""
    everybody = IndelibleVectorStore(file)
    for user in ("ada", "bob"):
        everybody.within(user_id=user).add([node(user, f"a fox of {user}")])
    assert await found(IndelibleRetriever(everybody, MODEL, user_id="ada"), "fox") == ["ada"]
    assert await found(IndelibleRetriever(everybody, MODEL), "fox") == []
    with pytest.raises(InvalidInput, match="bound"):
        IndelibleRetriever(everybody.within(user_id="ada"), MODEL, user_id="bob")


async def test_the_retriever_over_facts() -> None:
    """What a memory was told, of one user, now or before."""
    store = MemoryStore(":memory:", embedder=HashEmbedder())
    tea = store.remember("Ada likes green tea", user_id="ada", metadata={"kind": "drink"})
    version = store.version
    store.remember("Bob likes black tea", user_id="bob")
    store.edit(tea.id, content="Ada likes coffee")
    assert await found(IndelibleRetriever(store, user_id="ada"), "likes tea") == [tea.id]
    assert await found(IndelibleRetriever(store, mode="text_search", user_id="ada"), "tea") == []
    assert await found(IndelibleRetriever(store, mode="text_search", as_of=version), "tea") == [tea.id]
    drinks = MetadataFilters(filters=[MetadataFilter(key="kind", value="drink")], condition=FilterCondition.NOT)
    for mode in ("hybrid", "default", "mmr"):
        assert tea.id not in await found(IndelibleRetriever(store, mode=mode, filters=drinks), "tea")
    (hit,) = IndelibleRetriever(store.scope(user_id="ada"), mode="default").retrieve("coffee")
    assert (hit.get_content(), hit.node.metadata) == ("Ada likes coffee", {"kind": "drink"})
    with pytest.raises(InvalidInput, match="about nodes"):
        IndelibleRetriever(store, doc_ids=["x"])


async def test_two_users_facts_of_one_key_are_two_nodes() -> None:
    """LlamaIndex drops what has an id that it has seen, and a key is unique only within its scope: the id is the fact's."""
    store = MemoryStore(":memory:", embedder=HashEmbedder())
    facts = [store.remember(f"{user} drinks tea", key="drink", user_id=user) for user in ("ada", "bob")]
    for mode in ("hybrid", "default", "text_search", "mmr"):
        assert set(await found(IndelibleRetriever(store, mode=mode), "tea")) == {fact.id for fact in facts}


def test_the_retriever_refuses_what_it_does_not_know(animals: IndelibleVectorStore) -> None:
    """A misspelt condition is no condition; elsewhere it is swallowed."""
    with pytest.raises(TypeError, match="filter"):
        IndelibleRetriever(animals, MODEL, filter={"n": 1})  # type: ignore[call-arg]  # the typing error itself
    with pytest.raises(InvalidInput, match="mode must be one of"):
        IndelibleRetriever(animals, MODEL, mode="semantic_hybrid")
    with pytest.raises(InvalidInput, match="needs an IndelibleVectorStore"):
        IndelibleRetriever(object())  # type: ignore[arg-type]  # the mistake itself


def test_a_context_leaves_no_files_beside_it(file: str, tmp_path: Path) -> None:
    """One file, and what SQLite puts beside it."""
    VectorStoreIndex.from_documents(documents(a="red fox"), storage_context=storage_context(file), embed_model=MODEL)
    assert {path.name.split(".db")[0] for path in tmp_path.iterdir() if path.name != "home"} == {"memory"}
