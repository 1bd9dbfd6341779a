"""S74: after a purge the secret is in no byte of the files, of exports or of new backups, wherever it stood; numbering and hashes hold.

Here through the faces, among many records, where the keyword index has several segments; the engine alone is tested beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore, Part, Record
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.stores import bytes_of, contents, open_store

SECRETS = {
    "content": "quixotic zephyrine",
    "old content": "obnubilated",
    "metadata": "metaxylem",
    "metadata key": "mk-mellifluous",
    "key": "keratoplasty",
    "source": "sourdeline",
    "parent": "parentheticalia",
    "agent_id": "agentive-agaric",
    "user_id": "usufructuary",
    "org_id": "orgiastic-orgone",
    "workspace_id": "workadaywort",
    "idempotency_key": "idempotencyxy",
    "note": "noctambulist",
    "value": "valerianic",
    "namespace": "nanocephalous",
    "part": "partridgeberry",
    "part text": "pterodactylian",
}
WORDS = {kind: [word.encode() for word in secret.split()] for kind, secret in SECRETS.items()}
SCOPE: dict[str, Any] = {name: SECRETS[name] for name in ("agent_id", "user_id", "org_id", "workspace_id")}


def found_in(folder: Path) -> set[tuple[str, str]]:
    """(file, kind) of every secret that is in a file: whole, or a word of it."""
    return {
        (name, kind)
        for name, data in bytes_of(folder).items()
        for kind, words in WORDS.items()
        if any(word in data.lower() for word in words)
    }


def tell(store: MemoryStore) -> tuple[Record, Record]:
    """A fact and a keyed page with a secret in every place, each with a past."""
    fact = store.remember(
        SECRETS["old content"], **SCOPE, metadata={SECRETS["metadata key"]: [SECRETS["metadata"]]}, key=SECRETS["key"],
        source=SECRETS["source"], parent=SECRETS["parent"], idempotency_key=SECRETS["idempotency_key"],
    )  # fmt: skip
    store.feedback(fact.id, "up", note=SECRETS["note"])
    store.edit(fact.id, content=SECRETS["content"])
    pages = store.collection(SECRETS["namespace"], "pages", **SCOPE, model="store")
    page = pages.put("p", value={"v": SECRETS["value"]}, parts=[Part(SECRETS["part"], SECRETS["part text"])])
    # Others are indexed together with the fact's text.
    neighbours = store.remember_many([f"beside it {number}" for number in range(3)], **SCOPE, context=[fact.id])
    assert {record.id for record in neighbours} < {hit.id for hit in store.search("quixotic", limit=10)}
    store.recall("quixotic zephyrine beside it", limit=3)
    return fact, page


def forget_it(store: MemoryStore, fact: Record, page: Record) -> None:
    """Destroy both, and the scope's other records, which name the scope."""
    assert store.purge(fact.id, reason="secret") == 1
    assert store.collection(SECRETS["namespace"], "pages", **SCOPE, model="store").purge("p") == 1
    assert store.erase(user_id=SECRETS["user_id"], confirm=True).count == 3


def check(path: Path, many: int, prepare: Callable[[MemoryStore, Record], Any] | None = None) -> float:
    """Tell secrets among many records, destroy them, look everywhere; how many seconds the purges took."""
    clock = FakeClock()
    with open_store(path, clock=clock, embedder=HashEmbedder(16)) as store:
        for start in range(0, many, 20_000):
            store.remember_many([f"other text {number} of many" for number in range(start, min(start + 20_000, many))])
        fact, page = tell(store)
        store.remember_many([f"later text {number}" for number in range(100)])
        if prepare is not None:
            prepare(store, fact)
        before = store.version
        began = time.perf_counter()
        forget_it(store, fact, page)
        took = time.perf_counter() - began
        store.backup(path.with_name("backup.db"))
        store.export(path.with_name("export.jsonl"))
        store.vacuum()
        report = store.verify()
        assert report.ok, report.problems
        assert report.events == store.version == before + 5, "numbering is unbroken"
        assert [event.version for event in store.iter_events()] == list(range(1, store.version + 1))
        assert {str(line).split(" ")[2] for line in store.history(fact.id)[-1:]} == {"purged"}
        assert store.search("quixotic") == []
        assert store.recall("quixotic zephyrine", limit=many + 100, min_score=0.99) == []
    assert found_in(path.parent) == set()
    with open_store(path, clock=clock, embedder=HashEmbedder(16)) as again:
        assert again.verify().ok
        assert again.count() == many + 100
    assert found_in(path.parent) == set()
    return took


def test_s74_the_secrets_were_there(path: Path) -> None:
    """Control: without a purge every one of them is found, in the database, in a backup and in an export."""
    with open_store(path) as store:
        tell(store)
        store.backup(path.with_name("backup.db"))
        store.export(path.with_name("export.jsonl"))
    for name in ("facts.db", "backup.db", "export.jsonl"):
        assert {kind for file, kind in found_in(path.parent) if file == name} == set(SECRETS)


