"""What a process has loaded, seen from a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "onnxruntime", "tokenizers", "pydantic", "rich", "click", "asyncio", "langchain_core", "llama_index"}
MODEL = {"onnxruntime", "tokenizers"}


def loaded_by(program: str) -> set[str]:
    """The top-level modules that a program brings into a fresh interpreter, beyond those it starts with."""
    script = (
        "import sys\nbefore = set(sys.modules)\n" + program + "\nimport json\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_is_light() -> None:
    """`import indelible` loads no number cruncher, model runtime, framework or event loop."""
    loaded = loaded_by("import indelible")
    assert "indelible" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("module", sorted(HEAVY - {"langchain_core", "llama_index"}))
def test_the_measure_sees_a_heavy_import(module: str) -> None:
    """Each of them would be seen."""
    assert module in loaded_by(f"import {module}")


def test_key_value_memory_is_light(tmp_path: Path) -> None:
    """Key/value memory works without any of them."""
    loaded = loaded_by(
        "from indelible import Memory, PersistentMemory\n"
        "Memory('scratch').remember('a', 1)\n"
        f"kept = PersistentMemory('kept', path={str(tmp_path / 'kept.db')!r})\n"
        "kept.remember('a', [1, 'x'])\n"
        "assert kept.recall('a') == [1, 'x'] and kept.history('a') and kept.as_of('a', 1) == [1, 'x']"
    )
    assert not loaded & HEAVY


def test_reading_loads_no_model_and_opens_no_socket(tmp_path: Path) -> None:
    """S51: keyword search, listing and history of a store never load a model; no call opens a socket."""
    path = str(tmp_path / "facts.db")
    watch = "sys.addaudithook(lambda event, arguments: sys.exit('a socket: ' + event) if event.startswith('socket.') else None)\n"
    loaded_by(
        watch + "from indelible import MemoryStore\n"
        f"store = MemoryStore({path!r})\n"
        "store.remember('the kettle is green')\n"
        "store.recall('what colour is the kettle?')\n"
        "store.close()"
    )
    loaded = loaded_by(
        watch + "from indelible import MemoryStore\n"
        f"store = MemoryStore({path!r})\n"
        "hits = store.search('kettle')\n"
        "assert [hit.content for hit in hits] == ['the kettle is green']\n"
        "assert len(store.history(hits[0].id)) == 1 and len(store.list()) == 1\n"
        "store.close()"
    )
    assert not loaded & MODEL
