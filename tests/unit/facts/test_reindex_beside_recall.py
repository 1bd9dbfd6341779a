"""S48, S88: one process reindexes while another recalls; the old model answers to the end, the new one from then on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from indelible import EmbedderMismatch, MemoryStore
from indelible.testing import HashEmbedder

FACTS = 400
REINDEX = """
import sys
from indelible import MemoryStore
from indelible.testing import HashEmbedder

with MemoryStore(sys.argv[1], embedder=HashEmbedder(32)) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    print(store.reindex(progress=lambda done, total: print(done, flush=True)), flush=True)
"""


def test_s48_one_process_reindexes_while_another_recalls(tmp_path: Path) -> None:
    """Every recall during the reindex is right, a fact written meanwhile included; nothing is lost in the move."""
    path = tmp_path / "store.db"
    with MemoryStore(path, embedder=HashEmbedder(64)) as store:
        store.remember_many([f"note {number} about topic{number}" for number in range(FACTS)])
        with subprocess.Popen(
            [sys.executable, "-c", REINDEX, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            other.stdin.write("go\n")
            other.stdin.flush()
            answered = 0
            while other.poll() is None:
                number = answered * 37 % FACTS
                try:
                    hits = store.recall(f"note {number} about topic{number}", limit=1)
                except EmbedderMismatch:
                    break  # it has moved to the new space
                assert [hit.content for hit in hits] == [f"note {number} about topic{number}"]
                answered += 1
            said = other.stdout.read().split()
            assert other.wait(60) == 0
        assert answered > 0
        assert said[-1] == str(FACTS)
        with pytest.raises(EmbedderMismatch):
            store.recall("note 1 about topic1")
    with MemoryStore(path, embedder=HashEmbedder(32)) as moved:
        for number in range(0, FACTS, 29):
            assert moved.recall(f"note {number} about topic{number}", limit=1)[0].content == f"note {number} about topic{number}"
        assert moved.verify().ok
        assert list(moved.health().vectors.values()) == [FACTS]
