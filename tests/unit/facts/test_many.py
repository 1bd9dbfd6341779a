"""S83, S32: many facts in one transaction, conversations, retries, and texts that must not repeat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from indelible import InvalidInput, MemoryStore, ModelError, Record
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import contents, ids, open_store

DAY = datetime(2025, 6, 1, 12, tzinfo=UTC)


class FailingEmbedder(HashEmbedder):
    """Fails on a text that says so."""

    def embed_documents(self, texts: Any) -> Any:
        if any("explode" in text for text in texts):
            raise RuntimeError("as asked")
        return super().embed_documents(texts)


def test_s83_records_come_in_the_order_of_the_items(store: MemoryStore) -> None:
    texts = [f"number {number}" for number in range(600)]
    made = store.remember_many(texts)
    assert contents(made) == contents(store.list()) == texts
    assert [record.version for record in made] == list(range(1, 601))


def test_s83_items_are_texts_or_arguments_of_remember(store: MemoryStore) -> None:
    made = store.remember_many(
        ["plain", {"content": "own", "user_id": "v", "metadata": {"own": 1}, "key": "k"}],
        user_id="u",
        source="import",
        metadata={"common": 1},
    )
    assert [(record.content, record.user_id, record.source, record.metadata, record.key) for record in made] == [
        ("plain", "u", "import", {"common": 1}, None),
        ("own", "v", "import", {"own": 1}, "k"),
    ]
    assert store.remember_many([]) == []
    assert contents(store.remember_many(text for text in ("from", "a generator"))) == ["from", "a generator"]


@pytest.mark.parametrize(
    "bad", ["", "  ", None, 5, {"content": ""}, {"content": "x", "ttl_ms": 0}, {"content": "x", "nonsense": 1}, {}, ["x"], {5: 1}]
)
def test_s83_one_bad_item_and_nothing_is_written(store: MemoryStore, bad: Any) -> None:
    """The message says which."""
    with pytest.raises(InvalidInput, match="item 2"):
        store.remember_many(["one", "two", bad, "four"])
    assert (store.version, store.list()) == (0, [])


@pytest.mark.parametrize("bad", ["text", b"bytes", {"content": "x"}, 5, None])
def test_s83_what_is_no_list_is_refused(store: MemoryStore, bad: Any) -> None:
    for verb in (store.remember_many, store.remember_turns):
        with pytest.raises(InvalidInput, match="must be a list"):
            verb(bad)


@pytest.mark.parametrize("name", ["_id", "_neighbour", "id", "record", "namespace", "version", "op"])
def test_s62_an_item_cannot_choose_its_record_or_leave_its_namespace(store: MemoryStore, name: str) -> None:
    """Nothing but the arguments of remember: an id from outside could take over another scope's record."""
    victim = store.remember("theirs", user_id="you")
    with pytest.raises(InvalidInput, match=name):
        store.scope(user_id="me").remember_many([{"content": "mine", name: bytes.fromhex(victim.id.replace("-", ""))}])
    assert store.version == 1


def test_s83_a_failing_model_leaves_nothing(clock: FakeClock) -> None:
    with open_store(clock=clock, embedder=FailingEmbedder()) as store:
        with pytest.raises(ModelError):
            store.remember_many([*(f"fine {number}" for number in range(300)), "explode"])
        record = store.remember("fine")
        with pytest.raises(ModelError):
            store.edit(record.id, content="explode")
        assert (store.version, contents(store.list())) == (1, ["fine"])


def test_s83_progress_counts_up_to_all(store: MemoryStore) -> None:
    said: list[tuple[int, int]] = []
    store.remember_many(["x"] * 600, progress=lambda done, total: said.append((done, total)))
    assert [total for _, total in said] == [600] * len(said)
    assert [done for done, _ in said] == sorted({done for done, _ in said})
    assert said[-1] == (600, 600)


def test_s83_what_progress_raises_stops_the_write(store: MemoryStore) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.remember_many(["x"], progress=stop)
    with pytest.raises(InvalidInput, match="progress"):
        store.remember_many(["x"], progress=5)  # type: ignore[arg-type]  # that is the test
    assert store.version == 0


def test_s83_several_writes_to_one_key_in_a_batch_are_versions_of_one_record(store: MemoryStore) -> None:
    made = store.remember_many([{"content": "one", "key": "k"}, "between", {"content": "two", "key": "k"}])
    assert made[0].id == made[2].id != made[1].id
    assert contents(store.list()) == ["two", "between"]
    assert [change.version for change in store.history(made[0].id)] == [1, 3]


