"""Stores, embedders and chat models as the tests of the adapters use them. No test of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from indelible import MemoryStore
from indelible.testing import FakeClock, HashEmbedder

USER: dict[str, Any] = {"agent_id": "helper", "user_id": "ada"}


def open_store(path: Path | str = ":memory:", **options: Any) -> MemoryStore:
    """A store with an embedder that needs no model."""
    return MemoryStore(path, **{"embedder": HashEmbedder(), **options})


def still_store(clock: FakeClock, path: Path | str = ":memory:") -> MemoryStore:
    """The same with a clock that stands still."""
    return open_store(path, clock=clock)


class WordEmbeddings(Embeddings):
    """Embeddings of LangChain over words, which note what they were asked for.

    Attributes:
        documents: every text embedded as a document, call by call.
        queries: every text embedded as a query.
    """

    def __init__(self, dim: int = 64, scale: float = 1.0) -> None:
        self._inner = HashEmbedder(dim)
        self._scale = scale
        self.model = f"words-{dim}"
        self.documents: list[list[str]] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents.append(list(texts))
        return [[self._scale * float(number) for number in row] for row in self._inner.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return [self._scale * float(number) for number in self._inner.embed_query(text)]


class ScriptedChatModel(BaseChatModel):
    """A chat model that says what it was told to say, in order; then the last again.

    Attributes:
        answers: texts, or whole messages with calls of tools.
        seen: the messages of each call.
    """

    answers: list[Any] = Field(default_factory=lambda: ["ok"])
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        answer = self.answers[min(len(self.seen), len(self.answers) - 1)]
        self.seen.append(list(messages))
        if callable(answer):
            answer = answer(messages)
        message = answer.model_copy() if isinstance(answer, BaseMessage) else AIMessage(content=answer)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedChatModel:
        self.tools.extend(tools)
        return self


def calling(name: str, **arguments: Any) -> AIMessage:
    """A model's message that calls a tool."""
    return AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}", "type": "tool_call"}])


def prompt_of(messages: Sequence[BaseMessage]) -> str:
    """All that a model was shown, as text."""
    return "\n".join(str(message.text) for message in messages)


def texts(found: Sequence[Document]) -> list[str]:
    """The texts of documents, in order."""
    return [document.page_content for document in found]


TAG = re.compile(r"<(memory-[0-9a-f]{16})>\n(.*)\n</\1>\Z", re.DOTALL)
"""The tag around a block, closed by its own name and by nothing else."""
