"""Drivers of the contract suite through what chains remember by: the conversation, and the facts recalled of it.

A conversation has no keys: there, each key is a session, and its text what was said last. Facts of a chain have none either: there, each
key is a user, and its text what was said last as well.
"""

from __future__ import annotations

import uuid
from typing import Any

from langchain_core.messages import HumanMessage

from indelible import Collection
from indelible.testing.contract import Driver, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver
from langchain_indelible import IndelibleChatMessageHistory, IndelibleMemory
from tests.interop.langchain.document_drivers import PROGRAM

# Conversations


class SessionVerbs(Driver):
    """Sessions of one scope.

    Attributes:
        whose: their user.
    """

    store: Any
    whose: str | None = None

    def _session(self, key: str) -> IndelibleChatMessageHistory:
        return IndelibleChatMessageHistory(self.store, key, user_id=self.whose)

    def _records(self, key: str) -> Collection:
        """The same as the core has them."""
        found: Collection = self.store.collection("chat", key, user_id=self.whose)
        return found

    def get(self, key: str) -> str | None:
        messages = self._session(key).messages
        return str(messages[-1].text) if messages else None

    def keys(self) -> list[str]:
        return _sessions_of(self.store.collection("chat", user_id=self.whose))

    def remember(self, key: str, text: str) -> None:
        self._session(key).add_user_message(text)

    def forget(self, key: str) -> None:
        self._session(key).clear()

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        IndelibleChatMessageHistory(self.store, key, user_id=self.whose, ttl_ms=ttl_ms).add_messages([HumanMessage(text)])

    def get_expired(self, key: str) -> str | None:
        records = self._records(key).list(include_expired=True)
        return records[-1].content if records else None

    def at(self, when: When) -> Reader:
        return PastSessions(self.store, self.whose, when)


def _sessions_of(chats: Collection) -> list[str]:
    """Names of sessions, in the order in which they began."""
    return list(dict.fromkeys(record.namespace[-1] for record in chats.list(prefix=True)))


class PastSessions(Reader):
    """Sessions as they were."""

    def __init__(self, store: Any, whose: str | None, when: When) -> None:
        self._store, self._whose, self._when = store, whose, when

    def get(self, key: str) -> str | None:
        messages = IndelibleChatMessageHistory(self._store, key, user_id=self._whose).at(self._when).messages
        return str(messages[-1].text) if messages else None

    def keys(self) -> list[str]:
        return _sessions_of(self._store.collection("chat", user_id=self._whose).at(self._when))


