"""A LlamaIndex query engine over documents that keep every version of themselves: filters, and answers as they would have been.

The model only repeats its prompt and the embedding only counts words, so this runs without a network and always prints the same.
Needs ``pip install llama-index-indelible``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from indelible.testing import HashEmbedder
from llama_index_indelible import IndelibleRetriever, IndelibleVectorStore, storage_context


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near; a stand-in for a real model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = HashEmbedder(256).embed_query(text).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


DOCUMENTS = [
    Document(id_="travel", text="Trips by train are booked in second class.", metadata={"team": "office", "year": 2024}),
    Document(id_="hotel", text="A hotel may cost 120 euros a night.", metadata={"team": "office", "year": 2025}),
    Document(id_="secret", text="The board travels first class by train.", metadata={"team": "board", "year": 2025}),
]


def main() -> None:
    """Ask about travel, with conditions, before and after the rules changed."""
    model, llm = WordEmbedding(), MockLLM()
    with tempfile.TemporaryDirectory() as folder:
        context = storage_context(Path(folder) / "rules.db")
        index = VectorStoreIndex.from_documents(DOCUMENTS, storage_context=context, embed_model=model)
        nodes = context.vector_store
        assert isinstance(nodes, IndelibleVectorStore)

        # Conditions nest, and hold before anything is ranked: what is not for the office cannot push out what is.
        recent_or_trains = MetadataFilters(
            filters=[
                MetadataFilter(key="team", value="board", operator=FilterOperator.NE),
                MetadataFilters(
                    filters=[
                        MetadataFilter(key="year", value=2025, operator=FilterOperator.GTE),
                        MetadataFilter(key="ref_doc_id", value="travel"),
                    ],
                    condition=FilterCondition.OR,
                ),
            ]
        )
        engine = index.as_query_engine(llm=llm, filters=recent_or_trains, similarity_top_k=2)
        answer = engine.query("In which class are trips by train booked?")
        print([found.node.ref_doc_id for found in answer.source_nodes])
        # -> ['travel', 'hotel']
        print("second class" in str(answer), "first class" in str(answer))
        # -> True False

        # The rules change. The old ones stay, and a query can be asked as of then.
        before = nodes.client.version
        index.refresh_ref_docs(
            [Document(id_="travel", text="Trips by train are booked in first class.", metadata={"team": "office", "year": 2026})]
        )
        now = index.as_query_engine(llm=llm, filters=recent_or_trains, similarity_top_k=1)
        then = index.as_query_engine(llm=llm, filters=recent_or_trains, similarity_top_k=1, vector_store_kwargs={"as_of": before})
        for name, engine in (("now", now), ("then", then)):
            print(name, "-", engine.query("In which class are trips by train booked?").source_nodes[0].get_content())
        # -> now - Trips by train are booked in first class.
        # -> then - Trips by train are booked in second class.

        # A retriever of its own searches by words too, and takes the point in time as an argument.
        retriever = IndelibleRetriever(nodes, model, mode="hybrid", filters=recent_or_trains, as_of=before, similarity_top_k=1)
        past = RetrieverQueryEngine.from_args(retriever, llm=llm)
        print("120 euros" in str(past.query("What may a hotel cost?")))
        # -> True

        # Deleting is a version as well.
        index.delete_ref_doc("hotel", delete_from_docstore=True)
        print(len(nodes.get_nodes()), len(nodes.get_nodes(as_of=before)))
        # -> 2 3
        nodes.client.close()


if __name__ == "__main__":
    main()
