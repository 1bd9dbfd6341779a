"""The second source document, "Memory model and embeddings", statement by statement, on the face it describes and with its own model.

What it says about multi-device sync and about the tools' command line is tested where those are.
"""

from __future__ import annotations

import math
import socket
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.testing import FakeClock
from tests.unit.facts.stores import contents, other_process

TTL = 60_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    """A store as the document means it: in a file, with the bundled model."""
    with MemoryStore(path, clock=clock) as opened:
        yield opened


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.dist(one, [0] * len(one)) / math.dist(other, [0] * len(other))


# What a memory is


def test_facts_are_durable_in_a_local_sqlite_database(store: MemoryStore, path: Path) -> None:
    """ "memory stores durable facts for AI agents in a local SQLite database." """
    store.remember("Ada prefers tea")
    assert other_process(path, "print([record.content for record in store.list()])") == "['Ada prefers tea']"
    store.close()
    assert path.read_bytes().startswith(b"SQLite format 3\0")


def test_a_memory_is_text_with_a_vector_metadata_scopes_and_an_expiry(store: MemoryStore) -> None:
    """Every row of the document's table of fields."""
    metadata = {"tags": ["drink", "habit"], "source": "chat", "domain": {"name": "home", "weight": 0.5}}
    made = store.remember(
        "Ada prefers tea", agent_id="desk", user_id="ada", org_id="fleet", workspace_id="kitchen", metadata=metadata, ttl_ms=TTL
    )
    found = store.get(made.id, with_vectors=True)
    assert found is not None
    assert str(uuid.UUID(found.id)) == found.id
    assert (found.agent_id, found.user_id, found.org_id, found.workspace_id) == ("desk", "ada", "fleet", "kitchen")
    assert (found.content, found.metadata) == ("Ada prefers tea", metadata)
    assert (found.created_at, found.updated_at) == (NOW, NOW)
    assert found.expires_at == NOW + timedelta(milliseconds=TTL)
    assert found.vectors is not None
    assert [len(vector) for vector in found.vectors.values()] == [256]


def test_ids_are_primary_keys(store: MemoryStore) -> None:
    """ "id: UUID primary key": no two memories share one."""
    records = store.remember_many(["the same text"] * 20)
    assert len({record.id for record in records}) == 20


def test_no_expiry_means_forever(store: MemoryStore, clock: FakeClock) -> None:
    """ "expires_at: Optional TTL; NULL means forever." """
    assert store.remember("Ada prefers tea").expires_at is None
    clock.advance(ms=1000 * 365 * 86_400_000)
    assert contents(store.list()) == ["Ada prefers tea"]


def test_the_vector_is_generated_from_the_content(store: MemoryStore) -> None:
    """ "embedding: 256-dimensional vector generated from content": of nothing else, and anew when the content changes."""
    one = store.remember("Ada prefers tea", metadata={"a": 1}, user_id="ada")
    two = store.remember("Ada prefers tea", metadata={"b": 2}, user_id="bob", source="elsewhere")
    vectors = [record.vectors for record in (store.get(one.id, with_vectors=True), store.get(two.id, with_vectors=True)) if record]
    assert vectors[0] == vectors[1]
    edited = store.get(store.edit(two.id, content="the train is late").id, with_vectors=True)
    assert edited is not None
    assert edited.vectors != vectors[0]


def test_similar_meanings_are_close_even_in_different_words(store: MemoryStore) -> None:
    """ "Two pieces of text with similar meaning get vectors that are close together [...] even if they use different words." """
    texts = ("The physician examined her patient", "A doctor looked at the sick man", "Quarterly revenue of the steel company rose")
    vectors: list[tuple[float, ...]] = []
    for text in texts:
        record = store.get(store.remember(text).id, with_vectors=True)
        assert record is not None
        assert record.vectors is not None
        vectors += record.vectors.values()
    assert cosine(vectors[0], vectors[1]) > cosine(vectors[0], vectors[2]) + 0.1


# The database


def test_the_default_database_is_in_the_home_folder(tmp_path: Path) -> None:
    """ "The default database lives at: ~/.memory/default.db"; everything is created on first use."""
    with MemoryStore() as store:
        store.remember("Ada prefers tea")
    assert (tmp_path / "home" / ".memory" / "default.db").is_file()


