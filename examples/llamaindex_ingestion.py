"""A LlamaIndex ingestion pipeline that is run again after a restart, after it failed and after it died: nothing lost, nothing doubled.

Every run is a process of its own. The embedding only counts words, so this runs without a network and always prints the same.
Needs ``pip install llama-index-indelible``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, TransformComponent

from indelible.testing import HashEmbedder
from llama_index_indelible import IndelibleVectorStore, storage_context


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near; a stand-in for a real model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = HashEmbedder(256).embed_query(text).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Moody(TransformComponent):
    """A step that fails when told to, as a model behind a network does, or ends the process, as a lack of memory does."""

    mood: str

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        if self.mood == "fails":
            raise ConnectionError("the model is away")
        if self.mood == "dies":
            os._exit(9)
        return nodes


def ingest(path: str, texts: dict[str, str], mood: str) -> None:
    """One run: open the file, ingest, say what is there."""
    context = storage_context(path)
    pipeline = context.pipeline(
        [SentenceSplitter(chunk_size=256, chunk_overlap=0), Moody(mood=mood), WordEmbedding()],
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    try:
        pipeline.run(documents=[Document(id_=name, text=text) for name, text in texts.items()])
    except ConnectionError as error:
        print("failed:", error)
    show(path)


def show(path: str) -> None:
    nodes = IndelibleVectorStore(path, namespace=("llama_index", "nodes"))
    print("version", nodes.client.version, "-", sorted(node.get_content() for node in nodes.get_nodes()))


def in_a_process(path: Path, texts: dict[str, str], mood: str = "well") -> None:
    command = [sys.executable, __file__, str(path), json.dumps(texts), mood]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print("died")
        show(str(path))
    print(done.stdout, end="")


def main() -> None:
    """Run, run again, fail, die, recover."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        texts = {"fox": "The fox is red.", "whale": "The whale is blue."}

        in_a_process(path, texts, "fails")
        # -> failed: the model is away
        # -> version 0 - []
        in_a_process(path, texts)
        # -> version 6 - ['The fox is red.', 'The whale is blue.']

        # Nothing has changed, so nothing is written, restart or not.
        in_a_process(path, texts)
        # -> version 6 - ['The fox is red.', 'The whale is blue.']

        # LlamaIndex deletes the old text before it has the new one. When that run fails or dies, the next one makes it good.
        in_a_process(path, texts | {"fox": "The fox is grey."}, "fails")
        # -> failed: the model is away
        # -> version 9 - ['The whale is blue.']
        in_a_process(path, texts)
        # -> version 12 - ['The fox is red.', 'The whale is blue.']
        in_a_process(path, texts | {"fox": "The fox is grey."}, "dies")
        # -> died
        # -> version 15 - ['The whale is blue.']
        in_a_process(path, texts | {"fox": "The fox is grey."})
        # -> version 18 - ['The fox is grey.', 'The whale is blue.']

        # What is no longer there is deleted, and can still be read as it was.
        in_a_process(path, {"fox": "The fox is grey."})
        # -> version 21 - ['The fox is grey.']
        nodes = IndelibleVectorStore(path, namespace=("llama_index", "nodes"))
        print(sorted(node.get_content() for node in nodes.get_nodes(as_of=8)))
        # -> ['The fox is red.', 'The whale is blue.']
        nodes.client.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ingest(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])
    else:
        main()
