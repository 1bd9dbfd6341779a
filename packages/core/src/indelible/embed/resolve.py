"""From what a caller gives as ``embedder=`` to an ``Embedder``."""

from __future__ import annotations

import functools
from collections.abc import Callable

from indelible.embed.callable_embedder import CallableEmbedder
from indelible.embed.onnx_embedder import OnnxEmbedder
from indelible.embed.protocol import Embedder
from indelible.embed.static_embedder import StaticEmbedder, StaticQueryEmbedder
from indelible.errors import InvalidInput

DEFAULT = "bge-256"
NAMES = (DEFAULT, "static", "static-query")


def resolve_embedder(spec: str | Embedder | Callable[..., object] | object | None = None) -> Embedder:
    """Give the embedder that a caller named or brought.

    Args:
        spec: ``None`` or ``"bge-256"`` for the default model; ``"static"`` for the instant one; ``"static-query"`` for documents by
            the first and queries by the second; one of our own embedders, given back as it is; or whatever ``CallableEmbedder``
            wraps, an ``Embedder`` written elsewhere included, so that what it returns is checked too.

    Returns:
        An embedder, of a bundled model nothing loaded yet. The same name shares one model over all stores of the process.

    Raises:
        InvalidInput: no such name, or an object that cannot be wrapped.
    """
    if spec is None or isinstance(spec, str):
        return bundled(DEFAULT if spec is None else spec)
    if isinstance(spec, OnnxEmbedder | StaticEmbedder | StaticQueryEmbedder | CallableEmbedder):
        return spec
    return CallableEmbedder(spec)


def bundled(name: str) -> Embedder:
    """Give a bundled model by name. Raises ``InvalidInput`` for any name but those of ``NAMES`` and the models' own ids."""
    if name == OnnxEmbedder.id:
        return _onnx()
    if name in ("static", StaticEmbedder.id):
        return _static()
    if name == "static-query":
        return StaticQueryEmbedder(_onnx(), _static())
    raise InvalidInput(f"there is no bundled embedder {name!r}: it is one of {', '.join(NAMES)}, or an object of your own")


@functools.cache
def _onnx() -> OnnxEmbedder:
    return OnnxEmbedder()


@functools.cache
def _static() -> StaticEmbedder:
    return StaticEmbedder()