class HistoryDriver(SessionVerbs, StoreDriver):
    """``IndelibleChatMessageHistory``, reads and writes."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.PAST, Power.EXPIRY, Power.SCOPES}
    elsewhere_program = PROGRAM + "langchain_indelible.IndelibleChatMessageHistory(store, key).add_user_message(text)"

    def within(self, whose: str) -> Driver:
        return _ScopedSessions(self, whose)


class _ScopedSessions(SessionVerbs):
    """The same for one user."""

    powers = frozenset({Power.ORDER, Power.PAST, Power.EXPIRY, Power.VERSION})

    def __init__(self, whole: HistoryDriver, whose: str) -> None:
        self.store, self.clock, self.whose = whole.store, whole.clock, whose
        self._whole = whole

    def version(self) -> int:
        return self._whole.version()

    def close(self) -> None:
        self._whole.close()


class WrittenByHistoryDriver(HistoryDriver):
    """Written through the history, read by the core."""

    def get(self, key: str) -> str | None:
        return _last(self._records(key))

    def at(self, when: When) -> Reader:
        return _PastRecords(self.store, when)


class _PastRecords(Reader):
    """Messages as the core had them."""

    def __init__(self, store: Any, when: When) -> None:
        self._store, self._when = store, when

    def get(self, key: str) -> str | None:
        return _last(self._store.collection("chat", key).at(self._when))

    def keys(self) -> list[str]:
        return _sessions_of(self._store.collection("chat").at(self._when))


def _last(messages: Collection) -> str | None:
    records = messages.list()
    return records[-1].content if records else None


class ReadByHistoryDriver(HistoryDriver):
    """Written by the core, read through the history."""

    def remember(self, key: str, text: str) -> None:
        self._records(key).put(str(uuid.uuid4()), text)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self._records(key).put(str(uuid.uuid4()), text, ttl_ms=ttl_ms)

    def forget(self, key: str) -> None:
        for record in self._records(key).list(include_expired=True):
            self._records(key).delete(record.key or "")


# A chain's memory, as history


class ChainMemoryDriver(StoreDriver):
    """``IndelibleMemory`` as a chain loads and saves it. A turn is two events, what was said and the answer, so it declares no version."""

    face_powers = frozenset({Power.ORDER, Power.VERIFY, Power.SCOPES, Power.TRANSFER})
    elsewhere_program = (
        PROGRAM + "langchain_indelible.IndelibleMemory(store=store, session_id=key).save_context({'input': text}, {'output': ''})"
    )
    whose: str | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.powers -= {Power.VACUUM, Power.BACK_DOOR}  # what is said of them is said of versions

    def _memory(self, key: str) -> IndelibleMemory:
        return IndelibleMemory(store=self.store, session_id=key, user_id=self.whose, return_messages=True)

    def _records(self, key: str) -> Collection:
        found: Collection = self.store.collection("chat", key, user_id=self.whose)
        return found

    def get(self, key: str) -> str | None:
        messages = self._memory(key).load_memory_variables({})["history"]
        return str(messages[-2].text) if messages else None

    def keys(self) -> list[str]:
        return _sessions_of(self.store.collection("chat", user_id=self.whose))

    def remember(self, key: str, text: str) -> None:
        self._memory(key).save_context({"input": text}, {"output": ""})

    def forget(self, key: str) -> None:
        self._memory(key).clear()

    def within(self, whose: str) -> Driver:
        return _ScopedChain(self, whose)

    def version(self) -> int:
        self._check(Power.VERSION)
        return super().version()

    def vacuum(self) -> None:
        self._check(Power.VACUUM)


class _ScopedChain(ChainMemoryDriver):
    """The same for one user."""

    def __init__(self, whole: ChainMemoryDriver, whose: str) -> None:
        self.store, self.clock, self.whose = whole.store, whole.clock, whose
        self.powers = frozenset({Power.ORDER})


class WrittenByChainDriver(ChainMemoryDriver):
    """Saved by a chain, read by the core."""

    def get(self, key: str) -> str | None:
        records = self._records(key).list()
        return records[-2].content if records else None


class ReadByChainDriver(ChainMemoryDriver):
    """Written by the core, loaded by a chain."""

    def remember(self, key: str, text: str) -> None:
        said, answered = (str(uuid.uuid4()) for _ in range(2))
        self._records(key).put(said, text)
        self._records(key).put(answered, "", value={}, metadata={"role": "assistant"})

    def forget(self, key: str) -> None:
        for record in self._records(key).list():
            self._records(key).delete(record.key or "")


# A chain's memory, as recalled facts


class ChainFactsDriver(StoreDriver):
    """``IndelibleMemory`` with ``facts_key``, loaded without a question, when it shows what was written last."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.SCOPES}
    elsewhere_program = PROGRAM + (
        "own = {'memory_key': None, 'facts_key': 'facts', 'agent_id': 'agent', 'user_id': key}\n"
        "    langchain_indelible.IndelibleMemory(store=store, **own).save_context({'input': text}, {'output': ''})"
    )
    where: str | None = None

    def _memory(self, key: str) -> IndelibleMemory:
        return IndelibleMemory(
            store=self.store, memory_key=None, facts_key="facts", return_docs=True, agent_id="agent", user_id=key, workspace_id=self.where
        )

    def _facts(self, key: str) -> Any:
        """The same as the core has them."""
        if self.where is None:
            return self.store.scope(agent_id="agent", user_id=key)
        return self.store.scope(agent_id="agent", user_id=key, workspace_id=self.where)

    def get(self, key: str) -> str | None:
        found = self._memory(key).load_memory_variables({})["facts"]
        return str(found[0].page_content) if found else None

    def keys(self) -> list[str]:
        facts = self.store if self.where is None else self.store.scope(workspace_id=self.where)
        return list(dict.fromkeys(str(record.scope.user_id) for record in facts.list()))

    def remember(self, key: str, text: str) -> None:
        self._memory(key).save_context({"input": text}, {"output": ""})

    def forget(self, key: str) -> None:
        self._memory(key).clear()

    def within(self, whose: str) -> Driver:
        return _ScopedChainFacts(self, whose)


class _ScopedChainFacts(ChainFactsDriver):
    """The same in one workspace."""

    def __init__(self, whole: ChainFactsDriver, where: str) -> None:
        self.store, self.clock, self.where = whole.store, whole.clock, where
        self.powers = frozenset({Power.ORDER, Power.VERSION})


class WrittenByChainFactsDriver(ChainFactsDriver):
    """Saved by a chain, read by the core."""

    def get(self, key: str) -> str | None:
        records = self._facts(key).list()
        return records[-1].content if records else None


class ReadByChainFactsDriver(ChainFactsDriver):
    """Written by the core, loaded by a chain."""

    def remember(self, key: str, text: str) -> None:
        self._facts(key).remember(text)

    def forget(self, key: str) -> None:
        for record in self._facts(key).list():
            self._facts(key).forget(record.id)
