"""The data distribution: complete, described, licensed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import indelible_models
from indelible.embed import OnnxEmbedder, StaticEmbedder
from indelible.embed.word_pieces import MAX_TOKENS

FOLDER = Path(str(indelible_models.path()))
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(MANIFEST["files"]))
def test_every_described_file_is_there_byte_for_byte(name: str) -> None:
    data = indelible_models.path(name).read_bytes()
    described = MANIFEST["files"][name]
    assert len(data) == described["bytes"]
    assert hashlib.sha256(data).hexdigest() == described["sha256"]
    assert described["licence"]
    assert described["provenance"]
    assert all((FOLDER / notice).is_file() for notice in described["notices"])


def test_every_file_is_described() -> None:
    there = {entry.name for entry in FOLDER.iterdir() if entry.is_file()}
    assert there == {*MANIFEST["files"], "manifest.json"}


@pytest.mark.parametrize("embedder", [OnnxEmbedder(), StaticEmbedder()])
def test_the_models_are_what_the_code_says_of_them(embedder: OnnxEmbedder | StaticEmbedder) -> None:
    described = MANIFEST["models"][embedder.id]
    assert (described["dim"], described["space"], described["max_tokens"]) == (embedder.dim, embedder.space, MAX_TOKENS)
    assert described["weights"] in MANIFEST["files"]
    assert described["tokenizer"] in MANIFEST["files"]


def test_the_licences_say_whose_the_weights_are_and_that_they_are_modified() -> None:
    licences = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "LICENSES").iterdir()}
    assert "Copyright (c) 2022 staoxiao" in licences["MIT-FlagEmbedding.txt"]
    assert "modified" in licences["NOTICE-bge-256.txt"]
    assert "WikiText-2" in licences["NOTICE-static-bge-256.txt"]
    assert "Google" in licences["NOTICE-tokenizer.txt"]
    assert "Version 2.0, January 2004" in licences["Apache-2.0.txt"]


def test_path_gives_real_files_and_names_what_there_is() -> None:
    assert isinstance(indelible_models.path(), Path)
    assert isinstance(indelible_models.path("bge-256.onnx"), Path)
    for wrong in ("bge-512.onnx", "../__init__.py"):
        with pytest.raises(FileNotFoundError, match=r"bge-256.onnx"):
            indelible_models.path(wrong)


def test_the_arrays_of_the_build_script_are_those_of_the_manifest() -> None:
    folder = Path(__file__).resolve().parents[3] / "models" / "build"
    for name, described in MANIFEST["build"]["arrays"].items():
        data = (folder / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == described["sha256"]
