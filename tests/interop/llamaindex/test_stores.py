"""Key/value, document and index stores: atomic, the same for coroutines, and no id that outlives its node."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.data_structs.data_structs import IndexDict, IndexList
from llama_index.core.ingestion import IngestionCache
from llama_index.core.schema import Document, ImageDocument, IndexNode, ObjectType, TextNode
from llama_index.core.storage.docstore.keyval_docstore import KVDocumentStore

from indelible import InvalidInput, UnsupportedOperation
from llama_index_indelible import IndelibleDocumentStore, IndelibleIndexStore, IndelibleKVStore, IndelibleVectorStore
from tests.interop.llamaindex.samples import node

Verb = Callable[..., Awaitable[Any]]
NAMES = {"add_documents": "async_add_documents", "add_index_struct": "async_add_index_struct", "index_structs": "async_index_structs"}


@pytest.fixture(params=["plain", "coroutine"])
def call(request: pytest.FixtureRequest) -> Verb:
    """Calls a verb, or its coroutine: ``await call(store, "put", ...)``."""

    async def plain(store: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(store, name)(*args, **kwargs)

    async def coroutine(store: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return await getattr(store, NAMES.get(name, f"a{name}"))(*args, **kwargs)

    return plain if request.param == "plain" else coroutine


@pytest.fixture(params=[False, True], ids=["kept", "cache"])
def values(request: pytest.FixtureRequest) -> IndelibleKVStore:
    return IndelibleKVStore(":memory:", cache=request.param)


# Key/value


async def test_values_by_key(values: IndelibleKVStore, call: Verb) -> None:
    """Set, read, list, remove; a key that is not there is ``None``, or ``False``; collections are apart."""
    assert await call(values, "get", "k") is None
    assert await call(values, "get_all") == {}
    assert await call(values, "delete", "k") is False
    await call(values, "put", "k", {"a": 1})
    await call(values, "put", "k", {"a": 2})
    await call(values, "put", "k", {"b": 1}, "other")
    assert await call(values, "get", "k") == {"a": 2}
    assert await call(values, "get_all", collection="other") == {"k": {"b": 1}}
    assert await call(values, "delete", "k") is True
    assert await call(values, "get", "k") is None
    assert await call(values, "get", "k", "other") == {"b": 1}


@pytest.mark.parametrize("batch_size", [1, 2, 1000])
async def test_many_at_once_are_all_or_none(values: IndelibleKVStore, call: Verb, batch_size: int) -> None:
    """Whatever the batch size; and removed at once."""
    await call(values, "put_all", [(str(number), {"n": number}) for number in range(5)], batch_size=batch_size)
    bad: list[tuple[str, Any]] = [("x", {"n": 1}), ("y", {"n": object()})]
    with pytest.raises(InvalidInput):
        await call(values, "put_all", bad, batch_size=batch_size)
    with pytest.raises(InvalidInput, match="must be a dict"):
        await call(values, "put", "x", [1])
    assert await call(values, "get_all") == {str(number): {"n": number} for number in range(5)}
    await call(values, "delete_all", ["0", "1", "gone"])
    assert list(await call(values, "get_all")) == ["2", "3", "4"]


def test_values_are_json(values: IndelibleKVStore) -> None:
    """Enums of text and tuples, which LlamaIndex writes, become what JSON makes of them; what contains itself is refused."""
    values.put("k", {"type": ObjectType.TEXT, "pair": (1, (2,)), ObjectType.INDEX: None})
    assert repr(values.get("k")) == repr({"3": None, "pair": [1, [2]], "type": "1"})
    loop: dict[str, Any] = {}
    loop["self"] = loop
    bad_ones: list[Any] = [loop, {"x": float("nan")}, {1: "key"}, {"x": b"bytes"}]
    for bad in bad_ones:
        with pytest.raises(InvalidInput):
            values.put("k", bad)


def test_what_is_read_is_a_copy(values: IndelibleKVStore) -> None:
    """Nor does changing what was given change what is kept."""
    original: dict[str, Any] = {"list": [1]}
    values.put("k", original)
    original["list"].append(2)
    found = values.get("k")
    assert found is not None
    found["list"].append(3)
    assert values.get("k") == {"list": [1]}


def test_an_empty_store_is_not_false(values: IndelibleKVStore) -> None:
    """LlamaIndex asks for truth where it means presence."""
    assert bool(values)
    assert not hasattr(values, "__len__")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(TEXT, st.dictionaries(TEXT, JSON, max_size=3), max_size=5), st.booleans())
def test_any_keys_and_values(wanted: dict[str, dict[str, Any]], cache: bool) -> None:
    """They come back exactly."""
    values = IndelibleKVStore(":memory:", cache=cache)
    values.put_all(list(wanted.items()))
    assert values.get_all() == wanted
    for key, value in wanted.items():
        assert values.get(key) == value
    values.store.close()


def test_versions_are_kept_unless_it_is_a_cache(file: str) -> None:
    """The core shows what a key was."""
    values = IndelibleKVStore(file)
    values.put("k", {"n": 1})
    values.put("k", {"n": 2})
    assert values.collection().get("k", as_of=1).value == {"n": 1}
    with pytest.raises(UnsupportedOperation):
        IndelibleKVStore(file, cache=True).collection().history("k")


def test_scopes_and_namespaces_are_apart(file: str) -> None:
    """Also in a cache."""
    for cache in (False, True):
        stores = [
            IndelibleKVStore(file, cache=cache),
            IndelibleKVStore(file, cache=cache, user_id="ada"),
            IndelibleKVStore(file, cache=cache, agent_id="ada"),
            IndelibleKVStore(file, cache=cache, namespace=("kv", "below")),
        ]
        for number, values in enumerate(stores):
            values.put("k", {"n": number})
        assert [values.get("k") for values in stores] == [{"n": number} for number in range(4)]


def test_stores_pickle_by_their_path(file: str) -> None:
    """As LlamaIndex does to caches of worker processes."""
    nodes = IndelibleVectorStore(file, user_id="ada")
    values = IndelibleKVStore(file, namespace=("x", "y"), cache=True, user_id="ada")
    documents = IndelibleDocumentStore(file, user_id="ada", vector_store=nodes)
    indexes = IndelibleIndexStore(file)
    values.put("k", {"n": 1})
    documents.add_documents([TextNode(id_="1", text="a")])
    indexes.add_index_struct(IndexDict(index_id="i"))
    ways: list[Callable[[Any], Any]] = [lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy, copy.deepcopy]
    for again in ways:
        assert again(values).get("k") == {"n": 1}
        assert again(IngestionCache(cache=values)).cache.get("k") == {"n": 1}
        assert list(again(documents).docs) == ["1"]
        assert again(documents).vector_store.user_id == "ada"
        assert [struct.index_id for struct in again(indexes).index_structs()] == ["i"]
    with pytest.raises(UnsupportedOperation):
        pickle.dumps(IndelibleKVStore(":memory:"))


def test_llama_index_builds_on_it() -> None:
    """Its own document store and ingestion cache."""
    values = IndelibleKVStore(":memory:")
    documents = KVDocumentStore(values, batch_size=7)
    documents.add_documents([node("1", "a", of="doc"), node("2", "b", of="doc")])
    info = documents.get_ref_doc_info("doc")
    assert info is not None
    assert sorted(info.node_ids) == ["1", "2"]
    cache = IngestionCache(cache=values)
    cache.put("key", [TextNode(id_="1", text="a")])
    found = cache.get("key")
    assert found is not None
    assert [item.node_id for item in found] == ["1"]
    cache.clear()
    assert cache.get("key") is None


# Documents


@pytest.fixture
def documents() -> IndelibleDocumentStore:
    return IndelibleDocumentStore(":memory:")


DOCS = [
    Document(id_="doc", text="whole " * 10, metadata={"z": 1, "a": [1, {"deep": None}]}),
    ImageDocument(id_="image", image=b"aGk=", text="seen"),
    IndexNode(id_="index", text="i", index_id="other", obj=TextNode(id_="inner", text="inner")),
    node("1", "a", of="doc", n=1).model_copy(update={"embedding": None}),
    node("2", "b", of="doc", n=2).model_copy(update={"embedding": None}),
]


async def test_documents_come_back_as_they_were(documents: IndelibleDocumentStore, call: Verb) -> None:
    """Of every class, with the order of their metadata, and so with their hash."""
    await call(documents, "add_documents", DOCS)
    for original in DOCS:
        found = await call(documents, "get_document", original.node_id)
        assert type(found) is type(original)
        assert found.model_dump() == original.model_dump()
        assert found.hash == original.hash == await call(documents, "get_document_hash", original.node_id)
        assert await call(documents, "document_exists", original.node_id)
    assert list(documents.docs) == [original.node_id for original in DOCS]
    image = documents.get_document("image")
    assert isinstance(image, ImageDocument)
    assert image.image_resource is not None
    assert image.image_resource.data == b"aGk="


async def test_what_is_not_there(documents: IndelibleDocumentStore, call: Verb) -> None:
    """``None`` or an error, as was asked for."""
    assert await call(documents, "get_document", "gone", raise_error=False) is None
    assert not await call(documents, "document_exists", "gone")
    assert await call(documents, "get_document_hash", "gone") is None
    assert await call(documents, "get_ref_doc_info", "gone") is None
    assert await call(documents, "get_all_ref_doc_info") == {}
    assert await call(documents, "get_all_document_hashes") == {}
    await call(documents, "delete_document", "gone", raise_error=False)
    await call(documents, "delete_ref_doc", "gone", raise_error=False)
    for name in ("get_document", "delete_document", "delete_ref_doc"):
        with pytest.raises(ValueError, match="gone"):
            await call(documents, name, "gone")
    assert documents.store.version == 0


async def test_an_update_that_is_not_allowed_writes_nothing(documents: IndelibleDocumentStore, call: Verb) -> None:
    """Not even the others of the batch."""
    await call(documents, "add_documents", [TextNode(id_="1", text="old")])
    with pytest.raises(ValueError, match=r"'1' already exists.*allow_update"):
        await call(documents, "add_documents", [TextNode(id_="0", text="a"), TextNode(id_="1", text="new")], allow_update=False)
    assert [found.get_content() for found in documents.docs.values()] == ["old"]
    await call(documents, "add_documents", [TextNode(id_="1", text="new")])
    assert [found.get_content() for found in documents.docs.values()] == ["new"]
    assert len(documents.collection.history("1")) == 2


async def test_no_id_outlives_its_node(documents: IndelibleDocumentStore, call: Verb) -> None:
    """Elsewhere the coroutine leaves a deleted node in its document's list."""
    await call(documents, "add_documents", DOCS)
    info = await call(documents, "get_ref_doc_info", "doc")
    assert (info.node_ids, info.metadata) == (["1", "2"], {"n": 1})
    await call(documents, "delete_document", "1")
    assert (await call(documents, "get_ref_doc_info", "doc")).node_ids == ["2"]
    assert await call(documents, "get_document_hash", "1") is None
    await call(documents, "delete_document", "2")
    assert await call(documents, "get_ref_doc_info", "doc") is None
    assert await call(documents, "get_document_hash", "doc") is None
    assert list(documents.docs) == ["image", "index"]


