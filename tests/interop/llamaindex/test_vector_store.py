"""The vector store: what it answers, keeps and forgets, where other stores disagree or lose something."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import Document, ImageNode, IndexNode, MediaResource, Node, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import FilterCondition, MetadataFilters, VectorStoreQuery

from indelible import EmbedderMismatch, InvalidInput
from llama_index_indelible import IndelibleVectorStore
from tests.interop.llamaindex.samples import WAYS, asked, both_ways, ids_of, node, query_of, where


@pytest.fixture(params=WAYS)
def nodes(request: pytest.FixtureRequest) -> IndelibleVectorStore:
    """An empty vector store in memory: each test by its plain verbs and by its coroutines."""
    return both_ways(IndelibleVectorStore(":memory:"), request.param)


# Adding


def test_ids_come_back_in_order_and_as_many(nodes: IndelibleVectorStore) -> None:
    """Whoever called zips them with its nodes; an option of another store changes nothing."""
    added = [node("b"), node("a"), node("b", "newer")]
    before = [given.model_copy(deep=True) for given in added]
    assert nodes.add(added, index_id="some", use_async=True) == ["b", "a", "b"]
    assert added == before
    assert nodes.add([]) == []
    assert nodes.get_nodes(["b"])[0].get_content() == "newer"


def test_a_known_id_is_a_new_version(nodes: IndelibleVectorStore) -> None:
    """Elsewhere a second row, or the old one kept. The old version can still be read."""
    nodes.add([node("1", "red fox", n=1)])
    version = nodes.client.version
    nodes.add([node("1", "blue whale", n=2)])
    assert asked(nodes, "blue whale") == ["1"]
    assert [found.get_content() for found in nodes.get_nodes()] == ["blue whale"]
    assert [found.metadata for found in nodes.get_nodes(as_of=version)] == [{"n": 1}]
    assert len(nodes.collection.history("1")) == 2


@pytest.mark.parametrize("vector", [[math.nan] * 64, [math.inf] * 64, [0.0] * 64, [], [0.5] * 3])
def test_a_bad_vector_leaves_nothing(nodes: IndelibleVectorStore, vector: list[float]) -> None:
    """Not finite, zero, none, or of another dimension: an error, and not half of the batch."""
    nodes.add([node("good", "red fox")])
    with pytest.raises(ValueError, match=r"vector|space"):
        nodes.add([node("x"), node("bad", vector=vector)])
    assert ids_of(nodes.get_nodes()) == ["good"]
    if vector:
        with pytest.raises(ValueError, match=r"vector|space") if any(vector) else pytest.raises(AssertionError):
            nodes.query(VectorStoreQuery(query_embedding=vector, similarity_top_k=1))
            raise AssertionError


def test_another_dimension_is_named(nodes: IndelibleVectorStore) -> None:
    """Both dimensions, and what to do, which works; what there was keeps its model, also once it is cleared."""
    nodes.add([node("good", "red fox")])
    for _ in range(2):
        with pytest.raises(EmbedderMismatch, match=r"64 dimensions.*3.*namespace of their own, such as \('nodes-2',\)"):
            nodes.add([node("bad", vector=[1, 2, 3])])
        with pytest.raises(EmbedderMismatch, match=r"64 dimensions.*3.*namespace of their own"):
            nodes.query(VectorStoreQuery(query_embedding=[1.0, 2.0, 3.0]))
        nodes.clear()
    other = IndelibleVectorStore(store=nodes.client, namespace=("nodes-2",))
    other.add([node("bad", vector=[1, 2, 3])])
    assert other.query(VectorStoreQuery(query_embedding=[1.0, 2.0, 3.0])).ids == ["bad"]


def test_a_node_without_a_vector_is_an_error(nodes: IndelibleVectorStore) -> None:
    """As LlamaIndex says it."""
    with pytest.raises(ValueError, match="embedding not set"):
        nodes.add([TextNode(text="red fox")])
    assert nodes.client.version == 0


RELATED = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="doc", metadata={"a": 1}), NodeRelationship.NEXT: RelatedNodeInfo(node_id="2")}
KINDS = [
    TextNode(
        text="t", start_char_idx=3, end_char_idx=4, relationships=RELATED, excluded_embed_metadata_keys=["a"], text_template="{content}"
    ),
    TextNode(text="", metadata={"z": 1, "a": {"deep": [1, None, {"x": True}]}, "at": "2020-01-01"}, metadata_separator=" | "),
    IndexNode(text="i", index_id="other", obj=TextNode(text="inner")),
    ImageNode(text="seen", image="aGk=", image_mimetype="image/png"),
    Node(text_resource=MediaResource(text="multi"), audio_resource=MediaResource(data=b"aGk=")),
    Document(text="whole", metadata={"b": 1, "a": 2}),
]


@pytest.mark.parametrize("original", KINDS, ids=lambda kind: kind.class_name())
def test_a_node_comes_back_as_it_was(nodes: IndelibleVectorStore, original: Any) -> None:
    """Class, id, text, metadata and their order, relationships, positions, templates; from ``get_nodes`` with its embedding."""
    original = original.model_copy(update={"embedding": [1.0, 2.0]})
    nodes.add([original])
    (found,) = nodes.get_nodes()
    assert type(found) is type(original)
    assert found.model_dump() == original.model_dump()
    assert list(found.metadata) == list(original.metadata)
    assert found.hash == original.hash
    result = nodes.query(VectorStoreQuery(query_embedding=[1.0, 2.0], similarity_top_k=1))
    assert result.nodes is not None
    assert result.nodes[0].model_dump(exclude={"embedding"}) == original.model_dump(exclude={"embedding"})


def test_a_class_of_the_users_own_comes_back_as_text(nodes: IndelibleVectorStore) -> None:
    """No name found in data is ever imported."""

    class Own(TextNode):
        extra: int = 7

        @classmethod
        def class_name(cls) -> str:
            return "os.system"

    nodes.add([Own(id_="1", text="own", extra=8, embedding=[1.0, 2.0])])
    (found,) = nodes.get_nodes()
    assert type(found) is TextNode
    assert found.get_content() == "own"


TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(TEXT, JSON, max_size=4), TEXT, TEXT)
def test_any_metadata_text_and_id(metadata: dict[str, Any], text: str, name: str) -> None:
    """They come back exactly, or are refused as a whole with a reason."""
    nodes = IndelibleVectorStore(":memory:")
    added = TextNode(id_=name, text=text, metadata=metadata, embedding=[1.0, 2.0])
    if "\\u0000" in json.dumps([metadata, text, name]):
        with pytest.raises(InvalidInput, match="NUL"):
            nodes.add([added])
        assert nodes.client.version == 0
    else:
        nodes.add([added])
        (found,) = nodes.get_nodes([name])
        assert found.model_dump() == added.model_dump()
        assert list(found.metadata) == list(metadata)
    nodes.client.close()


def test_metadata_become_json(nodes: IndelibleVectorStore) -> None:
    """As LlamaIndex writes them down: times as text, tuples as lists, what is no number as null."""
    when = datetime(2026, 1, 2, tzinfo=UTC)
    nodes.add([node("1", at=when, pair=(1, 2), none=math.nan, of_everything={"deep": {"er": [when]}})])
    (found,) = nodes.get_nodes()
    at = "2026-01-02T00:00:00Z"
    assert found.metadata == {"at": at, "pair": [1, 2], "none": None, "of_everything": {"deep": {"er": [at]}}}


def test_adding_one_writes_one(nodes: IndelibleVectorStore) -> None:
    """However many there are, nothing else is written again."""
    nodes.add([node(f"n{number}") for number in range(300)])
    version = nodes.client.version
    nodes.add([node("one more")])
    assert [event.version for event in nodes.client.iter_events(version)] == [version + 1]


def test_keys_may_come_later(nodes: IndelibleVectorStore) -> None:
    """No schema is fixed by the first node."""
    nodes.add([node("1", a=1)])
    nodes.add([node("2", b="x", nested={"c": [1, 2]})])
    assert asked(nodes, filters=where(b="x")) == ["2"]


# Asking


def test_scores_are_cosines_best_first(nodes: IndelibleVectorStore) -> None:
    """Of any length of vector."""
    nodes.add([node("east", vector=[2, 0]), node("north", vector=[0, 3]), node("between", vector=[1, 1])])
    result = nodes.query(VectorStoreQuery(query_embedding=[5.0, 0.0], similarity_top_k=3))
    assert result.ids == ["east", "between", "north"]
    assert result.similarities == pytest.approx([1.0, math.sqrt(0.5), 0.0], abs=1e-6)
    assert {type(score) for score in result.similarities or ()} == {float}


def test_nothing_is_three_empty_lists(nodes: IndelibleVectorStore) -> None:
    """On an empty store, for no wanted hits, for filters that nothing meets, and after clearing."""

    def is_empty(query: VectorStoreQuery) -> bool:
        result = nodes.query(query)
        return (result.nodes, result.similarities, result.ids) == ([], [], [])

    assert is_empty(query_of("fox"))
    assert is_empty(query_of("fox", mode="text_search"))
    nodes.add([node("1", "red fox")])
    assert is_empty(query_of("fox", top_k=0))
    assert is_empty(query_of("fox", filters=where(a=1)))
    assert is_empty(query_of("fox", doc_ids=[]))
    nodes.clear()
    assert is_empty(query_of("fox"))
    assert nodes.get_nodes() == []
    nodes.add([node("1", "red fox")])
    assert asked(nodes, "fox") == ["1"]


def test_node_ids_and_doc_ids(nodes: IndelibleVectorStore) -> None:
    """Empty node_ids are no restriction, as LlamaIndex's own retriever sends them; empty doc_ids are one; all conditions hold together."""
    nodes.add([node("1", "fox", of="x", n=1), node("2", "fox", of="x", n=2), node("3", "fox", of="y", n=1), node("4", "fox", n=1)])
    for words in ("fox", None):
        assert sorted(asked(nodes, words, node_ids=[])) == ["1", "2", "3", "4"]
        assert sorted(asked(nodes, words, node_ids=["1", "4", "gone"])) == ["1", "4"]
        assert sorted(asked(nodes, words, doc_ids=["x"])) == ["1", "2"]
        assert sorted(asked(nodes, words, doc_ids=["x", "y"])) == ["1", "2", "3"]
        assert asked(nodes, words, doc_ids=["None"]) == []
        assert asked(nodes, words, doc_ids=[]) == []
        assert sorted(asked(nodes, words, doc_ids=["x", "y"], node_ids=["2", "3", "4"], filters=where(n=1))) == ["3"]
        assert sorted(asked(nodes, words, doc_ids=["x"], filters=where(ref_doc_id="y"))) == []
        assert sorted(asked(nodes, words, doc_ids=["x", "y"], filters=where(ref_doc_id="y"))) == ["3"]


