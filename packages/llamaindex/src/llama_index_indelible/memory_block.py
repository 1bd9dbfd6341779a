"""A block of LlamaIndex's ``Memory``: what the short-term memory let go of, and what tools wrote, found again."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from indelible import InvalidInput, Known, MemoryStore, Rerank, memory_block
from indelible.embed.reranker import Reranker
from indelible.faces.store import ScopedView
from indelible.faces.threads import on_a_thread
from llama_index_indelible.messages import searched
from llama_index_indelible.opening import KeptModel, PathLike, opened, path_of

SessionField = Literal["agent_id", "user_id", "org_id", "workspace_id"]
_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant", MessageRole.CHATBOT: "assistant", MessageRole.MODEL: "assistant"}


class Shown(str):
    """The text of a block, with what it was made of.

    Attributes:
        known: the memories in it, the best first.
    """

    known: Known

    def __new__(cls, known: Known) -> Shown:
        """The text of what is known, as data in a tag of its own."""
        text = super().__new__(cls, known.tagged)
        text.known = known
        return text


class IndelibleMemoryBlock(KeptModel, BaseMemoryBlock[str]):
    """Keeps what users and assistants said when the short-term memory lets go of it, and shows of it what fits what the user said last.

    One block may serve many sessions at once: whose memories a call reaches is settled in that call, from what is bound here and the
    session it is for. A batch of messages that is delivered again as it was is kept once. Messages are never changed. Where a prompt gets
    too long, the memories that fit worst are left out, one by one. What is kept are facts of the store, with history, as everything there.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where the memories live, in place of a path: a store opened with an embedding model of yours.
        name, description, priority, accept_short_term_memory: as for every block. Blocks of priority 0 are never cut.
        agent_id, user_id, org_id, workspace_id: whose memories these are; what is left out is any.
        session_field: which of these is the session; ``None`` to remember and recall over all sessions, and facts without one.
        limit: most memories shown.
        max_tokens: most tokens of the block; ``None`` for what the memory's own limit leaves.
        rerank: as for ``ask_with_memory``.
        tokenizer_fn: from a text to its tokens; LlamaIndex's own if not given.

    Raises:
        InvalidInput: the session's field is bound already, or a bad path or scope.
    """

    path: str
    agent_id: str | None
    user_id: str | None
    org_id: str | None
    workspace_id: str | None
    session_field: SessionField | None
    limit: int
    max_tokens: int | None
    rerank: Any
    tokenizer_fn: Callable[[str], list[Any]] = Field(exclude=True)
    _store: MemoryStore = PrivateAttr()
    _view: ScopedView = PrivateAttr()

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        name: str = "memory",
        description: str | None = None,
        priority: int = 1,
        accept_short_term_memory: bool = True,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
        session_field: SessionField | None = "workspace_id",
        limit: int = 10,
        max_tokens: int | None = None,
        rerank: bool | Rerank | Reranker | None = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
    ) -> None:
        scope: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
        if session_field is not None and scope.get(session_field, "") is not None:
            raise InvalidInput(f"session_field is {session_field!r}: give one of the fields of a scope that is not bound")
        kept = opened(path, store)
        fields: dict[str, Any] = {
            "path": path_of(kept),
            "name": name,
            "description": description,
            "priority": priority,
            "accept_short_term_memory": accept_short_term_memory,
            "session_field": session_field,
            "limit": limit,
            "max_tokens": max_tokens,
            "rerank": rerank,
            "tokenizer_fn": tokenizer_fn or get_tokenizer(),
        }
        super().__init__(**fields, **scope)
        self._store = kept
        self._view = kept.scope(**{field: value for field, value in scope.items() if value is not None})

    @property
    def client(self) -> MemoryStore:
        """The store that holds the memories."""
        return self._store

    def view(self, session_id: str | None = None) -> ScopedView:
        """The memories that a session reaches, with all verbs of the core.

        Raises:
            InvalidInput: there is no session id, and it matters.
        """
        if self.session_field is None:
            return self._view
        if not session_id:
            raise InvalidInput("a session_id is needed to know whose memories these are; session_field=None is for all sessions")
        session: dict[str, Any] = {self.session_field: session_id}
        return self._view.scope(**session)

    async def aput(self, messages: list[ChatMessage], from_short_term_memory: bool = False, session_id: str | None = None) -> None:
        """Keep messages, all or none, on disk when this returns.

        Raises:
            InvalidInput: see ``view``.
        """
        # Not by the base class, which writes the session into the messages, of which the other blocks have the same.
        if self.accept_short_term_memory or not from_short_term_memory:
            await on_a_thread(partial(self._keep, list(messages), session_id))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await on_a_thread(partial(self._keep, list(messages), None))

    async def _aget(self, messages: list[ChatMessage] | None = None, *, session_id: str | None = None, **block_kwargs: Any) -> str:
        return await on_a_thread(partial(self._shown, list(messages or ()), session_id))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The text with so many memories less that it is so many tokens shorter; ``None`` if none is left."""
        if not isinstance(content, Shown):
            return None
        wanted, known = self._count(content) - tokens_to_truncate, content.known
        while known.lines:
            text = Shown(known)
            if self._count(text) <= wanted:
                return text
            known = replace(known, lines=known.lines[:-1], used=known.used[:-1], left_out=known.left_out + 1)
        return None

    def _keep(self, messages: Sequence[ChatMessage], session_id: str | None) -> None:
        view = self.view(session_id)
        said = [(_ROLES.get(message.role), searched(message)) for message in messages]
        turns = [(role, text) for role, text in said if role is not None and text.strip()]
        # The same batch has the same name when it is delivered once more; the same words in another batch were said again.
        batch = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([session_id, turns]))
        items = [
            {"role": role, "content": text, "idempotency_key": f"{batch}/{number}", "source": session_id or role}
            for number, (role, text) in enumerate(turns)
        ]
        if items:
            view.remember_turns(items, session=session_id)

    def _shown(self, messages: Sequence[ChatMessage], session_id: str | None) -> str:
        said = (searched(message) for message in reversed(messages) if message.role == MessageRole.USER)
        question = next((text for text in said if text.strip()), None)
        known = memory_block(
            question,
            self.view(session_id),
            limit=self.limit,
            max_tokens=self.max_tokens,
            count_tokens=self._count,
            rerank=self.rerank,
        )
        return Shown(known) if known.lines else ""

    def _count(self, text: str) -> int:
        return len(self.tokenizer_fn(text))

    def __copy__(self) -> IndelibleMemoryBlock:
        return type(self)(**{**self.__dict__, "path": None, "store": self._store})