async def test_a_document_goes_with_all_its_nodes(documents: IndelibleDocumentStore, call: Verb) -> None:
    """In one transaction, their hashes too; what is left of others stays."""
    await call(documents, "add_documents", [*DOCS, node("3", of="other")])
    before = documents.store.version
    await call(documents, "delete_ref_doc", "doc")
    assert list(documents.docs) == ["image", "index", "3"]
    assert set((await call(documents, "get_all_document_hashes")).values()) == {"image", "index", "3"}
    assert set(await call(documents, "get_all_ref_doc_info")) == {"other"}
    past = documents.collection.at(before)
    assert past.get("1") is not None


async def test_hashes(documents: IndelibleDocumentStore, call: Verb) -> None:
    """Noted one by one or together; documents of one hash are all there; a node keeps its document when its hash is noted again."""
    await call(documents, "set_document_hash", "a", "h1")
    await call(documents, "set_document_hashes", {"b": "h2", "c": "h1"})
    found = await call(documents, "get_all_document_hashes")
    assert found["h1"] == "a"
    assert found["h2"] == "b"
    assert sorted(found.values()) == ["a", "b", "c"]
    await call(documents, "add_documents", [node("1", "a", of="doc")], store_text=False)
    await call(documents, "set_document_hash", "1", "h3")
    assert await call(documents, "get_document_hash", "1") == "h3"
    assert not await call(documents, "document_exists", "1")
    assert (await call(documents, "get_ref_doc_info", "doc")).node_ids == ["1"]
    await call(documents, "delete_document", "1")


