"""Language models of LlamaIndex that answer from a script. No test of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection


def calling(tool: str, **arguments: Any) -> ToolSelection:
    """A reply that calls a tool."""
    return ToolSelection(tool_id=f"call {tool}", tool_name=tool, tool_kwargs=arguments)


class ScriptedCompletion(CustomLLM):
    """Completes prompts, and keeps them."""

    answer: str = "done"
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        if self.answer == "fail":
            raise RuntimeError("out of order")
        return CompletionResponse(text=self.answer)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


class ScriptedChat(FunctionCallingLLM):
    """Gives its answers one after the other: texts, calls of tools, or what a function makes of the messages."""

    answers: list[Any] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted", is_function_calling_model=True, is_chat_model=True)

    async def achat_with_tools(self, *arguments: Any, **kwargs: Any) -> ChatResponse:
        return self._next(kwargs["chat_history"])

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._next(messages)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._next(messages)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [ToolSelection(**call) for call in response.message.additional_kwargs.get("tool_calls", [])]

    def _next(self, messages: Sequence[ChatMessage]) -> ChatResponse:
        answer = self.answers.pop(0)
        answer = answer(messages) if callable(answer) else answer
        if isinstance(answer, ToolSelection):
            return ChatResponse(message=ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [answer.model_dump()]}))
        return ChatResponse(message=ChatMessage(role="assistant", content=answer))

    def _prepare_chat_with_tools(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def complete(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_chat(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def acomplete(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, *arguments: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