def test_s74_after_a_purge_the_secrets_are_nowhere(path: Path) -> None:
    check(path, 1_000)


@pytest.mark.parametrize(
    "prepare",
    [
        lambda store, fact: store.forget(fact.id),
        lambda store, fact: store.vacuum(),
        lambda store, fact: store.rebuild(),
        lambda store, fact: store.reindex(),
        lambda store, fact: [store.edit(fact.id, content=SECRETS["content"] + f" {number}") for number in range(5)],
    ],
    ids=["forgotten", "vacuumed", "rebuilt", "reindexed", "revised"],
)
def test_s74_also_after_whatever_happened_to_it(path: Path, prepare: Callable[[MemoryStore, Record], Any]) -> None:
    check(path, 50, prepare)


def test_s74_the_purge_alone_is_enough(path: Path) -> None:
    """Without vacuum, and seen by a second handle of the store that was open all the time."""
    with open_store(path) as store, open_store(path) as second:
        fact, page = tell(store)
        assert len(second.recall("quixotic zephyrine", limit=1)) == 1
        forget_it(store, fact, page)
        assert second.recall("quixotic zephyrine") == second.search("quixotic") == []
        assert second.history(fact.id)[0].purged
    assert found_in(path.parent) == set()


def test_s74_neighbours_lose_the_text_and_keep_their_own(path: Path) -> None:
    """A purge of the fact alone: what was indexed with it is still found by its own words, and by nothing of the fact's."""
    with open_store(path) as store:
        fact, _ = tell(store)
        before = store.count()
        assert store.purge(fact.id) == 1
        assert store.count() == before - 1
        assert store.search("quixotic") == store.search("zephyrine") == []
        assert len(store.search("beside")) == 3
        assert len(store.at(store.version - 1).search("beside", limit=10)) == 3
        assert store.at(store.version - 1).search("quixotic") == []
        assert all(set(hit.record.context) == {fact.id} for hit in store.search("beside"))
        assert store.verify().ok
        # What was embedded together with the fact's text is gone, in the past as well.
        for hit in store.recall("quixotic zephyrine beside it 1", limit=10):
            assert hit.part != "context"
    assert not {kind for _, kind in found_in(path.parent)} & {"content", "old content", "metadata", "note", "idempotency_key", "source"}


def test_s74_an_export_made_after_a_purge_cannot_bring_it_back(path: Path, tmp_path: Path) -> None:
    """And one made before cannot bring it back into a store that purged it."""
    with open_store(path) as store, open_store(tmp_path / "other.db") as other:
        fact, page = tell(store)
        store.export(tmp_path / "before")
        forget_it(store, fact, page)
        store.export(tmp_path / "after")
        other.import_(tmp_path / "after")
        other.import_(tmp_path / "before")
        store.import_(tmp_path / "before")
        for each in (store, other):
            assert each.search("quixotic") == each.recall("quixotic zephyrine") == []
            assert each.list() == []
            assert each.verify().ok
    (tmp_path / "before").unlink()
    assert found_in(path.parent) == found_in(tmp_path) == set()


@given(st.lists(st.sampled_from(["edit", "forget", "undo", "vote", "keyed"]), max_size=6), st.booleans())
def test_s74_whatever_a_record_went_through(script: list[str], hard_prune: bool) -> None:
    """No answer, now or in the past, has anything of a purged record; everything else answers as before."""
    with open_store() as store:
        other = store.remember("another tea", key="other")
        record = store.remember("secret tea", key="k")
        for step in script:
            if step == "undo":
                store.undo(record.id)
            elif step == "forget":
                store.forget(record.id)
            elif step == "keyed":
                store.remember("secret again", key="k")
            elif store.get(record.id) is not None:
                store.edit(record.id, content="secret two") if step == "edit" else store.feedback(record.id, "up")
        if hard_prune:
            everything: dict[str, Any] = {"dry_run": False, "confirm": True, "hard": True, "yes_i_really_want_to_delete": True}
            assert store.prune(keywords="secret", **everything).count == 1
        else:
            assert store.purge(record.id) == 1
        assert store.purge(record.id) == 0
        for version in range(1, store.version + 1):
            past = store.at(version)
            assert contents(past.list()) == contents(past.search("tea")) == contents(past.recall("secret")) == ["another tea"]
        assert store.get(other.id) == other
        assert store.verify().ok


@pytest.mark.torture
def test_s74_at_a_hundred_thousand_records(path: Path) -> None:
    took = check(path, 100_000)
    print(f"three purges among 100,000 records took {took:.1f} s")
    assert took < 60