async def test_a_large_document_is_kept(documents: IndelibleDocumentStore) -> None:
    """Larger than one memory may be."""
    text = "word " * 500_000
    documents.add_documents([Document(id_="large", text=text)])
    found = await documents.aget_document("large")
    assert found is not None
    assert found.get_content() == text


@given(st.lists(st.tuples(st.sampled_from(["add", "delete", "delete_ref"]), st.sampled_from("1234"), st.sampled_from("xy")), max_size=12))
def test_lists_of_nodes_are_those_of_a_dict(steps: list[tuple[str, str, str]]) -> None:
    """After any steps, plain and coroutine in turn, a document has the nodes that name it and no others."""
    documents, model = IndelibleDocumentStore(":memory:"), dict[str, str]()

    async def run() -> None:
        for number, (verb, key, source) in enumerate(steps):
            plain = number % 2 == 0
            if verb == "add":
                made = [node(key, of=source)]
                documents.add_documents(made) if plain else await documents.async_add_documents(made)
                model[key] = source
            elif verb == "delete":
                documents.delete_document(key, False) if plain else await documents.adelete_document(key, False)
                model.pop(key, None)
            else:
                documents.delete_ref_doc(source, False) if plain else await documents.adelete_ref_doc(source, False)
                for name in [name for name, other in model.items() if other == source]:
                    del model[name]
            infos = documents.get_all_ref_doc_info()
            assert {source: set(info.node_ids) for source, info in infos.items()} == {
                source: {name for name, other in model.items() if other == source} for source in set(model.values())
            }
            assert set(documents.docs) == set(documents.get_all_document_hashes().values()) == set(model)

    asyncio.run(run())
    documents.store.close()