def test_a_variable_overrides_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "You can override it with --db or the MEMORY_DB_PATH environment variable." """
    monkeypatch.setenv("MEMORY_DB_PATH", str(tmp_path / "new" / "folders" / "mine.db"))
    with MemoryStore() as store:
        store.remember("Ada prefers tea")
    assert (tmp_path / "new" / "folders" / "mine.db").is_file()
    assert not (tmp_path / "home" / ".memory").exists()


def test_tables_and_indexes_are_made_on_first_use(store: MemoryStore, path: Path) -> None:
    """ "The binary creates the database, tables, and indexes automatically on first use." """
    store.close()
    with closing(sqlite3.connect(path)) as raw:
        kinds = {row[0] for row in raw.execute("SELECT type FROM sqlite_schema")}
        assert kinds == {"table", "index", "trigger"}


def test_it_keeps_a_write_ahead_log(store: MemoryStore, path: Path) -> None:
    """ "memory keeps a write-ahead log (WAL) for concurrency." """
    store.remember("Ada prefers tea")
    assert path.with_name("facts.db-wal").stat().st_size > 0
    assert store.doctor().pragmas["journal_mode"] == "wal"


def test_vacuum_checkpoints_and_reclaims_space(store: MemoryStore, path: Path) -> None:
    """ "Call memory_vacuum to run a SQLite checkpoint and reclaim space after large deletions or imports." """
    records = store.remember_many([f"number {number}" for number in range(60)], metadata={"filling": "large " * 1000})
    for record in records:
        store.purge(record.id)
    done = store.vacuum()
    assert not done.busy
    assert done.bytes_after < done.bytes_before
    assert path.with_name("facts.db-wal").stat().st_size == 0


# The embedding model


def test_no_external_call_is_made(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "No external API call is made for embedding or recall." """
    monkeypatch.setattr(socket, "socket", None)
    store.remember("Ada prefers tea")
    assert contents(store.recall("what does Ada drink?")) == ["Ada prefers tea"]


def test_the_model_is_loaded_by_the_first_semantic_call(tmp_path: Path) -> None:
    """ "On first recall or semantic search the binary [...] loads the model": not before."""
    program = """
import sys
def loaded():
    return "onnxruntime" in sys.modules
own = MemoryStore(sys.argv[1] + "-own")
print(loaded(), len(own.list()), own.search("tea"), loaded())
own.recall("tea")
print(loaded())
"""
    assert other_process(tmp_path / "empty.db", program).splitlines() == ["False 0 [] False", "True"]


# How recall works


def test_recall_finds_the_nearest_by_cosine_with_content_metadata_and_score(store: MemoryStore) -> None:
    """ "searches the database for the nearest neighbours by cosine similarity. Results include [...]"; "higher is closer"."""
    texts = ["Ada drinks green tea every morning", "The server room is on the third floor", "Bob plays the violin"]
    for number, text in enumerate(texts):
        store.remember(text, metadata={"number": number})
    hits = store.recall("which beverage does Ada like?", limit=2)
    assert [(hit.content, hit.metadata) for hit in hits[:1]] == [(texts[0], {"number": 0})]
    assert len(hits) == 2
    scores = [hit.score for hit in hits if hit.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1 for score in scores)
    query, found = store.remember("which beverage does Ada like?"), store.get(hits[0].id, with_vectors=True)
    asked = store.get(query.id, with_vectors=True)
    assert found is not None
    assert asked is not None
    assert cosine(*(next(iter((record.vectors or {}).values())) for record in (asked, found))) == pytest.approx(scores[0], abs=1e-5)


def test_recall_is_scoped_by_the_identity_given(store: MemoryStore) -> None:
    """ "If you pass agent_id and user_id, memory searches within that slice. Adding workspace_id narrows it further." """
    for agent, user, workspace in (("a", "u", "w"), ("a", "u", "x"), ("a", "u", None), ("a", "v", "w"), ("b", "u", "w")):
        store.remember(f"tea of {agent} {user} {workspace}", agent_id=agent, user_id=user, workspace_id=workspace)
    inside = store.recall("tea", limit=10, agent_id="a", user_id="u")
    assert sorted(contents(inside)) == ["tea of a u None", "tea of a u w", "tea of a u x"]
    assert contents(store.recall("tea", limit=10, agent_id="a", user_id="u", workspace_id="w")) == ["tea of a u w"]


# Keyword and semantic search


