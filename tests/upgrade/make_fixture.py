"""Freeze a store of the release that is about to go out: ``python -m tests.upgrade.make_fixture``.

Makes ``stores/<version>/store.db`` and ``answers.json`` beside it. Run once per release, before it is published; what lies there of a
published release is never made again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from indelible import Delete, MemoryStore, Part, Put, __version__
from indelible.testing import FakeClock, HashEmbedder, SequentialIds
from tests.upgrade.answers import END_US, VECTORS, answers, opened

STORES = Path(__file__).with_name("stores")


def fill(path: Path, clock: FakeClock) -> None:
    """A store with something of everything in it."""
    with MemoryStore(path, clock=clock, new_id=SequentialIds(), embedder=HashEmbedder(VECTORS)) as store:
        _remember_facts(store, clock)
        _keep_values(store, clock)
        _keep_notes(store, clock)
        store.vacuum()


def _remember_facts(store: MemoryStore, clock: FakeClock) -> None:
    tea = store.remember("Ada prefers tea", user_id="ada", metadata={"kind": "drink", "sure": 0.9}, source="user")
    clock.advance(ms=1000)
    store.remember("Grace drinks coffee, never green tea", user_id="grace", agent_id="helper", metadata={"kind": "drink"}, key="drink")
    store.remember("ünïcode: 緑茶が好きです 🍵 e\u0301", user_id="ada", metadata={"ключ": "значение", "big": 2**53 + 1})
    soon = store.remember("A code that expires within the hour", user_id="ada", ttl_ms=3_600_000)
    store.remember("A promise that lasts a year", user_id="ada", ttl_ms=365 * 86_400_000, occurred_at=datetime(2025, 12, 24, tzinfo=UTC))
    clock.advance(ms=1000)
    store.edit(tea.id, "Ada prefers green tea", metadata={"kind": "drink", "sure": 1})
    store.feedback(tea.id, "up", note="said twice")
    wrong = store.remember("Ada lives in Rome", user_id="ada", source="https://example.com/page")
    store.forget(wrong.id)
    store.undo(wrong.id)
    store.edit(wrong.id, "Ada lives in Paris")
    store.restore(wrong.id, store.history(wrong.id)[0].version)
    secret = store.remember("The secret word is zephyrine", user_id="ada")
    store.edit(secret.id, "The secret word is quixotic")
    store.purge(secret.id, "secret")
    store.remember("She said so on a walk", user_id="ada", context=[tea, soon])
    store.remember("sent twice", user_id="ada", idempotency_key="once")
    store.remember("sent twice", user_id="ada", idempotency_key="once")
    store.remember_many([f"tea number {number}" for number in range(20)], org_id="org", workspace_id="space")
    store.withdraw("https://example.com/page")


def _keep_values(store: MemoryStore, clock: FakeClock) -> None:
    memory, ledger = store.memory(), store.memory("ledger")
    for value in (1, 1.0, True, None, 2**100, -(2**63) - 1, 0.1, -0.0, "", "line\nbreak", ["nested", [None, [1.5]]]):
        clock.advance(ms=1)
        memory.remember("value", value)
    memory.remember("", "the empty key")
    memory.remember(" spaced ", 1)
    memory.remember("ключ 🔑", "значение")
    ledger.remember("balance", 10**40)
    ledger.remember("gone", 1)
    ledger.forget("gone")
    ledger.forget("never there")
    memory.forget("value")
    memory.remember("value", "back")


def _keep_notes(store: MemoryStore, clock: FakeClock) -> None:
    notes = store.collection("notes")
    parts = [Part("p1", "first part", (1.0, 0.0)), Part("p2", "second part", (0.0, 1.0))]
    notes.put("a", "first", value={"nested": [1, {"deep": None}]}, parts=parts, parent="book")
    clock.advance(ms=1000)
    notes.put("a", "second", expected_version=store.version)
    notes.batch([Put("b", "batched"), Put("c", "batched too"), Delete("a")])
    notes.undo("a")
    notes.put("short", "lived", ttl_ms=1000)
    store.collection("notes", "deeper", user_id="ada").put("a", "another scope and namespace")
    store.collection("gone").put("x", "purged with its namespace")
    store.collection("gone").purge("x")
    store.collection("cache", cache=True).put_many({"k": [1, "two"], "l": None})


def freeze(folder: Path) -> None:
    """Make the store and write down what it says."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    path = folder / "store.db"
    fill(path, FakeClock())
    # Asked of a copy: the answers must not depend on what asking leaves in the file.
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name, "copy.db")
        shutil.copy(path, copy)
        with opened(copy) as store:
            found = answers(store)
    (folder / "answers.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="ascii")
    Path(f"{path}.lock").unlink()


if __name__ == "__main__":
    freeze(STORES / __version__)
    sys.stdout.write(f"wrote {STORES / __version__}; answers as of {END_US} microseconds\n")
