"""Drivers of the contract suite for facts: the retriever over them and the tools, and twins that read or write through the core."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from llama_index.core.schema import QueryBundle

from indelible.base.record import UNSET
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from indelible.testing.contract.drivers.facts import FactReader, FactsDriver, FactVerbs
from indelible.tools import Policy
from llama_index_indelible import IndelibleRetriever, IndelibleToolSpec

_ALL = 10**6
MOST = 50
"""More than this no tool gives."""


# The retriever


class RetrievedReader(FactReader):
    """Facts found by the retriever; a node has the id of its fact.

    Attributes:
        memory: what the retriever is given.
        options: point in time and scope.
    """

    memory: Any
    options: Mapping[str, Any]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return self._retrieved(words, limit, "text_search")

    def recall(self, query: str, limit: int | None = None) -> list[Match]:
        return self._retrieved(query, limit, "default")

    def _retrieved(self, query: str, limit: int | None, mode: str) -> list[Match]:
        retriever = IndelibleRetriever(self.memory, mode=mode, similarity_top_k=_ALL if limit is None else limit, **self.options)
        keys = {record.id: record.key for record in self.facts.list()}
        return [Match(keys[hit.node_id], hit.score) for hit in retriever.retrieve(QueryBundle(query))]


class PastRetrieved(RetrievedReader):
    """Facts found in the past."""

    def __init__(self, now: Any, when: When) -> None:
        self.facts = now.facts.at(when)
        self.memory, self.options = now.memory, {**now.options, "as_of": when}


class RetrieverDriver(RetrievedReader, FactsDriver):
    """Written by the core, found through ``IndelibleRetriever``."""

    def open(self) -> None:
        super().open()
        self.memory, self.options = self.store, {}

    def at(self, when: When) -> Reader:
        return PastRetrieved(self, when)

    def within(self, whose: str) -> Driver:
        return _ScopedRetrieved(self, whose)


class _ScopedRetrieved(RetrievedReader, FactVerbs):
    """One user's, found in everybody's by a retriever that is told whose to find."""

    powers = FactsDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}

    def __init__(self, whole: RetrieverDriver, whose: str) -> None:
        self.facts = whole.store.scope(agent_id="agent", user_id=whose)
        self.memory, self.options = whole.store, {"user_id": whose}
        self.clock, self.ids = whole.clock, {}
        self._whole = whole

    def at(self, when: When) -> Reader:
        return PastRetrieved(self, when)

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


# Tools


class ToolsDriver(StoreDriver):
    """The tools, written and read. A tool knows ids and no keys: here each key is a user, told by the program, with one fact.

    Attributes:
        where: the users' workspace; ``None`` for any.
        ids: of the facts that a user had, in order.
    """

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.PAST, Power.HISTORY, Power.SEARCH, Power.SCOPES}
    elsewhere_program = """
import sys
from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder
from llama_index_indelible import IndelibleToolSpec
path, now, key, text = sys.argv[1:]
with MemoryStore(path, embedder=HashEmbedder(), clock=FakeClock(int(now))) as store:
    IndelibleToolSpec(store=store, agent_id="agent", user_id=key).to_tool_list(["remember"])[0].call(content=text)
"""
    where: str | None = None
    ids: dict[str, list[str]]

    def open(self) -> None:
        super().open()
        self.ids = getattr(self, "ids", {})

    def call(self, name: str, user_id: str | None, **arguments: Any) -> Any:
        """What a tool answers for a user, or for any."""
        unscreened = Policy(max_writes=None, max_chars=None, screen=None)  # the suite writes hostile texts on purpose
        where = self.where or UNSET
        spec = IndelibleToolSpec(store=self.store, agent_id="agent", user_id=user_id, workspace_id=where, policy=unscreened)
        (tool,) = spec.to_tool_list([name])
        return json.loads(str(tool.call(**arguments).content))

    def facts(self) -> Any:
        """All users' facts, as the core has them."""
        return self.store.scope(agent_id="agent", workspace_id=self.where or UNSET)

    def noted(self, key: str, id: str) -> None:
        known = self.ids.setdefault(key, [])
        if id not in known:
            known.append(id)

    def _found(self, key: str) -> Any:
        return self.call("recall", key, query="text", limit=MOST)

    def remember(self, key: str, text: str) -> None:
        found = self._found(key)
        done = self.call("edit", key, id=found[0]["id"], content=text) if found else self.call("remember", key, content=text)
        self.noted(key, done["id"])

    def get(self, key: str) -> str | None:
        found = self._found(key)
        return found[0]["content"] if found else None

    def forget(self, key: str) -> None:
        for found in self._found(key):
            self.call("forget", key, id=found["id"])

    def keys(self) -> list[str]:
        return _Users(self.facts()).keys()

    def history(self, key: str) -> list[Happened]:
        told = [line for id in self.ids.get(key, []) for line in self.call("history", key, id=id)]
        return [_read(line) for line in told]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        found = self.call("search", None, query=words, limit=MOST if limit is None else limit)
        users = {record.id: record.scope.user_id for record in self.facts().list()}
        return [Match(users[hit["id"]], None) for hit in found]

    def at(self, when: When) -> Reader:
        return _Users(self.facts().at(when))

    def within(self, whose: str) -> Driver:
        return _ScopedTools(self, whose)


_LINE = re.compile(r'v(\d+) \S+ (\w+)(?: (".*"))?')


def _read(line: str) -> Happened:
    """A line of a history, which is meant for models and people."""
    told = _LINE.match(line)
    assert told is not None
    return Happened(int(told[1]), "forget" if told[2] == "forgotten" else "remember", json.loads(told[3]) if told[3] else None)


class _ScopedTools(ToolsDriver):
    """The same in one workspace."""

    powers = ToolsDriver.face_powers - {Power.SCOPES, Power.VERIFY, Power.TRANSFER}

    def __init__(self, whole: ToolsDriver, where: str) -> None:
        self.store, self.clock, self.where = whole.store, whole.clock, where
        self.ids = {}


class _Users(Reader):
    """Facts by their user as the core has them, now or in the past; with no more scores than a tool says."""

    def __init__(self, facts: Any) -> None:
        self.facts = facts

    def get(self, key: str) -> str | None:
        found = self.facts.list(user_id=key)
        return str(found[-1].content) if found else None

    def keys(self) -> list[str]:
        return list(dict.fromkeys(record.scope.user_id for record in self.facts.list()))

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.facts.search(words, limit=_ALL if limit is None else limit)
        return [Match(hit.record.scope.user_id, None) for hit in hits]


class WrittenByToolsDriver(ToolsDriver):
    """Written with the tools, read by the core."""

    def get(self, key: str) -> str | None:
        return _Users(self.facts()).get(key)

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        return _Users(self.facts()).search(words, limit)

    def history(self, key: str) -> list[Happened]:
        return [line for id in self.ids.get(key, []) for line in happened(self.facts().history(id))]


class ReadByToolsDriver(ToolsDriver):
    """Written by the core, read with the tools."""

    face_powers = ToolsDriver.face_powers | {Power.EXPIRY}

    def remember(self, key: str, text: str, **more: Any) -> None:
        self.noted(key, self.facts().remember(text, user_id=key, key="fact", **more).id)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.remember(key, text, ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        found = self.facts().list(user_id=key, include_expired=True)
        return found[-1].content if found else None

    def forget(self, key: str) -> None:
        for record in self.facts().list(user_id=key):
            self.facts().forget(record.id)