def test_s83_a_batch_is_seen_whole_or_not_at_all(kept: MemoryStore, path: Path, clock: FakeClock) -> None:
    with open_store(path, clock=clock) as reader:
        for size in (3, 5):
            kept.remember_many(["x"] * size)
            assert reader.count() in (3, 8)
        assert {reader.count(as_of=version) for version in range(9)} == {0, 3, 8}


# Retries


def test_s32_a_retry_returns_the_first_record(store: MemoryStore) -> None:
    first = store.remember("tea", idempotency_key="once")
    again = store.remember("something else", idempotency_key="once", metadata={"a": 1})
    assert again == first
    assert (store.version, contents(store.list())) == (1, ["tea"])


def test_s32_an_idempotency_key_belongs_to_its_scope(store: MemoryStore) -> None:
    scopes: list[dict[str, Any]] = [{}, {"user_id": "u"}, {"user_id": "u", "workspace_id": "w"}, {"agent_id": "b"}]
    made = [store.remember("tea", idempotency_key="once", **scope) for scope in scopes]
    assert len(set(ids(made))) == len(scopes)
    assert [store.remember("tea", idempotency_key="once", **scope).id for scope in scopes] == ids(made)


def test_s32_a_retry_after_an_edit_returns_it_as_it_stands(store: MemoryStore) -> None:
    first = store.remember("tea", idempotency_key="once")
    edited = store.edit(first.id, content="coffee")
    assert store.remember("tea", idempotency_key="once") == edited
    store.forget(first.id)
    assert store.remember("tea", idempotency_key="once").id == first.id
    assert store.version == 3, "a retry never writes, and never revives"


def test_s32_a_retry_is_recognised_within_a_batch_after_reopening_and_after_a_rebuild(path: Path, clock: FakeClock) -> None:
    batch = [{"content": text, "idempotency_key": key} for text, key in (("one", "a"), ("two", "b"), ("one again", "a"))]
    with open_store(path, clock=clock) as store:
        made = store.remember_many(batch)
        assert (made[0].id == made[2].id, len(set(ids(made)))) == (True, 2)
    with open_store(path, clock=clock) as again:
        assert ids(again.remember_many(batch)) == ids(made)
        again.rebuild()
        assert ids(again.remember_many(batch)) == ids(made)
        assert again.version == 2


def test_s32_after_a_purge_the_key_is_free(store: MemoryStore) -> None:
    """It went with the text; a retry then is a new fact."""
    first = store.remember("tea", idempotency_key="once")
    store.purge(first.id)
    assert store.remember("tea", idempotency_key="once").id != first.id


# Texts that must not repeat


def test_s32_dedup_returns_the_one_that_is_there(store: MemoryStore) -> None:
    first = store.remember("tea", metadata={"a": 1})
    assert store.remember("tea", dedup=True, metadata={"b": 1}) == first
    assert store.remember("Tea", dedup=True).id != first.id
    assert store.remember("tea", dedup=True, user_id="other").id != first.id
    assert store.remember("tea", dedup=False).id != first.id
    store.forget(first.id)
    assert store.count(user_id="default") == 2


def test_s32_dedup_takes_the_oldest_and_nothing_that_is_gone(store: MemoryStore, clock: FakeClock) -> None:
    short = store.remember("tea", ttl_ms=1000)
    first, _ = store.remember_many(["tea", "tea"])
    clock.advance(ms=1000)
    assert store.remember("tea", dedup=True).id == first.id != short.id
    store.forget(first.id)
    store.edit(store.list()[0].id, content="milk")
    assert store.remember("tea", dedup=True).id not in ids([short, first])


def test_s32_dedup_within_a_batch(store: MemoryStore) -> None:
    old = store.remember("old")
    made = store.remember_many(["new", "old", "new", {"content": "new", "dedup": False}, {"content": "new", "user_id": "v"}], dedup=True)
    assert made[0].id == made[2].id
    assert made[1] == old
    assert len(set(ids(made))) == 4
    assert store.count() == 4


# Conversations

TURNS: list[Any] = [("user", "I moved to Lisbon"), ("assistant", "Congratulations!"), ("user", "Thanks, it was hard"), ("assistant", "  ")]


def test_turns_are_facts_with_role_session_date_and_what_was_said_before(store: MemoryStore) -> None:
    made = store.remember_turns(TURNS, session="s-1", date=DAY, user_id="ada", metadata={"channel": "web"})
    assert contents(made) == [text for _, text in TURNS[:3]], "a turn that says nothing is left out"
    assert [record.source for record in made] == ["user", "assistant", "user"]
    assert [record.context for record in made] == [("2025-06-01",), (made[0].id, "2025-06-01"), (made[1].id, "2025-06-01")]
    assert {(record.parent, record.occurred_at, record.user_id) for record in made} == {("s-1", DAY, "ada")}
    assert [record.metadata["role"] for record in made] == ["user", "assistant", "user"]
    assert store.at(2).list() == [], "one transaction"


