"""LangChain's index(), again and again: what is there is skipped, what is lost comes back. Needs langchain-indelible[embed]."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.indexing import index

from indelible import MemoryStore
from langchain_indelible import IndelibleRecordManager, IndelibleVectorStore

WIKI = {
    "tea": "Green tea is brewed at eighty degrees",
    "coffee": "Coffee is brewed just below boiling",
    "bread": "Bread is baked until it sounds hollow",
}


def pages() -> list[Document]:
    """What the source has today."""
    return [Document(page_content=text, metadata={"source": name}) for name, text in WIKI.items()]


with MemoryStore(":memory:") as store:  # give a path to keep it
    wiki = IndelibleVectorStore(store, namespace="wiki")
    records = IndelibleRecordManager(wiki)  # in the same file as the documents

    def reindex() -> dict[str, int]:
        """Bring the index up to date, and tell what there was to do."""
        done = index(pages(), records, wiki, cleanup="full", source_id_key="source", key_encoder="sha256")
        return {"added": done["num_added"], "skipped": done["num_skipped"], "deleted": done["num_deleted"]}

    print(reindex())
    # -> {'added': 3, 'skipped': 0, 'deleted': 0}
    print(reindex())
    # -> {'added': 0, 'skipped': 3, 'deleted': 0}

    # A page changes, another is gone.
    WIKI["tea"] = "Green tea is brewed at seventy degrees"
    del WIKI["bread"]
    print(reindex())
    # -> {'added': 1, 'skipped': 1, 'deleted': 2}
    print(wiki.similarity_search("how hot for tea?", k=1)[0].page_content)
    # -> Green tea is brewed at seventy degrees

    # The documents are lost. A record says that a document was seen, not that it is there: so what is missing is added again.
    before = store.version
    wiki.delete()
    print(reindex())
    # -> {'added': 2, 'skipped': 0, 'deleted': 0}

    # And nothing was ever overwritten.
    print(sorted(record.content for record in wiki.collection.list(as_of=before)))
    # -> ['Coffee is brewed just below boiling', 'Green tea is brewed at seventy degrees']
