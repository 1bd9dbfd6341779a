"""Run by the peers' interpreter, which has no Indelible: ``python peer_worker.py FOLDER PEER...`` reads a task there and writes answers."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[str, str, Any], list[str]]
"""From a question's text, group and vector to ids, best first."""


def main() -> None:
    """Do the task."""
    numpy: Any = importlib.import_module("numpy")
    folder = Path(sys.argv[1])
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    vectors, asked = numpy.load(folder / "vectors.npy"), numpy.load(folder / "questions.npy")
    rankings, versions = {}, set()
    opened: dict[str, Any] = {}
    for name in sys.argv[2:]:
        module = name.split()[0]
        if module not in opened:
            opened[module] = MAKERS[module](folder, task, vectors)
        answer, version = opened[module][0](name), opened[module][1]
        versions.add(version)
        rankings[name] = [answer(text, group, vector) for (text, group), vector in zip(task["questions"], asked, strict=True)]
    written = {"rankings": rankings, "versions": ", ".join(sorted(versions))}
    (folder / "found.json").write_text(json.dumps(written), encoding="utf-8")


def _chroma(_folder: Path, task: dict[str, Any], vectors: Any) -> tuple[Callable[[str], Answer], str]:
    chromadb: Any = importlib.import_module("chromadb")
    settings: Any = importlib.import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = chromadb.EphemeralClient(settings)
    collection = client.create_collection("bench", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for start in range(0, len(task["ids"]), 1000):
        part = slice(start, start + 1000)
        groups = [{"group": group} for group in task["groups"][part]]
        collection.add(ids=task["ids"][part], embeddings=vectors[part], documents=task["texts"][part], metadatas=groups)

    def answer(_text: str, group: str, vector: Any) -> list[str]:
        where = {"where": {"group": group}} if group else {}
        found: list[str] = collection.query(query_embeddings=[vector], n_results=task["depth"], **where)["ids"][0]
        return found

    return lambda _name: answer, f"chromadb {chromadb.__version__}"


def _lancedb(folder: Path, task: dict[str, Any], vectors: Any) -> tuple[Callable[[str], Answer], str]:
    lancedb: Any = importlib.import_module("lancedb")
    rows = [
        {"id": id, "text": text, "group": group, "vector": vector}
        for id, text, group, vector in zip(task["ids"], task["texts"], task["groups"], vectors, strict=True)
    ]
    table = lancedb.connect(folder / "lance").create_table("bench", rows)
    table.create_fts_index("text")
    rerankers: Any = importlib.import_module("lancedb.rerankers")
    queries: Any = importlib.import_module("lancedb.query")

    def answers(name: str) -> Answer:
        def answer(text: str, group: str, vector: Any) -> list[str]:
            words = queries.MatchQuery(text, "text")  # as a plain text its quotation marks would be syntax
            if name == "lancedb vectors":
                search = table.search(vector, query_type="vector").distance_type("cosine")
            elif name == "lancedb full text":
                search = table.search(words, query_type="fts")
            else:
                search = table.search(query_type="hybrid").vector(vector).text(words).rerank(rerankers.RRFReranker())
            if group:
                search = search.where(f"`group` = '{group}'", prefilter=True)
            return [str(row["id"]) for row in search.limit(task["depth"]).to_list()]

        return answer

    return answers, f"lancedb {lancedb.__version__}"


MAKERS: dict[str, Callable[[Path, dict[str, Any], Any], tuple[Callable[[str], Answer], str]]] = {"chroma": _chroma, "lancedb": _lancedb}

if __name__ == "__main__":
    main()