def test_conditions_hold_before_the_limit(nodes: IndelibleVectorStore) -> None:
    """One of the slice among many nearer strangers is found."""
    nodes.add([node(f"near{number}", "red fox") for number in range(200)])
    nodes.add([node("far", "a fox in a very long winter", of="doc", mine=1)])
    assert asked(nodes, "red fox", top_k=1, filters=where(mine=1)) == ["far"]
    assert asked(nodes, "red fox", top_k=1, doc_ids=["doc"]) == ["far"]
    assert asked(nodes, "red fox", top_k=1, node_ids=["far"]) == ["far"]


def test_without_a_vector_the_conditions_decide(nodes: IndelibleVectorStore) -> None:
    """In the order of adding, up to the limit; a vector of zeros is as good as none and has finite scores."""
    nodes.add([node(name, n=1) for name in "cab"])
    assert asked(nodes, filters=where(n=1), top_k=2) == ["c", "a"]
    result = nodes.query(VectorStoreQuery(query_embedding=[0.0] * 64, similarity_top_k=5))
    assert (result.ids, result.similarities) == (["c", "a", "b"], [0.0, 0.0, 0.0])


def test_a_condition_as_an_option_is_an_error(nodes: IndelibleVectorStore) -> None:
    """Elsewhere ``where=`` narrows; ignoring it would show what should have been left out. Other options are let through."""
    nodes.add([node("1", "red fox")])
    for name in ("filter", "where", "user_id", "namespace"):
        option: dict[str, Any] = {name: {"n": 1}}
        with pytest.raises(TypeError, match=name):
            nodes.query(query_of("fox"), **option)
        with pytest.raises(TypeError, match=name):
            nodes.delete("1", **option)
        with pytest.raises(TypeError, match=name):
            nodes.delete_nodes(["1"], None, **option)
    assert asked(nodes, "fox", options={"nprobe": 8}) == ["1"]
    with pytest.raises(TypeError):
        IndelibleVectorStore(":memory:", user="ada")  # type: ignore[call-arg]  # the typing error itself


