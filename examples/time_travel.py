"""The past: a store at a version or a time, undo, restore, and taking back what a source wrote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from indelible import MemoryStore, compose_prompt
from indelible.testing import FakeClock, HashEmbedder

clock = FakeClock()  # a program uses the machine's clock; here the days go by faster
with MemoryStore(":memory:", clock=clock, embedder=HashEmbedder()) as store:
    monday = datetime.fromtimestamp(clock.now_us() / 1_000_000, UTC)
    city = store.remember("Rachel lives in Chicago", source="rachel")
    clock.advance(ms=24 * 3600 * 1000)
    store.edit(city.id, content="Rachel lives in the suburbs", source="rachel")
    store.remember("Rachel lives on the moon", source="a forum")

    # At a version: the number of an event in the log.
    print(store.version, [record.content for record in store.at(1).list()])
    # -> 3 ['Rachel lives in Chicago']

    # At a time: everything that had arrived by then.
    print([record.content for record in store.at(monday + timedelta(hours=1)).list()])
    # -> ['Rachel lives in Chicago']
    print(store.at(monday - timedelta(hours=1)).list())
    # -> []

    # Recall, search and prompts work in the past as they did then.
    past = store.at(city.version)
    print([hit.content for hit in past.search("chicago")], [hit.content for hit in store.search("chicago")])
    # -> ['Rachel lives in Chicago'] []
    print(compose_prompt("Where does Rachel live?", past))
    # -> Known information from memory:
    # -> - Rachel lives in Chicago (2026-01-01, rachel)
    # ->
    # -> Where does Rachel live?

    # A source turns out to lie: everything it wrote is forgotten at once, and nothing else.
    print(store.withdraw(source="a forum"), [record.content for record in store.list()])
    # -> 1 ['Rachel lives in the suburbs']

    # Undo and restore append the old state as a new version.
    undone = store.undo(city.id)
    print(undone.content if undone else None, undone.version if undone else None)
    # -> Rachel lives in Chicago 5
    print(store.restore(city.id, 2).content)
    # -> Rachel lives in the suburbs
    print([change.op.value for change in store.history(city.id)])
    # -> ['remember', 'revise', 'restore', 'restore']

    # The chain of hashes is derived again from what is stored.
    report = store.verify()
    print(report.ok, report.events)
    # -> True 6
