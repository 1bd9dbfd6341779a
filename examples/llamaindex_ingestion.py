"""A LlamaIndex ingestion pipeline that is run again after a restart and after it failed: nothing lost, nothing doubled.

The embedding only counts words, so this runs without a network and always prints the same. Needs ``pip install llama-index-indelible``.
"""

from __future__ import annotations

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
    """A step that fails when told to, as a model behind a network does."""

    fails: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        if self.fails:
            raise ConnectionError("the model is away")
        return nodes


def ingest(path: Path, texts: dict[str, str], *, fails: bool = False) -> None:
    """One run, in a process of its own as far as anything here can tell: it opens the file, works and closes it."""
    context = storage_context(path)
    pipeline = context.pipeline(
        [SentenceSplitter(chunk_size=256, chunk_overlap=0), Moody(fails=fails), WordEmbedding()],
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    try:
        pipeline.run(documents=[Document(id_=name, text=text) for name, text in texts.items()])
    except ConnectionError as error:
        print("failed:", error)
    nodes = context.vector_store
    assert isinstance(nodes, IndelibleVectorStore)
    print("version", nodes.client.version, "-", sorted(node.get_content() for node in nodes.get_nodes()))
    nodes.client.close()


def main() -> None:
    """Run, run again, fail, recover."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        texts = {"fox": "The fox is red.", "whale": "The whale is blue."}

        ingest(path, texts, fails=True)
        # -> failed: the model is away
        # -> version 0 - []
        ingest(path, texts)
        # -> version 8 - ['The fox is red.', 'The whale is blue.']

        # Nothing has changed, so nothing is written.
        ingest(path, texts)
        # -> version 8 - ['The fox is red.', 'The whale is blue.']

        # LlamaIndex deletes the old text before it has the new one. When that run fails, the next one makes it good.
        ingest(path, {"fox": "The fox is grey.", "whale": "The whale is blue."}, fails=True)
        # -> failed: the model is away
        # -> version 11 - ['The whale is blue.']
        ingest(path, texts)
        # -> version 15 - ['The fox is red.', 'The whale is blue.']

        # What is no longer there is deleted, and can still be read as it was.
        ingest(path, {"fox": "The fox is red."})
        # -> version 18 - ['The fox is red.']
        nodes = storage_context(path).vector_store
        assert isinstance(nodes, IndelibleVectorStore)
        print(sorted(node.get_content() for node in nodes.get_nodes(as_of=8)))
        # -> ['The fox is red.', 'The whale is blue.']
        nodes.client.close()


if __name__ == "__main__":
    main()