# Forgetting


def test_delete_is_by_source_document(nodes: IndelibleVectorStore) -> None:
    """All its nodes and no others; an unknown one, the id of a node, or "None" touches nothing."""
    nodes.add([node("1", of="x"), node("2", of="x"), node("3", of="y"), node("x")])
    for unknown in ("gone", "None", "1", ""):
        nodes.delete(unknown)
    assert ids_of(nodes.get_nodes()) == ["1", "2", "3", "x"]
    nodes.delete("x")
    assert ids_of(nodes.get_nodes()) == ["3", "x"]
    assert [change.op for change in nodes.collection.history("1")] == ["remember", "forget"]


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ((), "1234"),
        (([],), "1234"),
        ((None, None), "1234"),
        ((None, MetadataFilters(filters=[])), "1234"),
        (([], where(n=1)), "1234"),
        ((["gone"],), "1234"),
        ((["1", "gone", "1"],), "234"),
        ((None, where(n=1)), "34"),
        ((["2", "3"], where(n=1)), "134"),
        ((["4"], MetadataFilters(filters=where(n=1).filters + where(n=2).filters, condition=FilterCondition.OR)), "1234"),
        ((["1"], MetadataFilters(filters=[])), "234"),
    ],
)
def test_delete_nodes(nodes: IndelibleVectorStore, arguments: tuple[Any, ...], left: str) -> None:
    """By ids, by filters, by both together; by nothing nothing. Elsewhere no arguments wipe the store."""
    nodes.add([node("1", n=1), node("2", n=1), node("3", n=2), node("4", n=3)])
    nodes.delete_nodes(*arguments)
    assert "".join(ids_of(nodes.get_nodes())) == left


def test_get_nodes(nodes: IndelibleVectorStore) -> None:
    """All, none, those asked for in their order, those that match; each with its embedding."""
    nodes.add([node("1", "red fox", n=1), node("2", n=1), node("3", n=2)])
    assert ids_of(nodes.get_nodes()) == ["1", "2", "3"]
    assert nodes.get_nodes([]) == []
    assert ids_of(nodes.get_nodes(["3", "gone", "1", "3"])) == ["3", "1"]
    assert ids_of(nodes.get_nodes(filters=where(n=1))) == ["1", "2"]
    assert ids_of(nodes.get_nodes(["3", "2"], where(n=1))) == ["2"]
    assert nodes.get_nodes(["1"])[0].embedding == pytest.approx(node("1", "red fox").embedding)
    assert nodes.list_ref_docs() == {}
