"""The record manager: what ``index`` does with it, after a loss and after a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.indexing import aindex, index

from indelible import InvalidInput, MemoryStore
from langchain_indelible import IndelibleRecordManager, IndelibleVectorStore
from tests.architecture.source_tree import ROOT
from tests.interop.langchain.models import open_store


@pytest.fixture
def documents(store: MemoryStore) -> IndelibleVectorStore:
    return IndelibleVectorStore(store)


@pytest.fixture
def records(documents: IndelibleVectorStore) -> IndelibleRecordManager:
    return IndelibleRecordManager(documents)


def source(*texts: str) -> list[Document]:
    return [Document(page_content=text, metadata={"source": text.split()[0]}) for text in texts]


def run(
    records: IndelibleRecordManager, documents: IndelibleVectorStore, docs: Iterable[Document], cleanup: Any = None, **options: Any
) -> dict[str, int]:
    """What an indexing run counted, without the zeros."""
    found = index(docs, records, documents, cleanup=cleanup, source_id_key="source", key_encoder="sha256", **options)
    return {name.removeprefix("num_"): int(number) for name, number in found.items() if number}  # type: ignore[call-overload]  # ints


def live(documents: IndelibleVectorStore) -> list[str]:
    return sorted(record.content for record in documents.collection.list())


# Indexing


def test_what_is_there_is_skipped(records: IndelibleRecordManager, documents: IndelibleVectorStore, store: MemoryStore) -> None:
    """Once added, later runs write nothing to the log."""
    docs = source("a one", "a two", "b one")
    assert run(records, documents, docs) == {"added": 3}
    before = store.version
    assert run(records, documents, docs) == {"skipped": 3}
    assert store.version == before
    assert run(records, documents, docs, force_update=True) == {"updated": 3}


@pytest.mark.parametrize("cleanup", ["incremental", "scoped_full", "full"])
async def test_what_the_source_dropped_is_cleaned_up(
    records: IndelibleRecordManager, documents: IndelibleVectorStore, cleanup: str
) -> None:
    """Of the groups that were seen, or of all; what is deleted stays in the history."""
    run(records, documents, source("a one", "a two", "b one"), cleanup)
    (gone,) = [record.key or "" for record in documents.collection.list() if record.content == "a two"]
    again = source("a one")
    if cleanup == "full":
        assert run(records, documents, again, cleanup) == {"skipped": 1, "deleted": 2}
        assert live(documents) == ["a one"]
    else:
        assert run(records, documents, again, cleanup) == {"skipped": 1, "deleted": 1}
        assert live(documents) == ["a one", "b one"]
    assert [change.op for change in documents.collection.history(gone)] == ["remember", "forget"]
    result = await aindex(source("a two"), records, documents, key_encoder="sha256")
    assert result["num_added"] == 1


def test_small_batches(records: IndelibleRecordManager, documents: IndelibleVectorStore) -> None:
    """One source over several batches, cleaned up in small steps."""
    docs = source(*(f"a {number}" for number in range(10)))
    run(records, documents, docs, "full", batch_size=3)
    assert run(records, documents, docs[:4], "full", batch_size=3, cleanup_batch_size=2) == {"skipped": 4, "deleted": 6}


# After a loss


def test_an_emptied_store_is_filled_again(records: IndelibleRecordManager, documents: IndelibleVectorStore) -> None:
    """Elsewhere everything was skipped and the store stayed empty."""
    docs = source("a one", "a two", "b one")
    run(records, documents, docs, "full")
    documents.delete()
    assert records.exists([records.list_keys()[0]]) == [False]
    assert run(records, documents, docs, "full") == {"added": 3}
    assert live(documents) == ["a one", "a two", "b one"]


def test_exactly_what_is_missing_is_added(records: IndelibleRecordManager, documents: IndelibleVectorStore) -> None:
    """Whether it was deleted, purged, or expired."""
    docs = source("a one", "a two", "b one", "b two")
    run(records, documents, docs, "full")
    keys = {record.content: record.key or "" for record in documents.collection.list()}
    documents.delete([keys["a one"]])
    documents.collection.purge(keys["b one"])
    assert run(records, documents, docs, "full") == {"added": 2, "skipped": 2}
    assert live(documents) == [document.page_content for document in docs]


def test_another_store_of_the_same_manager_name_knows_nothing(store: MemoryStore, documents: IndelibleVectorStore) -> None:
    """Scopes and namespaces have records of their own, and one's clean-up is not the other's loss."""
    docs = source("a one")
    others = [IndelibleVectorStore(store, user_id="ada"), IndelibleVectorStore(store, namespace="more")]
    for vectorstore in (documents, *others):
        assert run(IndelibleRecordManager(vectorstore), vectorstore, docs, "full") == {"added": 1}
    assert run(IndelibleRecordManager(documents), documents, source("b one"), "full") == {"added": 1, "deleted": 1}
    for vectorstore in others:
        assert run(IndelibleRecordManager(vectorstore), vectorstore, docs, "full") == {"skipped": 1}


def test_what_others_added_is_left_alone(documents: IndelibleVectorStore) -> None:
    """Unless the manager is exclusive."""
    documents.add_texts(["by hand"], ids=["hand"])
    for exclusive, counted in ((False, {"added": 1}), (True, {"skipped": 1, "deleted": 1})):
        assert run(IndelibleRecordManager(documents, exclusive=exclusive), documents, source("a one"), "full") == counted
    assert live(documents) == ["a one"]


# After a crash

CHILD = """
import os, signal, sys
from langchain_core.indexing import index
from langchain_indelible import IndelibleRecordManager, IndelibleVectorStore
from tests.interop.langchain.models import open_store
from tests.interop.langchain.test_record_manager import source

