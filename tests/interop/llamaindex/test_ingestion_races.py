"""Pipelines that ingest the same documents at one moment: nothing is doubled, and nodes and hash are of one run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, Document, TextNode, TransformComponent

from llama_index_indelible import IndelibleDocumentStore, IndelibleStorageContext, IndelibleVectorStore, storage_context
from tests.architecture.source_tree import ROOT
from tests.interop.llamaindex.samples import WordEmbedding

SPLITTER = SentenceSplitter(chunk_size=64, chunk_overlap=0)
ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "arun"])


class Meanwhile(TransformComponent):
    """Does something after the nodes were made, before they are written."""

    what: Callable[[], object]

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        self.what()
        return nodes


def nodes_of(context: IndelibleStorageContext) -> list[tuple[str, str]]:
    """Source and text of everything that can be found, sorted."""
    nodes = context.vector_store
    assert isinstance(nodes, IndelibleVectorStore)
    return sorted((found.ref_doc_id or "", found.get_content()) for found in nodes.get_nodes())


def ingest(context: IndelibleStorageContext, text: str, *steps: TransformComponent, asynchronous: bool = False) -> int:
    """One document, in parts if it is long; how many nodes were made."""
    pipeline = context.pipeline([SPLITTER, *steps, WordEmbedding()], disable_cache=True)
    docs = [Document(id_="a", text=text)]
    return len(asyncio.run(pipeline.arun(documents=docs)) if asynchronous else pipeline.run(documents=docs))


PROGRAM = """
import asyncio, sys
from llama_index.core import Document, MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TransformComponent
from llama_index_indelible import storage_context
class Together(TransformComponent):
    def __call__(self, nodes, **kwargs):
        print("made", flush=True)
        sys.stdin.readline()
        return nodes
path, strategy, how = sys.argv[1:]
steps = [SentenceSplitter(chunk_size=64, chunk_overlap=0), Together(), MockEmbedding(8)]
pipeline = storage_context(path).pipeline(steps, docstore_strategy=DocstoreStrategy(strategy))
docs = [Document(id_=f"d{number}", text="One sentence. " * 50) for number in range(20)]
if how == "arun":
    asyncio.run(pipeline.arun(documents=docs))
else:
    pipeline.run(documents=docs)
"""


@pytest.mark.parametrize("strategy", ["upserts", "duplicates_only"])
def test_two_processes_ingest_the_same(file: str, strategy: str) -> None:
    """Both have found that nothing is there and made every node before either writes. Of one run's nodes none are missing either."""
    with ExitStack() as stack:
        begun = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, file, strategy, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
                )
            )
            for how in ("run", "arun")
        ]
        for process in begun:
            assert process.stdout is not None
            assert process.stdout.readline() == "made\n"
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda process: process.communicate("go\n", timeout=120), begun))
        assert [process.returncode for process in begun] == [0, 0]
    docs = [Document(id_=f"d{number}", text="One sentence. " * 50) for number in range(20 if strategy != "duplicates_only" else 1)]
    alone = SentenceSplitter(chunk_size=64, chunk_overlap=0)(docs)
    context = storage_context(file)
    assert len(alone) > len(docs)
    assert nodes_of(context) == sorted((made.ref_doc_id or "", made.get_content()) for made in alone)
    assert context.vector_store.client.verify().ok
    steps = [SPLITTER, WordEmbedding()]
    assert context.pipeline(steps, docstore_strategy=DocstoreStrategy(strategy)).run(documents=docs) == []


@ways
def test_another_version_was_written_while_this_one_was_made(file: str, asynchronous: bool) -> None:
    """The later run takes the place of the earlier, whole: no part of the longer text stays, and its hash does not count."""
    long = "The red fox runs. " * 50
    other = Meanwhile(what=lambda: in_another_thread(lambda: ingest(storage_context(file), long)))
    ingest(storage_context(file), "blue whale", other, asynchronous=asynchronous)
    context = storage_context(file)
    assert nodes_of(context) == [("a", "blue whale")]
    assert ingest(context, "blue whale") == 0
    assert ingest(context, long) > 1