def test_search_is_for_exact_words(store: MemoryStore) -> None:
    """ "memory_search is a keyword search over stored content. Use it when you know exact words." """
    store.remember_many(["invoice INV-2041 was paid", "the bill was settled", "invoice INV-2042 is open"])
    assert contents(store.search("INV-2041")) == ["invoice INV-2041 was paid"]
    assert store.search("payment") == []


def test_search_semantic_takes_metadata_filters(store: MemoryStore) -> None:
    """ "memory_search_semantic is a semantic search with optional metadata filters." """
    store.remember("Ada drinks tea", metadata={"kind": "fact"})
    store.remember("Ada drinks coffee", metadata={"kind": "guess"})
    assert len(store.search_semantic("beverages")) == 2
    assert contents(store.search_semantic("beverages", {"kind": "guess"})) == ["Ada drinks coffee"]


def test_keyword_search_scores_by_term_frequency(store: MemoryStore) -> None:
    """ "By default keyword search scores by term frequency." """
    store.remember_many(["tea", "tea tea tea", "tea and tea"])
    assert [(hit.content, hit.rank_score) for hit in store.search("tea")] == [("tea tea tea", 3.0), ("tea and tea", 2.0), ("tea", 1.0)]


def test_a_variable_opts_into_bm25(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Set MEMORY_FTS5_BM25=1 to opt into FTS5 BM25 scoring instead": a short text about it beats a long one that mentions it twice."""
    long = "tea and tea " + "with many other words in between " * 10
    store.remember_many([long, "tea", "water"])
    assert contents(store.search("tea")) == [long, "tea"]
    monkeypatch.setenv("MEMORY_FTS5_BM25", "1")
    assert contents(store.search("tea")) == ["tea", long]


@pytest.mark.parametrize("verb", ["recall", "search", "search_semantic"])
def test_feedback_nudges_only_when_opted_in(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """ "Optional feedback-aware re-ranking (opt in with MEMORY_FEEDBACK_RERANK) nudges recall and search results using the up/down
    feedback history stored with each memory." """
    first, second = store.remember_many(["Ada likes green tea", "Ada likes black tea"])
    before = contents(getattr(store, verb)("tea"))
    for record in (first, second):
        store.feedback(record.id, "up" if record.content == before[1] else "down", note="from a test")
    assert contents(getattr(store, verb)("tea")) == before
    monkeypatch.setenv("MEMORY_FEEDBACK_RERANK", "1")
    assert contents(getattr(store, verb)("tea")) == before[::-1]


# Expiry and cleanup


def test_expired_memories_stay_until_housekeeping(store: MemoryStore, clock: FakeClock) -> None:
    """ "Expired memories are not returned by recall or search, but they remain in the database until you run memory_forget_expired or
    memory_prune." """
    short, long, ever = store.remember("tea one", ttl_ms=TTL), store.remember("tea two", ttl_ms=2 * TTL), store.remember("tea three")
    clock.advance(ms=TTL)
    assert sorted(contents(store.recall("tea"))) == sorted(contents(store.search("tea"))) == ["tea three", "tea two"]
    assert store.get(short.id, include_expired=True) == short
    assert store.forget_expired() == 1
    assert store.get(short.id, include_expired=True) is None
    clock.advance(ms=TTL)
    assert store.prune(expired_only=True, dry_run=False, confirm=True).count == 1
    assert store.get(long.id, include_expired=True) is None
    assert store.list(include_expired=True) == [ever]


def test_housekeeping_is_manual(store: MemoryStore, path: Path, clock: FakeClock) -> None:
    """ "Housekeeping tools are manual": no other verb, and no reopening, ever deletes what has expired."""
    record = store.remember("tea", ttl_ms=TTL)
    clock.advance(ms=100 * TTL)
    store.remember("water")
    store.recall("tea")
    store.vacuum()
    store.rebuild()
    store.close()
    with MemoryStore(path, clock=clock) as again:
        assert again.get(record.id, include_expired=True) == record
        assert again.version == 2


# Privacy


def test_vectors_and_content_stay_in_the_file(store: MemoryStore, path: Path, tmp_path: Path) -> None:
    """ "Vectors and content stay in your SQLite file": nothing is written anywhere else."""
    store.remember("Ada prefers tea")
    store.recall("tea")
    store.close()
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == {path, path.with_name("facts.db.lock")}
    assert b"Ada prefers tea" in path.read_bytes()
