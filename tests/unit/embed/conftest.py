"""The bundled models, loaded once for all tests of the embedding layer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import indelible_models
from indelible.embed import OnnxEmbedder, StaticEmbedder


@pytest.fixture(scope="session")
def onnx() -> OnnxEmbedder:
    return OnnxEmbedder(workers=2)


@pytest.fixture(scope="session")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="session")
def reference() -> dict[str, Any]:
    """``texts``, and per model the vectors they had where the model was made."""
    loaded: dict[str, Any] = json.loads(indelible_models.path("reference_vectors.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Run a program in a fresh interpreter and give what it printed; the platform's cache lies in ``tmp_path``."""

    def run(program: str, *arguments: str, **variables: str) -> str:
        places = {name: str(tmp_path / "cache") for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME")}
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, **places, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
