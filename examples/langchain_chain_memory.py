"""A LangChain chain that remembers its conversation and what is known about whom it talks to. Needs langchain-indelible[classic,embed]."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from langchain_classic.chains.llm import LLMChain
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import PromptTemplate

from indelible import MemoryStore
from langchain_indelible import IndelibleMemory

warnings.simplefilter("ignore", LangChainDeprecationWarning)  # chains are on their way out, and many programs are built of them
PROMPT = PromptTemplate.from_template("{facts}\n\nSo far:\n{history}\n\nHuman: {question}\nAI:")


def chain(store: MemoryStore, *answers: str) -> LLMChain:
    """A chain on a store. Nothing of the conversation lives in the object."""
    memory = IndelibleMemory(store=store, session_id="monday", facts_key="facts", user_id="ada", agent_id="helper", capture=False, k=1)
    return LLMChain(llm=FakeListChatModel(responses=list(answers)), prompt=PROMPT, memory=memory)


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "memory.db"
    with MemoryStore(path) as store:
        store.remember("Ada is allergic to peanuts", user_id="ada", agent_id="helper", source="form")
        store.remember("Ada works in Oslo", user_id="ada", agent_id="helper")
        print(chain(store, "How about the noodles, without peanuts?").invoke({"question": "What shall I eat?"})["text"])
        # -> How about the noodles, without peanuts?

    # Another process: the conversation goes on, and the fact that fits the question stands ahead of it.
    with MemoryStore(path) as store:
        talk = chain(store, "Yes, with rice.")
        loaded = talk.memory.load_memory_variables({"question": "Is it safe with my allergy?"}) if talk.memory else {}
        print(loaded["history"])
        # -> Human: What shall I eat?
        # -> AI: How about the noodles, without peanuts?
        print(loaded["facts"].splitlines()[1].rpartition(" (")[0])
        # -> - Ada is allergic to peanuts
        print(talk.invoke({"question": "Is it safe with my allergy?"})["text"])
        # -> Yes, with rice.

        # Clearing forgets; the log keeps what was said.
        memory = IndelibleMemory(store=store, session_id="monday", user_id="ada", agent_id="helper", return_messages=True)
        before = store.version
        memory.clear()
        print(memory.load_memory_variables({})["history"], len(memory.chat_memory.at(before).messages))
        # -> [] 4
