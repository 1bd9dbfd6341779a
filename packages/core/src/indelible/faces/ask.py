"""Asking a model, with what is known put ahead of the question.

Retrieval only: nothing here writes to memory, and no tool call is needed, so it works with any model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from indelible.base.record import Record, escape_line
from indelible.errors import InvalidInput, ModelError, PolicyError
from indelible.faces.known import DEFAULT_LIMIT, AnyMemory, known
from indelible.faces.prompt import compose
from indelible.faces.request import Rerank
from indelible.search.budget import approximate_tokens

if TYPE_CHECKING:
    from indelible.embed.reranker import Reranker

Gate = Callable[[str], object]
"""Looks at the composed prompt before a model does; refuses by returning ``False`` or raising ``PolicyError``."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and what it was shown.

    Attributes:
        value: the model's text.
        prompt: exactly what the model got.
        used: the memories in it: keys of a key/value memory, records of a store.
        left_out: how many more memories matched and were not shown.
    """

    value: str
    prompt: str
    used: tuple[str | Record, ...] = ()
    left_out: int = 0

    def __str__(self) -> str:
        return self.value


class MockModel:
    """A model that needs no network: it answers from a list, by a function, or by echoing. Its calls are not audited.

    Args:
        replies: texts to answer in turn (the last one again and again), or a function of the prompt; by default an echo.

    Attributes:
        prompts: what it was asked so far.
    """

    def __init__(self, replies: str | Sequence[str] | Callable[[str], str] | None = None) -> None:
        self._replies = [replies] if isinstance(replies, str) else replies
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if callable(self._replies):
            return self._replies(prompt)
        if not self._replies:
            return f"[mock] {prompt}"
        return self._replies[min(len(self.prompts), len(self._replies)) - 1]

    def __repr__(self) -> str:
        return f"<MockModel {len(self.prompts)} prompts>"


_of_process: list[_Delegation] = []
"""What was set as a statement; the last counts."""
_of_block: ContextVar[_Delegation | None] = ContextVar("indelible_delegation", default=None)
_MOST_KEPT = 1000
_delegation_lock = threading.Lock()
_audit: list[str] = []
_audit_lock = threading.Lock()


class _Delegation:
    """What ``delegation`` returns: set for the process already; as a context manager it is withdrawn there and set for the block."""

    def __init__(self, model: object | None) -> None:
        self.model = model
        self._tokens: list[Token[_Delegation | None]] = []
        with _delegation_lock:
            _of_process.append(self)
            # A block withdraws its own at once, whatever other threads set meanwhile: what piles up are statements; the last counts.
            del _of_process[:-_MOST_KEPT]

    def __enter__(self) -> object | None:
        # Inside a block the model belongs to this thread or task alone, so that concurrent blocks do not mix.
        with _delegation_lock:
            _of_process[:] = [other for other in _of_process if other is not self]
        self._tokens.append(_of_block.set(self))
        return self.model

    def __exit__(self, *exc: object) -> None:
        _of_block.reset(self._tokens.pop())


def delegation(model: object | None) -> _Delegation:
    """Set the model that is asked when none is given.

    As a statement it holds for the whole process, ``None`` for no model; as a context manager for the block, in this thread or task only.

    Example:
        >>> with delegation(MockModel("blue")):
        ...     ask("what is my favorite color?").value
        'blue'
    """
    _check_model(model)
    return _Delegation(model)


def audit_log() -> list[str]:
    """One line per successful call of a real model in this process, in order. It is never kept in a store."""
    with _audit_lock:
        return list(_audit)


def ask(prompt: str, model: object | None = None, *, gate: Gate | None = None) -> Answer:
    """Ask a model.

    Args:
        prompt: the question.
        model: a callable from text to text, a LangChain runnable or chat model, or a LlamaIndex LLM; by default the delegated one.
        gate: may refuse the prompt before the model sees it.

    Raises:
        InvalidInput: no model, or a prompt that is not text.
        PolicyError: the gate refused; the model was not called.
        ModelError: the model failed; its error is the cause.
    """
    chosen = _model_for(model)
    return _asked(_check_prompt(prompt), chosen, gate, (), 0)


def ask_with_memory(
    prompt: str,
    memory: AnyMemory,
    model: object | None = None,
    *,
    gate: Gate | None = None,
    limit: int | None = DEFAULT_LIMIT,
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] = approximate_tokens,
    rerank: bool | Rerank | Reranker | None = None,
) -> Answer:
    """Ask a model with what a memory knows put ahead of the prompt.

    A key/value memory is shown whole. Of a store, a view or a collection, what hybrid recall finds for the prompt is shown, as much as
    ``limit`` and ``max_tokens`` allow, and the block says how many more there are.

    Args:
        prompt: the question.
        memory: a memory, a store, a view of one, or any of them ``.at(...)`` a version or time.
        model, gate: as for ``ask``.
        limit: most memories shown of a store; ``None`` for all that match.
        max_tokens: most tokens of memories of a store.
        count_tokens: counts them; by default an estimate of four characters a token.
        rerank: ``True``, ``Rerank(pool=...)`` or a reranker of yours, as for ``recall`` of a store.

    Raises:
        InvalidInput: no model, a prompt that is not text, or something that is not a memory of this library.
        PolicyError: the gate refused; the model was not called.
        ModelError: the model failed; its error is the cause.
    """
    chosen = _model_for(model)
    _check_prompt(prompt)
    shown = known(prompt, memory, limit, max_tokens, count_tokens, rerank=rerank)
    return _asked(compose(prompt, shown.lines, shown.left_out), chosen, gate, shown.used, shown.left_out)


def compose_prompt(
    prompt: str,
    memory: AnyMemory,
    *,
    limit: int | None = DEFAULT_LIMIT,
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] = approximate_tokens,
    rerank: bool | Rerank | Reranker | None = None,
) -> str:
    """The prompt that ``ask_with_memory`` would send."""
    shown = known(_check_prompt(prompt), memory, limit, max_tokens, count_tokens, rerank=rerank)
    return compose(prompt, shown.lines, shown.left_out)


# Models


def _model_for(model: object | None) -> Callable[[str], str]:
    chosen = model if model is not None else _delegated_model()
    if chosen is None:
        raise InvalidInput("no model: give model=, or set one with delegation(model)")
    return _check_model(chosen)


def _delegated_model() -> object | None:
    of_block = _of_block.get()
    if of_block is not None:
        return of_block.model
    with _delegation_lock:
        return _of_process[-1].model if _of_process else None


def _check_model(model: object | None) -> Callable[[str], str]:
    """What turns a prompt into text with this model.

    Raises:
        InvalidInput: it is neither a callable nor anything with ``invoke`` or ``complete``.
    """
    if model is None:
        return lambda prompt: prompt
    for name in ("invoke", "complete"):
        method = getattr(model, name, None)
        if callable(method):
            return _Named(model, method)
    if callable(model):
        return _Named(model, model)
    raise InvalidInput(f"a model is a callable from text to text, a LangChain runnable or a LlamaIndex LLM, got {type(model).__name__}")


class _Named:
    """A model and how it is called."""

    def __init__(self, model: object, call: Callable[[str], Any]) -> None:
        self.model = model
        self._call = call

    def __call__(self, prompt: str) -> str:
        return _text(self._call(prompt))

    @property
    def name(self) -> str:
        return model_name(self.model)


def model_name(model: object) -> str:
    """What a model calls itself, for messages and the audit log."""
    for attribute in ("model_name", "model", "name", "__name__"):
        found = getattr(model, attribute, None)
        if isinstance(found, str) and found:
            return found
    return type(model).__name__


def note_call(verb: str, model: object, about: str) -> None:
    """Note a successful call of a model in the audit log; one of the mock is not noted.

    Args:
        verb: the function that asked it.
        model: the model.
        about: how much was sent, without any of it.
    """
    if not isinstance(model, MockModel):
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {verb} {model_name(model)}: {about}"
        with _audit_lock:
            _audit.append(escape_line(line))


def check_gate(gate: Gate | None, prompt: str) -> None:
    """Let a gate look at a prompt.

    Raises:
        InvalidInput: the gate cannot be called.
        PolicyError: it refused.
    """
    if gate is not None and not callable(gate):
        raise InvalidInput(f"a gate must be callable with the prompt, got {type(gate).__name__}")
    if gate is not None and gate(prompt) is False:
        raise PolicyError("the gate refused this prompt; the model was not called")


def _text(reply: Any) -> str:
    """The text of a reply: itself, a message's content, or a completion's text."""
    if isinstance(reply, str):
        return str.__str__(reply)  # also of a subclass: plain text
    for name in ("text", "content"):
        found = getattr(reply, name, None)
        if callable(found) and not isinstance(found, str):
            found = found()
        if isinstance(found, str):
            return str.__str__(found)
    blocks = getattr(reply, "content", None)
    if isinstance(blocks, list):
        return "".join(block if isinstance(block, str) else str(block.get("text", "")) for block in blocks if isinstance(block, str | dict))
    raise TypeError(f"the reply is a {type(reply).__name__}, which has no text")


def _check_prompt(prompt: object) -> str:
    if not isinstance(prompt, str):
        raise InvalidInput(f"a prompt must be a str, got {type(prompt).__name__}")
    return prompt


def _asked(prompt: str, model: Callable[[str], str], gate: Gate | None, used: tuple[str | Record, ...], left_out: int) -> Answer:
    check_gate(gate, prompt)
    named = model if isinstance(model, _Named) else _Named(model, model)
    try:
        value = named(prompt)
    except Exception as error:
        raise ModelError(f"the model {named.name} failed: {type(error).__name__}: {error}") from error
    note_call("ask", named.model, f"{len(prompt)} characters, {len(used)} memories")
    return Answer(value, prompt, used, left_out)
