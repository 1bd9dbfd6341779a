"""Write the encoder as an ONNX graph: token ids in, one unit vector of 256 numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantise import ALPHA, LINEAR_LIMIT, TABLE_LIMIT, Floats, rows_to_int8, smoothing

LAYERS = 12
HEADS = 12
WIDTH = 384
MICROSOFT = "com.microsoft"  # onnxruntime's own operators: the fused int8 product and the erf Gelu
OPSETS = {"": 18, MICROSOFT: 1}
IR_VERSION = 9  # read by onnxruntime 1.17, the oldest that core allows
LAYER_NORM_EPSILON = 1e-12
MASKED = np.float32(1e4)  # taken off the score of a padded position before softmax


@dataclass(frozen=True)
class Linear:
    """One affine map: ``weight`` (outputs, inputs), ``bias`` (outputs,)."""

    weight: Floats
    bias: Floats


class Graph:
    """Nodes and constants in the order they are written; a value is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Add a constant once; the same name again means the same constant."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value)), name)
        return name

    def call(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and give the output's name."""
        return self.split(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def split(self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node with several outputs and give their names."""
        stem = f"{len(self.nodes)}_{operator}"
        names = [f"{stem}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=stem, domain=domain, **attributes))
        return names


class Encoder:
    """The bge-small encoder, written layer by layer into a graph."""

    def __init__(self, weights: Mapping[str, Floats], maxima: Mapping[str, Floats]) -> None:
        self.weights = weights
        self.maxima = maxima  # largest absolute activation per channel before each product, by neutral text
        self.graph = Graph()

    def build(self, mean: Floats, projection: Floats) -> onnx.ModelProto:
        """Give the whole model.

        Args:
            mean: taken off the unit vector before projecting, (384,); already multiplied by its share (0.35 of the true mean).
            projection: (384, 256), top eigenvectors of the centred covariance of neutral text.
        """
        graph = self.graph
        state = self._embeddings()
        penalty = self._mask_penalty()
        for layer in range(LAYERS):
            state = self._layer(layer, state, penalty)
        first = graph.call("Gather", state, graph.constant("first", 0, np.int64), axis=1)  # the [CLS] position
        unit = graph.call("LpNormalization", first, axis=-1, p=2)
        centred = graph.call("Sub", unit, graph.constant("mean", mean))
        projected = graph.call("MatMul", centred, graph.constant("projection", projection))
        vector = graph.call("LpNormalization", projected, axis=-1, p=2)
        graph.nodes.append(helper.make_node("Identity", [vector], ["embedding"], name="embedding"))
        return self._model(projection.shape[1])

    def _model(self, dim: int) -> onnx.ModelProto:
        ids, mask, out = (
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"]),
            helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", dim]),
        )
        body = helper.make_graph(self.graph.nodes, "bge-256", [ids, mask], [out], list(self.graph.constants.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        return helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION, producer_name="indelible-models")

    def _embeddings(self) -> str:
        graph = self.graph
        table, scale = rows_to_int8(self.weights["embeddings.word_embeddings.weight"], TABLE_LIMIT)
        rows = graph.call("Gather", graph.constant("words", table, np.int8), "input_ids")
        scales = graph.call("Gather", graph.constant("word_scales", scale[:, None]), "input_ids")
        words = graph.call("Mul", graph.call("Cast", rows, to=TensorProto.FLOAT), scales)
        # there is one segment only, so its row joins the positions for good
        places = self.weights["embeddings.position_embeddings.weight"] + self.weights["embeddings.token_type_embeddings.weight"][0]
        length = graph.call("Shape", "input_ids", start=1, end=2)
        zero = graph.constant("zero", [0], np.int64)
        positions = graph.call("Slice", graph.constant("positions", places), zero, length, zero)
        return self._norm("embeddings.LayerNorm", graph.call("Add", words, positions))

    def _mask_penalty(self) -> str:
        """0 where a token is, -10,000 where padding is, shaped to be added to (batch, heads, from, to)."""
        graph = self.graph
        ones = graph.call("Cast", "attention_mask", to=TensorProto.FLOAT)
        missing = graph.call("Sub", ones, graph.constant("one", np.float32(1)))
        penalty = graph.call("Mul", missing, graph.constant("masked", MASKED))
        return graph.call("Unsqueeze", penalty, graph.constant("heads_and_from", [1, 2], np.int64))

    def _layer(self, layer: int, state: str, penalty: str) -> str:
        graph, prefix = self.graph, f"encoder.layer.{layer}"
        attended = self._attention(layer, state, penalty)
        state = self._norm(f"{prefix}.attention.output.LayerNorm", graph.call("Add", attended, state))
        wide = self._product(f"L{layer}_f1", state, self._linear(f"{prefix}.intermediate.dense"))
        active = graph.call("Gelu", wide, domain=MICROSOFT)
        narrow = self._product(f"L{layer}_f2", active, self._linear(f"{prefix}.output.dense"))
        return self._norm(f"{prefix}.output.LayerNorm", graph.call("Add", narrow, state))

    def _attention(self, layer: int, state: str, penalty: str) -> str:
        graph, prefix = self.graph, f"encoder.layer.{layer}.attention"
        query, key, value = (self._linear(f"{prefix}.self.{part}") for part in ("query", "key", "value"))
        out = self._linear(f"{prefix}.output.dense")
        in_factor = smoothing(self.maxima[f"L{layer}_qkv"], np.concatenate([query.weight, key.weight, value.weight]), ALPHA["qkv"])
        out_factor = smoothing(self.maxima[f"L{layer}_o"], out.weight, ALPHA["o"])
        # Attention only mixes values over positions, so dividing its output per channel is dividing the value rows: no node needed.
        # Likewise 1/sqrt(head width), which belongs to the scores, goes into the query rows.
        share = np.float32(1 / np.sqrt(WIDTH // HEADS))
        query = Linear(query.weight * share, query.bias * share)
        value = Linear(value.weight / out_factor[:, None], value.bias / out_factor)
        parts = (query, key, value)
        linear = Linear(np.concatenate([part.weight for part in parts]), np.concatenate([part.bias for part in parts]))
        merged = self._product(f"L{layer}_qkv", state, linear, factor=in_factor)
        q, k, v = graph.split("Split", merged, outputs=3, axis=-1, num_outputs=3)
        scores = graph.call("Add", graph.call("MatMul", self._heads(q, [0, 2, 1, 3]), self._heads(k, [0, 2, 3, 1])), penalty)
        mixed = graph.call("MatMul", graph.call("Softmax", scores, axis=-1), self._heads(v, [0, 2, 1, 3]))
        whole = graph.constant("whole", [0, 0, WIDTH], np.int64)
        joined = graph.call("Reshape", graph.call("Transpose", mixed, perm=[0, 2, 1, 3]), whole)
        return self._int8(f"L{layer}_o", joined, Linear(out.weight * out_factor, out.bias))

    def _heads(self, name: str, order: list[int]) -> str:
        shape = self.graph.constant("by_head", [0, 0, HEADS, WIDTH // HEADS], np.int64)
        return self.graph.call("Transpose", self.graph.call("Reshape", name, shape), perm=order)

    def _product(self, place: str, state: str, linear: Linear, factor: Floats | None = None) -> str:
        """``state @ weight.T + bias`` in int8, with the smoothing factor divided out of the state first."""
        if factor is None:
            factor = smoothing(self.maxima[place], linear.weight, ALPHA[place.split("_")[1]])
        smooth = self.graph.call("Mul", state, self.graph.constant(f"{place}_smooth", 1 / factor))
        return self._int8(place, smooth, Linear(linear.weight * factor, linear.bias))

    def _int8(self, place: str, state: str, linear: Linear) -> str:
        """The product itself: onnxruntime measures the activations' scale per call, the weights' scales are fixed per output."""
        graph = self.graph
        whole, scale = rows_to_int8(linear.weight, LINEAR_LIMIT)
        return graph.call(
            "DynamicQuantizeMatMul",
            state,
            graph.constant(f"{place}_weight", whole.T, np.int8),
            graph.constant(f"{place}_scale", scale),
            graph.constant(f"{place}_zero", np.zeros(len(scale)), np.int8),
            graph.constant(f"{place}_bias", linear.bias),
            domain=MICROSOFT,
        )

    def _linear(self, name: str) -> Linear:
        return Linear(self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, name: str, state: str) -> str:
        gain = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        bias = self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.graph.call("LayerNormalization", state, gain, bias, axis=-1, epsilon=LAYER_NORM_EPSILON)
