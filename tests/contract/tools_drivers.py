"""Drivers of the contract suite through a toolbox, by itself and in both directions with the core. No test of its own.

A tool of facts knows ids and no keys: a key is kept as a label. The tools of keys have them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from indelible.base.record import Record
from indelible.errors import InvalidInput, StoreClosed
from indelible.faces.store import ScopedView
from indelible.testing.contract import Driver, Happened, Match, Power
from indelible.testing.contract.drivers.base import StoreDriver, happened
from indelible.tools import ALL_TOOLS, Policy, Toolbox
from indelible.tools.provenance import labels_of

MOST = 50
LABEL = "key"
_LINE = re.compile(r'v(\d+) \S+ (?:(forgotten)|(voted) \w+|(?:created|revised|restored) (".*"))(?: \(superseded\))?')
_PROGRAM = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
from indelible.tools import ALL_TOOLS, Toolbox
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    toolbox = Toolbox(store.scope("agent", "user"), tools=ALL_TOOLS)
"""


class ToolsBase(StoreDriver):
    """What all of them have in common."""

    facts: ScopedView

    def open(self) -> None:
        super().open()
        self.offer(self.store.scope("agent", "user"))

    def offer(self, facts: ScopedView) -> None:
        """Make the tools of a view."""
        self.facts = facts
        self.toolbox = Toolbox(facts, tools=ALL_TOOLS, policy=Policy(max_writes=None, max_chars=None, screen=None))
        self.ids: dict[str, list[str]] = getattr(self, "ids", {})

    def call(self, name: str, **arguments: Any) -> str:
        """What a tool answers; an answer that says what was wrong is the suite's error."""
        result = self.toolbox.call(name, arguments)
        if result.is_error and "closed" in result.text:
            raise StoreClosed(result.text)
        if result.is_error:
            raise InvalidInput(result.text)
        return result.text

    def answer(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.call(name, **arguments))

    def history(self, key: str) -> list[Happened]:
        return [_told(line) for id in self.ids.get(key, ()) for line in self.answer("history", id=id)]

    def note(self, key: str, id: str) -> None:
        """What a key's facts were called, one after the other."""
        known = self.ids.setdefault(key, [])
        known += [] if id in known else [id]


class ToolboxDriver(ToolsBase):
    """The tools of facts, for everything that there is a tool for."""

    face_powers = StoreDriver.store_powers | {
        Power.ORDER, Power.HISTORY, Power.VOTES, Power.FILTERS, Power.SEARCH, Power.RECALL, Power.SCOPES,
    }  # fmt: skip
    elsewhere_program = _PROGRAM + '    toolbox.call("remember", {"content": text, "metadata": {"key": key}})\n'

    # Reading

    def found(self, key: str) -> list[Mapping[str, Any]]:
        """What the tools show under a label."""
        shown: list[Mapping[str, Any]] = self.answer("list", filters={LABEL: key}, limit=MOST)
        return shown

    def get(self, key: str) -> str | None:
        found = self.found(key)
        return found[0]["content"] if found else None

    def keys(self) -> list[str]:
        return [str(record.metadata[LABEL]) for record in self.facts.list()]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.answer("search", query=words, limit=MOST if limit is None else limit)
        return [Match(hit["metadata"][LABEL], None) for hit in hits]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        hits = self.answer("search_semantic", query=query, limit=MOST if limit is None else limit)
        return [Match(hit["metadata"][LABEL], hit["score"]) for hit in hits]

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        shown = self.answer("list", filters=dict(filters), limit=MOST)
        return [hit["metadata"][LABEL] for hit in reversed(shown)]

    # Writing

    def remember(self, key: str, text: str) -> None:
        self.remember_with(key, text, {})

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        found, labels = self.found(key), {**metadata, LABEL: key}
        if found:
            made = self.answer("edit", id=found[0]["id"], content=text, metadata=labels)
        else:
            made = self.answer("remember", content=text, metadata=labels)
        self.note(key, made["id"])

    def forget(self, key: str) -> None:
        for found in self.found(key):
            self.answer("forget", id=found["id"])

    def vote(self, key: str, vote: str) -> None:
        self.answer("feedback", id=self.ids[key][-1], vote=vote)

    def within(self, whose: str) -> Driver:
        return ScopedToolbox(self, self.store.scope("agent", whose))


