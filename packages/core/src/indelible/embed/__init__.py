"""Embedders and rerankers: the bundled models, any model of the caller's, and the protocols they share.

Importing this package loads neither numpy nor onnxruntime nor tokenizers. A bundled model is loaded by the first call that needs
it, from the installed packages ``indelible_models`` and ``indelible_reranker`` and never from the network, and it is never
exchanged for another by itself.
"""

from __future__ import annotations

from indelible.embed.callable_embedder import CallableEmbedder
from indelible.embed.checks import unit_vectors
from indelible.embed.onnx_embedder import OnnxEmbedder
from indelible.embed.onnx_reranker import OnnxReranker
from indelible.embed.protocol import Embedder, Reading, Vector, Vectors
from indelible.embed.reranker import Reranker
from indelible.embed.resolve import resolve_embedder
from indelible.embed.static_embedder import StaticEmbedder, StaticQueryEmbedder

__all__ = [
    "CallableEmbedder",
    "Embedder",
    "OnnxEmbedder",
    "OnnxReranker",
    "Reading",
    "Reranker",
    "StaticEmbedder",
    "StaticQueryEmbedder",
    "Vector",
    "Vectors",
    "resolve_embedder",
    "unit_vectors",
]
