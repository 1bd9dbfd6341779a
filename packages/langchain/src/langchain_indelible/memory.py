"""Memory for chains: the conversation so far, and facts recalled for the question."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from langchain_classic.base_memory import BaseMemory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, get_buffer_string
from pydantic import Field, model_validator

from indelible import InvalidInput, MemoryStore, Record, Scope, memory_block
from indelible.base.record import ANY_SCOPE, UNSET
from indelible.faces.scoping import writing_scope
from indelible.faces.store import ScopedView
from indelible.search.budget import approximate_tokens
from langchain_indelible.documents import document_of
from langchain_indelible.history import IndelibleChatMessageHistory

_STOP = "stop"  # an input that chains pass on to the model and no prompt shows


class IndelibleMemory(BaseMemory):
    """A chain's memory in a store.

    It loads up to two variables: under ``memory_key`` the conversation of the session, and under ``facts_key`` what hybrid recall finds for
    the input among the facts of the scope; without an input, what was written last. Saving appends the turn to the conversation if that is
    loaded, and remembers it as facts if those are: two memories, one for each, keep every turn once.

    Attributes:
        store: where.
        session_id: whose conversation.
        memory_key: variable of the conversation; ``None`` to load none.
        facts_key: variable of the facts; ``None`` to load none.
        input_key, output_key: which entries of a chain's input and output are the turn; by default the only ones there are.
        exclude_input_keys: inputs that are neither the turn nor to be guessed as it.
        return_messages: load messages and not text.
        return_docs: load facts as documents.
        human_prefix, ai_prefix: who speaks, in text.
        k: most facts loaded.
        max_tokens, count_tokens: bound the text of the facts.
        rerank: as for ``ask_with_memory``.
        capture: whether a turn is remembered as facts; by default when facts are loaded.
        agent_id, user_id, org_id, workspace_id: whose memory. Left out, facts of any are recalled, and turns are remembered as
            for ``MemoryStore.remember``.
    """

    store: MemoryStore
    session_id: str = "default"
    memory_key: str | None = "history"
    facts_key: str | None = None
    input_key: str | None = None
    output_key: str | None = None
    exclude_input_keys: Sequence[str] = ()
    return_messages: bool = False
    return_docs: bool = False
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    k: int = Field(default=5, ge=0, strict=True)
    max_tokens: int | None = None
    count_tokens: Callable[[str], int] = approximate_tokens
    rerank: Any = None
    capture: bool | None = None
    agent_id: str | None = None
    user_id: str | None = None
    org_id: str | None = None
    workspace_id: str | None = None

    @model_validator(mode="after")
    def _check_variables(self) -> Self:
        if self.memory_key == self.facts_key:
            raise InvalidInput(f"memory_key and facts_key must be two names, or one of them None, got {self.memory_key!r} for both")
        return self

    @property
    def chat_memory(self) -> IndelibleChatMessageHistory:
        """The conversation."""
        agent_id, user_id, org_id, workspace_id = self._scope()
        return IndelibleChatMessageHistory(
            self.store, self.session_id, agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id
        )

    @property
    def facts(self) -> ScopedView:
        """The facts of the scope."""
        return self.store.scope(*(UNSET if value is None else value for value in self._scope()))

    def _scope(self) -> Scope:
        return Scope(self.agent_id, self.user_id, self.org_id, self.workspace_id)

    @property
    def _source(self) -> str:
        return f"session:{self.session_id}"

    @property
    def memory_variables(self) -> list[str]:
        """The names of what is loaded."""
        return [key for key in (self.memory_key, self.facts_key) if key is not None]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What a chain's prompt is given: exactly the ``memory_variables``."""
        loaded: dict[str, Any] = {}
        if self.memory_key is not None:
            messages = self.chat_memory.messages
            loaded[self.memory_key] = messages if self.return_messages else get_buffer_string(messages, self.human_prefix, self.ai_prefix)
        if self.facts_key is not None:
            loaded[self.facts_key] = self._facts_for(self._question(inputs))
        return loaded

    def _facts_for(self, question: str) -> str | list[BaseMessage] | list[Document]:
        found = memory_block(
            question, self.facts, limit=self.k, max_tokens=self.max_tokens, count_tokens=self.count_tokens, rerank=self.rerank
        )
        if self.return_docs:
            return [document_of(record) for record in found.used if isinstance(record, Record)]
        if self.return_messages:
            block: list[BaseMessage] = [SystemMessage(content=found.tagged)]
            return block if found.lines else []
        return found.text

    def _question(self, inputs: Mapping[str, Any]) -> str:
        """What to recall for; empty if there is no input."""
        key = self.input_key
        if key is None and self._input_keys(inputs):
            key = self._input_key(inputs)
        return "" if key is None else _text(inputs.get(key, ""))

    def _input_keys(self, inputs: Mapping[str, Any]) -> list[str]:
        return [key for key in inputs if key not in (*self.memory_variables, *self.exclude_input_keys, _STOP)]

    def _input_key(self, inputs: Mapping[str, Any]) -> str:
        if self.input_key is not None:
            return _there(self.input_key, inputs, "input_key")
        keys = self._input_keys(inputs)
        if len(keys) != 1:
            raise InvalidInput(f"one input key expected, got {keys}: set input_key")
        return keys[0]

    def _output_key(self, outputs: Mapping[str, Any]) -> str:
        if self.output_key is not None:
            return _there(self.output_key, outputs, "output_key")
        if len(outputs) == 1:
            return next(iter(outputs))
        if "output" not in outputs:
            raise InvalidInput(f"one output key expected, got {list(outputs)}: set output_key")
        warnings.warn(f"several output keys, {list(outputs)}: 'output' is remembered; set output_key to choose", stacklevel=4)
        return "output"

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Append a turn to the conversation, remember it as facts, or both.

        Raises:
            InvalidInput: what of the inputs or outputs is the turn cannot be told; nothing was written.
        """
        said, answer = _text(inputs[self._input_key(inputs)]), _text(outputs[self._output_key(outputs)])
        conversation = None if self.memory_key is None else self.chat_memory
        # Facts first: a model that cannot embed them leaves no half of the turn.
        if self.capture or (self.capture is None and self.facts_key is not None):
            turns = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
            self.facts.remember_turns([turn | {"source": self._source} for turn in turns], session=self.session_id)
        if conversation is not None:
            conversation.add_messages([HumanMessage(content=said), AIMessage(content=answer)])

    def clear(self) -> None:
        """Forget the conversation, if it is loaded, and the facts that were remembered of it. The store's history keeps both."""
        if self.memory_key is not None:
            self.chat_memory.clear()
        # Only in the scope that turns are written to: what others said in a session of that name is theirs.
        written = writing_scope(self.facts.bound, ANY_SCOPE, required=False)
        self.store.scope(*written).withdraw(self._source)


def _there(key: str, values: Mapping[str, Any], name: str) -> str:
    if key not in values:
        raise InvalidInput(f"{name} is {key!r}, but there is only {list(values)}")
    return key


def _text(value: object) -> str:
    """What was said: text, a message, or several.

    Raises:
        InvalidInput: something else.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, list | tuple) and all(isinstance(item, BaseMessage) for item in value):
        return "\n".join(str(item.text) for item in value)
    raise InvalidInput(f"a turn must be text or messages, got {type(value).__name__}")
