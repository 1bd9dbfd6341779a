"""The data distribution of the reranker: complete, described, licensed."""

from __future__ import annotations

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from indelible.embed import OnnxReranker
from indelible.embed.onnx_reranker import PAIR_TOKENS, QUERY_TOKENS
from tests.architecture.source_tree import ROOT
from tests.conftest import Require

FOLDER = ROOT / "models-rerank" / "src" / "indelible_reranker" / "data"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(MANIFEST["files"]))
def test_every_described_file_is_there_byte_for_byte(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    described = MANIFEST["files"][name]
    assert len(data) == described["bytes"]
    assert hashlib.sha256(data).hexdigest() == described["sha256"]
    assert described["licence"]
    assert described["provenance"]
    assert all((FOLDER / notice).is_file() for notice in described["notices"])


def test_every_file_is_described() -> None:
    there = {entry.name for entry in FOLDER.iterdir() if entry.is_file()}
    assert there == {*MANIFEST["files"], "manifest.json"}
    noticed = {notice for described in MANIFEST["files"].values() for notice in described["notices"]}
    assert noticed == {f"LICENSES/{path.name}" for path in (FOLDER / "LICENSES").iterdir()}


def test_the_model_is_what_the_code_says_of_it() -> None:
    described = MANIFEST["models"][OnnxReranker.id]
    assert (described["max_query_tokens"], described["max_tokens"]) == (QUERY_TOKENS, PAIR_TOKENS)
    assert described["weights"] == f"{OnnxReranker.id}.onnx"
    assert {described["weights"], described["tokenizer"]} <= MANIFEST["files"].keys()


def test_the_tokenizer_is_that_of_the_embedder() -> None:
    """So that a window of the one is as long for the other."""
    embedder = json.loads((ROOT / "models" / "src" / "indelible_models" / "data" / "manifest.json").read_text(encoding="utf-8"))
    assert MANIFEST["files"]["tokenizer.json"]["sha256"] == embedder["files"]["tokenizer.json"]["sha256"]


def test_the_licences_say_whose_the_weights_are_and_that_they_are_modified() -> None:
    licences = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "LICENSES").iterdir()}
    assert "modified" in licences["NOTICE-minilm-l12-rerank.txt"]
    assert "cross-encoder/ms-marco-MiniLM-L-12-v2" in licences["NOTICE-minilm-l12-rerank.txt"]
    assert "Copyright (c) Microsoft Corporation" in licences["MIT-MiniLM.txt"]
    assert "Google" in licences["NOTICE-tokenizer.txt"]
    assert "Version 2.0, January 2004" in licences["Apache-2.0.txt"]


def test_path_gives_real_files_and_names_what_there_is(require: Require) -> None:
    require(find_spec("indelible_reranker") is not None, "needs the bundled reranker: pip install ./models-rerank")
    import indelible_reranker

    assert isinstance(indelible_reranker.path(), Path)
    assert isinstance(indelible_reranker.path("minilm-l12-rerank.onnx"), Path)
    for wrong in ("other.onnx", "../__init__.py"):
        with pytest.raises(FileNotFoundError, match=r"minilm-l12-rerank.onnx"):
            indelible_reranker.path(wrong)


def test_the_array_of_the_build_script_is_that_of_the_manifest() -> None:
    for name, described in MANIFEST["build"]["arrays"].items():
        data = (ROOT / "models-rerank" / "build" / name).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (described["sha256"], described["bytes"])
