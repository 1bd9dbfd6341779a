"""Drivers of the contract suite through what agents remember by: tools, and the middleware.

A model knows ids and no keys: there, each key is a user, whose one fact is its text. Users are told to the run, never to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from indelible.errors import InvalidInput
from indelible.testing.contract import Driver, Happened, Match, Power, Reader
from indelible.testing.contract.driver import When
from indelible.testing.contract.drivers.base import StoreDriver, happened
from indelible.tools import Policy
from langchain_indelible import MemoryMiddleware, memory_tools
from tests.interop.langchain.document_drivers import PROGRAM
from tests.interop.langchain.models import TAG, ScriptedChatModel

_MOST = 50
UNSCREENED = Policy(max_writes=None, max_chars=None, screen=None)
"""Texts of the suite are hostile on purpose, and are to be written."""
_LINE = re.compile(r"v(\d+) \S+ (?:(forgotten)|(?:created|revised|restored) (\".*\"))(?: \(superseded\))?")


class UserFacts(StoreDriver):
    """Facts of one agent, a user for each key, as the core has them.

    Attributes:
        where: their workspace; ``None`` for any.
    """

    where: str | None = None

    def facts(self, user_id: str | None = None) -> Any:
        """The view of a user, or of all."""
        fields: dict[str, Any] = {"agent_id": "agent", "user_id": user_id, "workspace_id": self.where}
        return self.store.scope(**{name: value for name, value in fields.items() if value is not None})

    def keys(self) -> list[str]:
        return list(dict.fromkeys(str(record.scope.user_id) for record in self.facts().list()))

    def core_text(self, key: str) -> str | None:
        """What is remembered of a user, read by the core."""
        records = self.facts(key).list()
        return records[-1].content if records else None

    def core_remember(self, key: str, text: str) -> None:
        """Written by the core."""
        self.facts(key).remember(text, key="fact")

    def core_forget(self, key: str) -> None:
        for record in self.facts(key).list():
            self.facts(key).forget(record.id)


# Tools


class ToolsDriver(UserFacts):
    """``memory_tools``, for everything that there is a tool for."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.HISTORY, Power.SEARCH, Power.SCOPES}
    elsewhere_program = (
        PROGRAM + "{tool.name: tool for tool in langchain_indelible.memory_tools(store, agent_id='agent')}['remember'].invoke("
        "{'content': text}, {'configurable': {'user_id': key}})"
    )

    def open(self) -> None:
        super().open()
        self.offer()

    def offer(self) -> None:
        """Make the tools, for one user a run and for all."""
        fixed: dict[str, Any] = {"agent_id": "agent", "policy": UNSCREENED} | ({} if self.where is None else {"workspace_id": self.where})
        self._tools = {tool.name: tool for tool in memory_tools(self.store, **fixed)}
        self._tools_for_all = {tool.name: tool for tool in memory_tools(self.store, user_id=None, **fixed)}
        self._ids: dict[str, list[str]] = getattr(self, "_ids", {})

    def _call(self, name: str, key: str | None, **arguments: Any) -> Any:
        """What a tool answers; an answer that says what was wrong is the suite's ``InvalidInput``."""
        tools = self._tools_for_all if key is None else self._tools
        call = {"type": "tool_call", "id": "call", "name": name, "args": arguments}
        message = tools[name].invoke(call, {"configurable": {} if key is None else {"user_id": key}})
        if message.status == "error":
            raise InvalidInput(message.content)
        return json.loads(message.content)

    def _found(self, key: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self._call("recall", key, query="text", limit=_MOST)
        return found

    def get(self, key: str) -> str | None:
        found = self._found(key)
        return found[0]["content"] if found else None

    def remember(self, key: str, text: str) -> None:
        found = self._found(key)
        made = self._call("edit", key, id=found[0]["id"], content=text) if found else self._call("remember", key, content=text)
        self._note(key, made["id"])

    def _note(self, key: str, id: str) -> None:
        """What a key's facts were called, one after the other."""
        known = self._ids.setdefault(key, [])
        known += [] if id in known else [id]

    def forget(self, key: str) -> None:
        for found in self._found(key):
            self._call("forget", key, id=found["id"])

    def history(self, key: str) -> list[Happened]:
        lines = [line for id in self._ids.get(key, ()) for line in self._call("history", key, id=id)]
        return [_told(line) for line in lines]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        found = self._call("search", None, query=words, limit=_MOST if limit is None else limit)
        owners = {record.id: str(record.scope.user_id) for record in self.facts().list()}
        return [Match(owners[hit["id"]], None) for hit in found]

    def within(self, whose: str) -> Driver:
        return _ScopedTools(self, whose)


def _told(line: str) -> Happened:
    found = _LINE.fullmatch(line)
    assert found is not None, line
    return Happened(int(found[1]), "forget") if found[2] else Happened(int(found[1]), "remember", json.loads(found[3]))


class _ScopedTools(ToolsDriver):
    """The same in one workspace."""

    def __init__(self, whole: ToolsDriver, where: str) -> None:
        self.store, self.clock, self.where = whole.store, whole.clock, where
        self.powers = ToolsDriver.face_powers & {Power.ORDER, Power.HISTORY, Power.SEARCH, Power.VERSION}
        self.offer()


class WrittenByToolsDriver(ToolsDriver):
    """Written with the tools, read by the core."""

    def get(self, key: str) -> str | None:
        return self.core_text(key)

    def history(self, key: str) -> list[Happened]:
        return [line for id in self._ids.get(key, ()) for line in happened(self.facts(key).history(id))]

    def search(self, words: str, limit: int | None = None) -> list[Match]:
        hits = self.facts().search(words, limit=_MOST if limit is None else limit)
        return [Match(str(hit.record.scope.user_id), hit.rank_score) for hit in hits]


class ReadByToolsDriver(ToolsDriver):
    """Written by the core, read with the tools."""

    def remember(self, key: str, text: str) -> None:
        found = self.facts(key).list()
        self._note(key, (self.facts(key).edit(found[0].id, text) if found else self.facts(key).remember(text)).id)

    def forget(self, key: str) -> None:
        self.core_forget(key)


# The middleware


@dataclass
class Context:
    """What an agent's run is told."""

    user_id: str


def agent_over(memory: Any, model: ScriptedChatModel, **options: Any) -> Any:
    """An agent that shows all it remembers, and answers nothing."""
    middleware = MemoryMiddleware(memory, limit=None, max_tokens=None, **options)
    return create_agent(model, tools=[], middleware=[middleware], context_schema=Context)


def shown(model: ScriptedChatModel) -> list[str]:
    """The memories that stood in the system message of the model's last call, as they stood there."""
    system = model.seen[-1][0]
    found = TAG.search(str(system.text)) if system.type == "system" else None
    if found is None:
        return []
    _, *lines = re.split(r"\n(?=- )", found[2])
    return [re.sub(r" \(\d{4}-\d\d-\d\d(, .*)?\)\Z", "", line.removeprefix("- ")) for line in lines]


class PastBlocks(Reader):
    """What an agent's model would have been shown."""

    def __init__(self, driver: UserFacts, when: When) -> None:
        self._driver, self._when = driver, when

    def get(self, key: str) -> str | None:
        model = ScriptedChatModel(answers=[""])
        past = self._driver.facts(key).at(self._when)
        agent_over(past, model).invoke({"messages": [HumanMessage("text?")]}, context=Context(key))
        return next(iter(shown(model)), None)

    def keys(self) -> list[str]:
        past = self._driver.facts().at(self._when)
        return [key for key in dict.fromkeys(str(record.scope.user_id) for record in past.list()) if self.get(key) is not None]


class ShownDriver(UserFacts):
    """Written by the core, shown to the model of an agent by ``MemoryMiddleware``."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.PAST, Power.EXPIRY, Power.SCOPES}
    elsewhere_program = PROGRAM + "store.scope(agent_id='agent', user_id=key).remember(text, key='fact')"

    def open(self) -> None:
        super().open()
        self.offer()

    def offer(self) -> None:
        self._model = ScriptedChatModel(answers=[""])
        self._agent = agent_over(self.facts(), self._model)

    def get(self, key: str) -> str | None:
        self._agent.invoke({"messages": [HumanMessage("text?")]}, context=Context(key))
        found = shown(self._model)
        assert len(found) <= 1  # one fact a user
        return found[0] if found else None

    def keys(self) -> list[str]:
        told = super().keys()
        return [key for key in told if self.get(key) is not None]

    def remember(self, key: str, text: str) -> None:
        self.core_remember(key, text)

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.facts(key).remember(text, key="fact", ttl_ms=ttl_ms)

    def get_expired(self, key: str) -> str | None:
        records = self.facts(key).list(include_expired=True)
        return records[-1].content if records else None

    def forget(self, key: str) -> None:
        self.core_forget(key)

    def at(self, when: When) -> Reader:
        return PastBlocks(self, when)

    def within(self, whose: str) -> Driver:
        return _ScopedShown(self, whose)


class _ScopedShown(ShownDriver):
    """The same in one workspace."""

    def __init__(self, whole: ShownDriver, where: str) -> None:
        self.store, self.clock, self.where = whole.store, whole.clock, where
        self.powers = frozenset({Power.ORDER, Power.PAST, Power.EXPIRY, Power.VERSION})
        self.offer()


class CapturedDriver(UserFacts):
    """Said to an agent and captured by ``MemoryMiddleware``, read by the core. Nothing else forgets: that is the core's."""

    face_powers = StoreDriver.store_powers | {Power.ORDER, Power.SCOPES}
    elsewhere_program = (
        """
from tests.interop.langchain.agent_drivers import Context, agent_over
from tests.interop.langchain.models import ScriptedChatModel
from langchain_core.messages import HumanMessage
"""
        + PROGRAM
        + (
            "agent = agent_over(store, ScriptedChatModel(answers=['']), capture=True, agent_id='agent')\n"
            "    agent.invoke({'messages': [HumanMessage(text)]}, context=Context(key))"
        )
    )

    def open(self) -> None:
        super().open()
        self.offer()

    def offer(self) -> None:
        self._agent = agent_over(self.facts(), ScriptedChatModel(answers=[""]), capture=True)

    def get(self, key: str) -> str | None:
        return self.core_text(key)

    def remember(self, key: str, text: str) -> None:
        self._agent.invoke({"messages": [HumanMessage(text)]}, context=Context(key))

    def forget(self, key: str) -> None:
        self.core_forget(key)

    def within(self, whose: str) -> Driver:
        return _ScopedCaptured(self, whose)


class _ScopedCaptured(CapturedDriver):
    """The same in one workspace."""

    def __init__(self, whole: CapturedDriver, where: str) -> None:
        self.store, self.clock, self.where = whole.store, whole.clock, where
        self.powers = frozenset({Power.ORDER, Power.VERSION})
        self.offer()
