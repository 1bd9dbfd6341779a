"""Check what is given to an embedder, and what a foreign one gives back."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indelible.errors import InvalidInput, ModelError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from indelible.embed.protocol import Vectors

    Table = NDArray[Any]


_NEAR = 5e-7
"""How far the square of a length may be from 1: what rounding to float32 leaves of a vector of unit length stays well below."""


def checked_text(text: object) -> str:
    """Give the text back.

    Raises:
        InvalidInput: it is not a ``str``, or holds a lone surrogate, which no tokenizer can read.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"a text to embed must be a str, not {type(text).__name__}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(f"a text to embed holds a lone surrogate at character {error.start}: decode it properly first") from error
    return text


def checked_texts(texts: object) -> list[str]:
    """Give the texts as a list. Raises ``InvalidInput`` as ``checked_text`` does, and for one text where several belong."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InvalidInput(f"embed_documents takes a list of str, not {type(texts).__name__}: for one text give [text]")
    return [checked_text(text) for text in texts]


def unit_vectors(raw: object, *, count: int, dim: int | None, name: str) -> Vectors:
    """Make float32 rows of unit length out of what a model returned.

    Args:
        raw: a list of lists of numbers, an array, an iterator of rows: anything numpy can turn into a table of numbers.
        count: how many rows it must have.
        dim: how many numbers each must have; ``None`` for any.
        name: of the model, for messages.

    Raises:
        ModelError: it is something else, has another shape, or a row that is not finite or all zero.
    """
    import numpy as np

    table = raw if type(raw) is np.ndarray else _table(raw, name)
    if table.dtype.kind not in "fiu" or table.ndim != 2:
        raise ModelError(f"embedder {name} returned {_described(raw, table.shape)} where one row of numbers per text was due")
    if table.shape[0] != count:
        raise ModelError(f"embedder {name} returned {table.shape[0]} vectors for {count} texts")
    if table.shape[1] == 0 or (dim is not None and table.shape[1] != dim):
        due = "at least one" if dim is None else str(dim)
        raise ModelError(f"embedder {name} returned vectors of {table.shape[1]} numbers, {due} were due")
    # Many models give unit vectors already. Not finite or zero ones are not near to 1 either.
    may_be_unit = table.dtype == np.float32
    if count == 1:
        # Every write of a fact comes here, with numpy gone from the processor's caches since the one before: the fewer calls, the better.
        if may_be_unit and abs(math.hypot(*table[0].tolist()) ** 2 - 1.0) <= _NEAR:
            return np.array(table, dtype=np.float32)
        return _unit_row(table[0].astype(np.float64), name)
    rows = table.astype(np.float64)
    if may_be_unit and np.logical_and.reduce(np.abs(np.add.reduce(rows * rows, axis=1) - 1.0) <= _NEAR):
        return np.array(table, dtype=np.float32)
    # The plain ufuncs: the methods and norm() take several times as long for a few rows.
    peaks = np.maximum.reduce(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    if not np.logical_and.reduce(np.isfinite(peaks), axis=None):
        raise ModelError(f"embedder {name} returned a vector with NaN or infinity, for text {int(np.isfinite(peaks).argmin())} of {count}")
    if not np.logical_and.reduce(peaks, axis=None):
        raise ModelError(f"embedder {name} returned a vector of zeros, which has no direction, for text {int(peaks.argmin())} of {count}")
    rows /= peaks  # first, so that neither huge nor tiny numbers overflow when squared
    unit: Vectors = (rows / np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))).astype(np.float32)
    return unit


def _unit_row(row: Table, name: str) -> Vectors:
    """What ``unit_vectors`` makes of one row: most writes of a fact come here, and it takes half the time."""
    import numpy as np

    peak = float(np.maximum.reduce(np.abs(row)))
    if not math.isfinite(peak):
        raise ModelError(f"embedder {name} returned a vector with NaN or infinity, for text 0 of 1")
    if not peak:
        raise ModelError(f"embedder {name} returned a vector of zeros, which has no direction, for text 0 of 1")
    row /= peak
    row /= math.sqrt(np.add.reduce(row * row))
    unit: Vectors = row.astype(np.float32)[None]
    return unit


def _table(raw: object, name: str) -> Table:
    import numpy as np

    if inspect.iscoroutine(raw):
        raw.close()
        raise ModelError(f"embedder {name} returned a coroutine: give its synchronous form")
    try:
        return np.asarray(list(raw) if isinstance(raw, Iterator) else raw)
    except Exception as error:  # ragged rows, or whatever a foreign object does when numpy looks at it
        raise ModelError(f"embedder {name} returned {type(raw).__name__}, which is no table of numbers: {error}") from error


def _described(raw: object, shape: tuple[int, ...]) -> str:
    kind = type(raw).__name__
    return f"{kind} of shape {shape}" if shape else kind