def test_a_turn_is_found_by_what_was_said_before_it(store: MemoryStore) -> None:
    made = store.remember_turns(TURNS, session="s-1")
    assert ids(store.search("Lisbon congratulations")) == [made[1].id]
    assert made[1].id in ids(store.recall("I moved to Lisbon", limit=2))
    found = store.get(made[1].id, with_vectors=True)
    assert found is not None
    assert set(found.vectors or {}) == {"", "context"}
    assert "Lisbon" not in found.content


def test_turns_may_be_mappings_with_any_argument(store: MemoryStore) -> None:
    made = store.remember_turns(
        [
            {"role": "user", "content": "one", "metadata": {"n": 1}, "occurred_at": DAY},
            {"role": "tool", "text": "two", "source": "calculator", "context": ["2020-01-01"], "parent": "elsewhere"},
            {"content": "three", "ttl_ms": 1000},
        ],
        session="s",
    )
    assert [(record.content, record.source, record.parent) for record in made] == [
        ("one", "user", "s"), ("two", "calculator", "elsewhere"), ("three", None, "s"),
    ]  # fmt: skip
    assert made[0].metadata == {"n": 1, "role": "user"}
    assert [record.context for record in made] == [("2025-06-01",), ("2020-01-01",), (made[1].id,)]
    assert made[2].expires_at is not None


def test_turns_under_keys_revise_and_still_name_what_was_before(store: MemoryStore) -> None:
    def told(text: str) -> list[Record]:
        return store.remember_turns(
            [{"role": "user", "content": text, "key": "turn-1"}, {"role": "user", "content": "after it", "key": "turn-2"}]
        )

    first, again = told("zebra"), told("okapi")
    assert ids(first) == ids(again)
    assert again[1].context == (again[0].id,)
    assert contents(store.list()) == ["okapi", "after it"]
    assert (ids(store.search("zebra")), ids(store.search("okapi after"))) == ([], [again[1].id])


def test_turns_that_must_not_repeat_still_name_what_was_before(store: MemoryStore) -> None:
    """The neighbour of a turn is the memory that its predecessor stands for, wherever that came from."""
    hello = store.remember("hello")
    made = store.remember_turns(
        [("user", "hello"), ("assistant", "zebra"), ("user", "okay"), ("user", "okay"), ("user", "after it")], dedup=True
    )
    assert made[0] == hello
    assert made[2].id == made[3].id
    assert [record.context for record in made] == [(), (hello.id,), (made[1].id,), (made[1].id,), (made[2].id,)]
    assert ids(store.search("hello zebra")) == [made[1].id]
    assert ids(store.search("okay after")) == [made[4].id]


def test_a_conversation_sent_again_is_recognised(store: MemoryStore) -> None:
    turns = [{"role": "user", "content": text, "idempotency_key": f"s-1/{number}"} for number, (_, text) in enumerate(TURNS[:3])]
    first = store.remember_turns(turns)
    assert store.remember_turns(turns) == first
    assert store.version == 3


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        ("user",),
        ("a", "b", "c"),
        5,
        None,
        ("user", None),
        (5, "x"),
        {"role": "u"},
        {"content": "x", "metadata": 5},
        {"content": "x", "y": 1},
    ],
)
def test_a_bad_turn_is_named_and_nothing_is_written(store: MemoryStore, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="turn 1"):
        store.remember_turns([("user", "fine"), bad, ("user", "fine")])
    with pytest.raises(InvalidInput):
        store.remember_turns([("user", "fine")], session=5)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InvalidInput):
        store.remember_turns([("user", "fine")], date="2025-06-01")  # type: ignore[arg-type]  # that is the test
    assert store.version == 0


def test_metadata_that_changes_while_texts_come(store: MemoryStore) -> None:
    """S32: each item has the arguments as they are when it is taken, whether it is a text or a dict."""
    page: dict[str, Any] = {}

    def texts() -> Iterator[Any]:
        for number in range(4):
            page["number"] = number
            yield f"text {number}" if number != 1 else {"content": "text 1"}

    written = store.remember_many(texts(), metadata=page)
    assert [record.metadata for record in written] == [{"number": number} for number in range(4)]
    assert [record.metadata for record in store.list()] == [{"number": number} for number in range(4)]
