"""Metadata filters: every operator on every kind of value, where other stores disagree, and random trees against an oracle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from indelible import InvalidInput
from llama_index_indelible import IndelibleVectorStore
from tests.interop.llamaindex.samples import WAYS, both_ways, matching, node

Op = FilterOperator
DATA: dict[str, dict[str, Any]] = {
    "1": {
        "rank": "a",
        "weight": 1.0,
        "count": 1,
        "title": "Hello World",
        "quote": "it's",
        "opt": "x",
        "tags": ["alpha", "beta"],
        "nums": [1, 2],
    },
    "2": {"rank": "b", "weight": 2.0, "count": 2, "title": "hello there", "quote": "100%_x", "tags": ["beta"], "nums": [2]},
    "3": {"rank": "c", "weight": 3.0, "count": 3, "title": "Goodbye", "opt": "y", "tags": []},
    "4": {"rank": "ab", "weight": 10.0, "count": 10, "title": "", "opt": None},
}


def filled() -> IndelibleVectorStore:
    """Four nodes, as in the table below."""
    made = IndelibleVectorStore(":memory:")
    made.add([node(name, **metadata) for name, metadata in DATA.items()])
    return made


@pytest.fixture(scope="module", params=WAYS)
def store(request: pytest.FixtureRequest) -> IndelibleVectorStore:
    """They are only read: by the plain verbs, and by the coroutines."""
    return both_ways(filled(), request.param)


def one(key: str, operator: FilterOperator, value: Any = None) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, operator=operator, value=value)])


def group(condition: FilterCondition | None, *children: MetadataFilter | MetadataFilters) -> MetadataFilters:
    return MetadataFilters(filters=list(children), condition=condition)


def rank(*values: str) -> list[MetadataFilter]:
    return [MetadataFilter(key="rank", value=value) for value in values]


OPT_IS_X = MetadataFilter(key="opt", value="x")
TABLE: dict[str, tuple[MetadataFilters, str]] = {
    "EQ text": (one("rank", Op.EQ, "a"), "1"),
    "EQ float field, int": (one("weight", Op.EQ, 2), "2"),
    "EQ int field, float": (one("count", Op.EQ, 2.0), "2"),
    "EQ int field, text": (one("count", Op.EQ, "2"), ""),
    "EQ text field, int": (one("rank", Op.EQ, 1), ""),
    "EQ missing key": (one("nowhere", Op.EQ, "a"), ""),
    "EQ quote": (one("quote", Op.EQ, "it's"), "1"),
    "EQ key with a quote": (one("ra'nk", Op.EQ, "a"), ""),
    "EQ None": (one("opt", Op.EQ, None), ""),
    "EQ array field": (one("tags", Op.EQ, "beta"), ""),
    "EQ whole list": (one("tags", Op.EQ, ["alpha", "beta"]), "1"),
    "NE text": (one("rank", Op.NE, "a"), "234"),
    "NE missing and null": (one("opt", Op.NE, "x"), "234"),
    "NE number": (one("count", Op.NE, 1), "234"),
    "NE unknown key": (one("nowhere", Op.NE, "a"), "1234"),
    "NE None": (one("opt", Op.NE, None), "1234"),
    "GT number": (one("count", Op.GT, 2), "34"),
    "GTE number": (one("weight", Op.GTE, 2), "234"),
    "LT number": (one("count", Op.LT, 2.5), "12"),
    "LTE number": (one("count", Op.LTE, 2), "12"),
    "GT text": (one("rank", Op.GT, "a"), "234"),
    "LT text": (one("rank", Op.LT, "b"), "14"),
    "GT text field, int": (one("rank", Op.GT, 1), ""),
    "GT missing and null": (one("opt", Op.GT, "a"), "13"),
    "IN text": (one("rank", Op.IN, ["a", "c"]), "13"),
    "IN int": (one("count", Op.IN, [1, 3]), "13"),
    "IN empty": (one("rank", Op.IN, []), ""),
    "NIN": (one("rank", Op.NIN, ["c"]), "124"),
    "NIN missing and null": (one("opt", Op.NIN, ["x"]), "234"),
    "NIN empty": (one("rank", Op.NIN, []), "1234"),
    "TEXT_MATCH": (one("title", Op.TEXT_MATCH, "hello"), "2"),
    "TEXT_MATCH percent": (one("quote", Op.TEXT_MATCH, "%"), "2"),
    "TEXT_MATCH underscore": (one("quote", Op.TEXT_MATCH, "_"), "2"),
    "TEXT_MATCH within words": (one("title", Op.TEXT_MATCH, "llo Wor"), "1"),
    "TEXT_MATCH int field": (one("count", Op.TEXT_MATCH, "1"), ""),
    "TEXT_MATCH_INSENSITIVE": (one("title", Op.TEXT_MATCH_INSENSITIVE, "hELLO"), "12"),
    "CONTAINS text": (one("tags", Op.CONTAINS, "beta"), "12"),
    "CONTAINS int": (one("nums", Op.CONTAINS, 2), "12"),
    "CONTAINS float": (one("nums", Op.CONTAINS, 2.0), "12"),
    "CONTAINS on text": (one("title", Op.CONTAINS, "World"), "1"),
    "ANY": (one("tags", Op.ANY, ["alpha", "gamma"]), "1"),
    "ANY int": (one("nums", Op.ANY, [1, 7]), "1"),
    "ALL": (one("tags", Op.ALL, ["alpha", "beta"]), "1"),
    "ANY empty": (one("tags", Op.ANY, []), ""),
    "ALL empty": (one("tags", Op.ALL, []), "123"),
    "IS_EMPTY missing and null": (one("opt", Op.IS_EMPTY), "24"),
    "IS_EMPTY empty text": (one("title", Op.IS_EMPTY), "4"),
    "IS_EMPTY empty list": (one("tags", Op.IS_EMPTY), "34"),
    "AND": (group(FilterCondition.AND, *rank("a"), OPT_IS_X), "1"),
    "OR": (group(FilterCondition.OR, *rank("a", "c")), "13"),
    "NOT": (group(FilterCondition.NOT, *rank("a")), "234"),
    "NOT of two is neither": (group(FilterCondition.NOT, *rank("a", "b")), "34"),
    "NOT with missing and null": (group(FilterCondition.NOT, OPT_IS_X), "234"),
    "NOT of a text match": (group(FilterCondition.NOT, MetadataFilter(key="title", value="hello", operator=Op.TEXT_MATCH)), "134"),
    "nested AND of OR": (group(FilterCondition.AND, group(FilterCondition.OR, *rank("a", "b")), OPT_IS_X), "1"),
    "nested NOT": (group(FilterCondition.AND, group(FilterCondition.NOT, *rank("a")), *rank("b")), "2"),
    "NOT of NOT": (group(FilterCondition.NOT, group(FilterCondition.NOT, *rank("a"))), "1"),
    "empty filters": (group(FilterCondition.AND), "1234"),
    "empty OR": (group(FilterCondition.OR), "1234"),
    "empty nested group": (group(FilterCondition.AND, group(FilterCondition.OR), *rank("a")), "1"),
    "empty groups only": (group(FilterCondition.OR, group(FilterCondition.NOT, group(None))), "1234"),
    "condition None": (group(None, *rank("a"), OPT_IS_X), "1"),
}


@pytest.mark.parametrize("case", TABLE)
def test_every_row_of_the_table(store: IndelibleVectorStore, case: str) -> None:
    """By a query with a vector, one without, and ``get_nodes``: the same nodes."""
    filters, wanted = TABLE[case]
    assert "".join(matching(store, filters)) == wanted


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", TABLE)
def test_every_row_deletes_what_it_finds(case: str, way: str) -> None:
    """Those nodes and no others; a filter that says nothing deletes nothing. Together with ids, what meets both."""
    filters, wanted = TABLE[case]
    doomed = "" if case in ("empty filters", "empty OR", "empty groups only") else wanted
    for ids in (["1", "4"], None):
        store = both_ways(filled(), way)
        store.delete_nodes(ids, filters)
        gone = set(ids or "1234") & set(wanted if ids else doomed)
        assert [found.node_id for found in store.get_nodes()] == [name for name in "1234" if name not in gone]
        store.client.close()


@pytest.mark.parametrize("case", TABLE)
def test_every_row_survives_json(store: IndelibleVectorStore, case: str) -> None:
    """A filter that was written down and read back asks the same."""
    filters, wanted = TABLE[case]
    assert "".join(matching(store, MetadataFilters.model_validate_json(filters.model_dump_json()))) == wanted


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (Op.IN, "a,c"),
        (Op.NIN, "a"),
        (Op.ANY, "alpha"),
        (Op.ALL, 1),
        (Op.IN, None),
        (Op.GT, None),
        (Op.GT, ["a"]),
        (Op.TEXT_MATCH, 1),
        (Op.TEXT_MATCH_INSENSITIVE, ["a"]),
        (Op.CONTAINS, ["a"]),
        (Op.EQ, float("inf")),
        (Op.EQ, "a\x00"),
    ],
)
def test_an_operand_of_the_wrong_kind_is_an_error(store: IndelibleVectorStore, operator: FilterOperator, value: Any) -> None:
    """Elsewhere ``in "a,c"`` matches letters, or takes the text apart."""
    with pytest.raises(InvalidInput):
        matching(store, one("rank", operator, value))


def test_true_and_false_are_asked_as_one_and_zero() -> None:
    """A filter cannot hold a bool."""
    with pytest.raises(ValueError, match="validation error"):
        MetadataFilter(key="flag", value=True)
    store = IndelibleVectorStore(":memory:")
    store.add(
        [node("t", flag=True, flags=[True]), node("f", flag=False, flags=[False]), node("n", flag=1, flags=[1, 0]), node("s", flag="1")]
    )
    assert matching(store, one("flag", Op.EQ, 1)) == ["n", "t"]
    assert matching(store, one("flag", Op.EQ, 0)) == ["f"]
    assert matching(store, one("flag", Op.NE, 1)) == ["f", "s"]
    assert matching(store, one("flag", Op.IN, [0, 1])) == ["f", "n", "t"]
    assert matching(store, one("flag", Op.NIN, [0.0])) == ["n", "s", "t"]
    assert matching(store, one("flags", Op.CONTAINS, 1)) == ["n", "t"]
    assert matching(store, one("flags", Op.ALL, [0, 1])) == ["n"]


def test_the_source_document_can_be_asked_for() -> None:
    """Under the names other stores keep it; a node without one has none, and a key of the user's own comes first."""
    store = IndelibleVectorStore(":memory:")
    store.add([node("a", of="doc"), node("b", of="other"), node("c"), node("d", of="doc", doc_id="mine")])
    for key in ("document_id", "ref_doc_id"):
        assert matching(store, one(key, Op.EQ, "doc")) == ["a", "d"]
        assert matching(store, one(key, Op.IS_EMPTY)) == ["c"]
        assert matching(store, one(key, Op.EQ, "None")) == []
    assert matching(store, one("doc_id", Op.EQ, "doc")) == ["a"]
    assert matching(store, one("doc_id", Op.EQ, "mine")) == ["d"]
    assert store.get_nodes(["d"])[0].metadata == {"doc_id": "mine"}
    assert matching(store, group(FilterCondition.NOT, MetadataFilter(key="doc_id", value="doc"))) == ["b", "c", "d"]
    assert matching(store, one("_node_type", Op.EQ, "TextNode")) == ["a", "b", "c", "d"]
    assert matching(store, one("_node_type", Op.NE, "TextNode")) == []


