"""The byte store beyond the standard tests, and in the hands of its consumers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_core.documents import Document
from langchain_text_splitters import CharacterTextSplitter

from indelible import InvalidInput, MemoryStore
from indelible.testing import FakeClock
from langchain_indelible import IndelibleByteStore, IndelibleVectorStore
from tests.interop.langchain.models import WordEmbeddings, open_store, still_store, texts


@pytest.fixture
def kept(store: MemoryStore) -> IndelibleByteStore:
    return IndelibleByteStore(store)


def test_any_bytes_under_any_key(kept: IndelibleByteStore) -> None:
    """Order and repetition as asked; None for what is missing."""
    pairs = [("", b""), ("a/b", b"\x00\xff"), ("日本", b"x" * 100_000), ("a%", b"1"), ("a_", b"2"), ("A", b"3")]
    kept.mset(pairs)
    assert kept.mget(["a/b", "nowhere", "", "a/b", "日本"]) == [b"\x00\xff", None, b"", b"\x00\xff", b"x" * 100_000]
    kept.mset([("a", b"first"), ("a", b"second")])
    assert kept.mget(["a"]) == [b"second"]


def test_prefixes_are_literal(kept: IndelibleByteStore) -> None:
    """No pattern, and case counts."""
    kept.mset([(key, b"") for key in ("a%b", "a_b", "axb", "A%b", "a")])
    assert list(kept.yield_keys(prefix="a%")) == ["a%b"]
    assert list(kept.yield_keys(prefix="a_")) == ["a_b"]
    assert list(kept.yield_keys(prefix="a")) == ["a", "a%b", "a_b", "axb"]
    assert len(list(kept.yield_keys())) == len(list(kept.yield_keys(prefix=""))) == 5


async def test_writing_while_keys_are_read(kept: IndelibleByteStore) -> None:
    """The keys are those of the first step; each further one may come on another thread."""
    kept.mset([("a", b""), ("b", b"")])
    seen = []
    async for key in kept.ayield_keys():
        await kept.amset([(key + "!", b"")])
        await kept.amdelete(["b"])
        seen.append(key)
    assert seen == ["a", "b"]
    assert list(kept.yield_keys()) == ["a", "a!", "b!"]


@pytest.mark.parametrize("pair", [("a", "text"), ("a", 1), ("a", None), ("a", {"b": 1}), (1, b"x"), ("a\x00", b"x")])
def test_what_is_no_bytes_or_no_key_is_refused(kept: IndelibleByteStore, pair: Any) -> None:
    """And nothing of the call is set."""
    with pytest.raises(InvalidInput):
        kept.mset([("before", b"x"), pair])
    assert list(kept.yield_keys()) == []


def test_missing_keys_may_be_deleted(kept: IndelibleByteStore) -> None:
    """It is no error."""
    kept.mset([("a", b"")])
    kept.mdelete(["a", "nowhere", "a"])
    assert kept.mget(["a"]) == [None]


def test_namespaces_expiry_and_another_process_of_opening(tmp_path: Path) -> None:
    """Caches are apart, end when told to, and outlive the object."""
    with open_store(tmp_path / "c.db") as store:
        IndelibleByteStore(store, namespace=("one",)).mset([("a", b"1")])
        assert IndelibleByteStore(store, namespace=("two",)).mget(["a"]) == [None]
    with open_store(tmp_path / "c.db") as store:
        assert IndelibleByteStore(store, namespace=("one",)).mget(["a"]) == [b"1"]
        assert store.version == 0  # a cache is no memory
    clock = FakeClock()
    with still_store(clock) as still:
        short = IndelibleByteStore(still, ttl_ms=1000)
        short.mset([("a", b"1")])
        clock.advance(ms=1000)
        assert short.mget(["a"]) == [None]
        assert list(short.yield_keys()) == []


def test_many_keys_at_once(few_variables: int) -> None:
    """No limit of the engine on bound values shows."""
    keys = [f"key {number}" for number in range(40 * few_variables)]
    with open_store() as store:
        kept = IndelibleByteStore(store)
        kept.mset([(key, b"x") for key in keys])
        assert kept.mget(keys) == [b"x"] * len(keys)
        kept.mdelete(keys)
        assert list(kept.yield_keys()) == []


def test_parity_with_the_core(store: MemoryStore, kept: IndelibleByteStore) -> None:
    """Written through one, read through the other."""
    cache = store.collection("bytes", cache=True)
    kept.mset([("a", b"1")])
    cache.put("b", b"2")
    assert cache.get("a") == b"1"
    assert kept.mget(["b"]) == [b"2"]
    cache.delete("a")
    assert list(kept.yield_keys()) == ["b"]


def test_a_cache_of_embeddings(kept: IndelibleByteStore) -> None:
    """The model is asked once per text."""
    model = WordEmbeddings()
    cached = CacheBackedEmbeddings.from_bytes_store(model, kept, namespace="words", key_encoder="sha256")
    first = cached.embed_documents(["red fox", "blue whale"])
    assert cached.embed_documents(["blue whale", "red fox"]) == first[::-1]
    assert sum(map(len, model.documents)) == 2


def test_parent_documents(store: MemoryStore) -> None:
    """Small pieces in the vector store, whole documents in the byte store, one file."""
    options: dict[str, Any] = {"vectorstore": IndelibleVectorStore(store), "byte_store": IndelibleByteStore(store)}
    splitter = CharacterTextSplitter(separator=". ", chunk_size=20, chunk_overlap=0)
    retriever = ParentDocumentRetriever(**options, child_splitter=splitter)
    whole = "The red fox runs. The blue whale sings. The owl sleeps"
    retriever.add_documents([Document(page_content=whole), Document(page_content="Tea is hot. Milk is cold")])
    assert texts(retriever.invoke("whale sings"))[0] == whole