# Indexes


async def test_index_structs(call: Verb) -> None:
    """Kept by id; the only one is found without it."""
    indexes = IndelibleIndexStore(":memory:")
    assert await call(indexes, "index_structs") == []
    await call(indexes, "add_index_struct", IndexDict(index_id="a", nodes_dict={"1": "2"}))
    found = await call(indexes, "get_index_struct")
    assert (type(found), found.nodes_dict) == (IndexDict, {"1": "2"})
    await call(indexes, "add_index_struct", IndexList(index_id="b", nodes=["1"]))
    assert [struct.index_id for struct in await call(indexes, "index_structs")] == ["a", "b"]
    await call(indexes, "delete_index_struct", "a")
    assert await call(indexes, "get_index_struct", "a") is None
    assert (await call(indexes, "get_index_struct")).index_id == "b"


async def test_many_coroutines_on_a_new_file(file: str) -> None:
    """Twenty first uses at once, of every kind of store."""

    async def first(number: int) -> None:
        name = str(number)
        values, documents = IndelibleKVStore(file), IndelibleDocumentStore(file)
        nodes, indexes = IndelibleVectorStore(file), IndelibleIndexStore(file)
        await asyncio.gather(
            values.aput(name, {"n": number}),
            documents.async_add_documents([TextNode(id_=name, text=name)]),
            nodes.async_add([node(name)]),
            indexes.async_add_index_struct(IndexDict(index_id=name)),
        )

    await asyncio.gather(*map(first, range(20)))
    wanted = {str(number) for number in range(20)}
    assert set(IndelibleKVStore(file).get_all()) == wanted
    assert set(IndelibleDocumentStore(file).docs) == wanted
    assert {found.node_id for found in IndelibleVectorStore(file).get_nodes()} == wanted
    assert {struct.index_id for struct in IndelibleIndexStore(file).index_structs()} == wanted
    assert IndelibleKVStore(file).store.verify().ok
