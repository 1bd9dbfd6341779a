"""LlamaIndex chat engines with a memory on the file of their index: a conversation that another process, and another engine, goes on with.

The model is a stand-in that answers with the sentence before it that has most words of the question, and the embedding only counts words,
so this runs without a network and always prints the same. Needs ``pip install llama-index-indelible``.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Document, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import ChatMode
from llama_index.core.llms import MockLLM

from indelible import MemoryStore
from indelible.testing import HashEmbedder
from llama_index_indelible import IndelibleMemoryBlock, as_embedder, memory, storage_context


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near; a stand-in for a real model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = HashEmbedder(256).embed_query(text).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class QuotingModel(MockLLM):
    """Quotes what it is shown."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="quotes", is_chat_model=True)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        *before, question = [str(message.content) for message in messages if message.role in (MessageRole.SYSTEM, MessageRole.USER)]
        wanted = set(re.findall(r"\w+", question.lower()))
        sentences = [sentence for text in before for sentence in re.findall(r"[A-Z][^.?\n]*[.]", text)]
        best = max(sentences, key=lambda sentence: len(wanted & set(re.findall(r"\w+", sentence.lower()))), default="I do not know.")
        return ChatResponse(message=ChatMessage(role="assistant", content=best))


EMBEDDING, MODEL = WordEmbedding(), QuotingModel(max_tokens=None)
RULES = [
    Document(id_="train", text="Trips by train are booked in second class."),
    Document(id_="hotel", text="A hotel may cost 120 euros a night."),
]


def opened(path: Path) -> MemoryStore:
    """One file for documents, conversations and facts; one model for all of them."""
    return MemoryStore(path, embedder=as_embedder(EMBEDDING))


async def begin(path: Path) -> None:
    with opened(path) as store:
        index = VectorStoreIndex.from_documents(RULES, storage_context=storage_context(store=store), embed_model=EMBEDDING)
        session = memory(None, "monday", store=store, user_id="ada")
        engine = index.as_chat_engine(ChatMode.CONTEXT, llm=MODEL, memory=session, similarity_top_k=1)
        print(await engine.achat("What may a hotel cost a night?"))
        # -> A hotel may cost 120 euros a night.
        print(await engine.achat("I go to Rome by train."))
        # -> Trips by train are booked in second class.

        # What outlives conversations is kept as a fact.
        store.remember("Ada travels with a dog.", user_id="ada", source="monday")


async def go_on(path: Path) -> None:
    """In another process: the index and the session are found in the file."""
    with opened(path) as store:
        index = load_index_from_storage(storage_context(store=store), embed_model=EMBEDDING)
        session = memory(None, "monday", store=store, user_id="ada")
        print([(message.role.value, message.content) for message in (await session.aget_all())[:2]])
        # -> [('user', 'What may a hotel cost a night?'), ('assistant', 'A hotel may cost 120 euros a night.')]
        engine = index.as_chat_engine(ChatMode.CONTEXT, llm=MODEL, memory=session, similarity_top_k=1)
        print(await engine.achat("Where do I go to, Rome?"))
        # -> I go to Rome by train.

        # An engine without documents goes on with the same session, and is shown what is known of its user.
        facts = IndelibleMemoryBlock(store=store, user_id="ada", session_field=None)
        session = memory(None, "monday", store=store, user_id="ada", memory_blocks=[facts])
        print(await SimpleChatEngine.from_defaults(llm=MODEL, memory=session).achat("With whom does Ada travel?"))
        # -> Ada travels with a dog.

        # Nobody else has said or is told any of it.
        facts = IndelibleMemoryBlock(store=store, user_id="bob", session_field=None)
        session = memory(None, "monday", store=store, user_id="bob", memory_blocks=[facts])
        print(await SimpleChatEngine.from_defaults(llm=MODEL, memory=session).achat("With whom does Ada travel?"))
        # -> I do not know.


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(go_on(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:  # give a path of yours to keep it
            file = Path(folder) / "memory.db"
            asyncio.run(begin(file))
            print(subprocess.run([sys.executable, __file__, file], check=True, capture_output=True, text=True).stdout, end="")