store = open_store(sys.argv[1])
documents = IndelibleVectorStore(store)
steps = 0


def dying(call):
    def step(*args, **kwargs):
        global steps
        steps += 1
        if steps == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)

    return step


records = IndelibleRecordManager(documents)
for owner, names in ((records, ("update", "delete_keys")), (documents, ("add_documents", "delete"))):
    for name in names:
        setattr(owner, name, dying(getattr(owner, name)))
index(source(*sys.argv[3:]), records, documents, cleanup="incremental", source_id_key="source", key_encoder="sha256", batch_size=2)
store.close()
"""


def index_elsewhere(path: Path, die_at: int, *texts: str) -> int:
    """Index in another process that kills itself before a step; its return code."""
    command = [sys.executable, "-c", CHILD, str(path), str(die_at), *texts]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120, check=False).returncode


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize(("die_at", "missing"), [(1, 4), (2, 2), (3, 2), (4, 0)])
def test_a_kill_between_documents_and_records(tmp_path: Path, die_at: int, missing: int) -> None:
    """Steps are add, update, add, update. Killed before any of them, the next run adds what is missing and skips the rest.

    Before step 2 and 4 documents were written and not yet noted: these are skipped, and noted then, so that later clean-ups know them.
    """
    texts = ("a one", "a two", "b one", "b two")
    path = tmp_path / "docs.db"
    assert index_elsewhere(path, die_at, *texts) == -signal.SIGKILL
    with open_store(path) as store:
        documents = IndelibleVectorStore(store)
        records = IndelibleRecordManager(documents)
        assert len(live(documents)) == 4 - missing
        expected = {"added": missing, "skipped": 4 - missing}
        assert run(records, documents, source(*texts), "incremental", batch_size=2) == {
            name: count for name, count in expected.items() if count
        }
        assert live(documents) == sorted(texts)
        assert all(len(documents.collection.history(key)) == 1 for key in records.list_keys())
        assert run(records, documents, source("a one", "b one"), "incremental") == {"skipped": 2, "deleted": 2}
        assert store.verify().ok


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_kill_during_clean_up(tmp_path: Path) -> None:
    """Before the documents are deleted, then before their records are: the next run ends in the same state."""
    path = tmp_path / "docs.db"
    with open_store(path) as store:
        documents = IndelibleVectorStore(store)
        run(IndelibleRecordManager(documents), documents, source("a one", "a two", "b one"))
    # The steps are: note what was skipped, add, note, delete, un-note; in the second run there is nothing to add.
    for left in (["a one", "a three", "a two", "b one"], ["a three", "b one"]):
        assert index_elsewhere(path, 4, "a three", "b one") == -signal.SIGKILL
        with open_store(path) as store:
            assert live(IndelibleVectorStore(store)) == left
    with open_store(path) as store:
        documents = IndelibleVectorStore(store)
        records = IndelibleRecordManager(documents)
        assert len(records.list_keys()) == 4
        assert run(records, documents, source("a three", "b one"), "incremental") == {"skipped": 2, "deleted": 2}
        assert len(records.list_keys()) == 2
        assert live(documents) == ["a three", "b one"]


def test_what_a_crash_left_and_the_source_dropped(documents: IndelibleVectorStore) -> None:
    """A document that was written, never noted and then dropped by its source goes with an exclusive manager's full clean-up."""
    records = IndelibleRecordManager(documents, exclusive=True)
    documents.add_documents([Document(id="left behind", page_content="a one", metadata={"source": "a"})])
    assert run(records, documents, source("a two"), "full") == {"added": 1, "deleted": 1}
    assert live(documents) == ["a two"]


