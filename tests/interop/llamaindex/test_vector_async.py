"""The vector store for coroutines, threads and processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from indelible import InvalidInput
from llama_index_indelible import IndelibleVectorStore
from tests.interop.llamaindex.samples import asked, ids_of, node, query_of
from tests.interop.programs import run

N1 = MetadataFilters(filters=[MetadataFilter(key="n", value=1)])


async def test_coroutines_say_what_the_plain_verbs_say(nodes: IndelibleVectorStore) -> None:
    """Each of them, with all its arguments."""
    assert await nodes.async_add(
        [node("1", "red fox", of="doc", n=1), node("2", of="doc"), node("3", n=1), node("4")], index_id="x"
    ) == list("1234")
    version = nodes.client.version
    result = await nodes.aquery(query_of("fox", filters=N1))
    assert (result.ids, result.similarities) == (asked(nodes, "fox", filters=N1), nodes.query(query_of("fox", filters=N1)).similarities)
    assert ids_of(await nodes.aget_nodes(["3", "1"], N1)) == ["3", "1"]
    await nodes.adelete("doc")
    assert ids_of(await nodes.aget_nodes()) == ["3", "4"]
    await nodes.adelete_nodes()
    await nodes.adelete_nodes(["3", "4"], N1)
    assert ids_of(await nodes.aget_nodes()) == ["4"]
    await nodes.aclear()
    assert await nodes.aget_nodes() == []
    assert ids_of(await nodes.aget_nodes(as_of=version)) == list("1234")
    assert (await nodes.aquery(query_of("fox"), as_of=version)).ids == asked(nodes, "fox", options={"as_of": version})
    with pytest.raises(TypeError, match="where"):
        await nodes.adelete_nodes(["1"], where={"n": 1})
    with pytest.raises(ValueError, match="Invalid query mode"):
        await nodes.aquery(query_of("fox", mode="svm"))


async def test_a_query_never_blocks_the_loop(nodes: IndelibleVectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere it runs on the loop itself. While fifty wait for the store, something else goes on."""
    open_gate, ticks = threading.Event(), 0
    search = nodes.collection.search

    def slow(*args: Any, **kwargs: Any) -> Any:
        assert open_gate.wait(60)
        return search(*args, **kwargs)

    await nodes.async_add([node("1", "red fox")])
    monkeypatch.setattr(nodes.collection, "search", slow)
    queries = [asyncio.ensure_future(nodes.aquery(query_of("fox"))) for _ in range(50)]
    for _ in range(20):
        await asyncio.sleep(0.001)
        ticks += 1
    assert not any(query.done() for query in queries)
    open_gate.set()
    assert [result.ids for result in await asyncio.gather(*queries)] == [["1"]] * 50
    assert ticks == 20


async def test_a_cancelled_write_is_whole(nodes: IndelibleVectorStore) -> None:
    """Either all of it or, had it not begun, nothing; and the store works on."""
    for number in range(10):
        task = asyncio.ensure_future(nodes.async_add([node(f"{number} {part}") for part in "abc"]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(nodes.get_nodes()) % 3 == 0
    assert nodes.client.verify().ok


def test_one_object_in_many_loops_and_threads(file: str) -> None:
    """Nothing is bound to the loop or thread that came first."""
    nodes = IndelibleVectorStore(file)

    def work(number: int) -> list[str]:
        asyncio.run(nodes.async_add([node(str(number), f"word{number}")]))
        return asked(nodes, f"word{number}", top_k=1)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [[str(number)] for number in range(24)]
    assert len(nodes.get_nodes()) == 24


def test_twenty_first_uses_at_once(file: str) -> None:
    """On a file that is not there yet; elsewhere a table is missing for whoever comes second."""
    start = threading.Barrier(20)

    def first(number: int) -> list[str]:
        start.wait(60)
        nodes = IndelibleVectorStore(file)
        nodes.add([node(str(number), f"word{number}")])
        return asked(nodes, f"word{number}", top_k=1)

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(first, range(20))) == [[str(number)] for number in range(20)]
    nodes = IndelibleVectorStore(file)
    assert len(nodes.get_nodes()) == 20
    assert nodes.client.verify().ok


PROGRAM = """
import sys
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index_indelible import IndelibleVectorStore
path, name = sys.argv[1:]
nodes = IndelibleVectorStore(path)
for number in range(20):
    nodes.add([TextNode(id_=f"{name}{number}", text="t", embedding=[1.0, number + 1.0])])
    assert f"{name}{number}" in nodes.query(VectorStoreQuery(query_embedding=[1.0, number + 1.0], similarity_top_k=1000)).ids
"""


def test_two_processes_on_one_new_file(file: str, tmp_path: Any) -> None:
    """Neither loses a write; a third, which was open all the time, sees them all."""
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda name: run("-c", PROGRAM, file, name, cwd=tmp_path), "ab"))
        nodes = IndelibleVectorStore(file)
    assert [(process.returncode, process.stderr) for process in done] == [(0, "")] * 2
    assert {found.node_id for found in nodes.get_nodes()} == {f"{name}{number}" for name in "ab" for number in range(20)}
    assert nodes.client.version == 40
    assert nodes.client.verify().ok


ENDLESS = """
import itertools, sys
from llama_index.core.schema import TextNode
from llama_index_indelible import IndelibleVectorStore
nodes = IndelibleVectorStore(sys.argv[1])
for number in itertools.count():
    nodes.add([TextNode(id_=f"{number} {part}", text="t", embedding=[1.0, 2.0]) for part in "abc"])
    print(number, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(file: str) -> None:
    """Killed at any moment: every add that returned is there, of the one under way all or nothing, and the file is sound."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS, file], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(10)]
        child.kill()
        acknowledged += [int(line) for line in child.stdout.read().splitlines() if line]
    nodes = IndelibleVectorStore(file)
    kept = {found.node_id for found in nodes.get_nodes()}
    assert {f"{number} {part}" for number in acknowledged for part in "abc"} <= kept
    assert len(kept) in (3 * len(acknowledged), 3 * len(acknowledged) + 3)
    assert nodes.client.verify().ok


def test_a_bad_batch_in_one_thread_leaves_the_others(nodes: IndelibleVectorStore) -> None:
    """All or none, each for itself."""

    def work(number: int) -> None:
        nodes.add([node(f"good{number}")])
        with pytest.raises(InvalidInput):
            nodes.add([node(f"half{number}"), node("bad\x00", "x")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert sorted(ids_of(nodes.get_nodes())) == [f"good{number}" for number in range(8)]
