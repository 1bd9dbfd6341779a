"""S31, S70 and the rest: what each verb refuses. Always our own error, and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from indelible import FeedbackSettings, InvalidInput, MemoryStore, Part
from indelible.base.canonical import MAX_LABEL_BYTES, MAX_METADATA_BYTES, MAX_TEXT_BYTES
from indelible.faces import indexing
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import contents


class Text(str):
    """A subclass, as some frameworks have them."""

    __slots__ = ()


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE

BAD_CONTENT = [
    "",
    " \n\t ",
    None,
    5,
    b"tea",
    ["tea"],
    "nul \x00",
    "lone \ud800",
    "x" * (MAX_TEXT_BYTES + 1),
    "é" * (MAX_TEXT_BYTES // 2 + 1),
]
BAD_METADATA = [
    "text", 5, ["a"], ("a", 1), True, {1: "a"}, {None: 1}, {"a": float("nan")}, {"a": float("inf")},
    {"a": b"x"}, {"a": (1,)}, {"a": {1, 2}},
    {"a": object()}, {"a": "nul \x00"}, {"nul \x00": 1}, {"a": "\ud800"}, {"\udfff": 1}, {"a": datetime(2026,
    1, 1)}, {"a": "x" * MAX_METADATA_BYTES},
    deep(33), CYCLE, {"a": [[[{"b": float("nan")}]]]},
]  # fmt: skip
BAD_TTL = [0, -1, 1.0, "5", True, False, 10**15, 2**80, [1], -(2**80)]
BAD_TEXT = ["", 5, b"x", "\ud800", "nul \x00", "x" * (MAX_LABEL_BYTES + 1), ["x"]]


def shortly(value: object) -> str:
    return ascii(value)[:24] if value is not CYCLE else "cycle"


@pytest.mark.parametrize("bad", BAD_CONTENT, ids=shortly)
def test_s31_content(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="content"):
        store.remember(bad)
    record = store.remember("tea")
    with pytest.raises(InvalidInput, match="content"):
        store.edit(record.id, content=bad)
    assert (store.version, contents(store.list())) == (1, ["tea"])


@pytest.mark.parametrize(
    "good", ["x", " x ", "x" * MAX_TEXT_BYTES, "é" * (MAX_TEXT_BYTES // 2), "\x01\x1b\u202e\U000e0001", Text("sub")], ids=shortly
)
def test_s31_content_is_kept_as_it_is(store: MemoryStore, good: str) -> None:
    """Up to the limit, with white space, control characters and all."""
    assert store.remember(good).content == good
    assert contents(store.list()) == [good]


@pytest.mark.parametrize("bad", BAD_METADATA, ids=shortly)
def test_s31_metadata(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        store.remember("tea", metadata=bad)
    record = store.remember("tea", metadata={"a": 1})
    with pytest.raises(InvalidInput, match="metadata"):
        store.edit(record.id, metadata=bad)
    assert (store.version, store.list()[0].metadata) == (1, {"a": 1})


@pytest.mark.parametrize(
    "good",
    [
        {}, {"": ""}, deep(32), {"a": [1, 1.0, True, None, "x", [], {}]}, {"n": 2**100}, {"n": -0.0}, {"a.b": {"c d": "é"}}, {"'": '"'},
        {"user_id": "you", "namespace": ["x"], "id": "1", "agent_id": None},
    ],
    ids=shortly,
)  # fmt: skip
def test_s31_metadata_comes_back_equal_and_never_sets_a_scope(store: MemoryStore, good: dict[str, Any]) -> None:
    made = store.remember("tea", metadata=good, user_id="me")
    for record in (made, store.get(made.id), store.edit(made.id, content="milk")):
        assert record is not None
        assert record.metadata == good
        assert json.dumps(record.metadata, sort_keys=True) == json.dumps(good, sort_keys=True), "types as well"
        assert (record.user_id, record.agent_id, record.namespace) == ("me", "default", ())
    assert store.list(user_id="you") == []


def test_s31_metadata_is_kept_by_value(store: MemoryStore) -> None:
    given = {"list": [1]}
    record = store.remember("tea", metadata=given)
    given["list"].append(2)
    record.metadata["list"].append(3)
    assert store.list()[0].metadata == {"list": [1]}


@pytest.mark.parametrize("bad", BAD_TTL, ids=shortly)
def test_s70_time_to_live(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="ttl_ms"):
        store.remember("tea", ttl_ms=bad)
    record = store.remember("tea")
    with pytest.raises(InvalidInput, match="ttl_ms"):
        store.edit(record.id, ttl_ms=bad)
    assert (store.version, store.list()[0].expires_at) == (1, None)


@pytest.mark.parametrize("bad", BAD_TEXT, ids=shortly)
@pytest.mark.parametrize("name", ["agent_id", "user_id", "org_id", "workspace_id", "source", "parent", "idempotency_key"])
def test_s31_labels(store: MemoryStore, name: str, bad: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        store.remember("tea", **{name: bad})
    if name.endswith("_id"):
        for call in (store.list, store.count, store.scopes, store.scope, lambda **scope: store.recall("x", **scope), store.forget_expired):
            with pytest.raises(InvalidInput, match=name):
                call(**{name: bad})
    assert store.version == 0


@pytest.mark.parametrize("bad", [5, b"x", "\ud800", "nul \x00", "x" * (MAX_LABEL_BYTES + 1), ["x"]], ids=shortly)
def test_s31_keys(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="key"):
        store.remember("tea", key=bad)
    with pytest.raises(InvalidInput, match="key"):
        store.list(key=bad)
    assert store.version == 0


@pytest.mark.parametrize("bad", [5, "yesterday", "2026-01-01", datetime(2026, 1, 1), b""], ids=shortly)
def test_s31_occurred_at(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="occurred_at"):
        store.remember("tea", occurred_at=bad)
    assert store.version == 0


@pytest.mark.parametrize(
    "bad", [5, "soon", "2026-13-01", "2026-1-1", datetime(2026, 1, 1), {"a": 1}, [None], [[]], ["2026-01-01"] * 65], ids=shortly
)
def test_s31_context(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="context"):
        store.remember("tea", context=bad)
    assert store.version == 0


Call = Callable[[MemoryStore, str, Any], object]
NOT_TEXT = [5, None, b"x", ["x"], 1.5]
IDS: dict[str, Call] = {
    "get": lambda store, id, bad: store.get(bad),
    "edit": lambda store, id, bad: store.edit(bad, content="x"),
    "forget": lambda store, id, bad: store.forget(bad),
    "history": lambda store, id, bad: store.history(bad),
    "undo": lambda store, id, bad: store.undo(bad),
    "restore": lambda store, id, bad: store.restore(bad, 1),
    "feedback": lambda store, id, bad: store.feedback(bad, "up"),
    "purge": lambda store, id, bad: store.purge(bad),
}


@pytest.mark.parametrize("verb", IDS)
@pytest.mark.parametrize("bad", NOT_TEXT, ids=shortly)
def test_an_id_must_be_text(store: MemoryStore, verb: str, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="id"):
        IDS[verb](store, "", bad)


OTHERS: dict[str, tuple[Call, list[Any]]] = {
    "feedback": (lambda store, id, bad: store.feedback(id, bad), ["sideways", None, 1, True, "UP", ""]),
    "feedback note": (lambda store, id, bad: store.feedback(id, "up", bad), [5, b"x", "\ud800", "nul \x00", "x" * (MAX_LABEL_BYTES + 1)]),
    "restore": (lambda store, id, bad: store.restore(id, bad), [0, -1, True, "1", None, 1.0, 2, 99, 2**63, 2**80]),
    "purge reason": (lambda store, id, bad: store.purge(id, bad), ["because I say so", "", None, 5]),
    "withdraw": (lambda store, id, bad: store.withdraw(bad), BAD_TEXT),
    "withdraw since": (lambda store, id, bad: store.withdraw("x", since=bad), ["x", True, 1.0, datetime(2026, 1, 1)]),
    "prune keywords": (lambda store, id, bad: store.prune(keywords=bad), ["", "  ", 5, b"x", ["tea"]]),
    "prune before": (lambda store, id, bad: store.prune(before=bad), [5, "2026-01-01", datetime(2026, 1, 1)]),
    "prune reason": (lambda store, id, bad: store.prune(expired_only=True, reason=bad), ["x", None, 5]),
    "prune scope": (lambda store, id, bad: store.prune(user_id=bad), BAD_TEXT),
    "erase": (lambda store, id, bad: store.erase(user_id=bad), BAD_TEXT),
    "erase reason": (lambda store, id, bad: store.erase(user_id="u", reason=bad), ["x", None, 5]),
    "mode": (lambda store, id, bad: store.recall("x", mode=bad), ["fuzzy", 5, ""]),
    "feedback settings": (lambda store, id, bad: store.recall("x", feedback=bad), ["yes", 1, 0.5, {}]),
    "boost": (lambda store, id, bad: FeedbackSettings(boost=bad), [-0.1, 1.1, "x", True, None, float("nan")]),
    "window": (lambda store, id, bad: FeedbackSettings(window=bad), [0, -1, 1.0, True, "3", None, 10**6]),
    "iter_events": (lambda store, id, bad: list(store.iter_events(bad)), [-1, True, "0", None, 1.5]),
    "export": (lambda store, id, bad: store.export(bad), [5, None, "", "nul \x00", b"x"]),
    "import": (lambda store, id, bad: store.import_(bad), [5, None, "", "nul \x00"]),
    "backup": (lambda store, id, bad: store.backup(bad), [5, None, "", "nul \x00"]),
    "list parent": (lambda store, id, bad: store.list(parent=bad), [5, b"x", "\ud800", ["x"], object()]),
}


@pytest.mark.parametrize(("verb", "bad"), [(verb, bad) for verb, (_, values) in OTHERS.items() for bad in values], ids=shortly)
def test_every_other_argument(store: MemoryStore, clock: FakeClock, verb: str, bad: Any) -> None:
    record = store.remember("tea")
    with pytest.raises(InvalidInput):
        OTHERS[verb][0](store, record.id, bad)
    assert store.version == 1


@pytest.mark.parametrize("bad", [5, "", "nul \x00", b"x", ["x"]], ids=shortly)
def test_the_path_of_a_store(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="path"):
        MemoryStore(bad)


@pytest.mark.parametrize("bad", ["nope", 5, object(), ["static"]], ids=shortly)
def test_an_embedder_that_is_none(bad: Any) -> None:
    """Refused when it is first needed: a store that is only searched by words needs none."""
    with MemoryStore(":memory:", embedder=bad) as store:
        assert store.search("tea") == []
        with pytest.raises(InvalidInput):
            store.remember("tea")
        with pytest.raises(InvalidInput):
            store.recall("tea")
        assert store.version == 0


def test_a_text_of_too_many_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """S31: the vectors of a record are numbered, and the numbers end."""
    monkeypatch.setattr(indexing, "MAX_VECTORS", 3)
    with MemoryStore(":memory:", embedder=HashEmbedder(16)) as store:
        store.remember_many(["tea " * 700, "tea " * 700])
        pages = store.collection("pages", model="store")
        for write in (
            lambda: store.remember("tea " * 900),
            lambda: store.remember_many(["tea", "tea " * 900]),
            lambda: pages.put("a", parts=[Part(name, "tea " * 500) for name in "ab"]),
        ):
            with pytest.raises(InvalidInput, match="the limit is 3"):
                write()
        assert store.version == 2


class Unhashable(Text):
    """A text by all means, of a careless class."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # as a class with __eq__ alone has it


def test_a_scope_that_cannot_be_hashed(store: MemoryStore) -> None:
    """S30: a text is a text."""
    assert store.remember("tea", user_id=Unhashable("ada")).scope.user_id == "ada"
    assert [record.scope.agent_id for record in store.remember_many(["a", {"content": "b"}, "c"], agent_id=Unhashable("x"))] == ["x"] * 3
    assert store.version == 4


def test_unknown_arguments_are_a_mistake_of_the_program(store: MemoryStore) -> None:
    """As with any Python function."""
    for verb, given in ((store.count, ()), (store.scopes, ()), (store.recall, ("x",)), (store.search_semantic, ("x",))):
        call: Any = verb
        with pytest.raises(TypeError):
            call(*given, nonsense=1)