HOSTILE = [
    "' OR '1'='1' --",
    '"',
    "$",
    ".",
    "a.b",
    "$.a",
    "%",
    "_",
    "\\",
    "]",
    "*",
    "é",
    "日本",
    "\n",
    " ",
    "",
    "'; DROP TABLE event; --",
    "{}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_keys_and_values_are_only_text(text: str) -> None:
    """Each matches itself, and nothing is wider for it."""
    store = IndelibleVectorStore(":memory:")
    strange: dict[str, Any] = {text: "here"}
    store.add([node("key", **strange), node("value", field=text), node("other", field="other", a={"b": "here"})])
    assert matching(store, one(text, Op.EQ, "here")) == ["key"]
    assert matching(store, one("field", Op.EQ, text)) == ["value"]
    assert matching(store, one("field", Op.IN, [text])) == ["value"]
    assert matching(store, one("field", Op.NE, text)) == ["key", "other"]
    assert "key" not in matching(store, one("field", Op.TEXT_MATCH, text))
    assert matching(store, one(text, Op.IS_EMPTY)) == ["other", "value"]


@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_hostile_ids_and_documents_are_only_text(text: str) -> None:
    """Deleting or asking by one touches no other."""
    store = IndelibleVectorStore(":memory:")
    store.add([node(text, of="x"), node("x", of=text), node("other", of="y")])
    assert [found.node_id for found in store.get_nodes([text])] == [text]
    assert matching(store, None, node_ids=[text]) == [text]
    assert matching(store, None, doc_ids=[text]) == ["x"]
    store.delete(text)
    assert matching(store, None) == sorted([text, "other"])
    store.delete_nodes([text])
    assert matching(store, None) == ["other"]


# Random trees

SCALARS = st.sampled_from(["", "a", "A", "ab", "'", "1", 0, 1, 2, -1, 1.0, 1.5, 2**53 + 1, float(2**53)])
STORED = SCALARS | st.none() | st.booleans() | st.lists(SCALARS | st.none(), max_size=3)
KEYS = st.sampled_from(["k", "l", "k.l", "'", ""])
METADATA = st.dictionaries(KEYS, STORED, max_size=4)
LISTS = st.lists(st.sampled_from(["", "a", "ab"]), max_size=3) | st.lists(st.sampled_from([0, 1, 2]), max_size=3)
ORDERED = st.sampled_from([Op.GT, Op.GTE, Op.LT, Op.LTE])
TEXTUAL = st.sampled_from([Op.TEXT_MATCH, Op.TEXT_MATCH_INSENSITIVE])
LEAVES = st.one_of(
    st.builds(MetadataFilter, key=KEYS, operator=st.sampled_from([Op.EQ, Op.NE]), value=SCALARS | st.none() | LISTS),
    st.builds(MetadataFilter, key=KEYS, operator=ORDERED, value=SCALARS),
    st.builds(MetadataFilter, key=KEYS, operator=st.sampled_from([Op.IN, Op.NIN, Op.ANY, Op.ALL]), value=LISTS),
    st.builds(MetadataFilter, key=KEYS, operator=TEXTUAL, value=st.sampled_from(["", "a", "A"])),
    st.builds(MetadataFilter, key=KEYS, operator=st.just(Op.CONTAINS), value=SCALARS),
    st.builds(MetadataFilter, key=KEYS, operator=st.just(Op.IS_EMPTY), value=st.none()),
)
CONDITIONS = st.sampled_from([FilterCondition.AND, FilterCondition.OR, FilterCondition.NOT, None])
TREES = st.recursive(
    st.builds(MetadataFilters, filters=st.lists(LEAVES, max_size=3), condition=CONDITIONS),
    lambda inner: st.builds(MetadataFilters, filters=st.lists(LEAVES | inner, max_size=3), condition=CONDITIONS),
    max_leaves=6,
)


def oracle(tree: MetadataFilters, metadata: dict[str, Any]) -> bool | None:
    """What a tree means, in plain Python; ``None`` if it says nothing."""
    verdicts = [oracle(child, metadata) if isinstance(child, MetadataFilters) else holds(child, metadata) for child in tree.filters]
    told = [verdict for verdict in verdicts if verdict is not None]
    if not told:
        return None
    if tree.condition == FilterCondition.OR:
        return any(told)
    return not any(told) if tree.condition == FilterCondition.NOT else all(told)


def holds(leaf: MetadataFilter, metadata: dict[str, Any]) -> bool:
    found: Any = metadata.get(leaf.key)
    value: Any = leaf.value
    if leaf.operator == Op.IS_EMPTY:
        return found is None or found in ("", [])
    if found is None:
        return leaf.operator in (Op.NE, Op.NIN)
    comparable = not isinstance(found, bool) and (
        (isinstance(found, str) and isinstance(value, str)) or (isinstance(found, int | float) and isinstance(value, int | float))
    )
    answers: dict[FilterOperator, Any] = {
        Op.EQ: lambda: value is not None and found == value,
        Op.NE: lambda: value is None or found != value,
        Op.GT: lambda: comparable and found > value,
        Op.GTE: lambda: comparable and found >= value,
        Op.LT: lambda: comparable and found < value,
        Op.LTE: lambda: comparable and found <= value,
        Op.IN: lambda: found in value,
        Op.NIN: lambda: found not in value,
        Op.CONTAINS: lambda: value in found if isinstance(found, list) or (isinstance(found, str) and isinstance(value, str)) else False,
        Op.ANY: lambda: isinstance(found, list) and any(item in found for item in value),
        Op.ALL: lambda: isinstance(found, list) and all(item in found for item in value),
        Op.TEXT_MATCH: lambda: isinstance(found, str) and value in found,
        Op.TEXT_MATCH_INSENSITIVE: lambda: isinstance(found, str) and value.casefold() in found.casefold(),
    }
    return bool(answers[leaf.operator]())


@given(st.lists(METADATA, min_size=1, max_size=6), st.lists(TREES, min_size=1, max_size=6))
def test_random_trees_mean_what_the_oracle_says(rows: list[dict[str, Any]], trees: list[MetadataFilters]) -> None:
    """All operators on all kinds of values, nested; a group that says nothing leaves everything in."""
    store = IndelibleVectorStore(":memory:")
    store.add([node(str(number), **metadata) for number, metadata in enumerate(rows)])
    for tree in trees:
        wanted = [str(number) for number, metadata in enumerate(rows) if oracle(tree, metadata) is not False]
        assert matching(store, tree) == wanted
    store.client.close()


@given(st.lists(METADATA, min_size=1, max_size=6), LEAVES)
def test_not_equal_is_not_of_equal(rows: list[dict[str, Any]], leaf: MetadataFilter) -> None:
    """NE and NIN are the opposites of EQ and IN, whatever is missing."""
    opposites = {Op.EQ: Op.NE, Op.IN: Op.NIN}
    positive = {Op.NE: Op.EQ, Op.NIN: Op.IN}.get(leaf.operator, leaf.operator)
    if positive not in opposites:
        positive, leaf = Op.EQ, MetadataFilter(key=leaf.key, value="a")
    store = IndelibleVectorStore(":memory:")
    store.add([node(str(number), **metadata) for number, metadata in enumerate(rows)])
    yes = MetadataFilter(key=leaf.key, operator=positive, value=leaf.value)
    no = MetadataFilter(key=leaf.key, operator=opposites[positive], value=leaf.value)
    assert matching(store, group(FilterCondition.NOT, yes)) == matching(store, group(FilterCondition.AND, no))
    store.client.close()