@ways
def test_another_run_ends_between_looking_and_writing(file: str, asynchronous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks again: what the other wrote is replaced like everything before."""
    context, others = storage_context(file), ["red fox", "grey fox"]
    documents = context.docstore
    assert isinstance(documents, IndelibleDocumentStore)
    puts = documents.puts

    def late(*args: Any, **kwargs: Any) -> Any:
        found = puts(*args, **kwargs)
        if others:
            ingest(storage_context(file), others.pop())
        return found

    monkeypatch.setattr(documents, "puts", late)
    assert ingest(context, "blue whale", asynchronous=asynchronous) == 1
    assert others == []
    assert nodes_of(context) == [("a", "blue whale")]
    assert ingest(storage_context(file), "blue whale") == 0


def in_another_thread(what: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(what).result()


@ways
def test_one_pipeline_runs_many_times_at_once(file: str, asynchronous: bool) -> None:
    """Each run writes its own nodes, and returns when they are on disk."""
    context = storage_context(file)
    pipeline = context.pipeline([SPLITTER, WordEmbedding()])

    def seen(number: int) -> bool:
        return (f"d{number}", f"text {number}") in nodes_of(context)

    def plain(number: int) -> bool:
        pipeline.run(documents=[Document(id_=f"d{number}", text=f"text {number}")])
        return seen(number)

    async def awaited(number: int) -> bool:
        await pipeline.arun(documents=[Document(id_=f"d{number}", text=f"text {number}")])
        return seen(number)

    async def together() -> list[bool]:
        return await asyncio.gather(*map(awaited, range(8)))

    with ThreadPoolExecutor(4) as pool:
        assert all(asyncio.run(together()) if asynchronous else pool.map(plain, range(8)))
    assert nodes_of(context) == [(f"d{number}", f"text {number}") for number in range(8)]


@ways
def test_a_run_that_fails_while_writing_writes_nothing(file: str, asynchronous: bool) -> None:
    """Neither nodes nor documents nor hashes, and the pipeline can be run again."""

    class Broken(WordEmbedding):
        bad: bool = True

        def _get_text_embedding(self, text: str) -> list[float]:
            return [float("nan")] if self.bad and text == "whale" else super()._get_text_embedding(text)

    context = storage_context(file)
    model = Broken()
    pipeline = context.pipeline([SPLITTER, model], disable_cache=True)
    docs = [Document(id_=name, text=name) for name in ("fox", "whale")]
    with pytest.raises(ValueError, match="finite"):
        asyncio.run(pipeline.arun(documents=docs)) if asynchronous else pipeline.run(documents=docs)
    assert (nodes_of(context), context.docstore.docs, context.vector_store.client.version) == ([], {}, 0)
    model.bad = False
    pipeline.run(documents=docs)
    assert nodes_of(context) == [("fox", "fox"), ("whale", "whale")]


@ways
def test_nodes_are_written_whatever_llama_index_calls(file: str, asynchronous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should it say nothing of documents, they are added as elsewhere; and the pipeline's vector store is one outside of a run too."""

    async def anothing(*args: Any, **kwargs: Any) -> None:
        pass

    context = storage_context(file)
    pipeline = context.pipeline([SPLITTER, WordEmbedding()])
    monkeypatch.setattr(type(pipeline), "_update_docstore", lambda *args, **kwargs: None)
    monkeypatch.setattr(type(pipeline), "_aupdate_docstore", anothing)
    docs = [Document(id_="a", text="red fox")]
    made = asyncio.run(pipeline.arun(documents=docs)) if asynchronous else pipeline.run(documents=docs)
    assert nodes_of(context) == [("a", "red fox")]
    assert pipeline.vector_store is not None
    pipeline.vector_store.delete("a")
    assert nodes_of(context) == []
    pipeline.vector_store.add(made)
    assert nodes_of(context) == [("a", "red fox")]


def test_a_document_without_an_id_has_no_nodes_to_replace(file: str) -> None:
    """None of another document, or of none, is taken for one of it."""
    context = storage_context(file)
    context.pipeline([WordEmbedding()]).run(nodes=[TextNode(id_="n", text="of nothing")])
    pipeline = context.pipeline([SPLITTER, WordEmbedding()], docstore_strategy=DocstoreStrategy.DUPLICATES_ONLY)
    for text in ("red fox", "blue whale"):
        pipeline.run(documents=[Document(id_="", text=text)])
    assert sorted(text for _, text in nodes_of(context)) == ["blue whale", "of nothing", "red fox"]


def test_a_vector_store_of_one_s_own_is_used(file: str) -> None:
    """Then the pipeline is LlamaIndex's."""
    context, other = storage_context(file), IndelibleVectorStore(":memory:")
    pipeline = context.pipeline([SPLITTER, WordEmbedding()], vector_store=other)
    assert type(pipeline) is IngestionPipeline
    pipeline.run(documents=[Document(id_="a", text="red fox")])
    assert [found.get_content() for found in other.get_nodes()] == ["red fox"]
    assert nodes_of(context) == []