# The interface


def test_times_never_run_backwards(
    records: IndelibleRecordManager, documents: IndelibleVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each later than the one before, also for another manager of the same documents, and when the clock is set back."""
    times = [records.get_time() for _ in range(100)]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert abs(times[-1] - time.time()) < 60
    records.update(["a"])
    noted = records.get_time()
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)
    for manager in (records, IndelibleRecordManager(documents)):
        assert manager.get_time() > times[-1]
        manager.update(["b"], time_at_least=noted)
    assert records.list_keys(after=times[-1]) == ["a", "b"]


def test_update_and_list(records: IndelibleRecordManager) -> None:
    """Bounds are strict; a call has one time; groups stay where none is given."""
    records.update(["a", "b"], group_ids=["g", "h"])
    between = records.get_time()
    records.update(["c", "b"])
    assert records.list_keys() == ["a", "b", "c"]
    assert records.list_keys(before=between) == ["a"]
    assert records.list_keys(after=between) == ["b", "c"]
    assert records.list_keys(group_ids=["h"]) == ["b"]
    assert records.list_keys(group_ids=[]) == []
    assert records.list_keys(limit=1) == ["a"]
    assert records.list_keys(limit=0) == []
    records.delete_keys(["a", "nowhere"])
    assert records.list_keys() == ["b", "c"]


def test_faulty_updates(records: IndelibleRecordManager) -> None:
    """Are refused, and note nothing."""
    with pytest.raises(ValueError, match="give one for each"):
        records.update(["a", "b"], group_ids=["g"])
    with pytest.raises(InvalidInput, match="later than now"):
        records.update(["a"], time_at_least=records.get_time() + 3600)
    assert records.list_keys() == []


async def test_async_twins(records: IndelibleRecordManager, documents: IndelibleVectorStore) -> None:
    """Do the same."""
    records.create_schema()
    await records.acreate_schema()
    await records.aupdate(["a"], group_ids=["g"], time_at_least=await records.aget_time() - 1)
    documents.add_texts(["x"], ids=["b"])
    assert await records.aexists(["a", "b"]) == records.exists(["a", "b"]) == [False, True]
    assert await records.alist_keys(group_ids=["g"]) == ["a"]
    await records.adelete_keys(["a"])
    assert await records.alist_keys() == []


def test_many_keys(few_variables: int) -> None:
    """No limit of the engine on bound values shows."""
    with open_store() as store:
        records = IndelibleRecordManager(IndelibleVectorStore(store))
        keys = [f"key {number}" for number in range(40 * few_variables)]
        records.update(keys)
        assert sum(records.exists(keys)) == 0
        assert len(records.list_keys()) == len(keys)
        records.delete_keys(keys)
        assert records.list_keys() == []
