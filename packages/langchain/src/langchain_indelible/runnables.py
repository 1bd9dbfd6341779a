"""A memory ahead of any chat model or chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue, StringPromptValue
from langchain_core.runnables import Runnable, RunnableLambda, run_in_executor

from indelible import InvalidInput, Rerank, compose_prompt, memory_block
from indelible.embed.reranker import Reranker
from indelible.faces.known import DEFAULT_LIMIT, AnyMemory
from indelible.search.budget import approximate_tokens
from langchain_indelible.blocks import ahead_of, question_of


def with_memory(
    runnable: Runnable[Any, Any] | Callable[[Any], Any],
    memory: AnyMemory,
    *,
    input_key: str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] = approximate_tokens,
    rerank: bool | Rerank | Reranker | None = None,
) -> Runnable[Any, Any]:
    """A runnable that knows what a memory knows.

    A text becomes exactly the prompt of ``ask_with_memory``. Of messages the system message gets the block, in a tag that no memory can
    close, recalled for what the user said last. Nothing is written to memory.

    Args:
        runnable: a chat model, a chain, a function.
        memory: a store, a view of one, a collection, a key/value memory, or any of them ``.at(...)`` a version or time.
        input_key: for a runnable that takes a dict: which of its entries the memory is put ahead of.
        limit, max_tokens, count_tokens: how much of a store is shown.
        rerank: as for ``ask_with_memory``.

    Raises:
        InvalidInput: when it is invoked with something that is neither text nor messages, or with a dict that has no ``input_key``.
    """
    shown: dict[str, Any] = {"limit": limit, "max_tokens": max_tokens, "count_tokens": count_tokens, "rerank": rerank}

    def add(value: Any) -> Any:
        if input_key is None:
            return _with_memory(value, memory, shown)
        if not isinstance(value, Mapping) or input_key not in value:
            raise InvalidInput(f"with input_key={input_key!r} the input must be a dict that has it, got {type(value).__name__}")
        return {**value, input_key: _with_memory(value[input_key], memory, shown)}

    async def aadd(value: Any) -> Any:
        return await run_in_executor(None, add, value)

    return RunnableLambda(add, aadd, name="recall") | runnable


def _with_memory(value: LanguageModelInput | BaseMessage, memory: AnyMemory, shown: dict[str, Any]) -> str | list[BaseMessage]:
    if isinstance(value, str | StringPromptValue):
        return compose_prompt(value if isinstance(value, str) else value.text, memory, **shown)
    if isinstance(value, PromptValue):
        messages = value.to_messages()
    elif isinstance(value, BaseMessage):
        messages = [value]
    elif isinstance(value, list | tuple):
        messages = convert_to_messages(value)
    else:
        raise InvalidInput(f"a memory can be put ahead of text or messages, got {type(value).__name__}: name an input_key for a dict")
    question = question_of(messages)
    return ahead_of(messages, memory_block(question, memory, **shown).tagged) if question else list(messages)
