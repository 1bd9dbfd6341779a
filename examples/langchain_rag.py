"""Answers from documents, now and as they were: a LangChain vector store and retriever. Needs langchain-indelible[embed]."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from indelible import MemoryStore
from langchain_indelible import IndelibleRetriever, IndelibleVectorStore


def joined(documents: list[Document]) -> str:
    """The texts of documents, a line each."""
    return "\n".join(document.page_content for document in documents)


with MemoryStore(":memory:") as store:  # give a path to keep it
    handbook = IndelibleVectorStore(store, namespace="handbook")
    handbook.add_documents(
        [
            Document(id="travel", page_content="Trips are booked two weeks ahead", metadata={"year": 2024}),
            Document(id="holidays", page_content="Everybody has 25 days of vacation", metadata={"year": 2023}),
            Document(id="office", page_content="The office closes at seven", metadata={"year": 2024}),
        ]
    )

    # Three kinds of retriever, with filters that come before the ranking.
    print(handbook.as_retriever(search_kwargs={"k": 1}).invoke("how many free days do I get?")[0].page_content)
    # -> Everybody has 25 days of vacation
    recent = handbook.as_retriever(search_type="mmr", search_kwargs={"k": 2, "filter": {"year": {"$gte": 2024}}})
    print(sorted(document.id or "" for document in recent.invoke("how many free days do I get?")))
    # -> ['office', 'travel']

    # A chain that answers from what the retriever finds, by meaning and by words.
    retriever = IndelibleRetriever(memory=handbook.collection, k=1)
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    model = FakeListChatModel(responses=["25 days.", "30 days."])
    chain = {"context": retriever | joined, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    print(chain.invoke("How many days of vacation?"))
    # -> 25 days.

    # A document with a known id is a new version of it. The old one is not found any more, except in the past.
    then = store.version
    handbook.add_texts(["Everybody has 30 days of vacation"], [{"year": 2025}], ids=["holidays"])
    print(retriever.invoke("days of vacation")[0].page_content)
    # -> Everybody has 30 days of vacation
    print(retriever.invoke("days of vacation", as_of=then)[0].page_content)
    # -> Everybody has 25 days of vacation
    print(handbook.at(then).similarity_search("days of vacation", k=1)[0].metadata)
    # -> {'year': 2023}
    for change in handbook.collection.history("holidays"):
        print(change.op, change.record.content if change.record else "")
    # -> remember Everybody has 25 days of vacation
    # -> revise Everybody has 30 days of vacation
