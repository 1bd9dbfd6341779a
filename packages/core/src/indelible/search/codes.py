"""Vectors coded as one signed byte a number, with a proven bound on what that loses.

A row x is kept as a scale s and whole numbers c, so that x = s c + r with a remainder r whose length e is known. A question q becomes
t d + p likewise. Then

    q.x = (s t) (c.d) + p.(s c) + q.r

and by the inequality of Cauchy and Schwarz the product of the codes, exact in whole numbers, errs by ``|p| |s c| + |q| e`` at most.
Where the product is formed with q itself instead of its code, only ``|q| e`` is left. To this comes what arithmetic loses: a sum of n
products in single precision errs by at most n u / (1 - n u) times the lengths, u = 2**-24 (Higham, Accuracy and Stability of Numerical
Algorithms, 3.1). Nothing here is estimated: whatever the rows are, the exact product lies within the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from indelible.search.products import PIECE, product

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Codes = npt.NDArray[np.int8]
    Floats = npt.NDArray[np.float64]
    Product = Callable[[Codes, Codes], Floats]

MAX_DIM = 1 << 16
"""Beyond it the whole numbers could overflow, and the bound of single precision mean nothing."""
_LARGEST = 127
_U = 2.0**-24
_PIECE = 512
"""So many rows at a time stay in the cache of a processor while they are coded."""
_EXACT_IN_FLOAT32 = (1 << 24) // _LARGEST**2
"""Up to so many products of codes add up without rounding in single precision."""
_ALMOST_UNIT = 1e-5
_LONGEST = 1.01
"""More than the length of any row that counts as a unit vector."""


def quantise(rows: Matrix, codes: Codes, scales: Floats) -> Floats:
    """Code rows that are unit vectors, or zero.

    Args:
        rows: of float32.
        codes: where the codes go; of the same shape.
        scales: where the scales go; one a row.

    Returns:
        The greatest length that the remainder of each row may have; infinite for a row with numbers that are not finite.
    """
    import numpy as np

    found: Floats = np.empty(len(rows))
    scratch = np.empty((2, min(_PIECE, len(rows)), rows.shape[1]), np.float32)
    # What is not finite shows in the length of the remainder.
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(rows), _PIECE):
            part = rows[start : start + _PIECE]
            left, whole = scratch[:, : len(part)]
            scale = np.abs(part, out=left).max(axis=1) / np.float32(_LARGEST)
            bad = ~np.isfinite(scale)
            scale[bad | (scale < 1e-30)] = 1.0
            np.multiply(part, (np.float32(1.0) / scale)[:, None], out=left)
            np.rint(left, out=whole)
            if bad.any():
                whole[bad] = 0.0
            codes[start : start + len(part)] = whole
            # In units of the scale, and exact: a number less what it was rounded to.
            left -= whole
            scales[start : start + len(part)] = scale
            found[start : start + len(part)] = np.sqrt(np.einsum("ij,ij->i", left, left)) * scale
    # Each number was rounded twice, to within u of itself, before its remainder was taken, and the lengths of rows are below 2; the sum of
    # squares errs by n u at most, its root by half of that, and it and its product with the scale are rounded once more.
    found = found * (1.0 + (rows.shape[1] + 4) * _U) + 4 * _U
    found[~np.isfinite(found)] = np.inf
    return found


def nearly_unit(rows: Matrix) -> tuple[npt.NDArray[np.bool_], float]:
    """Which rows are unit vectors to within some loss, and that loss, proven; told in single precision, which is several times faster."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
        near: npt.NDArray[np.bool_] = np.abs(squares - 1.0) <= _ALMOST_UNIT
    return near, _ALMOST_UNIT + 1.1 * rows.shape[1] * _U


class CodedQuery:
    """A question, coded, and how far products with it may be off.

    Args:
        query: of float32.
        rounding: how far the cosine it is compared with may be from the exact product, beside what arithmetic loses.
    """

    def __init__(self, query: Matrix, rounding: float) -> None:
        import numpy as np

        exact = query.astype(np.float64)
        self.query = query
        self.scale = float(np.abs(exact).max(initial=0.0)) / _LARGEST or 1.0
        self.codes = np.rint(exact / self.scale).astype(np.int8)
        slack = 1.0 + 1e-9  # of sums in double precision, many times over
        self._length = float(np.linalg.norm(exact)) * slack
        self._lost = float(np.linalg.norm(exact - self.scale * self.codes)) * slack + 1e-12
        # Of the product it is compared with, and of the one that is formed with the question itself.
        self._arithmetic = 1.2 * len(query) * _U * self._length * _LONGEST + rounding + 1e-9

    def within(self, errors: Any) -> Any:
        """How far a product of codes may be from the cosine of a row, by the length of its remainder."""
        return self._length * errors + self._lost * (_LONGEST + errors) + self._arithmetic

    def closer_within(self, errors: Any) -> Any:
        """The same of a product with the question itself."""
        return self._length * errors + self._arithmetic * (2.0 + errors)

    def products(self, codes: Codes) -> Floats:
        """The products with codes, in units of ``scale`` and each row's own."""
        return (simd_product() or plain_product)(self.codes, codes)

    def closer_products(self, codes: Codes) -> Floats:
        """The products of the question itself with codes, in units of each row's scale."""
        import numpy as np

        found: Floats = product(codes.astype(np.float32), self.query).astype(np.float64)
        return found


def plain_product(query: Codes, codes: Codes) -> Floats:
    """The product of a code with each row of others, exact."""
    import numpy as np

    kind: type[np.floating[Any]] = np.float32 if len(query) <= _EXACT_IN_FLOAT32 else np.float64
    asked = query.astype(kind)
    found: Floats = np.empty(len(codes))
    rows = max(1, PIECE // len(query))
    for start in range(0, len(codes), rows):
        found[start : start + rows] = codes[start : start + rows].astype(kind) @ asked
    return found


@cache
def simd_product() -> Product | None:
    """The same by the processor's own instructions for bytes, where they are installed and right."""
    import numpy as np

    try:
        cdist = import_module("simsimd").cdist
    except ImportError:
        return None

    def by_processor(query: Codes, codes: Codes) -> Floats:
        # One thread: others would wait in a loop for the next product, on processors that belong to the program. And no array of ours for
        # the answer: given one, simsimd 6.5 returns a None that it does not own, and before Python 3.12 a few thousand end the process.
        return np.asarray(cdist(query[None], codes, "dot"), np.float64).reshape(len(codes))

    # What decides which memories are looked at is not believed unseen.
    sample = np.random.default_rng(0).integers(-_LARGEST, _LARGEST + 1, (67, 331), np.int8)
    sample[0], sample[1] = _LARGEST, -_LARGEST
    for dim in (1, 31, 64, 331):
        rows = np.ascontiguousarray(sample[:, :dim])
        try:
            if not np.array_equal(by_processor(rows[0], rows), plain_product(rows[0], rows)):
                return None
        except (TypeError, ValueError):
            return None
    return by_processor
