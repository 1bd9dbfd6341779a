"""Other stores beside ours, in an interpreter of their own: same texts, same vectors of the same model."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality.metrics import DEPTH
from benchmarks.quality.sets import QuestionSet
from indelible.embed.protocol import Embedder

PEERS = ("chroma", "lancedb vectors", "lancedb full text", "lancedb hybrid")
WORKER = Path(__file__).parent / "peer_worker.py"


def peer_rankings(
    python: Path, asked: QuestionSet, embedder: Embedder, names: Sequence[str] = PEERS
) -> tuple[dict[str, list[list[str]]], str]:
    """What each peer answers to each question, and the peers' versions.

    Args:
        python: an interpreter that has ``requirements-peers.txt``.
        asked: the set.
        embedder: makes the vectors, of the beginning of long texts: cutting them is not the peers' business.
        names: which.

    Raises:
        RuntimeError: a peer failed; with what it wrote.
    """
    documents = [document for document in asked.documents if document.text.strip()]
    with tempfile.TemporaryDirectory(prefix="indelible-peers-") as place:
        folder = Path(place)
        np.save(folder / "vectors.npy", embedder.embed_documents([document.text for document in documents]))
        np.save(folder / "questions.npy", embedder.embed_documents([question.text for question in asked.questions]))
        task = {
            "ids": [document.id for document in documents],
            "texts": [document.text for document in documents],
            "groups": [document.group for document in documents],
            "questions": [[question.text, question.group] for question in asked.questions],
            "depth": DEPTH,
        }
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        done = subprocess.run([python, WORKER, folder, *names], capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            raise RuntimeError(f"a peer failed: {done.stderr[-2000:]}")
        found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found["rankings"], found["versions"]