class ScopedToolbox(ToolboxDriver):
    """The same for another user."""

    def __init__(self, whole: ToolboxDriver, facts: ScopedView) -> None:
        self.store, self.clock = whole.store, whole.clock
        self.powers = ToolboxDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}
        self.offer(facts)


def _told(line: str) -> Happened:
    found = _LINE.fullmatch(line)
    assert found is not None, line
    op = "forget" if found[2] else "vote" if found[3] else "remember"
    return Happened(int(found[1]), op, json.loads(found[4]) if found[4] else None)


def core_record(facts: ScopedView, key: str) -> Record | None:
    """What is kept under a label, read by the core."""
    records = facts.list(filters={LABEL: key})
    return records[0] if records else None


class WrittenByToolbox(ToolboxDriver):
    """Written with the tools, read by the core."""

    def get(self, key: str) -> str | None:
        record = core_record(self.facts, key)
        return None if record is None else record.content

    def history(self, key: str) -> list[Happened]:
        return [line for id in self.ids.get(key, ()) for line in happened(self.facts.history(id))]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.facts.search(words, limit=MOST if limit is None else limit)
        return [Match(str(hit.metadata[LABEL]), hit.rank_score) for hit in hits]

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        hits = self.facts.recall(query, limit=MOST if limit is None else limit)
        return [Match(str(hit.metadata[LABEL]), hit.score) for hit in hits]

    def keys_where(self, filters: Mapping[str, Any]) -> list[str]:
        return [str(record.metadata[LABEL]) for record in self.facts.list(filters=dict(filters))]


class ReadByToolbox(ToolboxDriver):
    """Written by the core, read with the tools."""

    def remember_with(self, key: str, text: str, metadata: Mapping[str, Any]) -> None:
        labels = {**metadata, LABEL: key}
        found = core_record(self.facts, key)
        made = self.facts.edit(found.id, text, labels) if found else self.facts.remember(text, metadata=labels)
        assert labels_of(made.metadata) == labels
        self.note(key, made.id)

    def forget(self, key: str) -> None:
        found = core_record(self.facts, key)
        if found is not None:
            self.facts.forget(found.id)

    def vote(self, key: str, vote: str) -> None:
        self.facts.feedback(self.ids[key][-1], "up" if vote == "up" else "down")


class KeyToolsDriver(ToolsBase):
    """``remember_fact`` and ``recall_fact``: values under keys, which are facts for everything else."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.HISTORY, Power.SCOPES}
    elsewhere_program = _PROGRAM + '    toolbox.call("remember_fact", {"key": key, "value": text})\n'

    def _record(self, key: str) -> Record | None:
        records = self.facts.list(key=key)
        return records[0] if records else None

    def get(self, key: str) -> str | None:
        value = self.call("recall_fact", key=key)
        return None if value == "(unknown)" else value

    def keys(self) -> list[str]:
        return [record.key for record in self.facts.list() if record.key is not None]

    def history(self, key: str) -> list[Happened]:
        lines = super().history(key)
        return [Happened(line.version, line.op, line.text and line.text.removeprefix(f"{key}: ")) for line in lines]

    def remember(self, key: str, text: str) -> None:
        assert self.call("remember_fact", key=key, value=text) == "ok"
        record = self._record(key)
        assert record is not None
        self.note(key, record.id)

    def forget(self, key: str) -> None:
        record = self._record(key)
        if record is not None:
            self.answer("forget", id=record.id)

    def within(self, whose: str) -> Driver:
        return ScopedKeyTools(self, self.store.scope("agent", whose))


class ScopedKeyTools(KeyToolsDriver):
    """The same for another user."""

    def __init__(self, whole: KeyToolsDriver, facts: ScopedView) -> None:
        self.store, self.clock = whole.store, whole.clock
        self.powers = frozenset({Power.ORDER, Power.HISTORY, Power.VERSION})
        self.offer(facts)
